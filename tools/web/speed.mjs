// Times the check of pages: small ones, ones with React, and pages of 10 to 3,000 events.
//
//   node tools/web/speed.mjs [small] [react] [growth] [large] [bounds] [--rounds N]
//
// Prints Markdown tables: what a check took as a whole, with the start of the browser, and for each
// of its executions. $ANYORDER names the command. `react` needs the pages
// of `packages.mjs install`; `large` takes half an hour. Nothing else should run on the machine.
// Exit status: 0 measured, 2 wrong use, 3 a check failed.

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const examples = path.join(here, "../../examples/web");
const cache = process.env.ANYORDER_WEB_CACHE || path.join(os.homedir(), ".cache", "anyorder-web");
const command = process.env.ANYORDER || "anyorder";

const SMALL = ["search", "suggest_xhr", "autosave", "checkout", "slides", "debounce_submit", "spinner"];
const REACT = ["react-effect", "react-effect-guarded", "formik", "formik-latest", "loadable-key"];
const SIZES = [10, 30, 100, 300];
const LARGE = [1000, 3000];
const BUDGETS = ["0s", "10s", "60s"];

const TABLES = {
  small, react, bounds, growth: () => growth(SIZES), large: () => growth(LARGE),
};
const { parts, rounds } = wordsOf(process.argv.slice(2));

function wordsOf(words) {
  const parts = [];
  let rounds = 3;
  while (words.length > 0) {
    const word = words.shift();
    if (word === "--rounds" && Number(words[0]) > 0) rounds = Number(words.shift());
    else if (Object.hasOwn(TABLES, word)) parts.push(word);
    else fail(2, `wrong: \`${word}\`; expected small, react, growth, large, bounds or --rounds N`);
  }
  return { parts: parts.length > 0 ? parts : ["small", "growth"], rounds };
}

function fail(status, text) {
  console.error(text);
  process.exit(status);
}

/** Checks a page of a folder; returns the numbers of the result. */
function checked(folder, budget, more = []) {
  const steps = path.join(folder, "actions.json");
  const actions = fs.existsSync(steps) ? ["--actions", steps] : [];
  const words = ["check", "--serve", folder, "/index.html", ...actions, "--budget", budget];
  const begun = performance.now();
  const ran = spawnSync(command, [...words, ...more, "--format", "json"], {
    encoding: "utf8", maxBuffer: 1 << 30,
  });
  const seconds = (performance.now() - begun) / 1000;
  if (![0, 1, 3].includes(ran.status)) fail(3, `${folder}: ${ran.stderr || ran.error}`);
  const result = JSON.parse(ran.stdout);
  return { seconds, findings: result.findings.length, ...numbersOf(result) };
}

/** Returns the object of a result that counts executions. */
function numbersOf(value) {
  if (typeof value !== "object" || value === null) return undefined;
  if ("executions" in value) return value;
  return Object.values(value).map(numbersOf).find((one) => one !== undefined);
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const shown = (number) => number.toFixed(2);

/** Prints a table, each row as soon as it is known. */
function table(title, head, rows, rowOf) {
  console.log(`\n${title}\n\n| ${head.join(" | ")} |\n|${" --- |".repeat(head.length)}`);
  for (const row of rows) console.log(`| ${rowOf(row).join(" | ")} |`);
}

/** Times pages in rounds. The first check of each warms the files up and is not counted. */
function pages(title, folders) {
  const head = ["page", "events", "executions", "s", "s an execution"];
  table(title, head, folders, ([name, folder]) => {
    checked(folder, "0s");
    const all = Array.from({ length: rounds }, () => checked(folder, "0s"));
    const { recorded_tasks: events, executions } = all[0];
    const each = all.map((one) => one.seconds / one.executions);
    return [name, events, executions, shown(median(all.map((one) => one.seconds))), shown(median(each))];
  });
}

function small() {
  pages("Small pages", SMALL.map((name) => [name, path.join(examples, name)]));
}

function react() {
  const folders = REACT.map((name) => [name, path.join(cache, "pages", name)]);
  for (const [name, folder] of folders) {
    if (!fs.existsSync(folder)) fail(3, `\`node tools/web/packages.mjs install ${name}\` comes first`);
  }
  pages("Pages with React", folders);
}

/** A page of so many events: half of them responses, half timers. Two of them race. */
function pageOf(events) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "anyorder-speed-"));
  const half = Math.floor((events - 1) / 2);
  fs.writeFileSync(path.join(folder, "index.html"), `<!DOCTYPE html><title>growth</title>
<p id=last></p><div id=all></div><script>
const last = document.getElementById('last'), all = document.getElementById('all');
for (let i = 0; i < ${half}; i++) {
  const own = all.appendChild(document.createElement('i'));
  fetch('/r' + i).then((r) => r.text()).then((text) => {
    own.textContent = text;
    if (i < 2) last.textContent = i;
  });
  setTimeout(() => { own.title = i; }, i);
}
</script>`);
  const replies = Array.from({ length: half }, (_, i) => [`GET /r${i}`, { body: String(i) }]);
  fs.writeFileSync(path.join(folder, "replies.json"), JSON.stringify(Object.fromEntries(replies)));
  return folder;
}

function growth(sizes) {
  const head = ["events", "races", "findings", "executions", "s", "s an execution", "ms an event"];
  table("Pages that grow", head, sizes, (events) => {
    const folder = pageOf(events);
    const one = checked(folder, "0s", ["--time-limit", "1800s"]);
    fs.rmSync(folder, { recursive: true });
    const { recorded_tasks: recorded, executions, recorded_races: races, seconds, findings } = one;
    const run = seconds / executions;
    return [recorded, races, findings, executions, shown(seconds), shown(run), shown(1000 * run / recorded)];
  });
}

function bounds() {
  const head = ["page", "events", "budget", "reversals", "sequences", "executions", "s"];
  const rows = ["slides", "checkout", "edit_delete"].flatMap((name) => BUDGETS.map((budget) => [name, budget]));
  table("More reversals", head, rows, ([name, budget]) => {
    const one = checked(path.join(examples, name), budget);
    const { recorded_tasks: events, max_reversals: most, sequences, executions, seconds } = one;
    return [name, events, budget, most, sequences, executions, shown(seconds)];
  });
}

for (const part of parts) TABLES[part]();
