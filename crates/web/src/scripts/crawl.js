// What a crawl could do next: the elements that a user can use now, in the order of the document.
// `listened` has the elements with listeners of their own, each with the kinds of these.
const PRESSED = ['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart'];
const HOVERED = ['mouseover', 'mouseenter', 'mousemove', 'pointerover', 'pointerenter'];
const TYPED = {
  text: 'ab', search: 'ab', textarea: 'ab', password: 'ab12', email: 'a@b.cd', url: 'http://a.bc',
  tel: '12', number: '12',
};
// An element that listens for so many kinds of events does it for all below it, as frameworks do
// with the root of what they show.
const KINDS_MAX = 20;
function candidates(listened) {
  const few = listened.filter(([, kinds]) => new Set(kinds).size < KINDS_MAX);
  const own = new Map(few);
  const has = (element, kinds) => {
    const listens = own.get(element);
    return kinds.some((kind) => (listens && listens.includes(kind)) ||
      typeof element['on' + kind] === 'function');
  };
  const found = [];
  const add = (element, step, text) => {
    const target = targetOf(element);
    if (target) found.push({ target, step, text: text || '' });
  };
  for (const element of W.document.querySelectorAll('body *')) {
    if (element.matches(':disabled') || !element.getClientRects().length) continue;
    const box = element.getBoundingClientRect();
    const style = W.getComputedStyle(element);
    if (box.width === 0 || box.height === 0 || style.visibility !== 'visible' ||
      style.pointerEvents === 'none' || element.closest('[inert]')) continue;
    const tag = element.tagName.toLowerCase();
    if (has(element, HOVERED)) add(element, 'hover');
    if (element.isContentEditable && !(element.parentElement || {}).isContentEditable) {
      add(element, 'type', 'ab');
    } else if (tag === 'textarea' || tag === 'input') {
      const type = tag === 'textarea' ? tag : element.type;
      if (type === 'file' || type === 'hidden') continue;
      const text = TYPED[type];
      if (text && !element.readOnly) add(element, 'type', text);
      if (!text || has(element, PRESSED)) add(element, 'click');
    } else if (tag === 'select') {
      const other = N.Array.from(element.options)
        .find((one) => !one.selected && !one.disabled && one.text.trim());
      if (other && !element.multiple) add(element, 'choose', other.text.trim());
    } else if (tag === 'a' || tag === 'area') {
      const href = element.getAttribute('href');
      if (href !== null && !/^(mailto|tel|data):/i.test(href) && !element.hasAttribute('download')) {
        add(element, 'click');
      } else if (has(element, PRESSED)) add(element, 'click');
    } else if (element.matches('button,summary,[role=button],[role=tab],[role=menuitem],' +
      '[role=checkbox],[role=switch],[role=option],[role=link]') || has(element, PRESSED)) {
      add(element, 'click');
    }
  }
  return found;
}
