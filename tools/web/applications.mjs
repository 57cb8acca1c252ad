// Checks whole web applications that npm has ready to run, with steps of a user that are crawled.
//
//   node tools/web/applications.mjs list              names, versions, and what is there of each
//   node tools/web/applications.mjs serve NAME        only start its server, until Ctrl-C
//   node tools/web/applications.mjs check [NAME...]   check them; print a row of the table for each
//
// Nothing is compiled: the packages bring what a browser loads. They are installed at the versions
// below, in a cache outside of the repository: $ANYORDER_WEB_CACHE, else ~/.cache/anyorder-web.
// $ANYORDER names the command. Options: --crawl N (10 steps), --time TIME (for one application,
// 5m), --budget TIME (0s: one reversal), --json FOLDER (result, steps and words of each),
// --more "OPTIONS".
// Exit status: 0 each gave a result, 1 one gave none, 2 wrong use, 3 cannot install.

import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as http from "node:http";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const cache = process.env.ANYORDER_WEB_CACHE || path.join(os.homedir(), ".cache", "anyorder-web");
const command = process.env.ANYORDER || "anyorder";
const pages = path.join(here, "applications");

const TYPES = {
  ".css": "text/css", ".html": "text/html; charset=utf-8", ".ico": "image/x-icon",
  ".js": "text/javascript", ".json": "application/json", ".md": "text/markdown",
  ".png": "image/png", ".svg": "image/svg+xml", ".woff2": "font/woff2",
};

/** The files of a folder, as a handler of requests. */
const files = (folder) => (request) => {
  const asked = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  const file = path.join(folder, asked.endsWith("/") ? asked + "index.html" : asked);
  if (!file.startsWith(folder) || !fs.existsSync(file) || fs.statSync(file).isDirectory()) return null;
  return { type: TYPES[path.extname(file)] || "application/octet-stream", body: fs.readFileSync(file) };
};
const json = (value) => ({ type: TYPES[".json"], body: JSON.stringify(value) });
const html = (body) => ({ type: TYPES[".html"], body });

/** Serves the first answer of several handlers at a port. Nothing in it depends on the time. */
function served(port, ...handlers) {
  const server = http.createServer((request, response) => {
    request.resume();
    for (const handler of handlers) {
      const found = handler(request);
      if (!found) continue;
      response.writeHead(found.status || 200, { "Content-Type": found.type });
      return response.end(found.body);
    }
    response.writeHead(404, { "Content-Type": "text/plain" });
    response.end("not found");
  });
  return new Promise((resolve) => {
    server.listen(port, "localhost", () => resolve(() => server.close()));
  });
}

