// The page of approvals in a real browser. Run: see docs/approvals.md, "Tests in browsers".
//
// INVARIANT: every test has a home and a server of its own, and reads what became of a call from the process that asked.

import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import playwright from 'playwright-core';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
const policy = join(target, 'debug', 'policy');
const asker = join(target, 'debug', 'examples', 'ask');
const kind = 'chromium';
const program = '/usr/bin/chromium';
const shots = process.env.SHOTS;
let browser;

before(async () => {
  for (const file of [policy, asker, program]) assert.ok(existsSync(file), `${file} is missing`);
  browser = await playwright.chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
});
after(() => browser?.close());

const wait = time => new Promise(done => setTimeout(done, time));
async function until(what, look) {
  for (let tries = 0; tries < 300; tries += 1) {
    const found = await look();
    if (found) return found;
    await wait(50);
  }
  throw new Error(`waited in vain for ${what}`);
}

/** A home with a server, and the means to ask and to open the page. */
async function machine(run) {
  const home = mkdtempSync(join(tmpdir(), 'policy-page-'));
  const folder = join(home, '.local/state/policy/approvals');
  const server = spawn(policy, ['approvals', 'serve', '--home', home], { stdio: 'ignore', env: { PATH: process.env.PATH } });
  const asked = [];
  const contexts = [];
  try {
    const port = await until('the server', () => existsSync(join(folder, 'page.port')) && readFileSync(join(folder, 'page.port'), 'utf8').trim());
    const ask = (session, tool, given, seconds = 60, ...files) => new Promise(done => {
      asked.push(execFile(asker, [home, session, tool, typeof given === 'string' ? given : JSON.stringify(given), String(seconds), ...files],
        (error, out, err) => done(out.trim() || err.trim() || String(error))));
    });
    /** The address with its code, out of the file that `policy approvals` writes. */
    const address = async () => {
      const opener = spawn(policy, ['approvals', '--home', home], { stdio: 'ignore', env: { PATH: process.env.PATH } });
      asked.push(opener);
      const name = await until('the file', () => readdirSync(folder).find(name => /^open-.*\.html$/.test(name)));
      const file = join(folder, name);
      return { file, url: readFileSync(file, 'utf8').match(/url=([^"]+)"/)[1] };
    };
    const open = async (options = {}) => {
      const context = await browser.newContext({ viewport: { width: 900, height: 900 }, ...options });
      contexts.push(context);
      const page = await context.newPage();
      page.wrong = [];
      page.on('console', said => { if (said.type() === 'error') page.wrong.push(said.text()); });
      page.on('pageerror', error => page.wrong.push(String(error)));
      // As a person does: the file, which leads to the page.
      const { file } = await address();
      await page.goto('file://' + file);
      await page.waitForFunction(() => /question/i.test(document.getElementById('state')?.textContent ?? ''));
      await until('the file to go', () => !existsSync(file));
      return page;
    };
    await run({ home, port, ask, address, open, origin: `http://127.0.0.1:${port}` });
  } finally {
    for (const context of contexts) await context.close();
    for (const child of asked) child.kill();
    server.kill();
    await wait(50);
    rmSync(home, { recursive: true, force: true });
  }
}

const button = (page, name, at = 0) => page.locator('.card').nth(at).getByRole('button', { name, exact: true });
const armed = (page, name, at = 0) => until(`${name} to be armed`, async () => (await button(page, name, at).getAttribute('aria-disabled')) === null);
const shot = async (page, name) => { if (shots) { mkdirSync(shots, { recursive: true }); await page.screenshot({ path: join(shots, `${kind}-${name}.png`), fullPage: true }); } };

test('approve once', () => machine(async ({ ask, open }) => {
  const page = await open();
  assert.equal(new URL(page.url()).hash, '', 'the code is gone from the address');
  const answer = ask('s', 'bash', { command: 'git push --force origin main' });
  await page.waitForSelector('.card');
  await armed(page, 'Approve once');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Deny', 'focus on Deny');
  assert.equal(await page.locator('pre mark').first().textContent(), 'git push --force origin main');
  await shot(page, 'one');
  await button(page, 'Approve once').click();
  assert.equal(await answer, 'approved once');
  await page.getByText('Approved once.').waitFor();
  // The same call is asked again.
  const again = ask('s', 'bash', { command: 'git push --force origin main' }, 1);
  assert.equal(await again, 'timed out');
  assert.deepEqual(page.wrong, []);
  assert.deepEqual(await page.context().cookies(), []);
}));

test('a click within 700 ms does nothing, nor one that a script makes', () => machine(async ({ ask, open }) => {
  const page = await open();
  // From here on its clock goes only when it is told to.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 3600_000);
  const answer = ask('s', 'bash', { command: 'ls' }, 600);
  await page.waitForSelector('.card');
  const yes = button(page, 'Approve once');
  const box = await yes.boundingBox();
  const click = () => page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await click();
  await page.clock.runFor(650);
  await click();
  assert.equal(await yes.getAttribute('aria-disabled'), 'true');
  await until('the arming', async () => { await page.clock.runFor(100); return (await yes.getAttribute('aria-disabled')) === null; });
  await yes.evaluate(button => button.click());
  assert.equal(await page.locator('.card.closed').count(), 0);
  await click();
  assert.equal(await answer, 'approved once');
}));

test('approve for this session', () => machine(async ({ ask, open }) => {
  const page = await open();
  const answer = ask('s', 'bash', { command: 'ls' });
  await armed(page, 'Approve for this session');
  await button(page, 'Approve for this session').click();
  assert.equal(await answer, 'approved session');
  assert.equal(await ask('s', 'bash', { command: 'ls' }), 'granted');
  assert.equal(await ask('s', 'bash', { command: 'ls' }), 'granted');
  assert.equal(await ask('s', 'bash', { command: 'ls -l' }, 1), 'timed out', 'other arguments');
  assert.equal(await ask('t', 'bash', { command: 'ls' }, 1), 'timed out', 'another session');
}));

test('deny', () => machine(async ({ ask, open }) => {
  const page = await open();
  const answer = ask('s', 'write_file', { path: 'a.txt', content: 'new text\n' });
  await armed(page, 'Deny');
  await button(page, 'Deny').click();
  assert.equal(await answer, 'denied');
  await page.getByText('Denied.').waitFor();
}));

test('unanswered is denied, and the answer counts for an identical call once', () => machine(async ({ ask, open }) => {
  const page = await open();
  assert.equal(await ask('s', 'bash', { command: 'ls' }, 1), 'timed out');
  await page.getByText('The call was denied, since nobody answered').waitFor();
  await armed(page, 'Approve once');
  await button(page, 'Approve once').click();
  await page.getByText('Approved once.').waitFor();
  assert.equal(await ask('s', 'bash', { command: 'ls' }, 1), 'granted');
  assert.equal(await ask('s', 'bash', { command: 'ls' }, 1), 'timed out');
}));

test('two questions, each its answer, and no card moves', () => machine(async ({ ask, open }) => {
  const page = await open();
  const first = ask('s', 'bash', { command: 'one' });
  await armed(page, 'Deny', 0);
  const before = await page.locator('.card').nth(0).boundingBox();
  const second = ask('s', 'bash', { command: 'two' });
  await page.locator('.card').nth(1).waitFor();
  assert.deepEqual(await page.locator('.card').nth(0).boundingBox(), before);
  await page.waitForFunction(() => document.title.startsWith('(2)'));
  await page.locator('.card').nth(1).scrollIntoViewIfNeeded();
  await armed(page, 'Approve once', 1);
  await shot(page, 'two');
  const top = () => page.locator('.card').nth(1).evaluate(card => card.offsetTop);
  const stood = await top();
  await page.locator('.card').nth(0).scrollIntoViewIfNeeded();
  await armed(page, 'Deny', 0);
  await button(page, 'Deny', 0).click();
  assert.equal(await first, 'denied');
  await page.getByText('Denied.').waitFor();
  assert.equal(await top(), stood, 'the second stands where it stood');
  await armed(page, 'Approve once', 1);
  await button(page, 'Approve once', 1).click();
  assert.equal(await second, 'approved once');
  await page.getByRole('button', { name: 'Clear answered' }).click();
  assert.equal(await page.locator('.card').count(), 0);
}));

test('a file that changed is told', () => machine(async ({ home, ask, open }) => {
  const page = await open();
  const script = join(home, 'run.sh');
  writeFileSync(script, 'echo 1');
  const answer = ask('s', 'bash', { command: './run.sh' }, 60, script);
  await armed(page, 'Approve once');
  writeFileSync(script, 'echo 2');
  await button(page, 'Approve once').click();
  await page.getByText('has changed since the question was asked').waitFor();
  assert.equal(await answer, 'gone');
}));

test('keyboard only', () => machine(async ({ ask, open }) => {
  const page = await open();
  const answer = ask('s', 'bash', { command: 'ls' });
  await armed(page, 'Deny');
  const here = () => page.evaluate(() => document.activeElement.textContent);
  assert.equal(await here(), 'Deny');
  await page.keyboard.press('Tab');
  assert.equal(await here(), 'Approve once');
  await page.keyboard.press('Tab');
  assert.equal(await here(), 'Approve for this session');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  assert.equal(await answer, 'approved once');
  await page.getByText('Approved once.').waitFor();
  assert.equal(await here(), 'Clear answered');
}));

test('a screen reader has names for everything', () => machine(async ({ ask, open }) => {
  const page = await open();
  void ask('s', 'bash', { command: 'ls' });
  await page.waitForSelector('.card');
  await page.getByRole('list', { name: 'Questions' }).waitFor();
  await page.getByRole('listitem', { name: 'bash of files' }).waitFor();
  await page.getByRole('region', { name: 'Arguments' }).waitFor();
  assert.match(await page.locator('#news').textContent(), /New question: bash/);
  assert.equal(await page.locator('html').getAttribute('lang'), 'en');
}));

test('text of agents does nothing', () => machine(async ({ ask, open }) => {
  const page = await open();
  const given = { path: '</pre><script>document.title="x"</script><img src=x onerror=alert(1)>', name: 'a\u202egpj.exe', to: 'p\u0430ypal.com' };
  void ask('s\u202e', '<b>bash</b>', given);
  await page.waitForSelector('.card');
  assert.equal(await page.locator('.card script, .card img, .card b').count(), 0);
  const text = await page.locator('.card pre').last().textContent();
  assert.ok(text.includes('<script>') && text.includes('⟨U+202E⟩gpj') && text.includes('p⟨U+0430⟩ypal'));
  await shot(page, 'odd');
  assert.deepEqual(page.wrong, []);
}));

test('a code is good once, and never from a reload', () => machine(async ({ address, ask, open }) => {
  const { url } = await address();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.getByText('No questions').waitFor();
  const replay = await context.newPage();
  const refused = replay.waitForResponse(reply => reply.url() === url.split('#')[0]);
  await replay.goto(url).catch(() => {});
  assert.equal((await refused).status(), 403);
  const root = url.replace(/\/open\/[0-9a-f]+/, '/');
  const late = await context.newPage();
  await late.goto(root);
  await late.getByText('The code was used already').waitFor();
  void ask('s', 'bash', { command: 'ls' });
  await page.waitForSelector('.card');
  await page.reload();
  await page.getByText('to open this page with its code').waitFor();
  assert.equal(await page.locator('.card').count(), 0);
  await context.close();
  const second = await open();
  await second.waitForSelector('.card');
  // Opened from the file, as a person does it, it says the same.
  await second.reload();
  await second.getByText('to open this page with its code').waitFor();
}));

test('another site, another port of this machine, and frames are refused', () => machine(async ({ origin, ask, open, address }) => {
  const page = await open();
  void ask('s', 'bash', { command: 'ls' });
  await page.waitForSelector('.card');
  const { url } = await address();
  const code = url.split('#')[1];
  const server = createServer((request, reply) => { reply.setHeader('content-type', 'text/html'); reply.end(`<iframe src="${origin}/"></iframe><p>other`); });
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  const other = server.address().port;
  try {
    for (const site of [`http://127.0.0.1:${other}`, `http://localhost:${other}`]) {
      const foreign = await page.context().newPage();
      await foreign.goto(site);
      const tried = await foreign.evaluate(async ([origin, code]) => {
        const told = [];
        for (const [path, init] of [
          ['/questions', {}], ['/questions', { headers: { 'x-policy-token': '00' } }], ['/', { mode: 'no-cors' }],
          ['/code', { method: 'POST', body: code }], ['/answer', { method: 'POST', body: '{}' }],
        ]) {
          try { told.push((await fetch(origin + path, init)).type); } catch { told.push('refused'); }
        }
        try { told.push((await fetch(origin + '/code', { method: 'POST', body: code, mode: 'no-cors' })).type); } catch { told.push('refused'); }
        return told;
      }, [origin, code]);
      assert.deepEqual(tried.filter(told => told !== 'refused' && told !== 'opaque'), []);
      const frame = foreign.frames()[1];
      assert.equal(await frame.evaluate(() => document.querySelector('#state')?.textContent ?? '').catch(() => ''), '', 'not framed');
      const [status] = await Promise.all([
        foreign.waitForResponse(reply => reply.url() === origin + '/' && reply.frame() === foreign.mainFrame()).then(reply => reply.status()),
        foreign.evaluate(origin => { location.href = origin + '/'; }, origin),
      ]);
      assert.equal(status, 403, 'not even opened from elsewhere');
      await foreign.close();
    }
    // The code that they posted is still good: none of it was read.
    const late = await (await browser.newContext()).newPage();
    await late.goto(url);
    await late.waitForSelector('.card');
  } finally {
    server.close();
  }
}));

test('nothing is clipped at 400 px, light and dark', () => machine(async ({ ask, open }) => {
  const long = 'x'.repeat(400);
  for (const colorScheme of ['light', 'dark']) {
    const page = await open({ viewport: { width: 400, height: 800 }, colorScheme });
    void ask(`a-session-with-a-long-name-${long}`, 'write_file', { path: `/tmp/${long}`, command: 'git push --force origin main', content: 'a\nb' });
    await page.waitForSelector('.card');
    await armed(page, 'Deny').catch(() => {});
    const wide = await page.evaluate(() => [...document.querySelectorAll('*')]
      .filter(element => !element.matches('#news') && (element.getBoundingClientRect().right > innerWidth + 0.5 || element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0))
      .map(element => element.tagName + '.' + element.className));
    assert.deepEqual(wide, []);
    for (const name of ['Deny', 'Approve once', 'Approve for this session']) {
      const box = await button(page, name).boundingBox();
      assert.ok(box.height >= 44 && box.x >= 0 && box.x + box.width <= 400, name);
    }
    await shot(page, `narrow-${colorScheme}`);
  }
}));

test('the terminal answers the same questions, and the page follows', () => machine(async ({ home, ask, open }) => {
  const page = await open();
  const answer = ask('s', 'bash', { command: 'ls' });
  await page.waitForSelector('.card');
  const run = (...words) => new Promise(done => execFile(policy, ['approvals', ...words, '--home', home], (error, out) => done(out)));
  const listed = await run('list');
  assert.match(listed, /written by the agent/);
  const id = listed.split(' ')[0];
  await run('deny', id.slice(0, 8));
  assert.equal(await answer, 'denied');
  await page.getByText('answered elsewhere').waitFor();
}));
