
// ---- Natives that access objects ----

const disguises = new MineWeak();
const nativeToString = Function.prototype.toString;

// Defines a property that no enumeration shows and no script changes.
function hide(object, name, value) {
  defineProperty(object, name, { value, writable: false, enumerable: false, configurable: false });
}

// Makes one function look like another.
function disguise(mine, native) {
  for (const key of ["name", "length"]) {
    const found = getOwnPropertyDescriptor(native, key);
    if (found !== undefined) defineProperty(mine, key, found);
  }
  disguises.set(mine, native);
  return mine;
}

// Replaces a method by one that logs first. `log(self, arguments)` runs before, `after(self,
// result)` behind it; both are guarded.
function patch(object, name, log, after) {
  const found = object === undefined ? undefined : getOwnPropertyDescriptor(object, name);
  if (found === undefined || typeof found.value !== "function" || !found.configurable) return;
  const native = found.value;
  const mine = after === undefined
    ? { method() { try { log(this, arguments); } catch { lost++; } return apply(native, this, arguments); } }.method
    : { method() {
        try { log(this, arguments); } catch { lost++; }
        const result = apply(native, this, arguments);
        try { after(this, result, arguments); } catch { lost++; }
        return result;
      } }.method;
  found.value = disguise(mine, native);
  defineProperty(object, name, found);
}

// Replaces the getter and the setter of a property.
function patchAccessor(object, name, onGet, onSet) {
  const found = object === undefined ? undefined : getOwnPropertyDescriptor(object, name);
  if (found === undefined || !found.configurable) return;
  const { get, set } = found;
  if (get !== undefined && onGet !== null) {
    found.get = disguise({ get() {
      try { onGet(this); } catch { lost++; }
      return apply(get, this, []);
    } }.get, get);
  }
  if (set !== undefined && onSet !== null) {
    found.set = disguise({ set(value) {
      try { onSet(this, value); } catch { lost++; }
      return apply(set, this, [value]);
    } }.set, set);
  }
  defineProperty(object, name, found);
}

function patchArrays() {
  const home = Array.prototype;
  const elements = (self, from) => {
    if (!isArray(self) || proxies.has(self)) return;
    const length = self.length;
    for (let i = from; i < length && i < ELEMENTS_MAX; i++) { read(self, "" + i, here); write(self, "" + i, here); }
  };
  const lengthToo = (self) => {
    if (isArray(self) && !proxies.has(self)) {
      read(self, "length", here);
      logicalWriteLength(self);
    }
  };
  patch(home, "push", (self, added) => {
    if (!isArray(self) || proxies.has(self)) return;
    read(self, "length", here);
    const length = self.length;
    if (added.length > 0) logicalWriteLength(self);
    for (let i = 0; i < added.length && i < ELEMENTS_MAX; i++) write(self, "" + (length + i), here);
  });
  patch(home, "pop", (self) => {
    lengthToo(self);
    if (isArray(self) && self.length > 0) elements(self, self.length - 1);
  });
  for (const name of ["shift", "unshift", "splice"]) patch(home, name, (self) => { lengthToo(self); elements(self, 0); });
  for (const name of ["sort", "reverse", "fill", "copyWithin"]) {
    patch(home, name, (self) => { if (isArray(self)) read(self, "length", here); elements(self, 0); });
  }
  for (const name of ["forEach", "map", "filter", "some", "every", "find", "findIndex", "findLast",
    "findLastIndex", "reduce", "reduceRight", "indexOf", "lastIndexOf", "includes", "join", "slice",
    "concat", "flat", "flatMap", "at", "entries", "toSorted", "toReversed", "toSpliced", "with"]) {
    patch(home, name, (self) => { if (isArray(self)) readAll(self, here); });
  }
}

// The length without its elements: the callers log those that change.
function logicalWriteLength(array) {
  const cell = cellOf(recordOf(array), "length");
  if (cell.epoch !== epoch) touch(cell);
  if ((cell.flags & WRITE) !== 0) return;
  cell.flags |= WRITE;
  cell.write = here;
  cell.kind = PROPERTY;
  cell.old = array.length;
}

let entryValue = () => UNKNOWN;
// Whether an object has a prototype above it. No code of the page runs.
function isBelow(object, proto) {
  for (let at = object, steps = 0; at !== null && steps < 50; steps++) {
    if (proxies.has(at)) return false;
    at = getPrototypeOf(at);
    if (at === proto) return true;
  }
  return false;
}

