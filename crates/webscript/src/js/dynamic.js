
// ---- Code that is made while the page runs ----

const prepared = new MineWeak();
const NEEDS_REWRITING = /<script|\son|javascript:/i;

function rewrittenHtml(text) {
  return typeof text === "string" && NEEDS_REWRITING.test(text) ? rewritten(text, "html") : text;
}

// Rewrites scripts that a script inserts, before the browser runs them.
function prepareScripts(node) {
  const type = nodeTypeOf(node);
  if (type !== ELEMENT && type !== FRAGMENT) return;
  const all = type === ELEMENT ? inside(node, "script") : insideFragment(node, "script");
  if (type === ELEMENT && localName(node) === "script") prepareScript(node);
  for (let i = 0; i < all.length; i++) prepareScript(all[i]);
}

function prepareScript(script) {
  if (prepared.has(script)) return;
  const kind = (attribute(script, "type") || "").trim().toLowerCase();
  if (attribute(script, "src") !== null) {
    if (attribute(script, "integrity") !== null) dropAttribute(script, "integrity");
    return;
  }
  const isClassic = kind === "" || /^(text|application)\/(x-)?(java|ecma)script$/.test(kind);
  const text = textOfNode(script);
  if ((!isClassic && kind !== "module") || text === "") return;
  prepared.set(script, true);
  const mine = rewritten(text, isClassic ? "classic" : "module");
  if (mine !== text) setText(script, mine);
}
let setText = () => {};

// Replaces arguments of a method, or the value of a setter, before the native sees them.
function patchArguments(object, name, change) {
  const found = object === undefined ? undefined : getOwnPropertyDescriptor(object, name);
  if (found === undefined || typeof found.value !== "function" || !found.configurable) return;
  const native = found.value;
  found.value = disguise({ method() {
    let given = arguments;
    try { given = change(this, [...given]); } catch { lost++; }
    return apply(native, this, given);
  } }.method, native);
  defineProperty(object, name, found);
}

function patchSetter(object, name, change) {
  const found = object === undefined ? undefined : getOwnPropertyDescriptor(object, name);
  if (found === undefined || found.set === undefined || !found.configurable) return;
  const { set } = found;
  found.set = disguise({ set(value) {
    try { value = change(this, value); } catch { lost++; }
    return apply(set, this, [value]);
  } }.set, set);
  defineProperty(object, name, found);
}

function patchMarkup() {
  for (const name of ["Element", "ShadowRoot"]) {
    for (const property of ["innerHTML", "outerHTML"]) {
      patchAccessor(home(name), property, (self) => readSubtree(self), null);
      patchSetter(home(name), property, (self, value) => {
        const at = property === "innerHTML" ? self : parentOf(self);
        writeNode(at, "children");
        if (isElement(self) && isConnected(self)) for (const node of inside(self, "*")) writeKeys(node, rootOf(self));
        return rewrittenHtml(value);
      });
    }
    patchArguments(home(name), "setHTMLUnsafe", (self, [text, ...rest]) => { writeNode(self, "children"); return [rewrittenHtml(text), ...rest]; });
  }
  patchArguments(elementHome, "insertAdjacentHTML", (self, [where, text, ...rest]) => {
    writeNode(/^(afterbegin|beforeend)$/i.test(where) ? self : parentOf(self), "children");
    return [where, rewrittenHtml(text), ...rest];
  });
  for (const name of ["write", "writeln"]) {
    patchArguments(home("Document"), name, (self, given) => {
      writeNode(self, "*");
      return [rewrittenHtml(given.join(""))];
    });
  }
  patchArguments(home("Range"), "createContextualFragment", (_, [text, ...rest]) => [rewrittenHtml(text), ...rest]);
  for (const name of ["setAttribute", "setAttributeNS"]) {
    patchArguments(elementHome, name, (self, given) => {
      const at = name === "setAttribute" ? 0 : 1, key = NativeString(given[at]).toLowerCase();
      if (given.length <= at + 1) return given;
      writeAttribute(self, key);
      if (/^on[a-z]/.test(key)) given[at + 1] = rewritten(NativeString(given[at + 1]), "handler");
      if (key === "integrity") given[at + 1] = "";
      return given;
    });
  }
  for (const name of ["HTMLScriptElement", "HTMLLinkElement"]) patchSetter(home(name), "integrity", () => "");
}

function patchCode() {
  for (const name of ["setTimeout", "setInterval"]) {
    patchArguments(root, name, (_, [code, ...rest]) => [typeof code === "string" ? rewritten(code, "eval") : code, ...rest]);
  }
  // `new Function(...)`: checked by the native, and then made from rewritten text.
  const Native = root.Function, { construct } = Reflect, evaluate = nativeEval;
  const make = (given) => {
    const plain = apply(Native, undefined, given);
    try {
      const text = "(" + apply(nativeToString, plain, []) + ")";
      const mine = rewritten(text, "eval");
      return mine === text ? plain : evaluate(mine);
    } catch { return plain; }
  };
  const mine = new (getPrototypeProxy())(Native, {
    __proto__: null,
    apply(_, __, given) { return make(given); },
    construct(target, given, by) { return by === mine || by === target ? make(given) : construct(target, given, by); },
  });
  disguises.set(mine, Native);
  replaceGlobal("Function", mine);
  const found = getOwnPropertyDescriptor(Native.prototype, "constructor");
  found.value = mine;
  defineProperty(Native.prototype, "constructor", found);
}

function install() {
  const NativeProxy = root.Proxy;
  getPrototypeProxy = () => NativeProxy;
  const text = nodeHome === undefined ? undefined : getOwnPropertyDescriptor(nodeHome, "textContent");
  if (text !== undefined) setText = (script, value) => apply(text.set, script, [value]);
  patchHeap();
  patchTree();
  if (hasTree) patchMarkup();
  patchEvents();
  patchCode();
}
