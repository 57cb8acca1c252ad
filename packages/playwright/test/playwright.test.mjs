// Runs Playwright itself on a page with a mistake, and anyorder after it. Skipped, with a word, where
// Playwright, a Chromium or anyorder is missing.
//
// PLAYWRIGHT_MODULES is a folder with `node_modules/@playwright/test`; ANYORDER_PROGRAM the program.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const package_folder = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(process.env.PLAYWRIGHT_MODULES || package_folder, 'node_modules');
const program = process.env.ANYORDER_PROGRAM;
const browser = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path));
const missing = !existsSync(join(modules, '@playwright/test')) ? 'Playwright is not installed'
  : !browser ? 'there is no Chromium' : !program ? 'ANYORDER_PROGRAM is not set' : null;

const page = (guarded) => `<!DOCTYPE html><title>Search</title><input id="query"><p id="results"></p><script>
let last = 0;
document.getElementById('query').oninput = async (event) => {
  const own = ++last;
  const text = await (await fetch('search?q=' + event.target.value)).text();
  ${guarded ? 'if (own === last)' : ''} document.getElementById('results').textContent = text;
};
</script>`;

function run(command, values, options) {
  return new Promise((done) => {
    const child = spawn(command, values, options);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => { text += part; });
    child.on('close', (status) => done({ status, text }));
  });
}

test('a test that passes fails when another order ends differently', { skip: missing || false }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'anyorder-playwright-'));
  const server = createServer((request, response) => {
    const words = { '/search?q=a': 'apple, avocado', '/search?q=ab': 'abacus' };
    const found = words[request.url];
    response.setHeader('Content-Type', found ? 'text/plain' : 'text/html');
    response.end(found || page(request.url === '/guarded'));
  });
  try {
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const address = `http://127.0.0.1:${server.address().port}`;
    mkdirSync(join(folder, 'node_modules/anyorder-playwright'), { recursive: true });
    for (const name of readdirSync(modules).filter((name) => !name.startsWith('.'))) {
      symlinkSync(join(modules, name), join(folder, 'node_modules', name));
    }
    for (const name of ['index.js', 'record.js', 'package.json']) {
      cpSync(join(package_folder, name), join(folder, 'node_modules/anyorder-playwright', name));
    }
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    writeFileSync(join(folder, 'playwright.config.js'), `export default {
      timeout: 120000, workers: 1, use: { launchOptions: { executablePath: '${browser}', args: ['--no-sandbox'] } } };`);
    const text = (path) => `import { expect, test } from 'anyorder-playwright';
      test('search', async ({ page }) => {
        await page.goto('${address}${path}');
        await page.locator('#query').pressSequentially('ab');
        await expect(page.locator('#results')).toHaveText('abacus');
      });`;
    for (const [path, expected] of [['/', 1], ['/guarded', 0]]) {
      writeFileSync(join(folder, 'search.spec.js'), text(path));
      rmSync(join(folder, 'anyorder-results'), { recursive: true, force: true });
      const cli = join(folder, 'node_modules/@playwright/test/cli.js');
      const env = { ...process.env, ANYORDER: program };
      const ran = await run(process.execPath, [cli, 'test', '--reporter=list'], { cwd: folder, env });
      assert.equal(ran.status, expected, `${path}: ${ran.text}`);
      if (expected === 1) assert.match(ran.text, /another order of the page's events ends differently/);
      const [name] = readdirSync(join(folder, 'anyorder-results'));
      const steps = JSON.parse(readFileSync(join(folder, 'anyorder-results', name, 'actions.json'), 'utf8'));
      assert.deepEqual(steps, { steps: [{ type: { into: '#query', text: 'ab' } }] });
      assert.ok(existsSync(join(folder, 'anyorder-results', name, 'index.html')));
    }
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
