// Natives that answer later, from other threads and processes of the browser: at any time, and in
// any order. An event waits for their answers, and a page gets them in the order in which it asked,
// each in a task of its own.
let unanswered = 0;
let allAnswered = () => {};
let lastAnswer = null;
const NATIVE_MS_MAX = 1000;
const atMost = (promise) => new N.Promise((resolve) => {
  N.apply(N.then, promise, [resolve, resolve]);
  N.setTimeout(resolve, NATIVE_MS_MAX);
});
const isAnswered = () => {
  unanswered--;
  activity++;
  if (unanswered <= 0) allAnswered();
};
const waitForNatives = () => unanswered <= 0 ? undefined : new N.Promise((resolve) => {
  allAnswered = resolve;
  N.setTimeout(() => { unanswered = 0; resolve(); }, NATIVE_MS_MAX);
});
function inTurn(promise) {
  unanswered++;
  activity++;
  const before = lastAnswer;
  return new N.Promise((resolve, reject) => {
    const deliver = async (give, value) => {
      if (before) await atMost(before);
      await background();
      give(value);
      isAnswered();
    };
    const turn = (give) => (value) => { lastTurn(deliver(give, value)); };
    let lastTurn;
    lastAnswer = new N.Promise((done) => {
      lastTurn = (delivered) => N.apply(N.then, delivered, [done, done]);
    });
    N.apply(N.then, promise, [turn(resolve), turn(reject)]);
  });
}
function answers(owner, names, tell = () => {}) {
  if (!owner) return;
  for (let i = 0; i < names.length; i++) {
    const found = N.descriptor(owner, names[i]);
    if (!found || typeof found.value !== 'function') continue;
    const native = found.value;
    replace(owner, names[i], function (...values) {
      tell(names[i]);
      const promise = N.apply(native, this, values);
      return promise instanceof N.Promise ? inTurn(promise) : promise;
    });
  }
}
const protoOf = (name) => W[name] && W[name].prototype;
answers(protoOf('CookieStore'), ['get', 'getAll', 'set', 'delete'], (name) => {
  if (log && log.note && W.document) log.note(W.document, 'cookie', indexOf(name, 'get') === 0 ? 1 : 2);
});
answers(protoOf('SubtleCrypto'), [
  'encrypt', 'decrypt', 'sign', 'verify', 'digest', 'generateKey', 'deriveKey', 'deriveBits',
  'importKey', 'exportKey', 'wrapKey', 'unwrapKey',
]);
answers(protoOf('Permissions'), ['query']);
answers(protoOf('StorageManager'), ['estimate', 'persist', 'persisted']);
answers(protoOf('Blob'), ['text', 'arrayBuffer', 'bytes']);
answers(protoOf('CacheStorage'), ['open', 'match', 'has', 'delete', 'keys']);
answers(protoOf('Cache'), ['match', 'matchAll', 'put', 'delete', 'keys']);
answers(W, ['createImageBitmap']);
answers(W.WebAssembly, ['compile', 'instantiate']);
// Those that answer by an event, or call back.
if (W.FileReader) {
  for (const name of ['readAsText', 'readAsDataURL', 'readAsArrayBuffer', 'readAsBinaryString']) {
    const native = W.FileReader.prototype[name];
    replace(W.FileReader.prototype, name, function (...values) {
      const result = N.apply(native, this, values);
      unanswered++;
      N.apply(N.addEventListener, this, ['loadend', isAnswered, { once: true }]);
      return result;
    });
  }
}
if (W.HTMLCanvasElement) {
  const native = W.HTMLCanvasElement.prototype.toBlob;
  replace(W.HTMLCanvasElement.prototype, 'toBlob', function (callback, ...values) {
    if (typeof callback !== 'function') return N.apply(native, this, [callback, ...values]);
    unanswered++;
    return N.apply(native, this, [(blob) => {
      isAnswered();
      N.apply(callback, undefined, [blob]);
    }, ...values]);
  });
}
