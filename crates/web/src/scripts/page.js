// What a page shows, and where its elements are. It runs in a world of its own, with the tree of the
// page but natives that the page cannot touch.
const api = {
  // Finds the target of a user's step. A user does not use a control that is disabled.
  locate(kind, text, nth, visible, use, scroll) {
    const found = select(kind, text);
    const element = found[nth];
    if (!element) return JSON.stringify({ count: found.length });
    if (scroll) element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const box = element.getBoundingClientRect();
    const style = W.getComputedStyle(element);
    const shown = box.width > 0 && box.height > 0 && style.visibility === 'visible';
    return JSON.stringify({
      count: found.length,
      usable: !visible || shown,
      refuses: visible && refuses(element, use),
      shown,
      x: box.left + box.width / 2,
      y: box.top + box.height / 2,
    });
  },
  element(kind, text, nth) {
    return select(kind, text)[nth];
  },
  observe() {
    return JSON.stringify(observe());
  },
  // The elements that a user could use, for a crawl.
  candidates(listened) {
    return N.stringify(candidates(listened));
  },
};
function refuses(element, use) {
  if (use === 'type') return element.matches(':disabled') || element.readOnly === true;
  const controls = 'button:disabled,input:disabled,select:disabled,textarea:disabled';
  return use === 'click' && element.closest(controls) !== null;
}
// The document of a frame, if it may be read.
function documentOf(frame) {
  try { return frame.contentDocument; } catch { return null; }
}
// The text of a tree of its own, which the text of the page leaves out.
function textOf(root) {
  const texts = Array.from(root.childNodes, (node) => {
    if (node.nodeType === 3) return node.data.trim();
    const isText = node.nodeType === 1 && !['STYLE', 'SCRIPT', 'SLOT'].includes(node.tagName);
    return isText ? node.innerText || '' : '';
  });
  return texts.filter((text) => text).join('\n');
}
// What a page shows and keeps, in a form without chance.
function observe() {
  const fields = [];
  const lines = [];
  // The text of the page, and then of its frames and of what elements keep in trees of their own.
  const texts = [W.document.body ? W.document.body.innerText : ''];
  const canonical = (node, depth) => {
    if (depth > 400) return;
    if (node.nodeType === 3) {
      const text = node.data.replace(/\s+/g, ' ').trim();
      if (text) lines.push(text);
      return;
    }
    if (node.nodeType !== 1) return;
    const tag = node.tagName.toLowerCase();
    const names = Array.from(node.attributes, (a) => a.name + '=' + JSON.stringify(a.value)).sort();
    lines.push('<' + [tag, ...names].join(' ') + '>');
    if (tag === 'input' || tag === 'textarea' || tag === 'select') {
      const value = node.type === 'checkbox' || node.type === 'radio'
        ? String(node.checked) : String(node.value);
      const state = node.disabled ? ' (disabled)' : '';
      fields.push(pathTo(node) + '=' + JSON.stringify(value) + state);
    } else if (tag === 'button' && node.disabled) {
      fields.push(pathTo(node) + '=(disabled)');
    }
    const inner = tag === 'iframe' ? documentOf(node) : null;
    if (inner && inner.documentElement) {
      canonical(inner.documentElement, depth + 1);
      texts.push(inner.body ? inner.body.innerText : '');
    }
    if (tag !== 'script' && tag !== 'style') {
      if (node.shadowRoot) {
        texts.push(textOf(node.shadowRoot));
        for (const one of node.shadowRoot.childNodes) canonical(one, depth + 1);
      }
      for (const one of node.childNodes) canonical(one, depth + 1);
    }
    lines.push('</' + tag + '>');
  };
  if (W.document.documentElement) canonical(W.document.documentElement, 0);
  const stored = (name) => {
    try {
      const storage = W[name];
      return Object.keys(storage).sort().map((key) => [key, storage.getItem(key)]);
    } catch {
      return [];
    }
  };
  let cookies = '';
  try { cookies = W.document.cookie.split('; ').sort().join('; '); } catch { /* none */ }
  const active = W.document.activeElement;
  // The addresses of blobs have random names.
  const plain = (text) => text.replace(/blob:[^\s"')]*\/[-0-9a-f]{36}/g, 'blob:');
  return {
    text: plain(texts.filter((text) => text).join('\n').trimEnd()),
    title: W.document.title,
    fields,
    html: plain(lines.join('\n')),
    focus: active && active !== W.document.body ? pathTo(active) : '',
    url: W.location.href,
    scroll: [W.scrollX, W.scrollY],
    local: stored('localStorage'),
    session: stored('sessionStorage'),
    cookies,
  };
}
function pathTo(node) {
  const steps = [];
  for (let at = node; at && at.nodeType === 1; at = at.parentNode) {
    if (at.id) {
      steps.unshift('#' + at.id);
      break;
    }
    const same = at.parentNode
      ? Array.from(at.parentNode.childNodes).filter((one) => one.nodeName === at.nodeName) : [at];
    const place = same.length > 1 ? '[' + (same.indexOf(at) + 1) + ']' : '';
    steps.unshift(at.tagName.toLowerCase() + place);
  }
  return steps.join('/');
}
W.__NAME__ = api;
