// Runs a page in one order of its events. A driver gives it a browser.
//
// Every request waits until its event is next; timers wait in a queue in the page. After each event
// the page does all that it can. So the order below is what happens, however fast the machine is. An
// event that the page does not have any more is skipped; what is left comes at the end.

// Runs in the page before its scripts.
function inPage(epoch) {
  const W = window;
  const { setTimeout, Promise, Date, Error, fetch, requestAnimationFrame } = W;
  const ask = fetch.bind(W), later = setTimeout.bind(W), draw = requestAnimationFrame.bind(W);
  let now = 0, creator = [['load', '', 0]], last = 0;
  const queue = new Map(), counts = new Map();
  const number = (path, kind, label) => {
    const key = JSON.stringify([path, kind, label]);
    const count = counts.get(key) || 0;
    counts.set(key, count + 1);
    return [...path, [kind, label, count]];
  };
  const place = () => {
    for (const line of String(new Error().stack).split('\n').slice(1)) {
      const found = /\(?([^\s()]+):(\d+):\d+\)?$/.exec(line);
      if (!found || !/^https?:/.test(found[1])) continue;
      const file = found[1].split(/[?#]/)[0];
      return (file.slice(file.lastIndexOf('/') + 1) || '(page)') + ':' + found[2];
    }
    return '';
  };
  const add = (kind, run, delay, repeats) => {
    const id = ++last, label = place(), due = now + delay;
    queue.set(id, { path: number(creator, kind, label), kind, label, run, due, delay, repeats });
    return id;
  };
  const delayOf = (delay) => (Number(delay) > 0 ? Math.trunc(Number(delay)) : 0);
  const callable = (run) => (typeof run === 'function' ? run : () => (0, eval)(String(run)));
  W.setTimeout = (run, delay, ...values) =>
    add('timeout', () => callable(run).apply(W, values), delayOf(delay));
  W.setInterval = (run, delay, ...values) =>
    add('interval', () => callable(run).apply(W, values), Math.max(1, delayOf(delay)), true);
  W.requestAnimationFrame = (run) => add('frame', () => run.call(W, now), 16);
  W.requestIdleCallback = (run) =>
    add('idle', () => run.call(W, { didTimeout: false, timeRemaining: () => 50 }), 0);
  for (const name of ['clearTimeout', 'clearInterval', 'cancelAnimationFrame', 'cancelIdleCallback']) {
    W[name] = (id) => void queue.delete(Number(id));
  }
  W.Date = new Proxy(Date, {
    construct: (target, values, made) =>
      Reflect.construct(target, values.length ? values : [epoch + now], made === W.Date ? target : made),
    apply: () => new Date(epoch + now).toString(),
  });
  Date.now = () => epoch + now;
  W.Performance.prototype.now = () => now;
  const select = (kind, text) => {
    const all = (selector) => Array.from(W.document.querySelectorAll(selector));
    const words = (one) => (one.innerText || one.textContent || one.value ||
      one.getAttribute('aria-label') || '').replace(/\s+/g, ' ').trim();
    if (kind === 'css') { try { return all(text); } catch { return []; } }
    if (kind === 'text') {
      const having = all('body *').filter((one) => words(one) === text || one.value === text);
      return having.filter((one) => !having.some((other) => other !== one && one.contains(other)));
    }
    const [role, name] = text.split(/:(.*)/s);
    const implied = {
      button: 'button,input[type=button],input[type=submit],input[type=reset],summary',
      link: 'a[href],area[href]',
      textbox: 'input:not([type]),input[type=text],input[type=search],input[type=email],textarea',
      checkbox: 'input[type=checkbox]', radio: 'input[type=radio]', combobox: 'select',
      option: 'option', heading: 'h1,h2,h3,h4,h5,h6', listitem: 'li', img: 'img',
    }[role];
    const label = (one) => one.getAttribute('aria-label') ||
      (one.labels && one.labels[0] && words(one.labels[0])) || words(one) || one.placeholder || '';
    const having = all(`[role="${role.replace(/[^a-z]/g, '')}"]` + (implied ? ',' + implied : ''));
    return name === undefined ? having : having.filter((one) => label(one) === name);
  };
  const pathTo = (node) => {
    const steps = [];
    for (let at = node; at && at.nodeType === 1; at = at.parentNode) {
      if (at.id) { steps.unshift('#' + at.id); break; }
      const same = at.parentNode
        ? Array.from(at.parentNode.childNodes).filter((one) => one.nodeName === at.nodeName) : [at];
      const place = same.length > 1 ? '[' + (same.indexOf(at) + 1) + ']' : '';
      steps.unshift(at.tagName.toLowerCase() + place);
    }
    return steps.join('/');
  };
  const stored = (name) => {
    try { return { ...W[name] }; } catch { return {}; }
  };
  Object.defineProperty(W, '__order', { value: {
    begin(path) { creator = path; },
    // Runs a timer: the one of this name, or else the first of its kind.
    fire(path) {
      const waiting = [...queue.entries()];
      const wanted = JSON.stringify(path), kind = path && path[path.length - 1][0];
      const found = path === null ? waiting.sort((a, b) => a[1].due - b[1].due)[0]
        : waiting.find(([, one]) => JSON.stringify(one.path) === wanted)
          || waiting.find(([, one]) => one.kind === kind);
      if (!found) return false;
      const [id, one] = found;
      queue.delete(id);
      now = Math.max(now, one.due);
      creator = one.path;
      if (one.repeats && one.path.filter(([kind]) => kind === 'interval').length < 4) {
        queue.set(id, { ...one, path: number(one.path, one.kind, one.label), due: now + one.delay });
      }
      try { one.run(); } catch (error) { reportError(error); }
      return true;
    },
    async settle() {
      for (let round = 0; round < 3; round++) await new Promise((done) => later(done, 0));
      // Pictures stand still in a window that nobody sees.
      await new Promise((done) => { draw(() => draw(done)); later(done, 100); });
      try { await ask('/__anyorder/barrier', { cache: 'no-store' }); } catch { /* as good */ }
      await new Promise((done) => later(done, 0));
    },
    locate({ kind, text, nth, visible }) {
      const element = select(kind, text)[nth];
      if (!element) return null;
      element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
      const box = element.getBoundingClientRect();
      const shown = box.width > 0 && box.height > 0 &&
        getComputedStyle(element).visibility === 'visible';
      if (visible && !shown) return null;
      return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    },
    focus({ kind, text, nth }) {
      const element = select(kind, text)[nth];
      if (element && element !== W.document.activeElement) element.focus();
      return Boolean(element);
    },
    observe() {
      const fields = {};
      for (const one of W.document.querySelectorAll('input,textarea,select')) {
        const checked = one.type === 'checkbox' || one.type === 'radio';
        fields[pathTo(one)] = String(checked ? one.checked : one.value);
      }
      return {
        page: {
          text: W.document.body ? W.document.body.innerText : '', title: W.document.title,
          url: W.location.href, html: W.document.documentElement.outerHTML,
        },
        fields, local: stored('localStorage'), session: stored('sessionStorage'),
      };
    },
  } });
}

const KINDS = {
  document: 'frame_document', stylesheet: 'style', image: 'image', media: 'media', font: 'font',
  script: 'script', xhr: 'fetch', fetch: 'fetch', eventsource: 'fetch', ping: 'beacon',
};
const TIMERS = ['timeout', 'interval', 'frame', 'idle'];

// Runs one order, and returns what the page shows and sends at its end.
async function runOrder(driver, order) {
  const origin = new URL(DATA.url).origin;
  let current = [['load', '', 0]], loaded = false;
  const held = [], counts = new Map(), requests = {}, skipped = [];
  await driver.open(`(${inPage})(${DATA.epoch})`, (request) => {
    const url = new URL(request.url);
    const path = url.pathname + url.search;
    if (url.pathname === '/__anyorder/barrier') return void request.respond({ status: 204 });
    if (url.pathname === '/favicon.ico') return void request.respond({ status: 404 });
    const line = `${request.method} ${request.url}${request.body ? ' ' + request.body : ''}`;
    requests[line] = (requests[line] || 0) + 1;
    const kind = loaded || request.kind !== 'document' ? KINDS[request.kind] || 'request' : 'load';
    const shown = url.origin === origin ? path : request.url;
    const label = kind === 'load' ? '' : request.method === 'GET' ? shown : `${request.method} ${shown}`;
    const key = JSON.stringify([current, kind, label]);
    const count = counts.get(key) || 0;
    counts.set(key, count + 1);
    const name = kind === 'load' ? [['load', '', 0]] : [...current, [kind, label, count]];
    held.push({ request, kind, label, name });
  });
  const settle = () => driver.evaluate('__order.settle()');
  const release = async (at, alternative) => {
    const [{ request, kind, name }] = held.splice(at, 1);
    current = name;
    if (loaded) await driver.evaluate(`__order.begin(${JSON.stringify(name)})`);
    const arrived = alternative ? request.fail() : answer(request, kind);
    await arrived;
    if (kind === 'load') loaded = true;
    await driver.arrived(kind === 'load');
  };
  const take = async (step) => {
    const target = step.target && JSON.stringify(step.target);
    const spot = target && await driver.evaluate(`__order.locate(${target})`);
    if (target && !spot) return false;
    switch (step.do) {
      case 'click': await driver.click(spot); break;
      case 'hover': await driver.move(spot); break;
      case 'type':
        await driver.evaluate(`__order.focus(${target})`);
        for (const character of step.text) await driver.key(character);
        break;
      case 'press': await driver.key(step.text); break;
      case 'scroll': await driver.evaluate(`scrollBy(${step.by[0]}, ${step.by[1]})`); break;
      case 'navigate': await driver.evaluate(`void location.assign(${JSON.stringify(step.text)})`); break;
      default: break;
    }
    return true;
  };
  await driver.start(DATA.url);
  while (held.length === 0) await driver.pause();
  for (const { path, alternative } of order) {
    const [kind, label] = path[path.length - 1];
    const wanted = JSON.stringify(path);
    const step = DATA.steps.find((one) => JSON.stringify(one.path) === wanted);
    let done;
    if (step) {
      current = path;
      await driver.evaluate(`__order.begin(${wanted})`);
      done = await take(step);
    } else if (TIMERS.includes(kind)) {
      current = path;
      done = await driver.evaluate(`__order.fire(${wanted})`);
    } else {
      let at = held.findIndex((one) => JSON.stringify(one.name) === wanted);
      if (at < 0) at = held.findIndex((one) => one.kind === kind && one.label === label);
      done = at >= 0;
      if (done) await release(at, alternative);
    }
    if (!done) skipped.push(`${kind} ${label}`.trim());
    await settle();
  }
  for (let round = 0; round < 200; round++) {
    if (held.length > 0) await release(0, 0);
    else if (!await driver.evaluate('__order.fire(null)')) break;
    await settle();
  }
  const seen = await driver.evaluate('__order.observe()');
  return { ...seen, requests, errors: driver.errors, console: driver.console, skipped };
}

// Answers a request: data with the response that was recorded; all else from the site.
async function answer(request, kind) {
  const isData = kind === 'fetch' || kind === 'beacon' || kind === 'request';
  const same = (one) => one.method === request.method && one.url === request.url;
  const recorded = DATA.replies.find(same);
  if (isData && recorded) return request.respond(recorded);
  if (!SITE) return request.pass();
  if (request.method === 'GET') {
    const url = new URL(request.url);
    let file = resolve(SITE, '.' + decodeURIComponent(url.pathname));
    if (url.pathname.endsWith('/')) file = resolve(file, 'index.html');
    if (url.origin === new URL(DATA.url).origin && file.startsWith(resolve(SITE)) && existsSync(file)) {
      const type = TYPES[extname(file)] || 'application/octet-stream';
      return request.respond({ status: 200, headers: [['Content-Type', type]], bytes: readFileSync(file) });
    }
  }
  return request.respond(recorded || { status: 404, body: 'not found' });
}
const TYPES = {
  '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css',
  '.json': 'application/json', '.svg': 'image/svg+xml', '.png': 'image/png', '.jpg': 'image/jpeg',
  '.txt': 'text/plain', '.woff2': 'font/woff2', '.gif': 'image/gif', '.webp': 'image/webp',
};
const bytesOf = (reply) => reply.bytes || (reply.base64 ? Buffer.from(reply.base64, 'base64')
  : Buffer.from(reply.body || '', 'utf8'));

// Returns in what the two ends differ, of what the finding is about.
function differences(before, after) {
  const of = (seen, [group, name]) => (seen[group] || {})[name];
  const shown = (value) => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 300));
  const found = DATA.parts.filter((part) => of(before, part) !== of(after, part));
  return found.map((part) =>
    `${part.join(' ')}: ${shown(of(after, part))} instead of ${shown(of(before, part))}`);
}
