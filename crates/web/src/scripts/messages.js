// The second part: messages. A message is delivered by the browser when it likes. The first listener
// of its target is ours: it stops the event and queues a copy, whose turn comes when it is fired.
const released = new N.WeakMap();
// A list that can be iterated, whatever the page has done to lists.
function listOf(items) {
  const list = [];
  for (let i = 0; i < items.length; i++) {
    N.define(list, i, { value: items[i], enumerable: true, configurable: true });
  }
  N.define(list, N.Symbol.iterator, { value: N.iterate });
  return list;
}
let again = () => {};
function hold(target, kind, types, from = '') {
  const channel = kind + ' ' + ++lastChannel;
  for (const type of types) {
    const listener = (event) => {
      if (N.apply(weakGet, released, [event])) return;
      N.apply(N.stop, event, []);
      const ports = event.ports || [];
      for (let i = 0; i < ports.length; i++) holdPort(ports[i]);
      enqueue(kind, type === 'message' ? from : type, () => {
        const copy = type === 'message' || type === 'messageerror'
          ? new N.MessageEvent(type, {
            data: event.data, origin: event.origin, lastEventId: event.lastEventId,
            source: event.source, ports: listOf(ports),
          })
          : new N.Event(type);
        N.apply(weakSet, released, [copy, true]);
        heard(target, type);
        N.apply(N.dispatchEvent, target, [copy]);
      }, { channel });
    };
    N.apply(N.addEventListener, target, [type, listener, true]);
    if (target === W) {
      again = () => N.apply(N.addEventListener, target, [type, listener, true]);
    }
  }
}
const heldPorts = new N.WeakMap();
function holdPort(port) {
  if (N.apply(weakGet, heldPorts, [port])) return;
  N.apply(weakSet, heldPorts, [port, true]);
  hold(port, 'message', ['message'], 'port');
}
hold(W, 'message', ['message'], 'window');
// A document that is opened again forgets all listeners.
for (const name of ['open', 'write', 'writeln']) {
  const native = W.Document.prototype[name];
  replace(W.Document.prototype, name, function (...values) {
    const result = N.apply(native, this, values);
    if (this === W.document) again();
    return result;
  });
}
construct('MessageChannel', (made) => {
  holdPort(made.port1);
  holdPort(made.port2);
});
// Who is made or closed too late misses messages.
const channel = (name, flags) => { if (log && log.named) log.named('channel:' + name, flags); };
construct('BroadcastChannel', (made) => {
  channel(made.name, 2);
  hold(made, 'broadcast', ['message'], made.name);
});
if (W.BroadcastChannel) {
  for (const name of ['postMessage', 'close']) {
    const native = W.BroadcastChannel.prototype[name];
    replace(W.BroadcastChannel.prototype, name, function (...values) {
      channel(this.name, name === 'close' ? 2 : 1);
      return N.apply(native, this, values);
    });
  }
}
construct('Worker', (made, values) => {
  hold(made, 'worker', ['message', 'error']);
  countWorker(values);
}, withOwnScript);
construct('SharedWorker', (made) => holdPort(made.port));

// Beacons are ordinary requests; new windows are refused.
replace(W, 'open', function (url) {
  send('window', url || '');
  return null;
});

// Observers are called when the page is drawn: settling waits for that where there are some.
for (const name of ['IntersectionObserver', 'ResizeObserver']) {
  construct(name, () => { draws = true; });
}

// A service worker would answer requests out of sight: its installation never ends.
if (W.ServiceWorkerContainer) {
  const never = () => new N.Promise(() => {});
  replace(W.ServiceWorkerContainer.prototype, 'register', function (url) {
    gap('the service worker `' + url + '` is never installed: its requests and messages are missing');
    return never();
  });
  replaceGetter(W.ServiceWorkerContainer.prototype, 'ready', function () { return never(); });
}

// Another process of the browser makes a step back or forward, at any time. Here it begins when the
// page has nothing else to run, and the event that asks for it waits until it has come, or a second.
if (W.History && W.navigation) {
  const { currentEntry, entries } = N.Object.getOwnPropertyDescriptors(W.Navigation.prototype);
  const entryAt = (delta) => {
    const at = N.apply(currentEntry.get, W.navigation, []);
    return at && N.apply(entries.value, W.navigation, [])[at.index + delta];
  };
  // What the tab has shown before the page is no part of its history.
  if (W === W.top) {
    const { get } = N.descriptor(W.History.prototype, 'length');
    const before = W.history.length - 1;
    replaceGetter(W.History.prototype, 'length', function () {
      return N.apply(get, this, []) - before;
    });
  }
  const steps = new N.Map();
  let asked = 0;
  let made = 0;
  let came = () => {};
  N.apply(N.addEventListener, W, ['popstate', () => { activity++; came(); }, true]);
  for (const name of ['back', 'forward', 'go']) {
    const native = W.History.prototype[name];
    replace(W.History.prototype, name, function (...values) {
      const delta = name === 'go' ? N.trunc(N.Number(values[0])) || 0 : name === 'back' ? -1 : 1;
      activity++;
      steps.set(++asked, () => {
        try {
          const to = entryAt(delta);
          if (to) N.apply(native, this, values);
          return delta !== 0 && !!to && to.sameDocument;
        } catch { return false; /* the document is gone */ }
      });
    });
  }
  waitForHistory = () => {
    if (made === asked) return undefined;
    const step = steps.get(++made);
    steps.delete(made);
    activity++;
    return step() && new N.Promise((resolve) => {
      came = resolve;
      N.setTimeout(resolve, 1000);
    });
  };
}

