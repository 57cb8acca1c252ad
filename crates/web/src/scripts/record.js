// Tells what a user does. It runs in a world of its own, so that the page can neither see nor change
// it. `W`, `N` and the functions of select.js come before it.
const tell = (step) => globalThis.__anyorder_step(N.stringify(step));
const USED = 'button,a,summary,input,textarea,select,label,option,[role=button],[role=link],' +
  '[role=tab],[role=menuitem],[role=checkbox],[role=switch],[role=option],[onclick],[tabindex]';
const NAMED_KEYS = ['Enter', 'Tab', 'Escape', 'Backspace', 'Delete', 'Home', 'End', 'PageUp',
  'PageDown', 'ArrowLeft', 'ArrowUp', 'ArrowRight', 'ArrowDown', 'F1', 'F2'];
// Returns the target of what was used: of the control around it, if there is one.
const used = (event) => {
  const element = event.composedPath()[0];
  if (!element || element.nodeType !== 1 || element.getRootNode() !== W.document) return null;
  const around = element.closest(USED);
  return (around && targetOf(around)) || targetOf(element);
};
const listen = (kind, handler) => W.addEventListener(kind, (event) => {
  if (event.isTrusted) handler(event);
}, { capture: true, passive: true });
if (W === W.top) {
  tell({ document: W.location.href });
  let label = null;
  listen('click', (event) => {
    const element = event.composedPath()[0];
    // A key that presses a button is a step of its own, and so is a choice in a list.
    if (event.detail === 0 || element.tagName === 'SELECT' || element.tagName === 'OPTION') return;
    // A click on a label is followed by one on its field.
    if (label && label.control === element) {
      label = null;
      return;
    }
    label = element.closest ? element.closest('label') : null;
    if (element.type === 'file') return;
    const target = used(event);
    tell(target ? { click: target } : { lost: 'a click' });
  });
  listen('keydown', (event) => {
    const shortcut = (event.ctrlKey || event.metaKey) && event.key.length === 1;
    if (event.isComposing || !(shortcut || NAMED_KEYS.includes(event.key))) return;
    // The browser has these for itself.
    if (shortcut && /[wtnlr+-]/i.test(event.key)) return;
    const words = [];
    if (event.altKey) words.push('Alt');
    if (event.ctrlKey) words.push('Control');
    if (event.metaKey) words.push('Meta');
    if (event.shiftKey && !shortcut) words.push('Shift');
    tell({ press: [...words, event.key].join('+') });
  });
  listen('input', (event) => {
    const element = event.composedPath()[0];
    if (event.inputType === 'insertText' && event.data) {
      const target = used(event);
      tell(target ? { type: target, text: event.data } : { lost: 'a text' });
    } else if (/^insert(FromPaste|FromDrop|ReplacementText|CompositionText)$/.test(event.inputType)) {
      const target = used(event);
      const value = element.value === undefined ? element.innerText : element.value;
      tell(target ? { fill: target, text: value } : { lost: 'a text' });
    }
  });
  listen('change', (event) => {
    const element = event.composedPath()[0];
    if (element.tagName === 'SELECT') {
      const target = targetOf(element);
      const chosen = element.options[element.selectedIndex];
      const text = chosen ? chosen.text.trim() : '';
      tell(target && text ? { choose: target, text } : { lost: 'a choice' });
    } else if (element.type === 'file') tell({ lost: 'an upload' });
    else if (/^(range|color|date|time|month|week|datetime-local)$/.test(element.type)) {
      const target = targetOf(element);
      tell(target ? { fill: target, text: element.value } : { lost: 'a value' });
    }
  });
  let [right, down, timer] = [0, 0, 0];
  listen('wheel', (event) => {
    right += event.deltaX;
    down += event.deltaY;
    clearTimeout(timer);
    timer = setTimeout(() => {
      tell({ scroll: [Math.round(right), Math.round(down)] });
      [right, down] = [0, 0];
    }, 300);
  });
}
