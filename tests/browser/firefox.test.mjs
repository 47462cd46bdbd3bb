// The page of approvals in Firefox: what a person does with it. Run: see docs/approvals.md, "Tests in browsers".
//
// INVARIANT: as page.test.mjs; what became of a call is read from the process that asked.

import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firefox } from './firefox.mjs';
import { home, missing, until } from './machine.mjs';

const program = '/usr/bin/firefox-esr';
const shots = process.env.SHOTS;
let browser;

before(async () => {
  missing(program);
  browser = await firefox(program);
  await browser.size(900, 900);
});
after(() => browser?.close());

const state = () => browser.look("document.getElementById('state')?.textContent ?? ''");
const card = part => until(`a card with ${part}`, () => browser.look(`[...document.querySelectorAll('.card')].some(card => card.textContent.includes(${JSON.stringify(part)}))`));
const armed = verdict => until(`${verdict} to be armed`, () => browser.look(
  `(() => { const all = document.querySelectorAll('button[data-verdict="${verdict}"]'); const last = all[all.length - 1];
    last?.scrollIntoView({ block: 'nearest' }); return !!last && !last.hasAttribute('aria-disabled') && !last.disabled; })()`));
const click = async verdict => { await armed(verdict); await browser.click(`button[data-verdict="${verdict}"]`); };

test('opened from the file, it approves once, for the session, and denies', () => home(async ({ ask, note, address }) => {
  const { file, url } = await address();
  await browser.open('file://' + file);
  await until('the page', async () => /No questions/.test(await state()));
  await until('the file to go', () => !existsSync(file));
  assert.equal(await browser.look('location.hash + document.cookie'), '');

  const once = ask('s', 'bash', { command: 'git push --force origin main' });
  await card('git push --force origin main');
  await armed('once');
  assert.equal(await browser.look('document.activeElement.textContent'), 'Deny');
  await note('~/agent.policy', 'unknown keyword `alow`');
  await until('the notice', () => browser.look("!document.getElementById('notices').hidden"));
  if (shots) { mkdirSync(shots, { recursive: true }); writeFileSync(join(shots, 'firefox.png'), await browser.picture()); }
  await note('~/agent.policy');
  await until('the notice to go', () => browser.look("document.getElementById('notices').hidden"));
  await click('once');
  assert.equal(await once, 'approved once');

  const session = ask('s', 'bash', { command: 'ls' });
  await card('"ls"');
  await click('session');
  assert.equal(await session, 'approved session');
  assert.equal(await ask('s', 'bash', { command: 'ls' }), 'granted');

  const denied = ask('s', 'write_file', { path: 'a.txt' });
  await card('a.txt');
  // With the keyboard: the focus is on Deny.
  await armed('deny');
  await until('the focus', async () => (await browser.look('document.activeElement.dataset.verdict ?? ""')) === 'deny');
  await browser.press('\uE007');
  assert.equal(await denied, 'denied');
  assert.equal(await browser.look("document.querySelectorAll('.card.closed').length"), 3);

  // The code was used.
  await browser.open(url).catch(() => {});
  assert.equal(await browser.look("document.querySelectorAll('.card').length"), 0);
}));
