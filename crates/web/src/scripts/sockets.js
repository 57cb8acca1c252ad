// Sockets and streams of events, in frames and workers.
//
// Logs what the browser, or this runtime in its place, does to an object of the page.
const READS = 1, WRITES = 2;
function note(object, key, flags) {
  if (log && log.note) log.note(object, key, flags);
}
function heard(object, type) {
  if (log && log.heard) log.heard(object, type);
}
let lastChannel = 0;

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
  const own = indexOf(W.origin, '://' + parsed.host) > 0;
  return (own ? '' : parsed.protocol + '//' + parsed.host) + parsed.pathname + parsed.search;
};

// A socket: it opens, and gives the messages that the source of the page has for it. A message may
// wait for a number of messages that the page sends. If the source is a real server, or has what a
// real one said, the driver is asked what comes: it answers when the event is over.
const sockets = new N.Map();
let asks = '';
function ask(...values) {
  let text = '';
  for (let i = 0; i < values.length; i++) {
    text = listed(text, typeof values[i] === 'number' ? '' + values[i] : quoted(values[i]));
  }
  asks = listed(asks, '[' + text + ']');
  activity++;
}
if (W.WebSocket) {
  const Native = W.WebSocket;
  class WebSocket extends W.EventTarget {
    constructor(url, protocols) {
      super();
      this.url = absolute(url).replace(/^http/, 'ws');
      this.readyState = 0;
      this.bufferedAmount = 0;
      this.extensions = '';
      this.protocol = N.Array.isArray(protocols) ? protocols[0] || '' : protocols || '';
      this.binaryType = 'blob';
      const number = ++lastChannel;
      const channel = 'socket ' + number;
      const path = pathOf(this.url.replace(/^ws/, 'http'));
      const known = N.hasOwn(config.sockets, path);
      const asking = !known && config.asks;
      const waiting = N.Array.from(known ? config.sockets[path] : []);
      let count = 0;
      let opened = false;
      const closed = (code, reason) => {
        note(this, 'readyState', WRITES);
        if (this.readyState === 3) return;
        this.readyState = 3;
        if (code === 1006) this.dispatchEvent(new N.Event('error'));
        const init = { code, reason, wasClean: code !== 1006 };
        this.dispatchEvent(new W.CloseEvent('close', init));
      };
      const give = () => {
        while (waiting.length && (waiting[0].after || 0) <= count) {
          const message = waiting.shift();
          if ('close' in message) {
            const { close, reason } = message;
            enqueue('socket', path + ' close', () => closed(close, reason), { channel });
            continue;
          }
          enqueue('socket', path, () => {
            note(this, 'readyState', READS);
            if (this.readyState !== 1) return;
            const data = 'base64' in message ? inBytes(message.base64, this.binaryType) : message.data;
            this.dispatchEvent(new N.MessageEvent('message', { data, origin: this.url }));
          }, { channel });
        }
      };
      const begin = (opens) => enqueue('socket', path + (opens ? ' open' : ' error'), () => {
        note(this, 'readyState', READS | WRITES);
        if (this.readyState !== 0) return;
        if (!opens) return closed(1006, '');
        this.readyState = 1;
        opened = true;
        this.dispatchEvent(new N.Event('open'));
        give();
      }, { channel });
      const live = { Native, url: this.url, protocols, path, native: null, got: [], wanted: 0 };
      N.define(this, 'send', { value: (data) => {
        note(this, 'readyState', READS);
        if (this.readyState === 0) throw new W.DOMException('still connecting', 'InvalidStateError');
        const bytes = bytesOf(data);
        const text = bytes ? '(binary) ' + base64(bytes) : data instanceof W.Blob ? '(blob)' : '' + data;
        send('socket ' + path, bytes || data instanceof W.Blob ? '(binary)' : text);
        if (this.readyState !== 1) return;
        count++;
        if (opened) give();
        if (!asking) return;
        live.wanted++;
        N.define(live, 'sent' + live.wanted, { value: bytes || data });
        ask('send', number, text);
      } });
      N.define(this, 'close', { value: (code, reason) => {
        note(this, 'readyState', READS | WRITES);
        if (this.readyState > 1) return;
        this.readyState = 2;
        if (live.native) {
          live.native.onclose = live.native.onmessage = null;
          live.native.close();
        }
        enqueue('socket', path + ' close', () => closed(code || 1000, reason || ''), { channel });
      } });
      if (!asking) return void begin(known);
      live.answer = (opens, protocol, messages) => {
        if (opens !== undefined) {
          if (protocol !== undefined) this.protocol = protocol;
          begin(opens);
        }
        for (let i = 0; i < messages.length; i++) waiting.push(messages[i]);
        if (opened) give();
      };
      sockets.set(number, live);
      ask('open', number, path);
    }
  }
  handlers(WebSocket, ['open', 'message', 'error', 'close']);
  for (const [i, name] of ['CONNECTING', 'OPEN', 'CLOSING', 'CLOSED'].entries()) {
    N.define(WebSocket, name, { value: i, enumerable: true });
    N.define(WebSocket.prototype, name, { value: i, enumerable: true });
  }
  replace(W, 'WebSocket', WebSocket);
}
// What is sent as bytes; null for texts and blobs.
function bytesOf(data) {
  if (data instanceof W.ArrayBuffer) return new W.Uint8Array(data.slice(0));
  if (!W.ArrayBuffer.isView(data)) return null;
  return new W.Uint8Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength));
}
function base64(bytes) {
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += N.String.fromCharCode(bytes[i]);
  return W.btoa(text);
}
function inBytes(text, kind) {
  const bytes = N.Uint8Array.from(W.atob(text), (one) => one.charCodeAt(0));
  return kind === 'blob' ? new W.Blob([bytes]) : bytes.buffer;
}

