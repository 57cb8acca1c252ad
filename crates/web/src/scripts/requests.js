// Requests that a script waits for.
//
// A synchronous request is a part of its event: it must be answered at once. A header tells the
// driver which it is; a request to another origin, whose headers are watched, is known by its address.
const absolute = (url) =>
  N.String(new N.URL(N.String(url), W.document ? W.document.baseURI : W.location.href));
const tell = W[config.synchronous];
try { delete W[config.synchronous]; } catch { /* it stays visible */ }
if (W.XMLHttpRequest) {
  const open = W.XMLHttpRequest.prototype.open;
  const sendNative = W.XMLHttpRequest.prototype.send;
  const setHeader = W.XMLHttpRequest.prototype.setRequestHeader;
  const synchronous = new N.WeakMap();
  replace(W.XMLHttpRequest.prototype, 'open', function (...values) {
    const waits = values.length > 2 && !values[2];
    N.apply(weakSet, synchronous, [this, waits ? absolute(values[1]) : '']);
    return N.apply(open, this, values);
  });
  replace(W.XMLHttpRequest.prototype, 'send', function (...values) {
    const url = N.apply(weakGet, synchronous, [this]);
    if (url) {
      if (new N.URL(url).origin === W.location.origin) {
        N.apply(setHeader, this, [config.header, '1']);
      } else if (tell) {
        tell(url);
      }
    }
    return N.apply(sendNative, this, values);
  });
}
