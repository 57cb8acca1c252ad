// The log of accesses, and the functions that rewritten scripts call. README.md has the names.
(function (root) {
"use strict";
const own = Object.prototype.hasOwnProperty;
const { getOwnPropertyDescriptor, getPrototypeOf, defineProperty, is } = Object;
const { apply, ownKeys } = Reflect;
const { isArray } = Array;
const NativeString = String, NativeTypeError = TypeError;
const nativeEval = root.eval;
if (apply(own, root, ["__aoR"])) return;

// Collections of our own, whose methods stay native whatever the page and heap.js do to the others.
function withNativeMethods(Native, names) {
  class Mine extends Native {}
  for (const name of names) defineProperty(Mine.prototype, name, getOwnPropertyDescriptor(Native.prototype, name));
  return Mine;
}
const Mine = withNativeMethods(Map, ["get", "set", "has", "delete", "forEach"]);
const MineWeak = withNativeMethods(WeakMap, ["get", "set", "has"]);

const READ = 1, WRITE = 2, SAME = 4;
// What is known of the value before the first write of an event.
const UNKNOWN = { unknown: true }, ABSENT = { absent: true };
const KEYS = "{keys}", ELEMENTS_MAX = 100000;
// An event that uses more locations leaves out those of objects that it used first. It made most of
// them, so whoever uses them later has read from it where they are.
const LOCATIONS_MAX = 40000;

let epoch = 1, label = "", touched = [], here = -1;
let lastObject = null, lastRecord = null;
const records = new MineWeak(), proxies = new MineWeak();
const counters = new Mine(), idNames = new Mine();
// Where this log is, before the names of what it sees first: empty in the page's own frame.
let place = "";
// The logs of frames that can use each other's objects. An object has one name in all of them: that
// of the log in whose frame it is, if it is a window or its document, or else of the first to see it.
const mine = {
  root,
  recordOf: (object) => recordOf(object),
  nameOf: (record) => nameOf(record),
  seen: (object) => records.get(object),
  isHome: (object) => object === root || object === root.document,
  isAlive: () => root.parent !== null,
};
let logs = [mine];
function join(way, other) {
  place = way + ">";
  if (other === undefined) return;
  logs = other.logs();
  for (let i = logs.length - 1; i >= 0; i--) if (logs[i].root === root || !logs[i].isAlive()) splice(logs, i);
  logs[logs.length] = mine;
}
function splice(list, at) {
  for (let i = at + 1; i < list.length; i++) list[i - 1] = list[i];
  list.length--;
}
// Returns the record of an object that another log names.
function foreign(object) {
  for (let i = 0; i < logs.length; i++) {
    try { if (logs[i] !== mine && logs[i].isHome(object)) return { log: logs[i], record: logs[i].recordOf(object) }; } catch { /* it shows another origin now */ }
  }
  if (object === root || object === root.document) return undefined;
  for (let i = 0; i < logs.length; i++) {
    const record = logs[i] === mine ? undefined : logs[i].seen(object);
    if (record !== undefined && record.foreign === undefined) return { log: logs[i], record };
  }
  return undefined;
}
let unlogged = 0;
const scripts = new Mine();

// One location in the current event: flags, the first sites, and how to compare its value.
function newCell(record, key) {
  return { record, key, epoch: 0, flags: 0, read: -1, write: -1, old: UNKNOWN, now: UNKNOWN, kind: 0, location: undefined, look: undefined, lookEpoch: 0 };
}
// How the value of a cell is found at the end of an event.
const PROPERTY = 0, VARIABLE = 1, ENTRY = 2, LOGICAL = 3;

function touch(cell) {
  cell.epoch = epoch;
  cell.flags = 0;
  touched[touched.length] = cell;
}

function number() {
  const count = (counters.get(label) || 0) + 1;
  counters.set(label, count);
  return place + (label === "" ? "" + count : label + ":" + count);
}

function recordOf(object) {
  if (object === lastObject) return lastRecord;
  let record = records.get(object);
  if (record === undefined) {
    const other = logs.length > 1 ? foreign(object) : undefined;
    record = { object, name: null, foreign: other, number: object === root || other !== undefined ? "" : number(), cells: new Mine(), entries: null, keysEpoch: 0, born: epoch };
    records.set(object, record);
  }
  lastObject = object;
  lastRecord = record;
  return record;
}

function isObject(value) {
  return value !== null && (typeof value === "object" || typeof value === "function");
}

function plainKey(key) {
  const type = typeof key;
  if (type === "string" || type === "symbol") return key;
  if (key !== null && (type === "object" || type === "function")) return "?";
  return "" + key;
}

function cellOf(record, key) {
  let cell = record.cells.get(key);
  if (cell === undefined) {
    cell = newCell(record, key);
    record.cells.set(key, cell);
  }
  return cell;
}

// A read of a property that the object does not have itself also reads the object that has it.
function readInherited(object, key, site) {
  if (proxies.has(object) || apply(own, object, [key])) return;
  // An element with this id is a global name.
  if (object === root && hasTree && typeof key === "string") logical(root.document, "#" + key, READ, site);
  for (let holder = getPrototypeOf(object), steps = 0; holder !== null && steps < 50; steps++) {
    if (proxies.has(holder)) return;
    if (apply(own, holder, [key])) {
      const cell = cellOf(recordOf(holder), key);
      if (cell.epoch !== epoch) touch(cell);
      if ((cell.flags & READ) === 0) { cell.flags |= READ; cell.read = site; }
      return;
    }
    holder = getPrototypeOf(holder);
  }
}

function read(object, key, site) {
  if (typeof key !== "string") key = plainKey(key);
  const record = object === lastObject ? lastRecord : recordOf(object);
  let cell = record.cells.get(key);
  if (cell === undefined) cell = cellOf(record, key);
  if (cell.epoch !== epoch) touch(cell);
  if ((cell.flags & READ) === 0) {
    cell.flags |= READ;
    cell.read = site;
    readInherited(object, key, site);
  }
  here = site;
}

// The value of a property, if reading it runs no code of the page.
function valueOf(object, key) {
  if (proxies.has(object)) return UNKNOWN;
  const found = getOwnPropertyDescriptor(object, key);
  if (found !== undefined) return apply(own, found, ["value"]) ? found.value : UNKNOWN;
  for (let holder = getPrototypeOf(object), steps = 0; holder !== null; holder = getPrototypeOf(holder)) {
    if (proxies.has(holder) || ++steps > 50) return UNKNOWN;
    const inherited = getOwnPropertyDescriptor(holder, key);
    if (inherited !== undefined) return apply(own, inherited, ["value"]) ? ABSENT : UNKNOWN;
  }
  return ABSENT;
}

function write(object, key, site) {
  if (typeof key !== "string") key = plainKey(key);
  const record = object === lastObject ? lastRecord : recordOf(object);
  let cell = record.cells.get(key);
  if (cell === undefined) cell = cellOf(record, key);
  if (cell.epoch !== epoch) touch(cell);
  here = site;
  if ((cell.flags & WRITE) !== 0) return;
  cell.flags |= WRITE;
  cell.write = site;
  cell.kind = PROPERTY;
  // The value of a private name cannot be seen from outside of its class.
  cell.old = typeof key === "string" && key[0] === "#" ? UNKNOWN : valueOf(object, key);
  if (isArray(object) && !proxies.has(object)) {
    if (key === "length") for (let i = 0; i < object.length && i < ELEMENTS_MAX; i++) write(object, "" + i, site);
    else if (cell.old === ABSENT && typeof key === "string" && key >>> 0 == key) logicalWriteLength(object);
  }
}

// A location that is no property: its value is not compared, unless `old` and `now` are given.
function logical(object, key, flags, site) {
  const cell = cellOf(recordOf(object), key);
  if (cell.epoch !== epoch) touch(cell);
  if ((flags & READ) !== 0 && (cell.flags & READ) === 0) { cell.flags |= READ; cell.read = site; }
  if ((flags & WRITE) !== 0 && ((cell.flags & WRITE) === 0 || cell.kind !== LOGICAL)) {
    if ((cell.flags & WRITE) === 0) cell.write = site;
    cell.flags |= WRITE;
    cell.kind = LOGICAL;
    cell.old = cell.now = UNKNOWN;
  }
  return cell;
}

// Reads the set of names of an object, and its values too if asked.
function readKeys(object, site, values) {
  logical(object, KEYS, READ, site);
  if (!values || proxies.has(object)) return;
  const keys = ownKeys(object);
  for (let i = 0; i < keys.length && i < ELEMENTS_MAX; i++) read(object, keys[i], site);
}

function readAll(value, site) {
  if (proxies.has(value)) return;
  if (isArray(value)) {
    read(value, "length", site);
    for (let i = 0; i < value.length && i < ELEMENTS_MAX; i++) read(value, "" + i, site);
  } else if (readEntries !== null) {
    readEntries(value, site);
  }
}
let readEntries = null;

// ---- Functions that rewritten scripts call ----

const calls = {
  R(object, key, site) { if (isObject(object)) read(object, key, site); return object; },
  W(object, key, site) { if (isObject(object)) write(object, key, site); return object; },
  B(object, key, site) {
    if (isObject(object)) { read(object, key, site); write(object, key, site); }
    return object;
  },
  D(object, key, site) { if (isObject(object)) write(object, key, site); return object; },
  // Links of an optional chain.
  P(object, key, site) {
    if (object === null || object === undefined) { short = true; return object; }
    short = false;
    if (isObject(object)) read(object, key, site);
    return object;
  },
  C(object, key, site) {
    if (object === null || object === undefined) return short ? object : object[key];
    if (isObject(object)) read(object, key, site);
    return object;
  },
  Z(value) { short = false; return value; },
  // Computed keys: the object waits for its key on a stack.
  O(object, site) { objects[depth] = object; objectSites[depth++] = site; return object; },
  Po(object, site) {
    if (object === null || object === undefined) { short = true; return object; }
    short = false;
    objects[depth] = object;
    objectSites[depth++] = site;
    return object;
  },
  Co(object, site) {
    if (object === null || object === undefined) return short ? object : object[""];
    objects[depth] = object;
    objectSites[depth++] = site;
    return object;
  },
  K(key, site, mode) {
    const object = taken(site);
    if (!isObject(object)) return key;
    if (isObject(key)) return laterKey(object, key, site, mode);
    access(object, key, site, mode);
    return key;
  },
  Y(key, site) { objects[depth] = key; objectSites[depth++] = site; return key; },
  X(object, site) {
    const key = taken(site);
    if (isObject(object) && !isObject(key)) read(object, key, site);
    return object;
  },
  G(key, site) { read(root, key, site); },
  H(key, site, flags) {
    if ((flags & READ) !== 0) read(root, key, site);
    const cell = cellOf(recordOf(root), key);
    if (cell.epoch === epoch && (cell.flags & WRITE) !== 0) return 0;
    write(root, key, site);
    // It may be a `let` of a script, which is no property.
    if (cell.old === ABSENT) cell.old = UNKNOWN;
    return 0;
  },
  T(element, key, site) {
    try {
      const form = isObject(element) && element !== root ? element.form : null;
      const at = [element, form, root.document];
      for (let i = 0; i < 3; i++) {
        if (isObject(at[i]) && at[i] !== root && key in at[i]) { read(at[i], key, site); return; }
      }
    } catch { /* not an element */ }
    read(root, key, site);
  },
  Q(_, value) { return value; },
  A(value) { return value; },
  // Captured variables.
  N(text) { return { text, name: null, names: null, number: "", cells: [] }; },
  // The scope of variables in the blocks of a classic script, which has no place for an object.
  N0(text) {
    let scope = scripts.get(text);
    if (scope === undefined) scripts.set(text, scope = calls.N(text));
    return scope;
  },
  V(scope, index, site, value) {
    if (scope === undefined) return value;
    let cell = scope.cells[index];
    if (cell === undefined) cell = variableCell(scope, index);
    if (cell.epoch !== epoch) touch(cell);
    if ((cell.flags & READ) === 0) {
      cell.flags |= READ;
      cell.read = site;
      if (cell.now === UNKNOWN) cell.now = value;
    }
    here = site;
    return value;
  },
  S(scope, index, site, flags, value) { setVariable(scope, index, site, flags, value); return value; },
  U(scope, index, site, change, value) {
    setVariable(scope, index, site, READ | WRITE, typeof value === "number" ? value + change : UNKNOWN);
    return value;
  },
  L(scope, index, site) { setVariable(scope, index, site, WRITE, UNKNOWN); return 0; },
  // Iteration, destructuring, names.
  I(value, site) { here = site; if (isObject(value)) guarded(readAll, value, site); return value; },
  M(value, pattern, site) { if (isObject(value)) guarded(readPattern, value, pattern, site); return value; },
  J(object, site) { if (isObject(object)) readKeys(object, site, false); return object; },
  F(names, site) {
    const list = names.split(",");
    for (let i = 0; i < list.length; i++) {
      write(root, list[i], site);
      cellOf(recordOf(root), list[i]).old = UNKNOWN;
    }
  },
  E(called, text) {
    return called === nativeEval && typeof text === "string" ? rewritten(text, "eval") : text;
  },
};

let short = false, depth = 0;
const objects = [], objectSites = [];

// Takes what waits for a key of this site. What lies above was left there by exceptions.
function taken(site) {
  for (let i = depth - 1; i >= 0; i--) {
    if (objectSites[i] !== site) continue;
    const object = objects[i];
    for (let j = i; j < depth; j++) objects[j] = undefined;
    depth = i;
    return object;
  }
  return undefined;
}

function access(object, key, site, mode) {
  if ((mode & READ) !== 0) read(object, key, site);
  if ((mode & ~READ) !== 0) write(object, key, site);
}

// An object as a key: it becomes a string when the engine asks for it, and once only.
function laterKey(object, key, site, mode) {
  return {
    __proto__: null,
    [Symbol.toPrimitive]() {
      const text = ownKeys({ __proto__: null, [key]: 0 })[0];
      access(object, text, site, mode);
      return text;
    },
  };
}

function variableCell(scope, index) {
  const cell = newCell(scope, index);
  if (scope.number === "") scope.number = number();
  cell.kind = VARIABLE;
  return scope.cells[index] = cell;
}

function setVariable(scope, index, site, flags, value) {
  if (scope === undefined) return;
  let cell = scope.cells[index];
  if (cell === undefined) cell = variableCell(scope, index);
  if (cell.epoch !== epoch) touch(cell);
  if ((flags & READ) !== 0 && (cell.flags & READ) === 0) { cell.flags |= READ; cell.read = site; }
  if ((cell.flags & WRITE) === 0) {
    cell.flags |= WRITE;
    cell.write = site;
    cell.old = cell.now;
  }
  cell.now = value;
  here = site;
}

function readPattern(value, pattern, site) {
  for (let i = 0; i < pattern.length; i++) {
    const key = pattern[i];
    if (key === 0) { readKeys(value, site, true); continue; }
    if (isArray(key)) continue;
    read(value, key, site);
    if (isArray(pattern[i + 1])) {
      const inner = valueOf(value, key);
      if (isObject(inner) && inner !== UNKNOWN && inner !== ABSENT) readPattern(inner, pattern[i + 1], site);
    }
  }
}

// Nothing of the log may reach the page.
function guarded(log, a, b, c) {
  try { log(a, b, c); } catch { lost++; }
}
let lost = 0;

function rewritten(text, kind) {
  const count = unlogged;
  try {
    const result = api.rewrite(text, kind);
    if (typeof result === "string") return result;
  } catch { /* the text stays as it is */ }
  unlogged = count + 1;
  return text;
}
