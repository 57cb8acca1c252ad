// A small event loop whose order of tasks is decided from outside, over the anyorder pipe protocol, version 1.
//
// Copy this file next to your program; it needs nothing but Node.js 18. A program is a function that builds it:
//
//     const { run } = require("./anyorder_loop.js");
//
//     run("my program", (loop) => {
//       const count = loop.variable("count", 0);
//       loop.handler("ui", "delayed");
//       loop.input("click", () => loop.post("save", () => count.set(count.get() + 1)), { handler: "ui" });
//       loop.observe(() => [[["count"], "output", String(count.peek())]]);
//     });
//
// The function is called once for each run: all state must be made in it, and nothing may survive from one run to the
// next. Tasks are plain functions, not async ones: a task runs to its end before the next. Anything that differs from
// run to run by itself (time, random numbers) must come from `loop.alternative` or `loop.injected`. What the program
// prints goes to standard error.

"use strict";

const fs = require("fs");
const path = require("path");

const PROTOCOL = 1;
const MUST_ESCAPE = /[\/@#%\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

class Diverged extends Error {}

/** Escapes a kind or label as it stands in a task name. */
function escape(text) {
  const bytes = (c) => [...Buffer.from(c, "utf8")];
  const hex = (byte) => "%" + byte.toString(16).toUpperCase().padStart(2, "0");
  return text.replace(MUST_ESCAPE, (c) => bytes(c).map(hex).join(""));
}

function makeName(creator, kind, label, ordinal) {
  let name = escape(kind);
  if (label !== "") name += "@" + escape(label);
  if (ordinal !== 0) name += "#" + ordinal;
  return creator === null ? name : creator + "/" + name;
}

/** A variable that tasks share. Every access is reported with its value and its place in the source. */
class Variable {
  constructor(loop, name, value) {
    this._loop = loop;
    this._name = name;
    this._value = value;
  }

  get() {
    this._loop._access(this._name, "read", { read: this._value });
    return this._value;
  }

  set(value) {
    this._value = value;
    this._loop._access(this._name, "write", { written: value });
  }

  /** Reads and writes in one step; returns the new value. */
  update(change) {
    const before = this._value;
    this._value = change(before);
    this._loop._access(this._name, "rmw", { read: before, written: this._value });
    return this._value;
  }

  /** Reads without a report: for observations only. */
  peek() {
    return this._value;
  }
}

/** Handlers, their pending tasks, and input events. */
class Loop {
  constructor() {
    this._mailboxes = new Map();
    this._pending = [];
    this._inputs = [];
    this._homes = new Map();
    this._current = null;
    this._step = null;
    this._ordinals = new Map();
    this._injected = new Map();
    this._failures = [];
    this._look = () => [];
    /** The alternative of the current task, from 0. */
    this.alternative = 0;
  }

  // -- what a program calls

  /**
   * Declares a handler. `fifo`: tasks run in the order of their posts; `bag`: in any order; `delayed`: a task waits for
   * every task of the handler that was posted before it with the same delay or a shorter one.
   */
  handler(name, mailbox = "fifo") {
    if (!["fifo", "bag", "delayed"].includes(mailbox)) throw new Error("unknown mailbox: " + mailbox);
    this._mailboxes.set(name, mailbox);
  }

  /** Makes a shared variable. */
  variable(name, value) {
    return new Variable(this, name, value);
  }

  /**
   * Declares an input event: it may come at any time while it is enabled, `times` times in all. With the role `task`,
   * explorers that keep a user's inputs as they were recorded vary when and whether this one comes.
   */
  input(kind, work, { handler = "main", times = 1, enabled = true, alternatives = 1, label = "", role = "input" } = {}) {
    this._inputs.push({ kind, label, work, handler, times, enabled, alternatives, role, done: 0 });
  }

  /**
   * Posts a task, to the current handler where none is named; returns its name. While building it is a root. Its role is
   * `timer` if it has a delay, unless another is given.
   */
  post(kind, work, { handler, delay = 0, label = "", alternatives = 1, role } = {}) {
    if (role === undefined) role = delay > 0 ? "timer" : "task";
    if (handler === undefined) handler = this._current ? this._current.handler : "main";
    const creator = this._current ? this._current.name : null;
    const key = JSON.stringify([kind, label]);
    const ordinal = this._ordinals.get(key) || 0;
    this._ordinals.set(key, ordinal + 1);
    const name = makeName(creator, kind, label, ordinal);
    this._pending.push({ name, kind, work, handler, delay, alternatives, role });
    this._homes.set(name, handler);
    // The order of two posts is the order of their tasks.
    this._order(handler, "posts", "write");
    if (this._step) this._step.posted.push({ task: name, handler, delay, role });
    return name;
  }

  /** Cancels a pending task; one that has run or was cancelled is left alone. Returns whether it was pending. */
  cancel(name) {
    if (name === null || name === undefined) return false;
    // Reported either way: had the two come in the other order, it would have made a difference.
    this._access({ task: name }, "write", {});
    // Tasks that stand behind it in its mailbox may run earlier.
    this._order(this._homes.get(name), "cancels", "write");
    const index = this._pending.findIndex((task) => task.name === name);
    if (index < 0) return false;
    this._pending.splice(index, 1);
    if (this._step) this._step.cancelled.push(name);
    return true;
  }

  /** Lets an input event come. */
  enable(kind, label = "") {
    this._switch(kind, label, true);
  }

  /** Stops an input event from coming. */
  disable(kind, label = "") {
    this._switch(kind, label, false);
  }

  /** Reports a failure of the program and goes on. */
  fail(text) {
    this._failures.push(text);
    if (this._step) this._step.failures.push(text);
  }

  /** A value that the current task is given from outside. */
  injected(name, otherwise) {
    return this._injected.has(name) ? this._injected.get(name) : otherwise;
  }

  /** Says what a run amounts to: `look` returns a list of [path, level, text]. */
  observe(look) {
    this._look = look;
  }

  // -- what the protocol asks

  /** The tasks that could run next, those posted first, then inputs. */
  runnable() {
    const least = new Map();
    const tasks = [];
    for (const task of this._pending) {
      const mailbox = this._mailboxes.get(task.handler) || "fifo";
      const waitsFor = least.get(task.handler);
      const first = waitsFor === undefined;
      if (mailbox === "bag" || first || (mailbox === "delayed" && task.delay < waitsFor)) tasks.push(task);
      least.set(task.handler, first ? task.delay : Math.min(waitsFor, task.delay));
    }
    for (const input of this._inputs) {
      if (!input.enabled || input.done >= input.times) continue;
      const { work, handler, alternatives, role } = input;
      const name = makeName(null, input.kind, input.label, input.done);
      tasks.push({ name, work, handler, alternatives, role, input });
    }
    return tasks;
  }

  execute(name, alternative, injected) {
    const task = this.runnable().find((task) => task.name === name);
    if (!task || !(alternative >= 0 && alternative < task.alternatives)) throw new Diverged(name);
    if (task.input) task.input.done += 1;
    else this._pending.splice(this._pending.indexOf(task), 1);
    this._current = task;
    this._ordinals = new Map();
    this.alternative = alternative;
    this._injected = injected;
    const step = (this._step = { accesses: [], posted: [], cancelled: [], failures: [] });
    if (!task.input) this._order(task.handler, "cancels", "read");
    try {
      (0, task.work)();
    } catch (error) {
      // What a task throws ends the task, not the loop.
      this.fail(error instanceof Error ? error.name + ": " + error.message : String(error));
    } finally {
      this._current = this._step = null;
    }
    return step;
  }

  parts() {
    const parts = this._look().map(([path, level, content]) => ({ path, level, content }));
    if (this._failures.length > 0) {
      parts.push({ path: ["failures"], level: "failure", content: this._failures.join("\n") });
    }
    return parts;
  }

  // -- inside

  _switch(kind, label, enabled) {
    for (const input of this._inputs) {
      if (input.kind !== kind || input.label !== label) continue;
      input.enabled = enabled;
      for (let ordinal = 0; ordinal < input.times; ordinal++) {
        this._access({ task: makeName(null, kind, label, ordinal) }, "write", {});
      }
    }
  }

  /** The order of a mailbox is state that tasks share: it decides which may run. A bag has none. */
  _order(handler, what, kind) {
    if (handler === undefined || this._mailboxes.get(handler) === "bag") return;
    this._access({ task: makeName("mailbox@" + escape(handler), what, "", 0) }, kind, {});
  }

  _access(location, kind, values) {
    if (!this._step) return;
    const access = { location, kind };
    const at = site();
    if (at) access.site = at;
    for (const [key, value] of Object.entries(values)) {
      access[key] = plain(value);
    }
    this._step.accesses.push(access);
  }
}

/** A value as the protocol knows them: a number that JSON can write, a text, or a truth value. */
function plain(value) {
  if (["boolean", "string"].includes(typeof value) || Number.isFinite(value)) return value;
  const isNumber = ["number", "bigint"].includes(typeof value);
  return isNumber ? String(value) : String(JSON.stringify(value));
}

/** The first position on the stack outside this file; none where the loop itself acts, without a task. */
function site() {
  const lines = new Error().stack.split("\n").slice(1);
  const line = lines.find((line) => !line.includes(__filename));
  if (line && /\bnode:/.test(line)) return null;
  const match = line && /^\s*at (?:(.*?) \()?(.*?):(\d+):(\d+)\)?$/.exec(line);
  if (!match) return { file: path.basename(__filename) };
  const [, name, file, row, column] = match;
  return { file: path.basename(file), line: Number(row), column: Number(column), function: name || "" };
}

// -- the conversation

/** Returns the number after `--name` on the command line. */
function option(name, otherwise) {
  const at = process.argv.indexOf("--" + name);
  return at >= 0 && at + 1 < process.argv.length ? Number(process.argv[at + 1]) : otherwise;
}

/** Whether to lose a reply: the same for the same numbers, and different after a restart. */
function isLost(seed, start, count, oneIn) {
  let mixed = Math.imul(seed, 0x9e3779b1) + Math.imul(start, 0x85ebca6b) + Math.imul(count, 0xc2b2ae35);
  mixed >>>= 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b) >>> 0;
  return ((mixed ^ (mixed >>> 16)) >>> 0) % oneIn === 0;
}

