// Installs published packages beside host pages of our own, and checks each page.
//
//   node tools/web/packages.mjs install [NAME...]   install and stage; print the folders
//   node tools/web/packages.mjs check [NAME...]     stage, check, compare with cases.json
//   node tools/web/packages.mjs night               check all that is confirmed, or say why not
//
// `cases.json` says for each page which packages it uses, at which versions, and what the check
// must say. A case that is `unconfirmed` is checked and reported, but its difference is no failure:
// what it says is a guess so far. Packages go to a cache outside of the repository:
// $ANYORDER_WEB_CACHE, else ~/.cache/anyorder-web. Their install scripts do not run.
// $ANYORDER names the command.
// Options: --runs N (each page so often), --table (Markdown), --json FILE, --more "OPTIONS".
// `night` skips with one line where npm cannot be reached or there is no Chromium. A case that
// differs runs once more, and both results are printed: a difference that goes away counts too.
// Exit status: 0 all as expected or skipped, 1 something differs, 2 wrong use, 3 cannot install.

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const cache = process.env.ANYORDER_WEB_CACHE || path.join(os.homedir(), ".cache", "anyorder-web");
const command = process.env.ANYORDER || "anyorder";
const cases = JSON.parse(fs.readFileSync(path.join(here, "cases.json"), "utf8"));

/** The version of the bundler, for pages with a module `app.js` that imports packages. */
const BUNDLER = { esbuild: "0.25.5" };

function fail(status, text) {
  console.error(text);
  process.exit(status);
}

/** Installs the packages of a case once; returns its `node_modules`. */
function installed(one) {
  const folder = path.join(cache, "npm", one.name);
  const bundled = one.bundle ? BUNDLER : {};
  const wanted = JSON.stringify({ private: true, dependencies: { ...one.packages, ...bundled } });
  const stamp = path.join(folder, "installed.json");
  if (!fs.existsSync(stamp) || fs.readFileSync(stamp, "utf8") !== wanted) {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "package.json"), wanted);
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"];
    const npm = spawnSync("npm", ["install", ...flags, "--no-package-lock"], {
      cwd: folder,
      encoding: "utf8",
      timeout: 240_000,
    });
    if (npm.status !== 0) throw new Error(`npm install of ${one.name} failed: ${npm.stderr}`);
    fs.writeFileSync(stamp, wanted);
  }
  return path.join(folder, "node_modules");
}

/** Makes the folder of a page: our files, and those of the packages below `lib`. */
function staged(one) {
  const modules = installed(one);
  const folder = path.join(cache, "pages", one.name);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.cpSync(path.join(here, "pages", one.page || one.name), folder, { recursive: true });
  fs.mkdirSync(path.join(folder, "lib"), { recursive: true });
  for (const [name, from] of Object.entries(one.files || {})) {
    fs.copyFileSync(path.join(modules, from), path.join(folder, "lib", name));
  }
  if (one.bundle) {
    const options = ["--bundle", "--format=iife", "--outfile=" + path.join(folder, "lib/app.js")];
    const entry = path.join(folder, "app.js");
    const mode = '--define:process.env.NODE_ENV="production"';
    const vue = ["__VUE_OPTIONS_API__=true", "__VUE_PROD_DEVTOOLS__=false"];
    vue.push("__VUE_PROD_HYDRATION_MISMATCH_DETAILS__=false");
    const defines = [mode, ...vue.map((one) => "--define:" + one)];
    const ran = spawnSync(
      path.join(modules, ".bin", "esbuild"),
      [entry, ...options, ...defines, ...(one.bundle_options || []), "--log-level=warning"],
      { encoding: "utf8", env: { ...process.env, NODE_PATH: modules } },
    );
    if (ran.status !== 0) throw new Error(`bundling ${one.name} failed: ${ran.stderr}`);
    fs.rmSync(entry);
  }
  return folder;
}

/** Runs the check of a staged page once. */
function checked(one, folder, more) {
  const actions = path.join(folder, "actions.json");
  // Each round tries one reversal more; the first is never cut.
  const limits = ["--budget", one.budget || "0s", "--time-limit", "300s"];
  const line = ["check", "--serve", folder, "--actions", actions, "--format", "json"];
  const begun = Date.now();
  const ran = spawnSync(command, [...line, ...limits, ...(one.options || []), ...more], {
    encoding: "utf8",
    maxBuffer: 1 << 30,
    timeout: 400_000,
  });
  const seconds = (Date.now() - begun) / 1000;
  let found;
  try {
    found = JSON.parse(ran.stdout);
  } catch {
    return { seconds, problem: `status ${ran.status}: ${ran.stderr}` };
  }
  const wrong = found.findings.filter((finding) => finding.harm !== "harmless");
  return { seconds, found, wrong, words: ran.stderr.trim() };
}

