// Runs pairs of programs and prints, as JSON, those whose output differs. Arguments: the runtime, and a
// file with a list of [text, rewritten]. A program is a function of `out`, which takes any values.
"use strict";
const fs = require("fs");
const [runtime, pairs] = process.argv.slice(2).map((path) => fs.readFileSync(path, "utf8"));
const broken = [], failures = [];
const list = JSON.parse(pairs);

function show(value, depth = 0) {
  const type = typeof value;
  if (type === "bigint") return value + "n";
  if (type === "symbol") return value.toString();
  if (type === "function") return "function:" + value.name + ":" + value.length;
  if (value === null || type !== "object") return Object.is(value, -0) ? "-0" : type + ":" + String(value);
  if (depth > 3) return "...";
  if (value instanceof Error) return value.name;
  const home = Object.getPrototypeOf(value);
  const parts = Reflect.ownKeys(value).map((key) => {
    const found = Reflect.getOwnPropertyDescriptor(value, key);
    return String(key) + "=" + ("value" in found ? show(found.value, depth + 1) : "accessor");
  });
  const maker = home && Reflect.getOwnPropertyDescriptor(home, "constructor");
  return (maker && maker.value ? maker.value.name : "") + "{" + parts.join() + "}";
}

async function run(text) {
  const lines = [];
  delete globalThis.gl;
  let fuel = 2000;
  const out = (...values) => { lines.push(values.map((value) => show(value)).join(" ")); return values[values.length - 1]; };
  out.burn = () => { if (fuel-- <= 0) throw new Error("fuel"); };
  try {
    let made;
    try { made = (0, eval)(text); } catch (error) { broken.push(text.slice(0, 200) + error); throw error; }
    let result = made(out);
    if (result && typeof result.then === "function") {
      result = await Promise.race([result, new Promise((resolve) => setTimeout(resolve, 200, "late"))]);
    }
    out("end", result);
  } catch (error) {
    out("error", error); failures.push(String(error && error.message));
  }
  return lines.join("\n");
}

(async () => {
  const natural = [];
  for (const [text] of list) natural.push(await run(text));
  natural.errors = failures.length;
  (0, eval)(runtime);
  const wrong = [];
  let records = 0, lost = 0;
  for (let i = 0; i < list.length; i++) {
    __anyorder.begin("p" + i);
    const mine = await run(list[i][1]);
    records += __anyorder.end().length;
    if (mine !== natural[i]) wrong.push({ number: i, natural: natural[i], mine });
  }
  lost = __anyorder.counts().lost;
  const errors = failures.slice(0, natural.errors);
  const lines = natural.reduce((sum, text) => sum + text.split("\n").length, 0);
  fs.writeFileSync(1, JSON.stringify({ wrong, broken, errors, records, lost, lines, ms: performance.now() }));
  process.exit(0);
})();