function fresh(build) {
  const loop = new Loop();
  build(loop);
  loop._ordinals = new Map();
  return loop;
}

function hello(name, version, versions) {
  if (!versions.includes(PROTOCOL)) throw new Error(`this program speaks version ${PROTOCOL} of the protocol`);
  const capabilities = { enabled: "exact", deterministic: true, values: true, accesses: "list" };
  return { version: PROTOCOL, program: { name, version }, capabilities };
}

/** Numbers beyond 2^53 become BigInt. */
function injectedValue(value) {
  if ("integer" in value) {
    const number = Number(value.integer);
    return Number.isSafeInteger(number) ? number : BigInt(value.integer);
  }
  return Object.values(value)[0];
}

/**
 * Answers requests until there are no more. Options: `--step-ms N` makes each task take that long; `--lose N` loses one
 * reply in N, and `--seed S` decides which.
 */
function run(name, build, version = "") {
  const [stepMs, lose, seed] = [option("step-ms", 0), option("lose", 0), option("seed", 0)];
  const start = Number(process.env.ANYORDER_PIPE_START || "0");
  let count = 0;
  let loop = fresh(build);

  function reply(request) {
    switch (request.op) {
      case "hello":
        return hello(name, version, request.versions || []);
      case "reset":
        loop = fresh(build);
        return {};
      case "enabled": {
        const entry = ({ name, handler, alternatives, role }) => ({ task: name, handler, alternatives, role });
        return { tasks: loop.runnable().map(entry) };
      }
      case "execute": {
        if (stepMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stepMs);
        const injected = (request.inject || []).map((entry) => [entry.name, injectedValue(entry.value)]);
        return loop.execute(request.task, request.alternative || 0, new Map(injected));
      }
      case "observe":
        return { parts: loop.parts() };
      case "ping":
      case "quit":
        return {};
      default:
        return null;
    }
  }

  function answer(line) {
    const request = JSON.parse(line);
    const message = { id: request.id };
    try {
      const ok = reply(request);
      if (ok) message.ok = ok;
      else message.error = { kind: "unsupported", message: "unknown request: " + request.op };
    } catch (error) {
      if (error instanceof Diverged) {
        message.error = { kind: "diverged", enabled: loop.runnable().map((task) => task.name) };
      } else {
        message.error = { kind: "crashed", message: String(error) };
      }
    }
    count += 1;
    if (!(lose > 0 && isLost(seed, start, count, lose))) writeAll(JSON.stringify(message) + "\n");
    if (request.op === "quit") process.exit(0);
  }

  // Whatever the program prints must not get between the replies.
  process.stdout.write = process.stderr.write.bind(process.stderr);
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== "") answer(line);
  });
  process.stdin.on("end", () => process.exit(0));
}

/** Writes to standard output, past everything that might have replaced it. */
function writeAll(text) {
  let bytes = Buffer.from(text, "utf8");
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(fs.writeSync(1, bytes));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

module.exports = { run, escape, option };
