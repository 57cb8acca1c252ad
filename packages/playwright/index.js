// One line in a test: `import { expect, test } from 'anyorder-playwright';`
import { expect, test as base } from '@playwright/test';
import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Recorder, follow } from './record.js';

export { expect };

/** Where the steps and the results go. */
const FOLDER = process.env.ANYORDER_FOLDER || 'anyorder-results';

/** Returns what anyorder says about the steps of a test: its status and its text. */
function check(recorder, actions, folder) {
  const program = process.env.ANYORDER || 'anyorder';
  const more = (process.env.ANYORDER_OPTIONS || '--budget 0s').split(' ').filter(Boolean);
  const values = ['check', recorder.url, '--actions', actions, '--report', folder, ...more];
  return new Promise((done) => {
    const child = spawn(program, values, { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part) => { text += part; });
    }
    child.on('error', (error) => done({ status: 2, text: `cannot start ${program}: ${error.message}` }));
    child.on('close', (status) => done({ status, text }));
  });
}

/**
 * The `test` of Playwright, with a page whose steps are recorded. With ANYORDER=program or
 * ANYORDER_CHECK=1, anyorder checks them when the test has passed, and the test fails if another order
 * of the page's events ends differently.
 */
export const test = base.extend({
  page: async ({ page }, use, info) => {
    const recorder = new Recorder();
    const stop = follow(page, recorder);
    await use(page);
    stop();
    if (recorder.url === null || info.status !== 'passed') return;
    const name = info.titlePath.slice(1).join(' ').replace(/[^\w-]+/g, '-').slice(0, 80) || 'test';
    const folder = join(FOLDER, `${name}-${info.testId}`);
    await mkdir(folder, { recursive: true });
    const actions = join(folder, 'actions.json');
    await writeFile(actions, recorder.text());
    for (const lost of recorder.lost) {
      info.annotations.push({ type: 'anyorder', description: `no step can say: ${lost}` });
    }
    if (!process.env.ANYORDER && !process.env.ANYORDER_CHECK) return;
    // A check makes many runs of the page; the time of the test is for one.
    info.setTimeout(info.timeout + Number(process.env.ANYORDER_TIME || 600000));
    const { status, text } = await check(recorder, actions, folder);
    await info.attach('anyorder', { body: text, contentType: 'text/plain' });
    if (status === 1) throw new Error(`another order of the page's events ends differently\n${text}`);
    if (status === 2 || status === 70) throw new Error(`anyorder could not check the page\n${text}`);
    if (status === 3) info.annotations.push({ type: 'anyorder', description: 'a limit ended the check' });
  },
});
