// Finds elements by their targets, and names elements by targets that stay the same when the page is
// built again. Needs `W`, the window, and `N`, the natives.
const wordsOf = (element) => (element.innerText || element.textContent || element.value ||
  element.getAttribute('aria-label') || '').replace(/\s+/g, ' ').trim();
const labelOf = (one) => one.getAttribute('aria-label') ||
  (one.labels && one.labels[0] && wordsOf(one.labels[0])) || wordsOf(one) || one.placeholder || '';
function select(kind, text) {
  const all = (selector) => N.Array.from(W.document.querySelectorAll(selector));
  if (kind === 'css') {
    try { return all(text); } catch { return []; }
  }
  if (kind === 'text') {
    const having = all('body *').filter((one) => wordsOf(one) === text || one.value === text);
    return having.filter((one) => !having.some((other) => other !== one && one.contains(other)));
  }
  const [role, name] = text.split(/:(.*)/s);
  const implied = {
    button: 'button,input[type=button],input[type=submit],input[type=reset],summary',
    link: 'a[href],area[href]',
    textbox: 'input:not([type]),input[type=text],input[type=search],input[type=email],textarea',
    checkbox: 'input[type=checkbox]',
    radio: 'input[type=radio]',
    combobox: 'select',
    option: 'option',
    heading: 'h1,h2,h3,h4,h5,h6',
    listitem: 'li',
    img: 'img',
  }[role];
  const safe = role.replace(/[^a-z]/g, '');
  const having = all(`[role="${safe}"]` + (implied ? ',' + implied : ''));
  return name === undefined ? having : having.filter((one) => labelOf(one) === name);
}
// Returns the target of an element, by the first of these that finds it alone: its id, its id for
// tests, the name of a field, its role with its name, its path. Ids that look made are left out.
function targetOf(element) {
  const alone = (kind, text) => {
    const found = select(kind, text);
    return found.length === 1 && found[0] === element;
  };
  const css = (text) => (alone('css', text) ? { css: text } : null);
  const quoted = (text) => N.stringify(text).replace(/\n/g, '\\a ');
  const isMade = (id) => /\d{4}|^[:\d]|:|[0-9a-f]{8}|^(ember|react|radix|headlessui|mui|mat|ng)[-_:]/i.test(id);
  if (element.id && !isMade(element.id)) {
    const found = css('#' + W.CSS.escape(element.id));
    if (found) return found;
  }
  for (const name of ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa']) {
    const value = element.getAttribute(name);
    const found = value && css('[' + name + '=' + quoted(value) + ']');
    if (found) return found;
  }
  const tag = element.tagName.toLowerCase();
  const field = element.getAttribute('name');
  if (field && /^(input|select|textarea|button)$/.test(tag)) {
    const found = css(tag + '[name=' + quoted(field) + ']');
    if (found) return found;
  }
  for (const role of ['button', 'link', 'textbox', 'checkbox', 'radio', 'combobox', 'option', 'heading']) {
    if (!select('role', role).includes(element)) continue;
    const label = labelOf(element);
    if (!label || label.length > 60 || /[\n]/.test(label)) continue;
    if (alone('role', role + ':' + label)) return { role: role + ':' + label };
  }
  const steps = [];
  for (let at = element; at && at.nodeType === 1 && at !== W.document.documentElement; at = at.parentElement) {
    if (at !== element && at.id && !isMade(at.id)) {
      steps.unshift('#' + W.CSS.escape(at.id));
      if (alone('css', steps.join(' > '))) break;
      steps.shift();
    }
    const own = at.tagName.toLowerCase();
    const same = at.parentElement
      ? N.Array.from(at.parentElement.children).filter((one) => one.tagName === at.tagName) : [at];
    const place = same.length > 1 ? ':nth-of-type(' + (same.indexOf(at) + 1) + ')' : '';
    steps.unshift(W.CSS.escape(own) + place);
  }
  const path = steps.join(' > ');
  return alone('css', path) ? { css: path } : null;
}
