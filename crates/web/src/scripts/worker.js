const workerName = "__ANYORDER_WORKER__";
// A worker that a worker has made runs a copy of its script, and has the script's address here.
if (indexOf(W.location.hash, config.home) === 0) {
  const home = new N.URL(slice(W.location.hash, config.home.length));
  const full = (value) => typeof value === 'string' ? absolute(value) : value;
  for (let at = W; at; at = N.Object.getPrototypeOf(at)) {
    if (N.descriptor(at, 'location')) replaceGetter(at, 'location', function () { return home; });
  }
  const wrap = (owner, name, change) => {
    const native = owner[name];
    replace(owner, name, function (...values) { return N.apply(native, this, change(values)); });
  };
  wrap(W, 'fetch', (values) => [full(values[0]), values[1]]);
  wrap(W, 'importScripts', (values) => {
    for (let i = 0; i < values.length; i++) values[i] = absolute(values[i]);
    return values;
  });
  if (W.XMLHttpRequest) {
    wrap(W.XMLHttpRequest.prototype, 'open', (values) => { values[1] = absolute(values[1]); return values; });
  }
  construct('Request', () => {}, (values) => [full(values[0]), values[1]]);
}
// The part for workers: their messages come and go at once, as parts of the events that send them.
if (W.postMessage) {
  const native = W.postMessage;
  replace(W, 'postMessage', function (...values) {
    activity++;
    return N.apply(native, W, values);
  });
}
// Scripts that it imports: it waits for them, so they are answered at once.
if (W.importScripts) {
  const native = W.importScripts;
  replace(W, 'importScripts', function (...values) {
    for (let i = 0; i < values.length; i++) {
      try { if (tell) tell(absolute(values[i])); } catch { /* no address: the native says so */ }
    }
    return N.apply(native, W, values);
  });
}
construct('Worker', (_, values) => countWorker(values), withOwnScript);
N.apply(N.addEventListener, W, ['message', () => { activity++; }]);
