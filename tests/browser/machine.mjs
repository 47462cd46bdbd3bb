// A home of its own for a test in a browser: the server of the page, calls that ask, notices.
//
// INVARIANT: nothing of the user's is read or written, and nothing that was started is left behind.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
export const policy = join(target, 'debug', 'policy');
const asker = join(target, 'debug', 'examples', 'ask');
const noticer = join(target, 'debug', 'examples', 'notice');
const env = { PATH: process.env.PATH };

/** Fails with the name of what has to be built or installed first. */
export function missing(program) {
  for (const file of [policy, asker, noticer, program]) assert.ok(existsSync(file), `${file} is missing`);
}

export const wait = time => new Promise(done => setTimeout(done, time));
export async function until(what, look) {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = await look();
    if (found) return found;
    await wait(50);
  }
  throw new Error(`waited in vain for ${what}`);
}

/** A home with a server, and the means to ask and to find the address of the page. */
export async function home(run) {
  const home = mkdtempSync(join(tmpdir(), 'policy-page-'));
  const folder = join(home, '.local/state/policy/approvals');
  const server = spawn(policy, ['approvals', 'serve', '--home', home], { stdio: 'ignore', env });
  const started = [];
  const tell = (program, words) => new Promise(done => {
    started.push(execFile(program, words, { env, maxBuffer: 1 << 26 }, (error, out, err) => done(out.trim() || err.trim() || (error ? String(error) : ''))));
  });
  try {
    const port = await until('the server', () => existsSync(join(folder, 'page.port')) && readFileSync(join(folder, 'page.port'), 'utf8').trim());
    const ask = (session, tool, given, seconds = 60, ...files) =>
      tell(asker, [home, session, tool, typeof given === 'string' ? given : JSON.stringify(given), String(seconds), ...files]);
    const note = (file, ...message) => tell(noticer, [home, file, ...message]).then(said => assert.equal(said, ''));
    /** The address with its code, out of the file that `policy approvals` writes. */
    const address = async () => {
      started.push(spawn(policy, ['approvals', '--home', home], { stdio: 'ignore', env }));
      const name = await until('the file', () => readdirSync(folder).find(name => /^open-.*\.html$/.test(name)));
      const file = join(folder, name);
      return { file, url: await until('the address', () => readFileSync(file, 'utf8').match(/url=([^"]+)"/)?.[1]) };
    };
    /** One who asks about payments under a policy, over HTTP. */
    const payer = async text => {
      const file = join(home, 'pay.policy');
      writeFileSync(file, text, { mode: 0o600 });
      const api = spawn(policy, ['serve', '--port', '0', '--policy', file, '--home', home], { stdio: ['ignore', 'pipe', 'ignore'], env, cwd: home });
      started.push(api);
      let said = '';
      api.stdout.on('data', data => { said += data; });
      const base = await until('the address of the API', () => said.match(/http:[^;\s]+/)?.[0]);
      const token = readFileSync(join(home, '.local/state/policy/serve/token'), 'utf8').trim();
      const send = async (path, body) => {
        const reply = await fetch(base + path, { method: body ? 'POST' : 'GET', headers: { authorization: 'Bearer ' + token }, body: body && JSON.stringify(body) });
        return reply.json();
      };
      return {
        pay: body => send('/api/v1/decisions', body),
        read: body => send('/api/v1/context', body),
        decision: id => send('/api/v1/decisions/' + id),
      };
    };
    /** A question with the address that a client would show; the page of it sees that question alone. */
    const linked = async (tool, given) => {
      const child = spawn(asker, [home, 's', tool, JSON.stringify(given), 'link 60'], { stdio: ['ignore', 'pipe', 'inherit'], env });
      started.push(child);
      let said = '';
      child.stdout.on('data', data => { said += data; });
      const path = await until('the address', () => said.match(/^\/open\/\S+/)?.[0]);
      return { url: `http://127.0.0.1:${port}${path}`, answer: () => until('the answer', () => said.split('\n')[1]?.trim()) };
    };
    /** What others of this user can read of our processes, and what lies in the folder besides the file that opens the page. */
    const traces = () => [
      ...[server, ...started].filter(child => child.exitCode === null).flatMap(child => ['cmdline', 'environ'].map(name => `/proc/${child.pid}/${name}`)),
      ...readdirSync(folder).filter(name => !name.startsWith('open-')).map(name => join(folder, name)),
    ].filter(file => existsSync(file)).map(file => readFileSync(file, 'latin1'));
    await run({ home, port, ask, note, address, traces, payer, linked, origin: `http://127.0.0.1:${port}` });
  } finally {
    for (const child of started) child.kill();
    server.kill();
    await wait(50);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}
