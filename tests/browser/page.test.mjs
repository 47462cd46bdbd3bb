// The page of approvals in Chromium. Run: see docs/approvals.md, "Tests in browsers".
//
// INVARIANT: every test has a home and a server of its own, and reads what became of a call from the process that asked.

import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { policy, until } from './machine.mjs';
import { armed, browser, button, clipped, machine, shot, shots } from './chromium.mjs';

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

test('a press that began within 700 ms answers nothing, whenever it ends', () => machine(async ({ ask, open }) => {
  const page = await open();
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 3600_000);
  const answer = ask('s', 'bash', { command: 'ls' }, 600);
  await page.waitForSelector('.card');
  const yes = button(page, 'Approve once');
  const arms = () => until('the arming', async () => { await page.clock.runFor(100); return (await yes.getAttribute('aria-disabled')) === null; });
  const box = await yes.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await arms();
  await page.mouse.up();
  assert.equal(await page.locator('.card.closed').count(), 0, 'the pointer');
  // The same with a key, in a page that lost the focus and has it again.
  await page.evaluate(() => dispatchEvent(new Event('blur')));
  assert.equal(await yes.getAttribute('aria-disabled'), 'true');
  await yes.focus();
  await page.keyboard.down('Space');
  await arms();
  await page.keyboard.up('Space');
  assert.equal(await page.locator('.card.closed').count(), 0, 'the key');
  await page.keyboard.press('Space');
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
  await page.getByRole('group', { name: 'Arguments' }).waitFor();
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

test('the code and the token stand in no argument, environment or file', () => machine(async ({ address, traces, open, ask }) => {
  const { url } = await address();
  const code = url.split('#')[1];
  assert.match(code, /^[0-9a-f]{32}$/);
  assert.ok(traces().length > 4 && traces().every(text => !text.includes(code)));
  const page = await (await browser.newContext()).newPage();
  const token = page.waitForRequest(request => request.url().includes('/questions')).then(request => request.headers()['x-policy-token']);
  await page.goto(url);
  const held = await token;
  assert.match(held, /^[0-9a-f]{32}$/);
  void ask('s', 'bash', { command: 'ls' });
  await page.waitForSelector('.card');
  assert.ok(traces().every(text => !text.includes(code) && !text.includes(held)));
  const kept = await page.evaluate(() => JSON.stringify([location.href, document.cookie, localStorage.length, sessionStorage.length, history.state, document.referrer, window.name]));
  assert.ok(!kept.includes(code) && !kept.includes(held), kept);
  await page.context().close();
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

test('nothing is clipped at 400 and 1200 px, light and dark', () => machine(async ({ ask, note, open }) => {
  const long = 'x'.repeat(400);
  void ask('s', 'bash', { command: 'git push --force origin main', description: 'Push the branch', timeout: 120000 }, 600);
  void ask(`a-session-with-a-long-name-${long}`, 'write_file', { path: `/tmp/${long}`, command: 'git push --force origin main', content: 'a\nb' }, 600);
  void ask('rules', `a_tool_with_a_long_name_${long}`, { url: `https://example.com/${long}`, list: [1, { deep: [true, null] }] }, 600);
  await note('~/.config/policy/agent.policy', `unknown keyword \`alow\`${long}`);
  for (const width of [400, 1200]) {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open({ viewport: { width, height: 800 }, colorScheme });
      await page.locator('.card').nth(2).waitFor();
      await page.getByText('Error in').waitFor();
      assert.deepEqual(await clipped(page), []);
      for (let at = 0; at < 3; at += 1) {
        for (const name of ['Deny', 'Approve once', 'Approve for this session']) {
          const box = await button(page, name, at).boundingBox();
          assert.ok(box.height >= 44 && box.x >= 0 && box.x + box.width <= width, name);
        }
        await armed(page, 'Approve once', at);
      }
      await page.evaluate(() => scrollTo(0, 0));
      await shot(page, `all-${width}-${colorScheme}`);
      if (shots) await page.screenshot({ path: join(shots, `top-${width}-${colorScheme}.png`) });
      await page.context().close();
    }
  }
}));

test('a policy with errors is told, moves nothing, and goes', () => machine(async ({ ask, note, open }) => {
  const page = await open();
  const answer = ask('s', 'bash', { command: 'ls' });
  await armed(page, 'Deny');
  const stood = await page.locator('.card').boundingBox();
  await note('~/agent.policy', 'unknown keyword `alow` <b>x</b>');
  const notices = page.getByRole('complementary', { name: 'Policies with errors' });
  await notices.waitFor();
  const told = await notices.textContent();
  for (const part of ['agent.policy:7', '~/agent.policy', 'unknown keyword `alow` <b>x</b>', 'write `allow`', 'policy::parse::unknown-keyword', 'holds until', 'one more error']) {
    assert.ok(told.includes(part), `${part}: ${told}`);
  }
  assert.match(await page.locator('#news').textContent(), /A policy has an error/);
  assert.deepEqual(await page.locator('.card').boundingBox(), stood);
  await note('~/agent.policy');
  await notices.waitFor({ state: 'hidden' });
  await note('the server `github`', 'its tool `<b>x</b>` is new or has changed and is withheld');
  await notices.waitFor();
  const changed = await notices.textContent();
  for (const part of ['Changed: the server `github`', 'its tool `<b>x</b>` is new', 'policy pins show NAME']) {
    assert.ok(changed.includes(part), `${part}: ${changed}`);
  }
  assert.ok(!changed.includes('cannot be used'), changed);
  assert.match(await page.locator('#news').textContent(), /A server has changed/);
  assert.deepEqual(await page.locator('.card').boundingBox(), stood);
  await note('the server `github`');
  await notices.waitFor({ state: 'hidden' });
  assert.deepEqual(await page.locator('.card').boundingBox(), stood);
  await armed(page, 'Deny');
  await button(page, 'Deny').click();
  assert.equal(await answer, 'denied');
  assert.deepEqual(page.wrong, []);
}));

test('fifty questions of fifty sessions', () => machine(async ({ ask, open }) => {
  const page = await open();
  const answers = [];
  for (let n = 0; n < 50; n += 1) answers.push(ask(`s${n}`, 'bash', { command: `echo ${n}` }, 600));
  await page.waitForFunction(() => document.title.startsWith('(50)'), null, { timeout: 60000 });
  assert.equal(await page.locator('.card').count(), 50);
  const at = await page.evaluate(() => [...document.querySelectorAll('.card')].findIndex(card => card.textContent.includes('"echo 49"')));
  await armed(page, 'Approve once', at);
  await button(page, 'Approve once', at).click();
  assert.equal(await answers[49], 'approved once');
  await page.waitForFunction(() => document.title.startsWith('(49)'));
  // One more comes to the end while the others wait.
  const last = ask('t', 'bash', { command: 'more' }, 600);
  await page.waitForFunction(() => document.title.startsWith('(50)'));
  await armed(page, 'Deny', 50);
  await button(page, 'Deny', 50).click();
  assert.equal(await last, 'denied');
  assert.deepEqual(page.wrong, []);
}));

test('nearly two megabytes of hostile arguments are shown whole', () => machine(async ({ ask, home, open }) => {
  const page = await open();
  const file = join(home, 'large.json');
  writeFileSync(file, JSON.stringify({ a: '\u202eab\u200b<b>'.repeat(170_000) + 'the end', b: '\u0000\u001b[31m' }));
  void ask('s', 'bash', `@${file}`, 600);
  await page.waitForSelector('.card', { timeout: 60000 });
  const text = await page.locator('.card pre').last().textContent();
  assert.ok(text.includes('the end') && text.split('⟨U+202E⟩').length === 170_001 && !/[\u202e\u200b\u0000\u001b]/.test(text));
  assert.ok(await page.evaluate(() => document.querySelectorAll('*').length) < 20_000);
  await armed(page, 'Deny');
  await button(page, 'Deny').click();
  await page.getByText('Denied.').waitFor();
  assert.deepEqual(page.wrong, []);
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
