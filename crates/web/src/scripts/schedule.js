// The scheduling runtime: what a page would run by itself later waits in a queue, until it is fired
// by its number. It runs in each frame and each worker before the scripts of the page. The whole
// runtime is one function, of which this file is the first part: natives, clock, random numbers,
// timers.
//
// A page may replace or break any native. So what runs after the scripts of the page uses only the
// natives that are kept here, builds its reports as text, and iterates by index.
'use strict';
const W = globalThis;
function withNativeMethods(Native, names) {
  class Mine extends Native {}
  for (const name of names) {
    const found = W.Object.getOwnPropertyDescriptor(Native.prototype, name);
    W.Object.defineProperty(Mine.prototype, name, found);
  }
  return Mine;
}
const N = {
  setTimeout: W.setTimeout.bind(W),
  requestAnimationFrame: W.requestAnimationFrame ? W.requestAnimationFrame.bind(W) : null,
  fetch: W.fetch.bind(W),
  Promise: W.Promise,
  then: W.Promise.prototype.then,
  Date: W.Date,
  Error: W.Error,
  Map: withNativeMethods(W.Map, ['get', 'set', 'has', 'delete']),
  WeakMap: withNativeMethods(W.WeakMap, ['get', 'set', 'has']),
  Array: W.Array,
  Uint8Array: W.Uint8Array,
  Number: W.Number,
  Symbol: W.Symbol,
  iterate: W.Array.prototype[W.Symbol.iterator],
  now: W.performance.now.bind(W.performance),
  max: W.Math.max,
  floor: W.Math.floor,
  trunc: W.Math.trunc,
  imul: W.Math.imul,
  indexOf: W.String.prototype.indexOf,
  lastIndexOf: W.String.prototype.lastIndexOf,
  slice: W.String.prototype.slice,
  Object: W.Object,
  define: W.Object.defineProperty,
  descriptor: W.Object.getOwnPropertyDescriptor,
  hasOwn: W.Object.hasOwn,
  construct: W.Reflect.construct,
  Proxy: W.Proxy,
  Reflect: W.Reflect,
  MessageEvent: W.MessageEvent,
  Event: W.Event,
  String: W.String,
  URL: W.URL,
  stringify: JSON.stringify.bind(JSON),
  evaluate: W.eval,
  reportError: W.reportError ? W.reportError.bind(W) : (e) => { throw e; },
  postTask: W.scheduler && W.scheduler.postTask ? W.scheduler.postTask.bind(W.scheduler) : null,
  reject: W.Promise.reject.bind(W.Promise),
  addEventListener: W.EventTarget.prototype.addEventListener,
  dispatchEvent: W.EventTarget.prototype.dispatchEvent,
  stop: W.Event.prototype.stopImmediatePropagation,
  apply: W.Reflect.apply,
  querySelector: W.Document && W.Document.prototype.querySelector,
  openDocument: W.Document && W.Document.prototype.open,
  replaceState: W.History && W.History.prototype.replaceState,
  setItem: W.Storage && W.Storage.prototype.setItem,
  clear: W.Storage && W.Storage.prototype.clear,
};
const config = __ANYORDER_CONFIG__;

