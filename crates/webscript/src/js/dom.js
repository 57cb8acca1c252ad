
// ---- Logical locations of the tree, of forms, storage and the like ----

const has = (name) => typeof root[name] === "function";
const home = (name) => (has(name) ? root[name].prototype : undefined);
const hasTree = has("Node") && has("Document") && root.document !== undefined;
const native = (object, name) => {
  const found = object === undefined ? undefined : getOwnPropertyDescriptor(object, name);
  if (found === undefined) return () => undefined;
  const code = found.get === undefined ? found.value : found.get;
  return (self, ...given) => apply(code, self, given);
};
const objectHome = Object.prototype;
const nodeHome = home("Node"), elementHome = home("Element");
const nodeTypeOf = native(nodeHome, "nodeType"), nodeNameOf = native(nodeHome, "nodeName");
const parentOf = native(nodeHome, "parentNode"), isConnected = native(nodeHome, "isConnected");
const rootOf = native(nodeHome, "getRootNode"), textOfNode = native(nodeHome, "textContent");
const attribute = native(elementHome, "getAttribute"), attributes = native(elementHome, "getAttributeNames");
const dropAttribute = native(elementHome, "removeAttribute");
const inside = native(elementHome, "querySelectorAll");
const insideFragment = native(home("DocumentFragment"), "querySelectorAll");
const localName = native(elementHome, "localName");
const ELEMENT = 1, FRAGMENT = 11, SUBTREE_MAX = 5000;
// Helpers that belong to an element, and what to call their properties.
const owners = new MineWeak();

// The native tells other objects from nodes by an exception, which costs far more than the rest of
// an access. So prototypes whose objects are none are remembered: those of this window without
// `Node.prototype` above them. A node whose prototype was taken away counts as no node.
const plainHomes = new MineWeak();
function isNode(value) {
  if (!isObject(value) || nodeHome === undefined || proxies.has(value)) return false;
  const proto = getPrototypeOf(value);
  if (proto === null || plainHomes.has(proto)) return false;
  try { return typeof nodeTypeOf(value) === "number"; } catch { /* none */ }
  if (isPlain(proto)) plainHomes.set(proto, true);
  return false;
}
function isPlain(proto) {
  let at = proto;
  for (let steps = 0; at !== null && at !== objectHome; at = getPrototypeOf(at)) {
    if (at === nodeHome || proxies.has(at) || ++steps > 50) return false;
  }
  return true;
}
const isElement = (value) => isNode(value) && nodeTypeOf(value) === ELEMENT;

function nodeName(object, number) {
  const owner = owners.get(object);
  if (owner !== undefined) return nameOf(recordOf(owner.element)) + "." + owner.name;
  if (root.Storage !== undefined && getPrototypeOf(object) === root.Storage.prototype) {
    return object === root.localStorage ? "localStorage" : "sessionStorage";
  }
  if (object === root.location) return place + "location";
  if (!isNode(object)) return "";
  const name = nodeNameOf(object);
  if (nodeTypeOf(object) !== ELEMENT) return name + "#" + number;
  if (/^(HTML|HEAD|BODY)$/.test(name) && parentOf(object) !== null) return place + name;
  const id = attribute(object, "id");
  if (typeof id !== "string" || id === "") return name + "#" + number;
  const base = place + name + "[" + id + "]", count = (idNames.get(base) || 0) + 1;
  idNames.set(base, count);
  return count === 1 ? base : base + "~" + count;
}

const readNode = (node, key) => { if (isNode(node)) logical(node, key, READ, here); };
const writeNode = (node, key) => { if (isNode(node)) logical(node, key, WRITE, here); };
const readLookup = (scope, key) => logical(isNode(scope) ? scope : root.document, key, READ, here);

// A write whose value is compared: `look` reads it without code of the page.
function writeState(object, key, look) {
  const cell = logical(object, key, WRITE, here);
  if (cell.look === look && cell.lookEpoch === epoch) return;
  cell.look = look;
  cell.lookEpoch = epoch;
  cell.kind = LOGICAL;
  cell.old = look(object);
}

