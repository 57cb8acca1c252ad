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
N.apply(N.addEventListener, W, ['message', () => { activity++; }]);