// Functions in the place of natives look like them.
const originals = new N.WeakMap();
const weakGet = N.WeakMap.prototype.get;
const weakSet = N.WeakMap.prototype.set;
const indexOf = (text, part) => N.apply(N.indexOf, text, [part]);
const slice = (text, from, to) => N.apply(N.slice, text, [from, to]);
const functionText = W.Function.prototype.toString;
function like(replacement, native, name) {
  const called = name || (native && native.name) || replacement.name;
  try {
    N.define(replacement, 'name', { value: called, configurable: true });
    if (native) {
      N.define(replacement, 'length', { value: native.length, configurable: true });
    }
  } catch { /* a name only */ }
  N.apply(weakSet, originals, [replacement, 'function ' + called + '() { [native code] }']);
  return replacement;
}
const shownText = like(function toString() {
  const text = N.apply(weakGet, originals, [this]);
  return text === undefined ? N.apply(functionText, this, []) : text;
}, functionText);
W.Function.prototype.toString = shownText;
function replace(owner, name, replacement) {
  const own = N.descriptor(owner, name);
  if (own && !own.configurable && !own.writable) return;
  like(replacement, own && own.value, name);
  N.define(owner, name, {
    value: replacement,
    writable: true,
    configurable: true,
    enumerable: own ? own.enumerable : false,
  });
}
function replaceGetter(owner, name, getter) {
  const own = N.descriptor(owner, name);
  if (!own || !own.configurable) return;
  like(getter, own.get, 'get ' + name);
  N.define(owner, name, { ...own, get: getter });
}

// The clock stands still within an event. It moves when a timer fires, to the time when it is due.
// A script that reads the clock again and again waits for it to move, so it does after a while.
const READS_MAX = 2000;
let now = 0;
let reads = 0;
function clock() {
  if (++reads > READS_MAX) now += 1;
  return now;
}
const FakeDate = new N.Proxy(N.Date, {
  construct(target, values, newTarget) {
    const given = values.length === 0 ? [config.epoch + clock()] : values;
    return N.construct(target, given, newTarget === FakeDate ? target : newTarget);
  },
  apply() {
    return new N.Date(config.epoch + clock()).toString();
  },
});
originals.set(FakeDate, 'function Date() { [native code] }');
N.Date.now = like(function now() { return config.epoch + clock(); }, N.Date.now);
N.Date.prototype.constructor = FakeDate;
N.define(W, 'Date', {
  value: FakeDate, writable: true, configurable: true, enumerable: false,
});
if (W.Performance) {
  replace(W.Performance.prototype, 'now', function () { return clock(); });
  replaceGetter(W.Performance.prototype, 'timeOrigin', function () { return config.epoch; });
}
replaceGetter(W.Event.prototype, 'timeStamp', function () { return now; });

