// The last part: what the driver of the page calls.
const background = N.postTask
  ? () => N.postTask(() => {}, { priority: 'background' })
  : () => new N.Promise((resolve) => N.setTimeout(resolve, 0));
// Nothing is drawn while a style sheet is held; a busy machine draws late.
const drawn = () => new N.Promise((resolve) => {
  N.requestAnimationFrame(() => N.requestAnimationFrame(resolve));
  N.setTimeout(resolve, 1000);
});
const ROUNDS_MAX = 40;

// Waits until nothing is left to run, then sends a request behind all that the page has sent. When
// the driver has seen it, it has seen all of them.
async function settle() {
  let before = -1;
  for (let round = 0; round < ROUNDS_MAX && before !== activity; round++) {
    before = activity;
    await background();
    await background();
    if (draws) await drawn();
  }
  if (/^https?:$/.test(W.location.protocol)) {
    try {
      await N.fetch(W.location.origin + config.barrier, { cache: 'no-store', priority: 'high' });
    } catch { /* the driver has seen it anyway */ }
  }
  await background();
}
function report(log) {
  const result = { created, cancelled, now, sent: sent.splice(0), log };
  created = [];
  cancelled = [];
  return N.stringify(result);
}
const logger = () => W.__anyorder;
const api = {
  // Begins an event: its random numbers are its own, and its accesses are logged.
  begin(seed, time, name) {
    state = (config.seed ^ seed) >>> 0;
    now = Math.max(now, time);
    reads = 0;
    const log = logger();
    if (log && log.begin) log.begin(name);
  },
  // Runs a queued event. Returns whether there is one.
  fire(number) {
    const entry = queue.get(number);
    if (!entry) return false;
    queue.delete(number);
    activity++;
    now = Math.max(now, entry.due);
    guarded(entry.run);
    return true;
  },
  // Ends the page: it is hidden, and goes away.
  leave() {
    activity++;
    N.Object.defineProperty(W.document, 'visibilityState', { value: 'hidden', configurable: true });
    N.Object.defineProperty(W.document, 'hidden', { value: true, configurable: true });
    const end = (type) => N.Reflect.construct(W.PageTransitionEvent || N.Event, [type]);
    const tell = (target, event) => {
      guarded(() => N.apply(N.dispatchEvent, target, [event]));
    };
    tell(W, end('pagehide'));
    tell(W.document, new N.Event('visibilitychange', { bubbles: true }));
    tell(W, new N.Event('unload'));
  },
  // Waits until the event is over; returns what it created, cancelled and accessed.
  async settle() {
    await settle();
    const log = logger();
    let records = null;
    if (log && log.end) records = log.end();
    return report(records);
  },
  // Finds the target of a user's step. A user does not use a control that is disabled.
  locate(kind, text, nth, visible, use, scroll) {
    const found = select(kind, text);
    const element = found[nth];
    if (!element) return N.stringify({ count: found.length });
    if (scroll) element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const box = element.getBoundingClientRect();
    const style = W.getComputedStyle(element);
    const shown = box.width > 0 && box.height > 0 && style.visibility === 'visible';
    return N.stringify({
      count: found.length,
      usable: !visible || shown,
      refuses: visible && refuses(element, use),
      shown,
      x: box.left + box.width / 2,
      y: box.top + box.height / 2,
    });
  },
  element(kind, text, nth) {
    return select(kind, text)[nth];
  },
  observe() {
    return N.stringify(observe());
  },
  // The elements that a user could use, for a crawl.
  candidates(listened) {
    return N.stringify(candidates(listened));
  },
};
function refuses(element, use) {
  if (use === 'type') return element.matches(':disabled') || element.readOnly === true;
  const controls = 'button:disabled,input:disabled,select:disabled,textarea:disabled';
  return use === 'click' && element.closest(controls) !== null;
}
// The document of a frame, if it may be read.
function documentOf(frame) {
  try { return frame.contentDocument; } catch { return null; }
}
// What a page shows and keeps, in a form without chance.
function observe() {
  const fields = [];
  const lines = [];
  // The text of the page, and then of its frames.
  const texts = [W.document.body ? W.document.body.innerText : ''];
  const canonical = (node, depth) => {
    if (depth > 400) return;
    if (node.nodeType === 3) {
      const text = node.data.replace(/\s+/g, ' ').trim();
      if (text) lines.push(text);
      return;
    }
    if (node.nodeType !== 1) return;
    const tag = node.tagName.toLowerCase();
    const names = N.Array.from(node.attributes, (a) => a.name + '=' + N.stringify(a.value)).sort();
    lines.push('<' + [tag, ...names].join(' ') + '>');
    if (tag === 'input' || tag === 'textarea' || tag === 'select') {
      const value = node.type === 'checkbox' || node.type === 'radio'
        ? N.String(node.checked) : N.String(node.value);
      fields.push(pathTo(node) + '=' + N.stringify(value));
    }
    const inner = tag === 'iframe' ? documentOf(node) : null;
    if (inner && inner.documentElement) {
      canonical(inner.documentElement, depth + 1);
      texts.push(inner.body ? inner.body.innerText : '');
    }
    if (tag !== 'script' && tag !== 'style') {
      if (node.shadowRoot) for (const one of node.shadowRoot.childNodes) canonical(one, depth + 1);
      for (const one of node.childNodes) canonical(one, depth + 1);
    }
    lines.push('</' + tag + '>');
  };
  if (W.document.documentElement) canonical(W.document.documentElement, 0);
  const stored = (name) => {
    try {
      const storage = W[name];
      return N.Object.keys(storage).sort().map((key) => [key, storage.getItem(key)]);
    } catch {
      return [];
    }
  };
  let cookies = '';
  try { cookies = W.document.cookie.split('; ').sort().join('; '); } catch { /* none */ }
  const active = W.document.activeElement;
  return {
    text: texts.join('\n').trimEnd(),
    title: W.document.title,
    fields,
    html: lines.join('\n'),
    focus: active && active !== W.document.body ? pathTo(active) : '',
    url: W.location.href,
    scroll: [W.scrollX, W.scrollY],
    local: stored('localStorage'),
    session: stored('sessionStorage'),
    cookies,
  };
}
function pathTo(node) {
  const steps = [];
  for (let at = node; at && at.nodeType === 1; at = at.parentNode) {
    if (at.id) {
      steps.unshift('#' + at.id);
      break;
    }
    const same = at.parentNode
      ? N.Array.from(at.parentNode.childNodes).filter((one) => one.nodeName === at.nodeName) : [at];
    const place = same.length > 1 ? '[' + (same.indexOf(at) + 1) + ']' : '';
    steps.unshift(at.tagName.toLowerCase() + place);
  }
  return steps.join('/');
}
N.Object.defineProperty(W, config.name, {
  value: N.Object.freeze(api), enumerable: false, configurable: false, writable: false,
});
