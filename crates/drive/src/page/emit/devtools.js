// A browser over a pipe, with nothing but Node.
class Browser {
  errors = {};
  console = {};
  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), 'order-'));
    const more = (process.env.BROWSER_ARGUMENTS || '').split(' ').filter(Boolean);
    this.child = spawn(program, ['--headless', '--remote-debugging-pipe', '--no-first-run',
      '--disable-gpu', '--hide-scrollbars', '--disable-extensions', '--disable-dev-shm-usage',
      '--disable-background-networking', '--blink-settings=doHtmlPreloadScanning=false',
      '--disable-features=LazyImageLoading,HttpsUpgrades,PaintHolding', ...more,
      ...(process.getuid && process.getuid() === 0 ? ['--no-sandbox'] : []),
      `--user-data-dir=${this.profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.ended = new Promise((done) => { this.child.on('exit', done); this.child.on('error', done); });
    this.child.on('error', (error) => { console.error(`cannot start ${program}: ${error.message}`); process.exit(2); });
    this.last = 0;
    this.waiting = new Map();
    this.finished = new Set();
    let rest = '';
    this.child.stdio[4].setEncoding('utf8').on('data', (text) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop();
      messages.forEach((one) => this.take(JSON.parse(one)));
    });
  }
  take(message) {
    const waits = this.waiting.get(message.id);
    if (waits) {
      this.waiting.delete(message.id);
      if (message.error) waits.refuse(new Error(message.error.message));
      else waits.done(message.result);
    } else if (message.method === 'Fetch.requestPaused') this.paused(message.params);
    else if (/^Network\.loading(Finished|Failed)$/.test(message.method)) this.finished.add(message.params.requestId);
    else if (message.method === 'Page.frameNavigated') this.committed = true;
    else if (message.method === 'Runtime.exceptionThrown') {
      const details = message.params.exceptionDetails;
      const text = String((details.exception || {}).description || details.text).split('\n')[0];
      this.errors[text] = (this.errors[text] || 0) + 1;
    } else if (message.method === 'Runtime.consoleAPICalled' && message.params.type === 'error') {
      const text = message.params.args.map((one) => String(one.value ?? one.description)).join(' ');
      this.console[text] = (this.console[text] || 0) + 1;
    } else if (message.method === 'Page.javascriptDialogOpening') {
      this.send('Page.handleJavaScriptDialog', { accept: true }).catch(() => {});
    }
  }
  send(method, params = {}, session = this.session) {
    const id = ++this.last;
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId: session }) + '\0');
    return new Promise((done, refuse) => this.waiting.set(id, { done, refuse }));
  }
  paused({ requestId, networkId, request, resourceType }) {
    if (!/^https?:/.test(request.url)) return void this.send('Fetch.continueRequest', { requestId });
    this.onRequest({
      kind: resourceType.toLowerCase(), method: request.method, url: request.url, body: request.postData || '',
      respond: (reply) => {
        this.network = networkId;
        return this.send('Fetch.fulfillRequest', {
          requestId, responseCode: reply.status, body: bytesOf(reply).toString('base64'),
          responseHeaders: (reply.headers || [['Content-Type', 'text/plain'], ['Access-Control-Allow-Origin', '*']])
            .filter(([name]) => !/^(content-length|content-encoding|transfer-encoding)$/i.test(name))
            .map(([name, value]) => ({ name, value })),
        });
      },
      fail: () => { this.network = networkId; return this.send('Fetch.failRequest', { requestId, errorReason: 'ConnectionFailed' }); },
      pass: () => { this.network = networkId; return this.send('Fetch.continueRequest', { requestId }); },
    });
  }
  async open(script, onRequest) {
    this.onRequest = onRequest;
    const { targetInfos } = await this.send('Target.getTargets', {}, undefined);
    const { targetId } = targetInfos.find((one) => one.type === 'page');
    this.session = (await this.send('Target.attachToTarget', { targetId, flatten: true }, undefined)).sessionId;
    const [width, height] = DATA.size;
    const commands = [
      ['Page.enable'], ['Network.enable'], ['Network.setCacheDisabled', { cacheDisabled: true }],
      ['Network.setBypassServiceWorker', { bypass: true }], ['Emulation.setFocusEmulationEnabled', { enabled: true }],
      ['Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false }],
      ['Page.addScriptToEvaluateOnNewDocument', { source: script }],
      ['Fetch.enable', { patterns: [{ urlPattern: '*' }] }], ['Runtime.enable'],
    ];
    for (const [method, params] of commands) await this.send(method, params);
  }
  async start(url) {
    this.committed = false;
    this.send('Page.navigate', { url }).catch(() => {});
  }
  pause() { return new Promise((done) => setTimeout(done, 5)); }
  // Waits until the page has taken in the last response.
  async arrived(isDocument) {
    for (let waited = 0; waited < 400; waited++) {
      if (this.finished.has(this.network) && (!isDocument || this.committed)) return;
      await this.pause();
    }
  }
  async evaluate(expression) {
    const reply = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (reply.exceptionDetails) throw new Error((reply.exceptionDetails.exception || {}).description || reply.exceptionDetails.text);
    return reply.result.value;
  }
  mouse(type, { x, y }, buttons) {
    const none = type === 'mouseMoved';
    return this.send('Input.dispatchMouseEvent', { type, x, y, buttons, button: none ? 'none' : 'left', clickCount: none ? 0 : 1 });
  }
  move(spot) { return this.mouse('mouseMoved', spot, 0); }
  async click(spot) {
    await this.move(spot);
    await this.mouse('mousePressed', spot, 1);
    await this.mouse('mouseReleased', spot, 0);
  }
  async key(name) {
    const words = name.length > 1 ? name.split('+') : [name];
    const key = words.pop() || '+';
    const bits = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };
    const modifiers = words.reduce((all, one) => all | bits[one], 0);
    const codes = { Enter: 13, Tab: 9, Escape: 27, Backspace: 8, Delete: 46, Home: 36, End: 35,
      PageUp: 33, PageDown: 34, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Space: 32 };
    const enter = key === '\n' || key === 'Enter';
    const text = modifiers & 7 ? '' : enter ? '\r' : key === 'Space' ? ' ' : key.length === 1 ? key : '';
    const one = { key: enter ? 'Enter' : key === 'Space' ? ' ' : key, code: key.length === 1 && /[a-z]/i.test(key) ? 'Key' + key.toUpperCase() : key,
      modifiers, windowsVirtualKeyCode: enter ? 13 : codes[key] || key.toUpperCase().charCodeAt(0) };
    await this.send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', ...one, ...(text ? { text, unmodifiedText: text } : {}) });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...one });
  }
  async close() {
    this.child.kill('SIGKILL');
    await this.ended;
    // Processes of the browser that are still dying may write into it.
    for (let attempt = 0; attempt < 50; attempt++) {
      try {
        rmSync(this.profile, { recursive: true, force: true });
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
}

function program() {
  if (process.env.BROWSER) return process.env.BROWSER;
  const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
  const places = (process.env.PATH || '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  places.push('/Applications/Google Chrome.app/Contents/MacOS/Google Chrome');
  return places.find((place) => existsSync(place)) || 'chromium';
}

async function ends(order) {
  const browser = new Browser(program());
  const slow = setTimeout(() => { console.error('the page does not end its events'); browser.child.kill('SIGKILL'); process.exit(2); }, 120000);
  try { return await runOrder(browser, order); } finally { clearTimeout(slow); await browser.close(); }
}

const usual = await ends(DATA.orders[0]);
const other = await ends(DATA.orders[1]);
const found = differences(usual, other);
if (other.skipped.length > 0) console.log(`not there any more: ${other.skipped.join(', ')}`);
if (found.length > 0) {
  console.log(`FAIL: ${DATA.title}`);
  console.log('in the other order, the page ends with');
  for (const line of found) console.log(`  ${line}`);
  process.exit(1);
}
console.log('PASS: both orders end alike');
