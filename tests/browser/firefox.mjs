// A Firefox as it is installed, driven through WebDriver BiDi, which it speaks itself.
//
// INVARIANT: only what a person could do: addresses, the pointer and keys; scripts of ours only look.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './machine.mjs';

/** Starts it with a profile of its own. */
export async function firefox(program) {
  const profile = mkdtempSync(join(tmpdir(), 'policy-firefox-'));
  const child = spawn(program, ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', text => { said += text; });
  const address = await until('Firefox', () => said.match(/WebDriver BiDi listening on (ws:\S+)/)?.[1]);
  const socket = new WebSocket(address + '/session');
  await new Promise((done, failed) => { socket.onopen = done; socket.onerror = () => failed(new Error('no session')); });
  const waiting = new Map();
  let last = 0;
  socket.onmessage = event => {
    const told = JSON.parse(event.data);
    const [done, failed] = waiting.get(told.id) ?? [];
    waiting.delete(told.id);
    if (told.type === 'error') failed?.(new Error(told.message)); else done?.(told.result);
  };
  const send = (method, params) => new Promise((done, failed) => {
    waiting.set(last += 1, [done, failed]);
    socket.send(JSON.stringify({ id: last, method, params }));
  });
  await send('session.new', { capabilities: {} });
  // The first window begins without the focus, which the page asks for.
  const { context } = await send('browsingContext.create', { type: 'window' });
  const look = async expression => {
    const told = await send('script.evaluate', { expression, target: { context }, awaitPromise: true });
    if (told.type === 'exception') throw new Error(told.exceptionDetails.text);
    return told.result.value;
  };
  const pointer = actions => send('input.performActions', { context, actions: [{ type: 'pointer', id: 'mouse', actions }] });
  return {
    look,
    size: (width, height) => send('browsingContext.setViewport', { context, viewport: { width, height } }),
    open: url => send('browsingContext.navigate', { context, url, wait: 'complete' }),
    /** Clicks in the middle of the last element of this kind. */
    click: async selector => {
      const [x, y] = (await look(`(() => { const all = document.querySelectorAll(${JSON.stringify(selector)}); const box = all[all.length - 1].getBoundingClientRect();
        return Math.round(box.x + box.width / 2) + ' ' + Math.round(box.y + box.height / 2); })()`)).split(' ').map(Number);
      await pointer([{ type: 'pointerMove', x, y }, { type: 'pointerDown', button: 0 }, { type: 'pointerUp', button: 0 }]);
    },
    press: value => send('input.performActions', { context, actions: [{ type: 'key', id: 'keys', actions: [{ type: 'keyDown', value }, { type: 'keyUp', value }] }] }),
    picture: async () => Buffer.from((await send('browsingContext.captureScreenshot', { context, origin: 'document' })).data, 'base64'),
    close: async () => {
      await send('browser.close', {}).catch(() => {});
      const gone = child.exitCode !== null || new Promise(done => child.once('exit', done));
      setTimeout(() => child.kill('SIGKILL'), 5000).unref();
      await gone;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
