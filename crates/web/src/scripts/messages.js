// The second part: messages. A message is delivered by the browser when it likes. The first listener
// of its target is ours: it stops the event and queues a copy, whose turn comes when it is fired.
const released = new N.WeakMap();
// Logs what the browser, or this runtime in its place, does to an object of the page.
const READS = 1, WRITES = 2;
function note(object, key, flags) {
  if (log && log.note) log.note(object, key, flags);
}
function heard(object, type) {
  if (log && log.heard) log.heard(object, type);
}
// A list that can be iterated, whatever the page has done to lists.
function listOf(items) {
  const list = [];
  for (let i = 0; i < items.length; i++) {
    N.define(list, i, { value: items[i], enumerable: true, configurable: true });
  }
  N.define(list, N.Symbol.iterator, { value: N.iterate });
  return list;
}
let lastChannel = 0;
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
function construct(name, after) {
  const Native = W[name];
  if (!Native) return;
  const Replacement = function (...values) {
    if (!new.target) throw new TypeError("Constructor " + name + " requires 'new'");
    const target = new.target === Replacement ? Native : new.target;
    const made = N.construct(Native, values, target);
    after(made, values);
    return made;
  };
  Replacement.prototype = Native.prototype;
  N.Object.setPrototypeOf(Replacement, N.Object.getPrototypeOf(Native));
  N.define(Native.prototype, 'constructor', {
    value: Replacement, writable: true, configurable: true,
  });
  replace(W, name, Replacement);
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
construct('BroadcastChannel', (made) => hold(made, 'broadcast', ['message'], made.name));
construct('Worker', (made, values) => {
  hold(made, 'worker', ['message', 'error']);
  // No request tells the driver of it.
  const url = N.String(values[0]);
  if (indexOf(url, 'blob:') === 0 || indexOf(url, 'data:') === 0) blobs++;
});
construct('SharedWorker', (made) => holdPort(made.port));

// Handlers in properties, for the two classes that have no native object behind them.
function handlers(Class, types) {
  for (const type of types) {
    const set = new N.WeakMap();
    N.define(Class.prototype, 'on' + type, {
      configurable: true,
      enumerable: true,
      get() { return N.apply(weakGet, set, [this]) || null; },
      set(handler) {
        const before = N.apply(weakGet, set, [this]);
        if (!before) {
          N.apply(N.addEventListener, this, [type, (event) => {
            const now = N.apply(weakGet, set, [this]);
            if (typeof now === 'function') N.apply(now, this, [event]);
          }]);
        }
        N.apply(weakSet, set, [this, handler]);
      },
    });
  }
}
const pathOf = (url) => {
  const parsed = new N.URL(url);
  const own = parsed.host === W.location.host;
  return (own ? '' : parsed.protocol + '//' + parsed.host) + parsed.pathname + parsed.search;
};

// A socket: it opens, and gives the messages that the source of the page has for it. A message may
// wait for a number of messages that the page sends.
if (W.WebSocket) {
  class WebSocket extends W.EventTarget {
    constructor(url, protocols) {
      super();
      this.url = absolute(url).replace(/^http/, 'ws');
      this.readyState = 0;
      this.bufferedAmount = 0;
      this.extensions = '';
      this.protocol = N.Array.isArray(protocols) ? protocols[0] || '' : protocols || '';
      this.binaryType = 'blob';
      const channel = 'socket ' + ++lastChannel;
      const path = pathOf(this.url.replace(/^ws/, 'http'));
      const waiting = N.Array.from(config.sockets[path] || []);
      let count = 0;
      let opened = false;
      const give = () => {
        while (waiting.length && (waiting[0].after || 0) <= count) {
          const message = waiting.shift();
          enqueue('socket', path, () => {
            note(this, 'readyState', READS);
            if (this.readyState !== 1) return;
            const data = message.data;
            this.dispatchEvent(new N.MessageEvent('message', { data, origin: this.url }));
          }, { channel });
        }
      };
      N.define(this, 'send', { value: (data) => {
        note(this, 'readyState', READS);
        if (this.readyState === 0) throw new W.DOMException('still connecting', 'InvalidStateError');
        send('socket ' + path, typeof data === 'string' ? data : '(binary)');
        count++;
        if (opened) give();
      } });
      N.define(this, 'close', { value: (code, reason) => {
        note(this, 'readyState', READS | WRITES);
        if (this.readyState > 1) return;
        this.readyState = 2;
        enqueue('socket', path + ' close', () => {
          note(this, 'readyState', WRITES);
          this.readyState = 3;
          const init = { code: code || 1000, reason: reason || '', wasClean: true };
          this.dispatchEvent(new W.CloseEvent('close', init));
        }, { channel });
      } });
      const known = N.hasOwn(config.sockets, path);
      enqueue('socket', path + (known ? ' open' : ' error'), () => {
        note(this, 'readyState', READS | WRITES);
        if (this.readyState !== 0) return;
        if (known) {
          this.readyState = 1;
          opened = true;
          this.dispatchEvent(new N.Event('open'));
          give();
        } else {
          this.readyState = 3;
          this.dispatchEvent(new N.Event('error'));
          this.dispatchEvent(new W.CloseEvent('close', { code: 1006, wasClean: false }));
        }
      }, { channel });
    }
  }
  handlers(WebSocket, ['open', 'message', 'error', 'close']);
  for (const [i, name] of ['CONNECTING', 'OPEN', 'CLOSING', 'CLOSED'].entries()) {
    N.define(WebSocket, name, { value: i, enumerable: true });
    N.define(WebSocket.prototype, name, { value: i, enumerable: true });
  }
  replace(W, 'WebSocket', WebSocket);
}

// A stream of events: its response is an ordinary one, and its messages come one after another.
if (W.EventSource) {
  class EventSource extends W.EventTarget {
    constructor(url, options) {
      super();
      this.url = absolute(url);
      this.readyState = 0;
      this.withCredentials = !!(options && options.withCredentials);
      const channel = 'stream ' + ++lastChannel;
      const path = pathOf(this.url);
      const later = (label, run) => enqueue('stream', path + label, run, { channel });
      const failed = () => later(' error', () => {
        note(this, 'readyState', WRITES);
        this.readyState = 2;
        this.dispatchEvent(new N.Event('error'));
      });
      const read = (text) => {
        later(' open', () => {
          note(this, 'readyState', READS | WRITES);
          if (this.readyState !== 0) return;
          this.readyState = 1;
          this.dispatchEvent(new N.Event('open'));
        });
        for (const block of text.replace(/\r\n?/g, '\n').split('\n\n')) {
          const fields = { data: [], event: 'message', id: '' };
          for (const line of block.split('\n')) {
            const found = /^([a-z]+): ?(.*)$/.exec(line);
            if (!found) continue;
            if (found[1] === 'data') fields.data.push(found[2]);
            else fields[found[1]] = found[2];
          }
          if (!fields.data.length) continue;
          const init = { data: fields.data.join('\n'), lastEventId: fields.id, origin: W.origin };
          later('', () => {
            note(this, 'readyState', READS);
            if (this.readyState === 2) return;
            this.dispatchEvent(new N.MessageEvent(fields.event, init));
          });
        }
      };
      N.fetch(this.url, { headers: { accept: 'text/event-stream' } })
        .then((reply) => (reply.ok ? reply.text().then(read) : failed()), failed);
    }
    close() {
      note(this, 'readyState', WRITES);
      this.readyState = 2;
    }
  }
  handlers(EventSource, ['open', 'message', 'error']);
  for (const [i, name] of ['CONNECTING', 'OPEN', 'CLOSED'].entries()) {
    N.define(EventSource, name, { value: i, enumerable: true });
    N.define(EventSource.prototype, name, { value: i, enumerable: true });
  }
  replace(W, 'EventSource', EventSource);
}

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