// Random numbers depend on the event that asks, not on the events before it.
let state = config.seed >>> 0;
function next32() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = N.imul(t ^ (t >>> 15), t | 1);
  t ^= t + N.imul(t ^ (t >>> 7), t | 61);
  return (t ^ (t >>> 14)) >>> 0;
}
replace(W.Math, 'random', function () { return next32() / 4294967296; });
if (W.Crypto) {
  const view = W.Uint8Array;
  const fill = (array) => {
    const bytes = new view(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = next32() & 255;
    return array;
  };
  replace(W.Crypto.prototype, 'getRandomValues', function (array) { return fill(array); });
  if (W.Crypto.prototype.randomUUID) {
    replace(W.Crypto.prototype, 'randomUUID', function () {
      const b = fill(new view(16));
      b[6] = (b[6] & 15) | 64;
      b[8] = (b[8] & 63) | 128;
      const hex = N.Array.from(b, (x) => (x + 256).toString(16).slice(1)).join('');
      return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
    });
  }
}

// The queue, and what is reported after an event, as the insides of lists in JSON.
const queue = new N.Map();
let created = '';
let cancelled = '';
let sent = '';
let gaps = '';
let draws = false;
let drawsOnce = false;
let workersMade = '';
// Whether the page may have stored something that outlasts its document, except cookies, local and
// session storage.
let keeps = false;
let activity = 0;
let lastNumber = 0;
let lastHandle = 0;
// Puts the ways to other pages that the document takes by itself into the queue, in frames.
let watchRefreshes = null;
// Waits for steps in the history, in frames.
let waitForHistory = null;
// Waits for databases that are opened, in frames.
let waitForDatabases = null;
// Takes hold of the transitions and animations that have begun, in frames.
let watchAnimations = null;
// Waits until the page has been told of those that were ended, in frames.
let waitForAnimations = null;
// Tells the page that the selection has changed, in frames.
let tellSelection = null;
const handles = new N.Map();
// Only texts and numbers are given to the native: it asks objects for `toJSON`.
const quoted = (text) => N.stringify(N.String(text));
const listed = (list, one) => (list === '' ? one : list + ',' + one);
// Notes what was sent without a request: the kind, and the text.
function send(kind, text) {
  sent = listed(sent, '[' + quoted(kind) + ',' + quoted(text) + ']');
  activity++;
}
// Notes what the page does without control.
function gap(text) {
  if (gaps.length < 10000) gaps = listed(gaps, quoted(text));
}

// Where a page calls a function of this runtime: the file and the line.
function place() {
  const limit = N.Error.stackTraceLimit;
  const prepare = N.Error.prepareStackTrace;
  let stack = '';
  try {
    N.Error.stackTraceLimit = 12;
    N.Error.prepareStackTrace = undefined;
    stack = N.String(new N.Error().stack);
  } catch { /* the page has frozen the class */ } finally {
    try {
      N.Error.stackTraceLimit = limit;
      N.Error.prepareStackTrace = prepare;
    } catch { /* as before */ }
  }
  for (let at = indexOf(stack, '\n'); at >= 0;) {
    const rest = slice(stack, at + 1);
    const end = indexOf(rest, '\n');
    const found = indexOf(slice(rest, 0, end < 0 ? undefined : end), 'anyorder:') < 0
      ? placeIn(slice(rest, 0, end < 0 ? undefined : end)) : '';
    if (found !== '') return found;
    at = end < 0 ? -1 : at + 1 + end;
  }
  return '';
}
// The file and the line at the end of a line of a stack: `at f (http://host/file.js:3:5)`.
function placeIn(line) {
  const last = (text, part) => N.apply(N.lastIndexOf, text, [part]);
  let text = line[line.length - 1] === ')' ? slice(line, 0, -1) : line;
  for (let i = 0; i < 2; i++) {
    const start = last(text, i === 0 ? '(' : ' ');
    if (start >= 0) text = slice(text, start + 1);
  }
  const column = last(text, ':');
  const row = column < 0 ? -1 : last(slice(text, 0, column), ':');
  if (row < 0) return '';
  const number = slice(text, row + 1, column);
  if (N.Number(number) !== N.trunc(N.Number(number)) || number === '') return '';
  let file = slice(text, 0, row);
  for (let i = 0; i < 2; i++) {
    const end = indexOf(file, i === 0 ? '?' : '#');
    if (end >= 0) file = slice(file, 0, end);
  }
  // The address of a blob has a random name, and that of data has no name at all.
  if (indexOf(line, 'blob:') >= 0) return '(blob):' + number;
  if (indexOf(line, 'data:') >= 0) return '(data):' + number;
  file = slice(file, last(file, '/') + 1) || '(page)';
  return file + ':' + number;
}

// Adds an event. Events of one channel come in the order of their numbers.
function enqueue(kind, label, run, more) {
  const number = ++lastNumber;
  const entry = { kind, label, run, number, due: now, delay: 0, channel: '', ...more };
  queue.set(number, entry);
  created = listed(created, '{"id":' + number + ',"kind":' + quoted(kind) + ',"label":' +
    quoted(label) + ',"due":' + N.Number(entry.due) + ',"delay":' + N.Number(entry.delay) +
    ',"channel":' + quoted(entry.channel) + '}');
  activity++;
  return entry;
}
function remove(entry) {
  if (entry && queue.delete(entry.number)) {
    cancelled = listed(cancelled, '' + entry.number);
    activity++;
  }
}
function guarded(run) {
  try {
    run();
  } catch (error) {
    N.reportError(error);
  }
}

const callable = (handler) =>
  typeof handler === 'function' ? handler : () => N.evaluate(N.String(handler));
function delayOf(delay) {
  const number = N.trunc(N.Number(delay));
  return number > 0 && number < 2147483648 ? number : 0;
}
function timer(kind, handler, delay, values, repeats) {
  const handle = ++lastHandle;
  const run = callable(handler);
  const label = place();
  const add = () => {
    const entry = enqueue(kind, label, () => {
      handles.delete(handle);
      if (repeats) add();
      N.apply(run, W, values);
    }, { due: now + delay, delay });
    handles.set(handle, entry);
  };
  add();
  return handle;
}
const cancel = (handle) => {
  remove(handles.get(handle));
  handles.delete(handle);
};
replace(W, 'setTimeout', function (handler, delay, ...values) {
  return timer('timeout', handler, delayOf(delay), values, false);
});
replace(W, 'setInterval', function (handler, delay, ...values) {
  return timer('interval', handler, N.max(1, delayOf(delay)), values, true);
});
replace(W, 'clearTimeout', function (handle) { cancel(N.Number(handle)); });
replace(W, 'clearInterval', function (handle) { cancel(N.Number(handle)); });
if (N.requestAnimationFrame) replace(W, 'requestAnimationFrame', function (callback) {
  if (typeof callback !== 'function') throw new TypeError('the callback is not a function');
  const handle = ++lastHandle;
  handles.set(handle, enqueue('frame', place(), () => {
    handles.delete(handle);
    N.apply(callback, W, [now]);
  }, { due: (N.floor(now / 16) + 1) * 16, delay: 16, channel: 'frame' }));
  return handle;
});
if (N.requestAnimationFrame) {
  replace(W, 'cancelAnimationFrame', function (handle) { cancel(N.Number(handle)); });
}
if (W.requestIdleCallback) {
  replace(W, 'requestIdleCallback', function (callback) {
    const handle = ++lastHandle;
    const deadline = { didTimeout: false, timeRemaining: () => 50 };
    handles.set(handle, enqueue('idle', place(), () => {
      handles.delete(handle);
      N.apply(callback, W, [deadline]);
    }, { channel: 'idle' }));
    return handle;
  });
  replace(W, 'cancelIdleCallback', function (handle) { cancel(N.Number(handle)); });
}
if (W.Scheduler && W.Scheduler.prototype.postTask) {
  replace(W.Scheduler.prototype, 'postTask', function (callback, options) {
    const given = options || {};
    const signal = given.signal;
    const priority = given.priority || (signal && signal.priority) || 'user-visible';
    const delay = delayOf(given.delay);
    return new N.Promise((resolve, reject) => {
      if (signal && signal.aborted) return void reject(signal.reason);
      const entry = enqueue('posted', place(), () => {
        try { resolve(callback()); } catch (error) { reject(error); }
      }, { due: now + delay, delay, channel: delay ? '' : 'posted ' + priority });
      if (signal) {
        N.apply(N.addEventListener, signal, ['abort', () => {
          remove(entry);
          reject(signal.reason);
        }]);
      }
    });
  });
  if (W.Scheduler.prototype.yield) {
    replace(W.Scheduler.prototype, 'yield', function () {
      return new N.Promise((resolve) => {
        enqueue('posted', place(), resolve, { channel: 'posted yield' });
      });
    });
  }
}

// What outlasts a document.
for (const [name, methods] of [
  ['IDBFactory', ['open', 'deleteDatabase']],
  ['CacheStorage', ['open', 'delete']],
  ['StorageManager', ['getDirectory', 'persist']],
  ['LockManager', ['request']],
  ['ServiceWorkerContainer', ['register']],
]) {
  for (const method of methods) {
    const native = W[name] && W[name].prototype[method];
    if (native) replace(W[name].prototype, method, function (...values) {
      keeps = true;
      return N.apply(native, this, values);
    });
  }
}
for (const name of ['webkitRequestFileSystem', 'requestFileSystem']) {
  const native = W[name];
  if (native) replace(W, name, function (...values) {
    keeps = true;
    return N.apply(native, this, values);
  });
}
