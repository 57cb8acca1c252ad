// Steps of a Playwright page as an `actions.json` of anyorder.

/** What Playwright does and no step can say. */
const UNKNOWN = ['dragTo', 'dragAndDrop', 'setInputFiles', 'tap', 'dispatchEvent', 'selectText',
  'goBack', 'goForward', 'reload', 'setContent'];

/** Keys that have the same name on both sides. */
const KEYS = ['Enter', 'Tab', 'Escape', 'Backspace', 'Delete', 'Home', 'End', 'PageUp', 'PageDown',
  'ArrowLeft', 'ArrowUp', 'ArrowRight', 'ArrowDown', 'F1', 'F2', 'F5', 'Space'];

/**
 * Returns the target of a selector of Playwright, or null if there is none of that form. `nth` is
 * the number of the element, from 0.
 */
export function targetOf(selector, nth = 0) {
  let text = selector.trim();
  const numbered = /\s*>>\s*nth=(\d+)$/.exec(text);
  if (numbered) return targetOf(text.slice(0, numbered.index), Number(numbered[1]));
  if (text.includes('>>')) return null;
  const with_nth = (target) => {
    if (nth === 0 && target.css === undefined) return `${target.role ? 'role' : 'text'}=${target.role || target.text}`;
    if (nth === 0 && !/^(text|role)=/.test(target.css)) return target.css;
    return { ...target, nth };
  };
  const quoted = (value) => JSON.parse(value.replace(/[is]$/, ''));
  const internal = /^internal:(\w+)=(.*)$/s.exec(text);
  if (internal) {
    const [, kind, rest] = internal;
    if (kind === 'testid' || kind === 'attr') {
      const attribute = /^\[([\w-]+)=(".*")[is]?\]$/s.exec(rest);
      return attribute ? with_nth({ css: `[${attribute[1]}=${attribute[2]}]` }) : null;
    }
    if (kind === 'text' && /^".*"[is]?$/s.test(rest)) return with_nth({ text: quoted(rest) });
    if (kind === 'label' && /^".*"[is]?$/s.test(rest)) return with_nth({ role: `textbox:${quoted(rest)}` });
    if (kind === 'role') {
      const role = /^(\w+)(?:\[name=(".*")[is]?\])?$/s.exec(rest);
      return role ? with_nth({ role: role[2] ? `${role[1]}:${quoted(role[2])}` : role[1] }) : null;
    }
    return null;
  }
  const shorthand = /^(text|css)=(.*)$/s.exec(text);
  if (shorthand && shorthand[1] === 'text') return with_nth({ text: shorthand[2].replace(/^"(.*)"$/s, '$1') });
  if (shorthand) text = shorthand[2];
  if (/^(xpath=|\/\/|\.\.)/.test(text) || /:(has-text|text|visible|nth-match)\b/.test(text)) return null;
  return with_nth({ css: text });
}

/** Records what a test does with a page. */
export class Recorder {
  /** The address of the page, from the first `goto`. */
  url = null;
  steps = [];
  /** What no step can say, in words. */
  lost = [];

