// The scheduling runtime: what a page would run by itself later waits in a queue, until it is fired
// by its number. It runs in each frame before the scripts of the page. The whole runtime is one
// function, of which this file is the first part: natives, clock, random numbers, timers.
'use strict';
const W = window;
const N = {
  setTimeout: W.setTimeout.bind(W),
  requestAnimationFrame: W.requestAnimationFrame.bind(W),
  fetch: W.fetch.bind(W),
  Promise: W.Promise,
  Date: W.Date,
  Error: W.Error,
  Map: W.Map,
  WeakMap: W.WeakMap,
  Array: W.Array,
  Object: W.Object,
  Proxy: W.Proxy,
  Reflect: W.Reflect,
  MessageEvent: W.MessageEvent,
  Event: W.Event,
  String: W.String,
  stringify: JSON.stringify.bind(JSON),
  evaluate: W.eval,
  reportError: W.reportError ? W.reportError.bind(W) : (e) => { throw e; },
  postTask: W.scheduler && W.scheduler.postTask ? W.scheduler.postTask.bind(W.scheduler) : null,
  addEventListener: W.EventTarget.prototype.addEventListener,
  dispatchEvent: W.EventTarget.prototype.dispatchEvent,
  stop: W.Event.prototype.stopImmediatePropagation,
  apply: W.Reflect.apply,
};
const config = __ANYORDER_CONFIG__;

// Functions in the place of natives look like them.
const originals = new N.WeakMap();
const weakGet = N.WeakMap.prototype.get;
const weakSet = N.WeakMap.prototype.set;
const functionText = W.Function.prototype.toString;
function like(replacement, native, name) {
  const called = name || (native && native.name) || replacement.name;
  try {
    N.Object.defineProperty(replacement, 'name', { value: called, configurable: true });
    if (native) {
      N.Object.defineProperty(replacement, 'length', { value: native.length, configurable: true });
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
  const own = N.Object.getOwnPropertyDescriptor(owner, name);
  if (own && !own.configurable && !own.writable) return;
  like(replacement, own && own.value, name);
  N.Object.defineProperty(owner, name, {
    value: replacement,
    writable: true,
    configurable: true,
    enumerable: own ? own.enumerable : false,
  });
}
function replaceGetter(owner, name, getter) {
  const own = N.Object.getOwnPropertyDescriptor(owner, name);
  if (!own || !own.configurable) return;
  like(getter, own.get, 'get ' + name);
  N.Object.defineProperty(owner, name, { ...own, get: getter });
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
    return N.Reflect.construct(target, given, newTarget === FakeDate ? target : newTarget);
  },
  apply() {
    return new N.Date(config.epoch + clock()).toString();
  },
});
originals.set(FakeDate, 'function Date() { [native code] }');
N.Date.now = like(function now() { return config.epoch + clock(); }, N.Date.now);
N.Date.prototype.constructor = FakeDate;
N.Object.defineProperty(W, 'Date', {
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
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
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

// The queue.
const queue = new N.Map();
let created = [];
let cancelled = [];
let activity = 0;
let lastNumber = 0;
let lastHandle = 0;
const handles = new N.Map();

// Where a page calls a function of this runtime: the file and the line.
function place() {
  const limit = N.Error.stackTraceLimit;
  const prepare = N.Error.prepareStackTrace;
  let stack = '';
  try {
    N.Error.stackTraceLimit = 12;
    N.Error.prepareStackTrace = undefined;
    stack = N.String(new N.Error().stack);
  } finally {
    N.Error.stackTraceLimit = limit;
    N.Error.prepareStackTrace = prepare;
  }
  const lines = stack.split('\n');
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i];
    if (line.includes('anyorder:')) continue;
    const found = /\(?([^\s()]+):(\d+):\d+\)?$/.exec(line);
    if (!found) continue;
    let file = found[1].split(/[?#]/)[0];
    file = file.slice(file.lastIndexOf('/') + 1) || '(page)';
    return file + ':' + found[2];
  }
  return '';
}

// Adds an event. Events of one channel come in the order of their numbers.
function enqueue(kind, label, run, more) {
  const number = ++lastNumber;
  const entry = { kind, label, run, number, due: now, delay: 0, channel: '', ...more };
  queue.set(number, entry);
  created.push({
    id: number, kind, label, due: entry.due, delay: entry.delay, channel: entry.channel,
  });
  activity++;
  return entry;
}
function remove(entry) {
  if (entry && queue.delete(entry.number)) {
    cancelled.push(entry.number);
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
  const number = Math.trunc(Number(delay));
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
  return timer('interval', handler, Math.max(1, delayOf(delay)), values, true);
});
replace(W, 'clearTimeout', function (handle) { cancel(Number(handle)); });
replace(W, 'clearInterval', function (handle) { cancel(Number(handle)); });
replace(W, 'requestAnimationFrame', function (callback) {
  if (typeof callback !== 'function') throw new TypeError('the callback is not a function');
  const handle = ++lastHandle;
  handles.set(handle, enqueue('frame', place(), () => {
    handles.delete(handle);
    N.apply(callback, W, [now]);
  }, { due: (Math.floor(now / 16) + 1) * 16, delay: 16, channel: 'frame' }));
  return handle;
});
replace(W, 'cancelAnimationFrame', function (handle) { cancel(Number(handle)); });
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
  replace(W, 'cancelIdleCallback', function (handle) { cancel(Number(handle)); });
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
