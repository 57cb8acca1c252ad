
// ---- Names, and the end of an event ----

function nameOf(record) {
  if (record.name !== null) return record.name;
  if (record.foreign !== undefined) return record.name = record.foreign.log.nameOf(record.foreign.record);
  if (record.text !== undefined) {
    const [place, names] = record.text.split("|");
    record.names = names.split(",");
    return record.name = "scope@" + place + "#" + record.number;
  }
  let name = "Object";
  try { name = typeName(record.object, record.number); } catch { lost++; }
  return record.name = name;
}

function typeName(object, number) {
  if (object === root) return place + "global";
  if (object === root.document) return place + "document";
  if (proxies.has(object)) return "Proxy#" + number;
  if (typeof object === "function") return "function " + functionName(object) + "#" + number;
  const node = nodeName(object, number);
  if (node !== "") return node;
  if (isArray(object)) return "Array#" + number;
  const made = getOwnPropertyDescriptor(object, "constructor");
  if (made !== undefined && typeof made.value === "function" && !proxies.has(made.value)) {
    const back = getOwnPropertyDescriptor(made.value, "prototype");
    if (back !== undefined && back.value === object) return functionName(made.value) + ":prototype#" + number;
  }
  const home = getPrototypeOf(object);
  if (home === null) return "Object#" + number;
  const maker = proxies.has(home) ? undefined : getOwnPropertyDescriptor(home, "constructor");
  const name = maker !== undefined && typeof maker.value === "function" ? functionName(maker.value) : "";
  return (name || "Object") + "#" + number;
}

function functionName(object) {
  const found = proxies.has(object) ? undefined : getOwnPropertyDescriptor(object, "name");
  return found !== undefined && typeof found.value === "string" ? found.value : "";
}

function keyText(key) {
  if (typeof key === "symbol") return NativeString(key);
  if (isObject(key)) return nameOf(recordOf(key));
  return "" + key;
}

function textOf(cell) {
  const name = nameOf(cell.record);
  if (cell.kind === VARIABLE) return name + "." + cell.record.names[cell.key];
  if (cell.location === undefined && cell.record.object === root.location && root.location !== undefined) return place + "location";
  const owner = owners.get(cell.record.object);
  if (owner !== undefined && owner.name === "dataset" && typeof cell.key === "string") {
    return nameOf(recordOf(owner.element)) + ".@data-" + cell.key.replace(/[A-Z]/g, (letter) => "-" + letter.toLowerCase());
  }
  if (cell.location !== undefined) return cell.location(name);
  if (cell.isEntry === true) return name + ".get(" + keyText(cell.key) + ")";
  return name + "." + keyText(cell.key);
}

function isSame(cell) {
  if (cell.lookEpoch === epoch && cell.kind === LOGICAL) cell.now = cell.look(cell.record.object);
  if (cell.old === UNKNOWN) return false;
  if (cell.kind === VARIABLE) return cell.now !== UNKNOWN && is(cell.old, cell.now);
  if (cell.kind === ENTRY) return is(cell.old, entryValue(cell));
  if (cell.kind === LOGICAL) return cell.now !== UNKNOWN && is(cell.old, cell.now);
  return is(cell.old, valueOf(cell.record.object, cell.key));
}

// A write that makes or removes a name writes the set of names too.
function changesKeys(cell) {
  if (cell.kind === VARIABLE || cell.kind === LOGICAL || cell.old === UNKNOWN) return false;
  const now = cell.kind === ENTRY ? entryValue(cell) : valueOf(cell.record.object, cell.key);
  return (cell.old === ABSENT) !== (now === ABSENT);
}

let leftOut = 0;
function isLeftOut(record) {
  return record.born === epoch && record.object !== root && record.object !== root.document && !isNode(record.object);
}

function take() {
  const cells = touched, result = [], areMany = touched.length > LOCATIONS_MAX;
  const add = (text, flags, site) => { result[result.length] = [text, flags, site]; };
  touched = [];
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i];
    if (areMany && cell.kind !== VARIABLE && isLeftOut(cell.record)) { leftOut++; continue; }
    try {
      const text = textOf(cell);
      if ((cell.flags & READ) !== 0) add(text, READ, cell.read);
      if ((cell.flags & WRITE) === 0) continue;
      const same = isSame(cell);
      add(text, same ? WRITE | SAME : WRITE, cell.write);
      if (!same && cell.record.keysEpoch !== epoch && changesKeys(cell)) {
        cell.record.keysEpoch = epoch;
        add(nameOf(cell.record) + "." + KEYS, WRITE, cell.write);
      }
    } catch { lost++; }
  }
  epoch++;
  depth = 0;
  return result;
}

const namedObjects = new Mine();
const api = {
  rewrite(text) { unlogged++; return text; },
  begin(name) {
    settle();
    const before = take();
    label = name === undefined ? "" : NativeString(name);
    return before;
  },
  end() {
    settle();
    const result = take();
    label = "";
    return result;
  },
  // Ends an event whose accesses nobody needs. Nodes get their names as they would otherwise, since
  // what they are named by may change later.
  skip() {
    settle();
    for (let i = 0; i < touched.length; i++) {
      const { record } = touched[i];
      if (record.name === null && record.text === undefined && isNode(record.object)) nameOf(record);
    }
    touched = [];
    epoch++;
    depth = 0;
    label = "";
  },
  // How many texts were run without a log, how many accesses could not be logged, and how many
  // locations were left out.
  counts() { return { unlogged, lost, leftOut }; },
  // Names the frame or worker of this log, for what it sees first, and joins the log of a frame whose
  // objects it can use.
  join,
  logs: () => logs,
  // Logs a logical location of an object (1 reads, 2 writes): for what the host knows.
  note(object, key, flags) { if (isObject(object)) logical(object, key, flags, -1); },
  // Logs a location that is no part of an object, such as who listens to a channel (1 reads, 2 writes).
  named(text, flags) {
    let object = namedObjects.get(text);
    if (object === undefined) namedObjects.set(text, object = {});
    const cell = logical(object, "", flags, here);
    if (cell.location === undefined) cell.location = () => text;
  },
  // Logs that an event comes to an object, whether or not somebody listens.
  heard(object, type) { if (isObject(object)) listener(object, type, READ); },
};

// A host that was there before gets the log for itself: the page cannot end events then.
if (typeof root.__anyorder_host === "function") root.__anyorder_host(api);
else hide(root, "__anyorder", api);
for (const name of Object.keys(calls)) hide(root, "__ao" + name, calls[name]);
install();
})(globalThis);
