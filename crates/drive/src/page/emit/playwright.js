// A page of Playwright as the driver.
class Driver {
  errors = {};
  console = {};
  constructor(page) { this.page = page; }
  async open(script, onRequest) {
    const { page } = this;
    const count = (map, text) => { map[text] = (map[text] || 0) + 1; };
    page.on('pageerror', (error) => count(this.errors, String(error).split('\n')[0]));
    page.on('console', (message) => message.type() === 'error' && count(this.console, message.text()));
    page.on('dialog', (dialog) => dialog.accept().catch(() => {}));
    await page.addInitScript(script);
    await page.route('**/*', (route, request) => new Promise((done) => {
      const gone = (made) => { this.last = request; return made.catch(() => {}).then(done); };
      onRequest({
        kind: request.resourceType(), method: request.method(), url: request.url(), body: request.postData() || '',
        respond: (reply) => gone(route.fulfill({
          status: reply.status, body: bytesOf(reply),
          headers: Object.fromEntries((reply.headers || [['Content-Type', 'text/plain'], ['Access-Control-Allow-Origin', '*']])
            .filter(([name]) => !/^(content-length|content-encoding|transfer-encoding)$/i.test(name))),
        })),
        fail: () => gone(route.abort('connectionfailed')),
        pass: () => gone(route.continue()),
      });
    }));
  }
  async start(url) {
    this.committed = this.page.goto(url, { waitUntil: 'commit' });
    this.committed.catch(() => {});
  }
  pause() { return new Promise((done) => setTimeout(done, 5)); }
  async arrived(isDocument) {
    if (isDocument) await this.committed;
    const over = this.last.response().then((response) => response && response.finished()).catch(() => {});
    await Promise.race([over, new Promise((done) => setTimeout(done, 2000))]);
  }
  evaluate(expression) { return this.page.evaluate(expression); }
  move({ x, y }) { return this.page.mouse.move(x, y); }
  click({ x, y }) { return this.page.mouse.click(x, y); }
  key(name) { return name.length === 1 && name !== '\n' ? this.page.keyboard.type(name) : this.page.keyboard.press(name === '\n' ? 'Enter' : name); }
}

async function ends(browser, order) {
  const [width, height] = DATA.size;
  const context = await browser.newContext({ viewport: { width, height }, serviceWorkers: 'block' });
  try { return await runOrder(new Driver(await context.newPage()), order); } finally { await context.close(); }
}

test(DATA.title, async ({ browser }) => {
  const usual = await ends(browser, DATA.orders[0]);
  const other = await ends(browser, DATA.orders[1]);
  expect(differences(usual, other), 'both orders end alike').toEqual([]);
});