/** Says what is not as cases.json expects; empty: all is. */
function different(one, result) {
  if (result.problem) return result.problem;
  const titles = result.wrong.map((finding) => finding.title);
  // A run that a limit cut says nothing about what is not there.
  const cut = (result.found.limits || []).join(", ");
  if (cut && !(one.finds || []).length) return `not complete: ${cut}`;
  const left = (result.found.warnings || []).find((it) => it.text.startsWith("steps that could"));
  if (left) return left.text;
  const missing = (one.finds || []).filter((text) => !titles.some((it) => it.includes(text)));
  if (missing.length) return `no finding says ${JSON.stringify(missing)}: ${titles.join("; ")}`;
  if (!(one.finds || []).length && titles.length) return `findings: ${titles.join("; ")}`;
  if (/understood/.test(result.words)) return result.words;
  return "";
}

function parsed(list) {
  const options = { runs: 0, table: false, json: "", more: [], names: [] };
  for (let at = 0; at < list.length; at++) {
    if (list[at] === "--runs") options.runs = Number(list[++at]);
    else if (list[at] === "--table") options.table = true;
    else if (list[at] === "--json") options.json = list[++at];
    else if (list[at] === "--more") options.more = list[++at].split(" ");
    else if (list[at].startsWith("-")) fail(2, `unknown option ${list[at]}`);
    else options.names.push(list[at]);
  }
  return options;
}

/** Says what a night lacks: npm with its registry, or a browser; empty: nothing. */
function missing() {
  const npm = spawnSync("npm", ["view", "jquery@3.7.1", "version"], {
    encoding: "utf8",
    timeout: 60_000,
  });
  if (npm.error || npm.status !== 0) return "npm cannot be reached";
  const names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
  const folders = (process.env.PATH || "").split(path.delimiter);
  const there = (name) => folders.some((folder) => fs.existsSync(path.join(folder, name)));
  return names.some(there) ? "" : "there is no Chromium";
}

const [verb, ...rest] = process.argv.slice(2);
const verbs = ["install", "check", "night"];
if (!verbs.includes(verb)) fail(2, "usage: packages.mjs install|check|night [NAME...]");
if (verb === "night" && missing()) {
  console.log(`published packages: skipped, ${missing()}`);
  process.exit(0);
}
const options = parsed(rest);
for (const name of options.names) {
  if (!cases.some((one) => one.name === name)) fail(2, `no case ${name} in cases.json`);
}
const named = (one) => !options.names.length || options.names.includes(one.name);
const chosen = cases.filter((one) => named(one) && !(verb === "night" && one.unconfirmed));
const rows = [];
let wrong = 0;
for (const one of chosen) {
  let folder;
  try {
    folder = staged(one);
  } catch (error) {
    if (options.names.length !== 1 && verb === "install") {
      console.log(`${one.name}: ${error.message}`);
      continue;
    }
    fail(3, error.message);
  }
  if (verb === "install") {
    console.log(folder);
    continue;
  }
  let runs = options.runs || 1;
  for (let run = 0; run < runs; run++) {
    const result = checked(one, folder, options.more);
    const problem = different(one, result);
    if (problem && verb === "night" && run === 0) runs = Math.max(runs, 2);
    wrong += problem && !one.unconfirmed ? 1 : 0;
    const stats = result.found ? result.found.stats : {};
    const row = { name: one.name, issue: one.issue || "", problem, seconds: result.seconds, stats };
    row.titles = (result.wrong || []).map((finding) => finding.title);
    row.words = result.words;
    rows.push(row);
    let state = problem ? `DIFFERS: ${problem}` : "as expected";
    if (one.unconfirmed) state = `unconfirmed: ${problem || "as guessed"}`;
    const seconds = result.seconds.toFixed(1);
    console.log(`${one.name}: ${row.titles.length} found, ${seconds} s, ${state}`);
    if (options.table) for (const title of row.titles) console.log(`    ${title}`);
    if (options.table && result.words) console.log(`    ${result.words}`);
  }
}
if (options.json) fs.writeFileSync(options.json, JSON.stringify(rows, null, 1));
process.exit(wrong ? 1 : 0);