// A page that goes to another one by itself (`<meta http-equiv=refresh>`): the driver has renamed the
// attribute, so that the browser does not do it by its own clock.
{
  const { querySelectorAll } = W.Document.prototype;
  const { getAttribute } = W.Element.prototype;
  const { exec } = W.RegExp.prototype;
  const form = /^\s*(\d*)[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?(?:'([^']*)|"([^"]*)|(.*))/is;
  const go = W.location.assign.bind(W.location);
  const again = W.location.reload.bind(W.location);
  const known = new N.WeakMap();
  watchRefreshes = () => {
    const list = N.apply(querySelectorAll, W.document, ['meta[data-equiv=refresh i]']);
    for (let i = 0; i < list.length; i++) {
      if (N.apply(weakGet, known, [list[i]])) continue;
      N.apply(weakSet, known, [list[i], true]);
      const found = N.apply(exec, form, [N.apply(getAttribute, list[i], ['content']) || '']);
      if (found[1] === '') continue;
      const to = found[2] || found[3] || found[4];
      const delay = delayOf(found[1] * 1000);
      enqueue('timeout', 'refresh', () => (to ? go(to) : again()), { due: now + delay, delay });
    }
  };
}

// The browser tells that the selection has changed with the next picture, or later. Here it is told
// when the page has nothing else to run.
if (W.Selection && W.HTMLInputElement && W.HTMLTextAreaElement) {
  const getter = (owner, name) => {
    const { get } = N.descriptor(owner.prototype, name);
    return (of) => N.apply(get, of, []);
  };
  const parts = [];
  for (const name of ['anchorNode', 'anchorOffset', 'focusNode', 'focusOffset']) {
    parts[parts.length] = getter(W.Selection, name);
  }
  const { getSelection } = W.Document.prototype;
  const active = getter(W.Document, 'activeElement');
  const controls = [W.HTMLInputElement, W.HTMLTextAreaElement];
  const ends = [];
  for (const control of controls) {
    ends[ends.length] = [getter(control, 'selectionStart'), getter(control, 'selectionEnd')];
  }
  // The text field that has the focus, and what of it is selected, or what of the document is.
  const selected = () => {
    const selection = N.apply(getSelection, W.document, []);
    const state = [];
    for (let i = 0; i < parts.length; i++) state[i] = selection && parts[i](selection);
    const element = active(W.document);
    for (let i = 0; i < controls.length; i++) {
      try {
        state[5] = ends[i][0](element);
        state[6] = ends[i][1](element);
        state[4] = element;
      } catch { /* it is no such field */ }
    }
    return state;
  };
  let last = selected();
  N.apply(N.addEventListener, W, ['selectionchange', (event) => {
    if (event.isTrusted) N.apply(N.stop, event, []);
  }, true]);
  tellSelection = () => {
    const state = selected();
    let same = true;
    for (let i = 0; i < 7; i++) same = same && state[i] === last[i];
    if (same) return;
    last = state;
    activity++;
    const field = state[4];
    const event = new N.Event('selectionchange', { bubbles: !!field });
    guarded(() => N.apply(N.dispatchEvent, field || W.document, [event]));
  };
}

// A database that is opened is there later. What is done in it belongs to the event that does it.
if (W.IDBFactory) {
  const native = W.IDBFactory.prototype.open;
  let opening = 0;
  let opened = () => {};
  replace(W.IDBFactory.prototype, 'open', function (...values) {
    const request = N.apply(native, this, values);
    const name = N.String(values[0]);
    opening++;
    for (const type of listOf(['success', 'error'])) {
      N.apply(N.addEventListener, request, [type, (event) => {
        if (!event.isTrusted) return;
        N.apply(N.stop, event, []);
        opening--;
        enqueue('database', name, () => {
          heard(request, type);
          const cancelable = type === 'error';
          N.apply(N.dispatchEvent, request, [new N.Event(type, { bubbles: cancelable, cancelable })]);
        });
        opened();
      }, true]);
    }
    return request;
  });
  waitForDatabases = () => opening <= 0 ? undefined : new N.Promise((resolve) => {
    opened = resolve;
    N.setTimeout(() => { opening = 0; resolve(); }, 1000);
  });
}