/** Waits until somebody listens at a port. */
async function listening(port) {
  for (let tries = 0; tries < 600; tries++) {
    const is = await new Promise((resolve) => {
      const socket = net.connect(port, "localhost", () => { socket.end(); resolve(true); });
      socket.on("error", () => resolve(false));
    });
    if (is) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nobody listens at port ${port}`);
}

/** Gives a mail to a server, by SMTP. */
function mailed(port, subject, text) {
  const lines = ["HELO localhost", "MAIL FROM:<shop@example.org>", "RCPT TO:<ann@example.org>", "DATA",
    `From: shop@example.org\r\nTo: ann@example.org\r\nSubject: ${subject}\r\n\r\n${text}\r\n.`, "QUIT"];
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, "localhost");
    // Each answer allows the next line.
    socket.on("data", () => { if (lines.length) socket.write(lines.shift() + "\r\n"); });
    socket.on("close", resolve);
    socket.on("error", reject);
  });
}

const JOBS = [1, 2, 3, 4, 5, 6].map((id) => ({
  id: String(id), name: `mail ${id}`, timestamp: 1767225600000, processedOn: 1767225601000,
  finishedOn: 1767225602000, progress: 0, attempts: 1, failedReason: "", stacktrace: [], opts: {},
  data: { to: "ann@example.org" }, returnValue: "sent", isFailed: false,
}));
const STATUSES = ["latest", "active", "waiting", "completed", "failed", "delayed"];
const queue = (name, query) => ({
  name, displayName: name, delimiter: "", isPaused: false, type: "bull", readOnlyMode: false,
  allowRetries: true, allowCompletedRetries: true, statuses: STATUSES,
  counts: { latest: 6, active: 0, waiting: 1, completed: 3, failed: 2, delayed: 0 },
  jobs: query.get("activeQueue") === name ? JOBS.slice(0, query.get("status") ? 3 : 6) : [],
  pagination: { pageCount: 1, range: { start: 0, end: 9 } },
});

/** What a server of the queues answers. */
function queues(request) {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  if (pathname.startsWith("/static/locales/")) return null;
  if (pathname === "/api/redis/stats") {
    return json({ version: "7.2", mode: "standalone", port: 6379, os: "Linux", uptime: 86400,
      memory: { total: 1000000, used: 500000, fragmentationRatio: 1, peak: 600000 },
      clients: { connected: 2, blocked: 0 } });
  }
  if (pathname === "/api/queues") {
    return json({ queues: ["mails", "reports"].map((name) => queue(name, searchParams)) });
  }
  if (/^\/api\/queues\/\w+\/\d+$/.test(pathname)) {
    return json({ job: JOBS[Number(pathname.split("/").pop()) - 1], status: "completed" });
  }
  if (pathname.endsWith("/logs")) return json(["begun", "sent"]);
  return pathname.startsWith("/api/") ? { status: 204, type: "text/plain", body: "" } : null;
}

/** What the inspector shows: the modules of a small project, built twice. */
function inspected(request) {
  const { pathname } = new URL(request.url, "http://localhost");
  const module = (env) => (name, at) => ({
    id: `/shop/src/${name}`, totalTime: 10 + at, invokeCount: 1, sourceSize: 400 * (at + 1),
    distSize: 500 * (at + 1), virtual: false, deps: at ? [] : ["/shop/src/cart.ts"], importers: [],
    plugins: [{ name: `vite:${env}`, transform: 3 + at }],
  });
  const names = { client: ["main.ts", "cart.ts", "menu.vue"], ssr: ["server.ts", "cart.ts"] };
  const env = (pathname.match(/^\/reports\/vite1-(\w+)\//) || [])[1];
  if (pathname === "/reports/metadata.json") {
    const plugins = [{ name: "vite:client", enforce: "pre" }, { name: "vite:ssr" }];
    const instance = { root: "/shop", vite: "vite1", environments: ["client", "ssr"], plugins };
    instance.environmentPlugins = { client: [0], ssr: [1] };
    return json({ instances: [instance], embedded: false });
  }
  if (!names[env]) return null;
  if (pathname.endsWith("/modules.json")) return json(names[env].map(module(env)));
  if (pathname.endsWith("/metric-plugins.json")) {
    const times = { transform: { invokeCount: 3, totalTime: 9 }, resolveId: { invokeCount: 1, totalTime: 2 } };
    return json([{ name: `vite:${env}`, enforce: "pre", ...times }]);
  }
  return json({ resolvedId: "/shop/src/main.ts", transforms: [
    { name: "__load__", result: `let ${env} = 1;\n`, start: 1, end: 2, order: "normal" },
    { name: `vite:${env}`, result: `const ${env} = 1;\n`, start: 2, end: 5, order: "normal", sourcemaps: null },
  ] });
}

/** Each has its packages, what there is of it, and how it is started: that gives how to stop it. */
const APPLICATIONS = {
  tiddlywiki: {
    packages: { tiddlywiki: "5.4.1" },
    what: "a notebook, empty, all in one file", port: 18101,
    async start(modules) {
      const folder = path.join(cache, "pages", "tiddlywiki");
      const wiki = path.join(modules, "tiddlywiki");
      const line = [path.join(wiki, "tiddlywiki.js"), path.join(wiki, "editions", "empty"), "--output", folder];
      const render = ["--render", "$:/core/save/all", "index.html", "text/plain"];
      const ran = spawnSync("node", [...line, ...render], { encoding: "utf8" });
      if (ran.status !== 0) throw new Error(`no wiki: ${ran.stderr}`);
      return served(this.port, files(folder));
    },
  },
  "swagger-ui": {
    packages: { "swagger-ui-dist": "5.35.0" },
    what: "a page of an API with two operations (React)", port: 18102,
    start(modules) {
      const dist = path.join(modules, "swagger-ui-dist");
      return served(this.port, files(path.join(pages, "swagger-ui")), files(dist), pets);
    },
  },
  docsify: {
    packages: { docsify: "4.13.1" },
    what: "a guide of three pages with a search", port: 18103,
    start(modules) {
      return served(this.port, files(path.join(pages, "docsify")), files(path.join(modules, "docsify", "lib")));
    },
  },
  maildev: {
    packages: { maildev: "3.0.0" },
    what: "its own server with three mails (React, socket.io)", port: 18104,
    async start(modules) {
      const mails = fs.mkdtempSync(path.join(os.tmpdir(), "maildev-"));
      const program = path.join(modules, "maildev", "dist", "bin", "maildev.js");
      const ports = ["--web", String(this.port), "--smtp", String(this.port + 100)];
      const server = spawn("node", [program, ...ports, "--mail-directory", mails], { stdio: "ignore" });
      await listening(this.port);
      await listening(this.port + 100);
      for (const [subject, text] of [["Order 1", "Thank you."], ["Order 2", "It is sent."], ["News", "Sale!"]]) {
        await mailed(this.port + 100, subject, text);
      }
      return () => { server.kill(); fs.rmSync(mails, { recursive: true, force: true }); };
    },
  },
  "bull-board": {
    packages: { "@bull-board/ui": "6.13.0" },
    what: "two queues with six jobs (React, polling)", port: 18105,
    start(modules) {
      const dist = path.join(modules, "@bull-board", "ui", "dist");
      const shown = fs.readFileSync(path.join(dist, "index.ejs"), "utf8")
        .replace("<%= basePath %>", "/").replace("<%= title %>", "Queues")
        .replace(/<link[^>]*fonts.googleapis[^>]*>/, "").replace(/<%[=-] favIcon\w+ %>/g, "/static/favicon.ico")
        .replace("<%- uiConfig %>", '{"locale":{"lng":"en"},"pollingInterval":{"showSetting":true}}');
      const index = (request) => (/^\/(queue\/.*)?(\?.*)?$/.test(request.url) ? html(shown) : null);
      return served(this.port, index, queues, files(dist));
    },
  },
  "vite-inspect": {
    packages: { "vite-plugin-inspect": "11.3.3" },
    what: "the modules of a project, built twice (Vue)", port: 18106,
    start(modules) {
      const dist = path.join(modules, "vite-plugin-inspect", "dist", "client");
      const shown = fs.readFileSync(path.join(dist, "index.html"), "utf8").replace('mode="DEV"', 'mode="BUILD"');
      const index = (request) => (/^\/(\?.*)?$/.test(request.url) ? html(shown) : null);
      return served(this.port, index, inspected, files(dist));
    },
  },
  jsoneditor: {
    packages: { "vanilla-jsoneditor": "3.13.0" },
    what: "an editor of a JSON text from a server (Svelte)", port: 18107,
    start(modules) {
      return served(this.port, files(path.join(pages, "jsoneditor")), files(path.join(modules, "vanilla-jsoneditor")));
    },
  },
};

/** What the API of pets answers. */
function pets(request) {
  const { pathname } = new URL(request.url, "http://localhost");
  if (pathname === "/pets") return json([{ id: 1, name: "Rex" }, { id: 2, name: "Tom" }]);
  return /^\/pets\/\d+$/.test(pathname) ? json({ id: 1, name: "Rex" }) : null;
}

function fail(status, text) {
  console.error(text);
  process.exit(status);
}

/** Installs the packages of an application once; returns its `node_modules`. */
function installed(name) {
  const folder = path.join(cache, "npm", "application-" + name);
  const wanted = JSON.stringify({ private: true, dependencies: APPLICATIONS[name].packages });
  const stamp = path.join(folder, "installed.json");
  if (!fs.existsSync(stamp) || fs.readFileSync(stamp, "utf8") !== wanted) {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "package.json"), wanted);
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
    const ran = spawnSync("npm", ["install", ...flags], { cwd: folder, encoding: "utf8", timeout: 400_000 });
    if (ran.status !== 0) fail(3, `npm install of ${name} failed: ${ran.stderr}`);
    fs.writeFileSync(stamp, wanted);
  }
  return path.join(folder, "node_modules");
}

/** Runs the check; the server runs in this process, so nothing waits here. */
function checked(line) {
  return new Promise((resolve) => {
    const child = spawn(command, line, { stdio: ["ignore", "pipe", "pipe"] });
    let [out, words] = ["", ""];
    child.stdout.on("data", (part) => { out += part; });
    child.stderr.on("data", (part) => { words += part; });
    child.on("error", (error) => resolve({ out, words: String(error) }));
    child.on("close", () => resolve({ out, words }));
  });
}

/** A row of the table of BENCHMARKS.md. */
function row(name, result, steps) {
  const { stats, findings, verdict, limits } = result;
  const of = (text) => (stats.reversals || {})[text] || 0;
  const harmful = findings.filter((it) => it.harm === "harmful").length;
  const but_for = ["bookkeeping", "timers"].map((what) => "equivalent but for " + what);
  const harmless = ["equivalent", ...but_for, "late registration", "refused input"].map(of).join(" / ");
  const a_sequence = stats.sequences ? (stats.elapsed_ms / 1000 / stats.sequences).toFixed(1) : "-";
  const cells = [name, steps, stats.recorded_tasks, stats.recorded_races, stats.uncovered_races, stats.sequences,
    harmless, harmful, of("unstable"), stats.executions, a_sequence, verdict + (limits.length ? ` (${limits})` : "")];
  return "| " + cells.map((cell) => cell ?? "-").join(" | ") + " |";
}

const [verb, ...rest] = process.argv.slice(2);
const options = { crawl: "10", time: "5m", budget: "0s", json: "", more: [], names: [] };
for (let at = 0; at < rest.length; at++) {
  const name = rest[at].replace(/^--/, "");
  if (name === rest[at]) options.names.push(name);
  else if (name === "more") options.more = rest[++at].split(" ");
  else if (typeof options[name] === "string") options[name] = rest[++at];
  else fail(2, `unknown option ${rest[at]}`);
}
for (const name of options.names) if (!APPLICATIONS[name]) fail(2, `no application ${name}`);
if (verb === "list") {
  for (const [name, { packages, what }] of Object.entries(APPLICATIONS)) {
    console.log(`${name}: ${Object.entries(packages).map((one) => one.join("@"))}: ${what}`);
  }
} else if (verb === "serve" && options.names.length === 1) {
  const [name] = options.names;
  await APPLICATIONS[name].start(installed(name));
  console.log(`http://localhost:${APPLICATIONS[name].port}/`);
} else if (verb === "check") {
  const results = options.json || fs.mkdtempSync(path.join(os.tmpdir(), "applications-"));
  fs.mkdirSync(results, { recursive: true });
  let without = 0;
  for (const name of options.names.length ? options.names : Object.keys(APPLICATIONS)) {
    const one = APPLICATIONS[name];
    const stop = await one.start(installed(name));
    const actions = path.join(results, name + ".steps.json");
    const limits = ["--budget", options.budget, "--time-limit", options.time];
    const crawl = options.crawl === "0" ? [] : ["--crawl", options.crawl, "--save-actions", actions];
    const line = ["check", `http://localhost:${one.port}/`, ...crawl, "--format", "json", ...limits, ...options.more];
    const { out, words } = await checked(line);
    await stop();
    fs.writeFileSync(path.join(results, name + ".json"), out);
    fs.writeFileSync(path.join(results, name + ".txt"), words);
    let result;
    try { result = JSON.parse(out); } catch { result = null; }
    const steps = fs.existsSync(actions) ? JSON.parse(fs.readFileSync(actions, "utf8")).steps.length : 0;
    if (result) console.log(row(name, result, steps));
    else { without++; console.log(`${name}: no result: ${words.trim()}`); }
    const wrong = result ? result.findings.filter((it) => it.harm !== "harmless") : [];
    for (const it of wrong) console.log("    " + it.title);
  }
  process.exit(without ? 1 : 0);
} else {
  fail(2, "usage: applications.mjs list | serve NAME | check [NAME...]");
}