// Recording: the real socket, whose messages count as answers to what was sent before them. They are
// waited for until there is silence, longer on a machine on which the socket opened late.
const SILENCE = 250;
const OPENINGS = 8;
function silent(live, most) {
  return new N.Promise((resolve) => {
    const first = N.now();
    let seen = live.got.length;
    let since = first;
    const look = () => {
      const now = N.now();
      if (live.got.length !== seen) [seen, since] = [live.got.length, now];
      const is = now - since >= N.max(SILENCE, OPENINGS * live.opening) || live.is_over;
      if (!is && now - first < most) return void N.setTimeout(look, 10);
      if (!is && seen > 0) {
        gap('the socket `' + live.path + '` sends messages without end: those that came after ' +
          most + ' ms are missing');
      }
      resolve();
    };
    look();
  });
}
// Returns what came, and forgets it.
function taken(live) {
  let text = '';
  for (let i = 0; i < live.got.length; i++) text = listed(text, live.got[i]);
  live.got = [];
  live.listens = false;
  return '[' + text + ']';
}
function came(live, text) {
  if (!live.listens) {
    gap('messages of the socket `' + live.path + '` came later than those before them: they count ' +
      'as answers to what the page sends next, or are missing');
  }
  live.got[live.got.length] = text;
}
async function connected(live, most, opening) {
  const begun = N.now();
  live.listens = true;
  let native;
  try {
    native = live.protocols === undefined ? new live.Native(live.url)
      : new live.Native(live.url, live.protocols);
  } catch { return '{"opens":false}'; }
  native.binaryType = 'arraybuffer';
  const opens = await new N.Promise((resolve) => {
    native.onopen = () => resolve(true);
    native.onerror = () => resolve(false);
    native.onclose = (event) => {
      resolve(false);
      live.is_over = true;
      came(live, '{"close":' + N.Number(event.code) + ',"reason":' + quoted(event.reason) + '}');
    };
    native.onmessage = ({ data }) => came(live, typeof data === 'string'
      ? '{"data":' + quoted(data) + '}'
      : '{"base64":' + quoted(base64(new W.Uint8Array(data))) + '}');
    N.setTimeout(() => resolve(false), opening);
  });
  if (!opens) {
    native.close();
    live.is_over = true;
    return '{"opens":false}';
  }
  live.native = native;
  live.opening = N.now() - begun;
  await silent(live, most);
  return '{"opens":true,"protocol":' + quoted(native.protocol) + ',"messages":' + taken(live) + '}';
}
async function exchanged(live, most) {
  const number = live.given = (live.given || 0) + 1;
  live.listens = true;
  if (!live.is_over) {
    try { live.native.send(live['sent' + number]); } catch { /* it is closing */ }
    await silent(live, most);
  }
  return '{"messages":' + taken(live) + '}';
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