function patchCollections() {
  const maps = Map.prototype, sets = Set.prototype;
  const { get, has, forEach } = maps;
  const inSet = sets.has, eachInSet = sets.forEach;
  const mapSize = getOwnPropertyDescriptor(maps, "size").get;
  const setSize = getOwnPropertyDescriptor(sets, "size").get;
  const weak = WeakMap.prototype, weakGet = weak.get, weakHas = weak.has;
  const weakSets = WeakSet.prototype, inWeakSet = weakSets.has;
  // The kind of collection that an object is, found out without code of the page.
  // An exception costs far more than the rest, so those of other windows count as none.
  const isMap = (value) => {
    if (!isBelow(value, maps)) return false;
    try { apply(mapSize, value, []); return true; } catch { return false; }
  };
  const isSet = (value) => {
    if (!isBelow(value, sets)) return false;
    try { apply(setSize, value, []); return true; } catch { return false; }
  };
  const look = [
    (self, key) => apply(has, self, [key]) ? apply(get, self, [key]) : ABSENT,
    (self, key) => apply(inSet, self, [key]) ? true : ABSENT,
    (self, key) => apply(weakHas, self, [key]) ? apply(weakGet, self, [key]) : ABSENT,
    (self, key) => apply(inWeakSet, self, [key]) ? true : ABSENT,
  ];
  const entry = (self, key, flags, type) => {
    if (!isObject(self)) return;
    const record = recordOf(self);
    if (record.entries === null) record.entries = type < 2 ? new Mine() : new MineWeak();
    let cell = record.entries.get(key);
    if (cell === undefined) {
      if (type >= 2 && !isObject(key)) return;
      cell = newCell(record, key);
      cell.isEntry = true;
      cell.type = type;
      record.entries.set(key, cell);
    }
    if (cell.epoch !== epoch) touch(cell);
    if ((flags & READ) !== 0 && (cell.flags & READ) === 0) { cell.flags |= READ; cell.read = here; }
    if ((flags & WRITE) !== 0 && (cell.flags & WRITE) === 0) {
      cell.old = look[type](self, key);
      cell.kind = ENTRY;
      cell.flags |= WRITE;
      cell.write = here;
    }
  };
  entryValue = (cell) => look[cell.type](cell.record.object, cell.key);
  const all = (self, flags) => {
    logical(self, KEYS, READ, here);
    if (isMap(self)) apply(forEach, self, [(_, key) => entry(self, key, flags, 0)]);
    else if (isSet(self)) apply(eachInSet, self, [(key) => entry(self, key, flags, 1)]);
  };
  readEntries = (value, site) => {
    here = site;
    if (isMap(value) || isSet(value)) all(value, READ);
  };
  [maps, sets, weak, weakSets].forEach((home, type) => {
    for (const name of ["get", "has"]) patch(home, name, (self, [key]) => entry(self, key, READ, type));
    for (const name of ["set", "add", "delete"]) patch(home, name, (self, [key]) => entry(self, key, WRITE, type));
    if (type >= 2) return;
    patch(home, "clear", (self) => all(self, WRITE));
    for (const name of ["forEach", "entries", "values"]) patch(home, name, (self) => all(self, READ));
    patchAccessor(home, "size", (self) => logical(self, KEYS, READ, here), null);
  });
  patch(maps, "keys", (self) => logical(self, KEYS, READ, here));
}

function patchObjects() {
  const keysOf = ([object]) => { if (isObject(object)) readKeys(object, here, false); };
  const allOf = ([object]) => { if (isObject(object)) readKeys(object, here, true); };
  for (const name of ["keys", "getOwnPropertyNames", "getOwnPropertySymbols"]) patch(Object, name, (_, given) => keysOf(given));
  for (const name of ["values", "entries", "getOwnPropertyDescriptors"]) patch(Object, name, (_, given) => allOf(given));
  patch(Object, "assign", (_, given) => {
    for (let i = 1; i < given.length; i++) {
      const source = given[i];
      if (!isObject(source) || proxies.has(source)) continue;
      readKeys(source, here, true);
      if (isObject(given[0])) for (const key of ownKeys(source)) write(given[0], key, here);
    }
  });
  const one = (flags) => (_, [object, key]) => {
    if (isObject(object) && !isObject(key)) access(object, key, here, flags);
  };
  for (const home of [Object, Reflect]) {
    patch(home, "defineProperty", one(WRITE));
    patch(home, "getOwnPropertyDescriptor", one(READ));
  }
  patch(Object, "defineProperties", (_, [object, given]) => {
    if (!isObject(object) || !isObject(given) || proxies.has(given)) return;
    for (const key of ownKeys(given)) write(object, key, here);
  });
  patch(Object, "hasOwn", one(READ));
  for (const name of ["get", "has"]) patch(Reflect, name, one(READ));
  for (const name of ["set", "deleteProperty"]) patch(Reflect, name, one(WRITE));
  patch(Reflect, "ownKeys", (_, given) => keysOf(given));
  for (const name of ["hasOwnProperty", "propertyIsEnumerable"]) {
    patch(Object.prototype, name, (self, [key]) => {
      if (isObject(self) && !isObject(key)) read(self, key, here);
    });
  }
  patch(JSON, "stringify", (_, [value]) => readDeep(value, 0, { left: 10000 }));
}

// Reads what `JSON.stringify` reads, as far as no code of the page runs for it.
function readDeep(value, level, budget) {
  if (!isObject(value) || proxies.has(value) || level > 50 || budget.left-- <= 0) return;
  readKeys(value, here, true);
  for (const key of ownKeys(value)) {
    const inner = valueOf(value, key);
    if (inner !== UNKNOWN && inner !== ABSENT) readDeep(inner, level + 1, budget);
  }
}

// Proxies are remembered: looking at one would run its traps.
function patchProxies() {
  const Native = root.Proxy;
  const { construct } = Reflect;
  const mine = new Native(Native, {
    __proto__: null,
    construct(target, given, newTarget) {
      const result = construct(target, given, newTarget === mine ? target : newTarget);
      proxies.set(result, true);
      return result;
    },
  });
  disguises.set(mine, Native);
  patch(Native, "revocable", () => {}, (_, result) => { proxies.set(result.proxy, true); });
  replaceGlobal("Proxy", mine);
}

function replaceGlobal(name, value) {
  const found = getOwnPropertyDescriptor(root, name);
  if (found === undefined || !found.configurable) return;
  found.value = value;
  defineProperty(root, name, found);
}

function patchHeap() {
  const mine = disguise({ toString() {
    return apply(nativeToString, disguises.has(this) ? disguises.get(this) : this, []);
  } }.toString, nativeToString);
  const found = getOwnPropertyDescriptor(Function.prototype, "toString");
  found.value = mine;
  defineProperty(Function.prototype, "toString", found);
  patchProxies();
  patchArrays();
  patchCollections();
  patchObjects();
}