  /** Takes one call: of a page (`click`, a selector, ...) or of a locator. */
  take(method, selector, values) {
    if (method === 'goto') {
      const url = String(values[0]);
      if (this.url === null) this.url = url;
      else this.lose(`a second page, ${url}`, true);
      return;
    }
    if (this.ended || this.url === null) return;
    if (UNKNOWN.includes(method)) return void this.lose(method, method === 'reload');
    const target = selector === null ? null : targetOf(selector);
    if (selector !== null && target === null) return void this.lose(`${method} on \`${selector}\``);
    switch (method) {
      case 'click': case 'check': case 'uncheck': case 'setChecked':
        this.steps.push({ click: target });
        break;
      case 'dblclick':
        this.steps.push({ click: target }, { click: target });
        break;
      case 'hover':
        this.steps.push({ hover: target });
        break;
      case 'fill': case 'clear': {
        const text = method === 'clear' ? '' : String(values[0]);
        this.steps.push({ click: target }, { press: 'Control+a' });
        this.steps.push(text ? { type: { into: target, text, at_once: true } } : { press: 'Delete' });
        break;
      }
      case 'type': case 'pressSequentially':
        if (String(values[0])) this.steps.push({ type: { into: target, text: String(values[0]) } });
        break;
      case 'press': {
        const key = String(values[0]).replace(/^ControlOrMeta\+/, 'Control+');
        if (key.length > 1 && !KEYS.includes(key.split('+').pop()) && !/\+.$/.test(key)) return void this.lose(`press of ${key}`);
        if (target) this.steps.push({ wait: target });
        this.steps.push({ press: key });
        break;
      }
      case 'selectOption': {
        const chosen = [values[0]].flat()[0];
        const text = chosen && typeof chosen === 'object' ? chosen.label || chosen.value : chosen;
        if (text) this.steps.push({ type: { into: target, text: String(text), at_once: true } });
        else this.lose('selectOption by number');
        break;
      }
      case 'waitFor': case 'waitForSelector': case 'toBeVisible':
        this.steps.push({ wait: target });
        break;
      default: break;
    }
  }

  lose(what, ends = false) {
    this.lost.push(what);
    this.ended ||= ends;
  }

  /** The text of the `actions.json`. */
  text() {
    const lines = this.steps.map((step) => `    ${JSON.stringify(step)}`);
    return lines.length ? `{\n  "steps": [\n${lines.join(',\n')}\n  ]\n}\n` : '{"steps": []}\n';
  }
}

const OF_PAGE = ['click', 'dblclick', 'check', 'uncheck', 'setChecked', 'hover', 'fill', 'type',
  'press', 'selectOption', 'waitForSelector', 'dragAndDrop', 'setInputFiles', 'tap', 'dispatchEvent'];
const OF_LOCATOR = ['click', 'dblclick', 'check', 'uncheck', 'setChecked', 'hover', 'fill', 'clear',
  'type', 'pressSequentially', 'press', 'selectOption', 'waitFor', 'dragTo', 'setInputFiles', 'tap',
  'dispatchEvent', 'selectText'];

/** Returns the selector of a locator. */
export const selectorOf = (locator) =>
  locator._selector || String(locator).replace(/^locator\('(.*)'\)$/s, '$1');

/** Makes a page tell a recorder what it does. A step counts once it has succeeded. */
export function follow(page, recorder) {
  const wrap = (owner, method, selector) => {
    const original = owner[method];
    if (typeof original !== 'function') return;
    owner[method] = async function (...values) {
      const inner = recorder.inside;
      recorder.inside = true;
      try {
        const result = await original.apply(this, values);
        if (!inner) recorder.take(method, ...selector(this, values));
        return result;
      } finally {
        recorder.inside = inner;
      }
    };
  };
  for (const method of ['goto', 'goBack', 'goForward', 'reload', 'setContent']) {
    wrap(page, method, (_, values) => [null, values]);
  }
  for (const method of OF_PAGE) wrap(page, method, (_, values) => [values[0], values.slice(1)]);
  const keyboard = page.keyboard;
  wrap(keyboard, 'press', (_, values) => [null, values]);
  const sample = page.locator('body');
  const shared = Object.getPrototypeOf(sample);
  if (!shared.anyorderFollowed) {
    Object.defineProperty(shared, 'anyorderFollowed', { value: new Map() });
    for (const method of OF_LOCATOR) {
      const original = shared[method];
      if (typeof original !== 'function') continue;
      shared[method] = async function (...values) {
        const recorder = shared.anyorderFollowed.get(this.page());
        const inner = recorder && recorder.inside;
        if (recorder) recorder.inside = true;
        try {
          const result = await original.apply(this, values);
          if (recorder && !inner) recorder.take(method, selectorOf(this), values);
          return result;
        } finally {
          if (recorder) recorder.inside = inner;
        }
      };
    }
  }
  shared.anyorderFollowed.set(page, recorder);
  return () => shared.anyorderFollowed.delete(page);
}
