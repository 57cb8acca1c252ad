
// ---- Listeners, dispatch, and what trusted input reads and writes ----

const targetHome = home("EventTarget");
const addNative = native(targetHome, "addEventListener");
const pathOf = native(home("Event"), "composedPath"), typeOf = native(home("Event"), "type");
const isBubbling = native(home("Event"), "bubbles");
const spied = new MineWeak(), spiedTypes = new Mine();

// Events of which a user expects nothing: one that comes before its listener does no harm.
const PASSIVE = /^(mouse(over|out|enter|leave|move)|pointer(over|out|enter|leave|move|rawupdate)|scroll|scrollend|wheel|resize|focus|focusin|focusout|blur|visibilitychange|selectionchange)$/;

function listener(target, type, flags) {
  const cell = logical(target, "listener:" + type, flags, here);
  if (cell.location === undefined) {
    const kind = PASSIVE.test(type) ? "listener:" : "handler:";
    cell.location = (name) => kind + name + ":" + type;
  }
}

// Events that the browser sends when it draws, at any time: the begin of an animation or its being
// given up, and moves of a pointer that rests while the page moves below it. No event of the page is
// their cause.
const DRAWN = /^(animation(start|iteration|cancel)|transition(run|start|cancel))$/;
const MOVED = /^(mouse|pointer)(over|out|enter|leave|move)$/;
function isDrawn(type) {
  return DRAWN.test(type) || (MOVED.test(type) && /\//.test(label));
}

// Reads the listeners along the path of an event.
function dispatched(event) {
  const type = typeOf(event), path = pathOf(event);
  if (event.isTrusted && isDrawn(type)) return;
  for (let i = 0; i < path.length; i++) listener(path[i], type, READ);
  if (!event.isTrusted) return;
  input(type, path);
  if (path.length > 0) arrived(type, path[0]);
}

const requestHome = home("XMLHttpRequest"), imageHome = home("HTMLImageElement");
const isOf = (object, proto) => {
  if (proto === undefined) return false;
  for (let at = getPrototypeOf(object); at !== null; at = getPrototypeOf(at)) if (at === proto) return true;
  return false;
};

// What the browser itself changes when something has come.
function arrived(type, target) {
  const write = (object, keys) => { for (const key of keys) logical(object, key, WRITE, here); };
  if (isOf(target, requestHome)) {
    write(target, ["readyState", "status", "response", "responseText"]);
  } else if (/^(load|error)$/.test(type) && isOf(target, imageHome)) {
    write(target, ["complete", "naturalWidth", "naturalHeight"]);
  } else if (type === "load" && isElement(target) && localName(target) === "iframe") {
    write(target, ["contentWindow"]);
  } else if (target === root.document && /^(DOMContentLoaded|readystatechange|load)$/.test(type)) {
    write(target, ["readyState"]);
  } else if (target === root && /^(hashchange|popstate)$/.test(type)) {
    write(root.location, ["href"]);
    write(root.history, ["state"]);
  }
}

const onEvent = (event) => guarded(dispatched, event);

// Watches a type of events in the document, or on a target outside of it.
function spy(target, type) {
  if (type === "unload" || type === "beforeunload") return;
  const outside = target !== root && !(isNode(target) && isConnected(target));
  if (outside) {
    let types = spied.get(target);
    if (types === undefined) spied.set(target, types = new Mine());
    if (types.has(type)) return;
    types.set(type, true);
    addNative(target, type, onEvent, { capture: true, passive: true });
  }
  if (spiedTypes.has(type) || !hasTree) return;
  spiedTypes.set(type, true);
  for (const at of [root, root.document]) addNative(at, type, onEvent, { capture: true, passive: true });
}

const POINTING = /^(pointerdown|mousedown|pointerup|mouseup|click|dblclick|touchstart|contextmenu)$/;

// What the browser itself reads and writes for an event of the user.
function input(type, path) {
  const target = path[0];
  if (!isNode(target)) return;
  if (POINTING.test(type)) {
    for (let i = 0; i < path.length; i++) {
      const node = path[i];
      if (!isElement(node)) continue;
      for (const key of ["parent", "@disabled", "@hidden", "@style", "@class"]) readNode(node, key);
    }
  }
  if (/^key/.test(type)) readLookup(root.document, "activeElement");
  if (/^(beforeinput|keydown)$/.test(type)) {
    readNode(target, "@readonly");
    for (let i = 0; i < path.length; i++) if (isElement(path[i])) readNode(path[i], "@disabled");
  }
  if (/^(input|change)$/.test(type)) { writeNode(target, "value"); writeNode(target, "checked"); }
  if (/^focus/.test(type) || type === "blur") writeNode(root.document, "activeElement");
  if (type === "submit") readForm(target);
  if (type === "reset") writeForm(target);
  if (type === "click") activation(path);
}

function activation(path) {
  for (let i = 0; i < path.length; i++) {
    const node = path[i];
    if (!isElement(node)) continue;
    const name = localName(node), kind = (attribute(node, "type") || "").toLowerCase();
    if (name === "a") readNode(node, "@href");
    if (name !== "input" || (kind !== "checkbox" && kind !== "radio")) continue;
    writeNode(node, "checked");
    const group = attribute(node, "name");
    if (kind !== "radio" || group === null) continue;
    const all = native(home("Document"), "querySelectorAll")(root.document, "input[type=radio]");
    for (let j = 0; j < all.length; j++) if (attribute(all[j], "name") === group) writeNode(all[j], "checked");
  }
}

function patchEvents() {
  if (targetHome === undefined) return;
  const of = (self) => (isObject(self) ? self : root);
  for (const name of ["addEventListener", "removeEventListener"]) {
    patch(targetHome, name, (self, [type]) => {
      listener(of(self), NativeString(type), WRITE);
      spy(of(self), NativeString(type));
    });
  }
  patch(targetHome, "dispatchEvent", (self, [event]) => {
    const type = typeOf(event);
    listener(of(self), type, READ);
    if (!isNode(self) || !isBubbling(event)) return;
    for (let at = parentOf(self); isNode(at); at = parentOf(at)) listener(at, type, READ);
    listener(root, type, READ);
  });
  const handlers = (object) => {
    for (const name of ownKeys(object)) {
      if (typeof name !== "string" || !/^on[a-z]/.test(name)) continue;
      const type = name.slice(2);
      if (hasTree && object === home("HTMLElement")) spy(root, type);
      patchAccessor(object, name, (self) => listener(of(self), type, READ), (self) => {
        listener(of(self), type, WRITE);
        spy(of(self), type);
      });
    }
  };
  for (const name of ownKeys(root)) {
    if (typeof name !== "string" || !/^[A-Z]/.test(name)) continue;
    const found = getOwnPropertyDescriptor(root, name);
    const value = found === undefined ? undefined : found.value;
    if (typeof value === "function" && isObject(value.prototype) && !proxies.has(value)) handlers(value.prototype);
  }
  handlers(root);
  const always = ["DOMContentLoaded", "readystatechange", "load", "error", "hashchange", "popstate", "focusin", "focusout", "beforeinput"];
  if (hasTree) for (const type of always) spy(root, type);
  patch(home("AbortController"), "abort", (self) => logical(self.signal, "aborted", WRITE, here));
  for (const name of ["contentWindow", "contentDocument"]) {
    patchAccessor(home("HTMLIFrameElement"), name, (self) => readNode(self, "contentWindow"), null);
  }
  const replies = ["readystatechange", "load", "loadend", "error", "abort", "timeout", "progress"];
  patch(home("XMLHttpRequest"), "send", (self) => { for (const type of replies) spy(self, type); });
  const source = getOwnPropertyDescriptor(home("HTMLImageElement") || {}, "src");
  if (source !== undefined) patchAccessor(home("HTMLImageElement"), "src", null, (self) => { spy(self, "load"); spy(self, "error"); });
}
