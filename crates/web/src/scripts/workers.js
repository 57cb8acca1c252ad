// The making of workers, in frames and in workers. Those from blobs and data have no request that the
// driver could hold: their scripts are rewritten here.
// Takes the place of a constructor: `before` may change the arguments, `after` gets what was made.
function construct(name, after, before = (values) => values) {
  const Native = W[name];
  if (!Native) return;
  const Replacement = function (...values) {
    if (!new.target) throw new TypeError("Constructor " + name + " requires 'new'");
    const target = new.target === Replacement ? Native : new.target;
    const made = N.construct(Native, before(values), target);
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
const isOwn = (url) => indexOf(url, 'blob:') === 0 || indexOf(url, 'data:') === 0;
// Tells of a worker: the browser asks for its script some time later, or attaches one that has it.
const countWorker = (values) => {
  const url = N.String(values[0]);
  workersMade = listed(workersMade, quoted(isOwn(url) || !W.document ? '' : absolute(url)));
};
const Made = W.XMLHttpRequest && {
  Request: W.XMLHttpRequest, open: W.XMLHttpRequest.prototype.open,
  set: W.XMLHttpRequest.prototype.setRequestHeader, send: W.XMLHttpRequest.prototype.send,
  get: W.XMLHttpRequest.prototype.getResponseHeader,
  Blob: W.Blob, urlOf: W.URL.createObjectURL, encode: W.encodeURIComponent,
};
// Returns the arguments of a worker's constructor, with a script that reports its accesses. The
// browser asks by itself for the script of a worker that a worker makes (seen with Chromium 156), so
// it is read here, and given as a blob that tells its address.
function withOwnScript(values) {
  const url = N.String(values[0]);
  const isPlain = !isOwn(url);
  if (!Made || (isPlain ? W.document : !log || !log.rewrite)) return values;
  try {
    const request = new Made.Request();
    const address = isPlain ? absolute(url) : url;
    N.apply(Made.open, request, ['GET', address, false]);
    if (isPlain) N.apply(Made.set, request, [config.header, '1']);
    N.apply(Made.send, request, []);
    if (request.status !== 200) return values;
    const type = N.apply(Made.get, request, ['content-type']) || 'text/javascript';
    const kind = values[1] && values[1].type === 'module' ? 'module' : 'classic';
    const text = log && log.rewrite ? log.rewrite(request.responseText, kind) : request.responseText;
    const given = indexOf(url, 'data:') === 0
      ? 'data:' + type + ',' + Made.encode(text)
      : N.apply(Made.urlOf, W.URL, [new Made.Blob([text], { type })]);
    return [given + (isPlain ? config.home + address : ''), values[1]];
  } catch {
    gap('a worker whose script is a blob or data reports no accesses: its script cannot be read');
    return values;
  }
}
