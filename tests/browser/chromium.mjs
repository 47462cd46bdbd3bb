// Chromium for the tests of the page: opening it as a person does, its buttons, pictures of it.
//
// INVARIANT: one browser a file of tests, and a context of its own for each page.

import { before, after } from 'node:test';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import playwright from 'playwright-core';
import { home as machineOf, missing, until } from './machine.mjs';

const program = '/usr/bin/chromium';
export const shots = process.env.SHOTS;
export let browser;

before(async () => {
  missing(program);
  browser = await playwright.chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
});
after(() => browser?.close());

/** A home with a server, and the means to ask and to open the page. */
export const machine = run => machineOf(async here => {
  const contexts = [];
  const open = async (options = {}) => {
    const context = await browser.newContext({ viewport: { width: 900, height: 900 }, ...options });
    contexts.push(context);
    const page = await context.newPage();
    page.wrong = [];
    page.on('console', said => { if (said.type() === 'error') page.wrong.push(said.text()); });
    page.on('pageerror', error => page.wrong.push(String(error)));
    // As a person does: the file, which leads to the page.
    const { file } = await here.address();
    await page.goto('file://' + file);
    await page.waitForFunction(() => /question/i.test(document.getElementById('state')?.textContent ?? ''));
    await until('the file to go', () => !existsSync(file));
    return page;
  };
  try {
    await run({ ...here, open });
  } finally {
    for (const context of contexts) await context.close();
  }
});

export const button = (page, name, at = 0) => page.locator('.card').nth(at).getByRole('button', { name, exact: true });
export const armed = async (page, name, at = 0) => {
  await button(page, name, at).scrollIntoViewIfNeeded();
  await until(`${name} to be armed`, async () => (await button(page, name, at).getAttribute('aria-disabled')) === null);
};
export const shot = async (page, name) => { if (shots) { mkdirSync(shots, { recursive: true }); await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true }); } };

/** Elements that stand out to the right, or whose content does. */
export const clipped = page => page.evaluate(() => [...document.querySelectorAll('*')]
  .filter(element => !element.matches('#news') && (element.getBoundingClientRect().right > innerWidth + 0.5 || element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0))
  .map(element => element.tagName + '.' + element.className));