const attributeLooks = new Mine();
function lookAttribute(name) {
  let look = attributeLooks.get(name);
  if (look === undefined) attributeLooks.set(name, look = (element) => attribute(element, name));
  return look;
}
function writeAttribute(element, name) {
  name = NativeString(name).toLowerCase();
  writeState(element, "@" + name, lookAttribute(name));
  if (name.startsWith("on")) listener(element, name.slice(2), WRITE);
  if (isConnected(element)) logical(rootOf(element), "[" + name + "]", WRITE, here);
  if (name === "id" || name === "class" || name === "name") writeKeys(element, rootOf(element));
}
const readAttribute = (element, name) => readNode(element, "@" + NativeString(name).toLowerCase());

// What lookups by selectors would find an element by.
function writeKeys(element, scope) {
  if (!isNode(scope)) return;
  const write = (key) => logical(scope, key, WRITE, here);
  write("<" + localName(element).toLowerCase() + ">");
  write("*");
  for (const name of attributes(element)) {
    const value = attribute(element, name);
    if (name === "id") write("#" + value);
    else if (name === "class") for (const one of value.split(/\s+/)) if (one !== "") write("." + one);
    write("[" + name + "]");
  }
}

// A node, with all below it, comes into a parent or leaves it.
function writeSubtree(node, parent) {
  if (!isNode(node) || !isNode(parent)) return;
  writeNode(parent, "children");
  const type = nodeTypeOf(node);
  if (type !== FRAGMENT) writeNode(node, "parent");
  if (!isConnected(parent) || (type !== ELEMENT && type !== FRAGMENT)) return;
  const scope = rootOf(parent);
  if (type === ELEMENT) writeKeys(node, scope);
  const all = type === ELEMENT ? inside(node, "*") : insideFragment(node, "*");
  for (let i = 0; i < all.length && i < SUBTREE_MAX; i++) writeKeys(all[i], scope);
}

function readSubtree(node) {
  readNode(node, "children");
  if (!isElement(node)) return;
  const all = inside(node, "*");
  for (let i = 0; i < all.length && i < SUBTREE_MAX; i++) readNode(all[i], "children");
}

const selectors = new Mine();
function readSelector(scope, selector) {
  let keys = selectors.get(selector);
  if (keys === undefined) {
    keys = [];
    const rest = NativeString(selector).replace(/\[\s*([-\w]+)[^\]]*\]/g, (_, name) => { keys[keys.length] = "[" + name.toLowerCase() + "]"; return " "; })
      .replace(/::?[-\w]+/g, " ");
    for (const found of rest.match(/[#.]?-?[\w\u0080-\uffff][-\w\u0080-\uffff]*/g) || []) {
      keys[keys.length] = /^[#.]/.test(found) ? found : "<" + found.toLowerCase() + ">";
    }
    if (keys.length === 0) keys[0] = "*";
    selectors.set(selector, keys);
  }
  for (const key of keys) readLookup(scope, key);
}
const lookupScope = (self) => (isNode(self) ? (isConnected(self) ? rootOf(self) : self) : root.document);

function patchLookups() {
  for (const name of ["Document", "DocumentFragment", "Element"]) {
    const proto = home(name);
    patch(proto, "getElementById", (self, [id]) => readLookup(self, "#" + id));
    patch(proto, "getElementsByClassName", (self, [names]) => {
      for (const one of NativeString(names).split(/\s+/)) readLookup(lookupScope(self), "." + one);
    });
    patch(proto, "getElementsByTagName", (self, [tag]) => {
      readLookup(lookupScope(self), tag === "*" ? "*" : "<" + NativeString(tag).toLowerCase() + ">");
    });
    patch(proto, "getElementsByName", (self) => readLookup(self, "[name]"));
    for (const query of ["querySelector", "querySelectorAll"]) {
      patch(proto, query, (self, [selector]) => readSelector(lookupScope(self), selector));
    }
    for (const query of ["children", "firstElementChild", "lastElementChild", "childElementCount"]) {
      patchAccessor(proto, query, (self) => readNode(self, "children"), null);
    }
  }
  for (const query of ["matches", "closest"]) patch(elementHome, query, (self, [selector]) => {
    readSelector(lookupScope(self), selector);
    for (let node = self; isElement(node) && query === "closest"; node = parentOf(node)) readNode(node, "parent");
  });
  const doc = home("Document");
  for (const [name, tag] of [["forms", "form"], ["images", "img"], ["links", "a"], ["scripts", "script"],
    ["body", "body"], ["head", "head"], ["embeds", "embed"]]) {
    patchAccessor(doc, name, (self) => readLookup(self, "<" + tag + ">"), null);
  }
  patchAccessor(doc, "title", (self) => readLookup(self, "title"), (self) => writeNode(self, "title"));
  patchAccessor(doc, "activeElement", (self) => readLookup(self, "activeElement"), null);
  patchAccessor(doc, "cookie", (self) => readLookup(self, "cookie"), (self) => writeNode(self, "cookie"));
  for (const name of ["childNodes", "firstChild", "lastChild"]) patchAccessor(nodeHome, name, (self) => readNode(self, "children"), null);
  patch(nodeHome, "hasChildNodes", (self) => readNode(self, "children"));
  patch(nodeHome, "contains", (self, [node]) => { for (let at = node; isNode(at) && at !== self; at = parentOf(at)) readNode(at, "parent"); });
  for (const name of ["parentNode", "parentElement", "isConnected"]) patchAccessor(nodeHome, name, (self) => readNode(self, "parent"), null);
  const sibling = (self) => { readNode(self, "parent"); readNode(parentOf(self), "children"); };
  for (const name of ["nextSibling", "previousSibling"]) patchAccessor(nodeHome, name, sibling, null);
  for (const proto of [elementHome, home("CharacterData")]) {
    for (const name of ["nextElementSibling", "previousElementSibling"]) patchAccessor(proto, name, sibling, null);
  }
}

function patchChanges() {
  const insert = (parent, node) => {
    if (!isNode(node)) return;
    prepareScripts(node);
    if (nodeTypeOf(node) !== FRAGMENT && isNode(parentOf(node))) writeSubtree(node, parentOf(node));
    writeSubtree(node, parent);
  };
  const remove = (parent, node) => { if (isNode(node)) writeSubtree(node, parent); };
  for (const name of ["appendChild", "insertBefore"]) patch(nodeHome, name, (self, [node]) => insert(self, node));
  patch(nodeHome, "removeChild", (self, [node]) => remove(self, node));
  patch(nodeHome, "replaceChild", (self, [node, old]) => { insert(self, node); remove(self, old); });
  const each = (parent, given) => {
    writeNode(parent, "children");
    for (let i = 0; i < given.length; i++) insert(parent, given[i]);
  };
  for (const name of ["Document", "DocumentFragment", "Element", "CharacterData", "DocumentType"]) {
    const proto = home(name);
    for (const method of ["append", "prepend", "replaceChildren"]) patch(proto, method, (self, given) => each(self, given));
    for (const method of ["before", "after", "replaceWith"]) patch(proto, method, (self, given) => each(parentOf(self), given));
    patch(proto, "remove", (self) => remove(parentOf(self), self));
  }
  patch(elementHome, "insertAdjacentElement", (self, [where, node]) => insert(/^(after|before)(begin|end)$/i.test(where) && /(afterbegin|beforeend)/i.test(where) ? self : parentOf(self), node));
  patchAccessor(nodeHome, "textContent", (self) => readSubtree(self), (self) => writeNode(self, isElement(self) ? "children" : "data"));
  patchAccessor(home("HTMLElement"), "innerText", (self) => readSubtree(self), (self) => writeNode(self, "children"));
  patchAccessor(home("HTMLScriptElement"), "text", (self) => readSubtree(self), (self) => writeNode(self, "children"));
  for (const name of ["data", "nodeValue"]) {
    for (const proto of [home("CharacterData"), nodeHome]) patchAccessor(proto, name, (self) => readNode(self, "data"), (self) => writeNode(self, "data"));
  }
}

function patchAttributes() {
  for (const name of ["getAttribute", "hasAttribute", "getAttributeNode"]) patch(elementHome, name, (self, [key]) => readAttribute(self, key));
  patch(elementHome, "removeAttribute", (self, [key]) => writeAttribute(self, key));
  patch(elementHome, "toggleAttribute", (self, [key]) => { readAttribute(self, key); writeAttribute(self, key); });
  const reflected = [["Element", "id"], ["Element", "className", "class"], ["Element", "slot"], ["HTMLElement", "title"],
    ["HTMLElement", "hidden"], ["HTMLElement", "lang"], ["HTMLElement", "dir"], ["HTMLElement", "tabIndex"],
    ["HTMLElement", "contentEditable"], ["HTMLAnchorElement", "href"], ["HTMLImageElement", "src"], ["HTMLIFrameElement", "src"],
    ["HTMLScriptElement", "src"], ["HTMLLinkElement", "href"], ["HTMLFormElement", "action"], ["HTMLFormElement", "method"],
    ["HTMLInputElement", "type"], ["HTMLInputElement", "placeholder"], ["HTMLInputElement", "max"], ["HTMLInputElement", "min"]];
  for (const control of ["Input", "Button", "Select", "TextArea", "Option", "FieldSet", "OptGroup"]) {
    for (const name of ["disabled", "readOnly", "required", "name", "hidden"]) reflected[reflected.length] = ["HTML" + control + "Element", name];
  }
  for (const [owner, name, as] of reflected) {
    const key = as || name.toLowerCase();
    patchAccessor(home(owner), name, (self) => readAttribute(self, key), (self) => { if (isElement(self)) writeAttribute(self, key); });
  }
  const helper = (owner, name) => {
    const found = owner === undefined ? undefined : getOwnPropertyDescriptor(owner, name);
    if (found === undefined || found.get === undefined) return;
    const { get } = found;
    found.get = disguise({ get() {
      const result = apply(get, this, []);
      if (isObject(result)) owners.set(result, { element: this, name });
      return result;
    } }.get, get);
    defineProperty(owner, name, found);
  };
  helper(elementHome, "classList");
  for (const name of ["HTMLElement", "SVGElement", "MathMLElement"]) for (const part of ["style", "dataset"]) helper(home(name), part);
  const tokens = home("DOMTokenList");
  const element = (self) => (owners.get(self) || { element: null }).element;
  for (const name of ["add", "remove", "toggle", "replace"]) {
    patch(tokens, name, (self) => { const at = element(self); if (isElement(at)) { readAttribute(at, "class"); writeAttribute(at, "class"); } });
  }
  for (const name of ["contains", "item", "forEach"]) patch(tokens, name, (self) => readAttribute(element(self), "class"));
  patchAccessor(tokens, "value", (self) => readAttribute(element(self), "class"), (self) => writeAttribute(element(self), "class"));
  patchAccessor(tokens, "length", (self) => readAttribute(element(self), "class"), null);
  const style = home("CSSStyleDeclaration");
  for (const name of ["setProperty", "removeProperty"]) patch(style, name, (self, [key]) => logical(self, styleKey(key), WRITE, here));
  patch(style, "getPropertyValue", (self, [key]) => logical(self, styleKey(key), READ, here));
  patch(root, "getComputedStyle", (_, [node]) => { readAttribute(node, "class"); readAttribute(node, "style"); });
}
const styleKey = (key) => NativeString(key).replace(/^-?([a-z]+)/, "$1").replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());

function patchState() {
  const state = (owner, name, target, key) => {
    const proto = home(owner), getter = native(proto, name);
    const look = (self) => getter(self);
    patchAccessor(proto, name, (self) => readNode(target(self), key), (self) => {
      if (target(self) === self) writeState(self, key, look); else writeNode(target(self), key);
    });
  };
  const self = (node) => node;
  for (const name of ["value", "valueAsNumber", "valueAsDate"]) state("HTMLInputElement", name, self, "value");
  for (const name of ["checked", "indeterminate"]) state("HTMLInputElement", name, self, "checked");
  state("HTMLInputElement", "files", self, "value");
  state("HTMLTextAreaElement", "value", self, "value");
  for (const name of ["value", "selectedIndex", "selectedOptions"]) state("HTMLSelectElement", name, self, "value");
  state("HTMLOptionElement", "selected", (node) => (node.closest && node.closest("select")) || node, "value");
  state("HTMLDetailsElement", "open", self, "@open");
  const form = home("HTMLFormElement");
  for (const name of ["submit", "requestSubmit"]) patch(form, name, (at) => readForm(at));
  patch(form, "reset", (at) => writeForm(at));
  for (const name of ["elements", "length"]) patchAccessor(form, name, (at) => readSubtree(at), null);
  if (has("FormData")) {
    const Native = root.FormData, { construct } = Reflect;
    const mine = new (getPrototypeProxy())(Native, { __proto__: null, construct(target, given, by) {
      guarded(readForm, given[0]);
      return construct(target, given, by === mine ? target : by);
    } });
    disguises.set(mine, Native);
    replaceGlobal("FormData", mine);
  }
  const storage = home("Storage");
  const item = native(storage, "getItem"), looks = new Mine();
  const look = (key) => looks.get(key) || (looks.set(key, (at) => item(at, key)), looks.get(key));
  patch(storage, "getItem", (at, [key]) => logical(at, NativeString(key), READ, here));
  // A key that comes or goes changes the set of keys.
  const set = (at, key, stays) => {
    writeState(at, key, look(key));
    if ((item(at, key) !== null) !== stays) logical(at, KEYS, WRITE, here);
  };
  patch(storage, "setItem", (at, [key]) => set(at, NativeString(key), true));
  patch(storage, "removeItem", (at, [key]) => set(at, NativeString(key), false));
  patch(storage, "clear", (at) => { for (const key of ownKeys(at)) set(at, key, false); });
  patch(storage, "key", (at) => logical(at, KEYS, READ, here));
  patchAccessor(storage, "length", (at) => logical(at, KEYS, READ, here), null);
  for (const name of ["pushState", "replaceState"]) patch(home("History"), name, () => { logical(root.location, "href", WRITE, here); logical(root.history, "state", WRITE, here); });
  patchAccessor(home("History"), "state", (at) => logical(at, "state", READ, here), null);
  const registry = home("CustomElementRegistry");
  patch(registry, "define", (at, [name]) => logical(at, NativeString(name), WRITE, here));
  for (const method of ["get", "whenDefined"]) patch(registry, method, (at, [name]) => logical(at, NativeString(name), READ, here));
  patch(home("Document"), "createElement", (_, [name]) => { if (NativeString(name).includes("-")) logical(root.customElements, NativeString(name).toLowerCase(), READ, here); });
  patch(elementHome, "attachShadow", (at) => writeNode(at, "shadowRoot"), (_, made) => watch(made));
  patchAccessor(elementHome, "shadowRoot", (at) => readNode(at, "shadowRoot"), null);
}
let getPrototypeProxy = () => root.Proxy;

function controlsOf(form) {
  return isElement(form) ? inside(form, "input,select,textarea,button") : [];
}
function readForm(form) {
  const all = controlsOf(form);
  for (let i = 0; i < all.length; i++) for (const key of ["value", "checked", "@name", "@disabled"]) readNode(all[i], key);
  for (const key of ["@action", "@method", "children"]) readNode(form, key);
}
function writeForm(form) {
  const all = controlsOf(form);
  for (let i = 0; i < all.length; i++) for (const key of ["value", "checked"]) writeNode(all[i], key);
}

// What the parser and natives change is seen by an observer.
let observer = null, observe = null, takeRecords = null;
function watch(node) {
  if (observer !== null) observe(observer, node, { childList: true, attributes: true, characterData: true, subtree: true, attributeOldValue: true });
}
function changed(list) {
  const site = here;
  here = -1;
  for (let i = 0; i < list.length; i++) {
    const { type, target, attributeName, oldValue, addedNodes, removedNodes } = list[i];
    if (type === "attributes") {
      const cell = logical(target, "@" + attributeName, READ & 0, here);
      const isNew = (cell.flags & WRITE) === 0;
      writeAttribute(target, attributeName);
      if (isNew) cell.old = oldValue;
    } else if (type === "characterData") {
      writeNode(target, "data");
    } else {
      for (let j = 0; j < addedNodes.length; j++) { writeSubtree(addedNodes[j], target); readDefinitions(addedNodes[j]); }
      for (let j = 0; j < removedNodes.length; j++) writeSubtree(removedNodes[j], target);
    }
  }
  here = site;
}
function readDefinitions(node) {
  if (isElement(node) && localName(node).includes("-")) logical(root.customElements, localName(node), READ, here);
}
function settle() {
  if (observer !== null) guarded(() => changed(takeRecords(observer)));
}
function patchTree() {
  const Observer = root.MutationObserver;
  if (!hasTree || Observer === undefined) return;
  observe = native(Observer.prototype, "observe");
  takeRecords = native(Observer.prototype, "takeRecords");
  observer = new Observer((list) => guarded(changed, list));
  watch(root.document);
  patchLookups();
  patchChanges();
  patchAttributes();
  patchState();
}
