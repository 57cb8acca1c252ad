// An order form that can be sent twice: the program of ../python/double_submit.py once more.
//
// A click posts `submit`, and only `submit` notices that an order is under way. Who clicks again before it runs
// orders twice. With `--fixed` the click itself notices.

"use strict";

const { run } = require("./anyorder_loop.js");

const FIXED = process.argv.includes("--fixed");

run("double submit" + (FIXED ? ", fixed" : ""), (loop) => {
  loop.handler("ui", "delayed");
  loop.handler("net", "bag");
  const sending = loop.variable("sending", 0);
  const orders = loop.variable("orders", 0);
  const status = loop.variable("status", "");
  const log = loop.variable("log", "");
  const panel = loop.variable("panel", 0);
  const waiting = new Map();

  const write = (text) => log.update((old) => old + text + ";");

  function load() {
    status.set("ready");
    loop.enable("click");
  }

  function click() {
    if (FIXED && sending.update((old) => old + 1) > 1) return;
    loop.post("submit", submit);
  }

  function submit() {
    if (!FIXED) sending.update((old) => old + 1);
    loop.disable("click");
    write("POST /orders");
    const number = sending.get();
    const replyTo = { handler: "net", label: "/orders", alternatives: 2 };
    waiting.set(number, {
      reply: loop.post("reply", () => reply(number), replyTo),
      timeout: loop.post("timeout", () => timeout(number), { delay: 50 }),
    });
  }

  function reply(number) {
    loop.cancel(waiting.get(number).timeout);
    if (loop.alternative === 1) {
      status.set("error");
      return;
    }
    if (orders.update((old) => old + 1) > 1) loop.fail("ordered twice");
    status.set("done");
  }

  function timeout(number) {
    loop.cancel(waiting.get(number).reply);
    status.set("timed out");
    for (let i = 0; i < 2; i++) loop.post("beep", () => write("beep"));
  }

  loop.post("load", load, { handler: "ui" });
  // A second click may come or not: no role that would keep the clicks as they were recorded.
  loop.input("click", click, { handler: "ui", times: 2, enabled: false, role: "task" });
  loop.input("help", () => panel.update((old) => old + 1), { handler: "ui" });
  loop.observe(() => [
    [["page", "status"], "output", status.peek()],
    [["page", "help"], "output", String(panel.peek())],
    [["server", "orders"], "persistent", String(orders.peek())],
    [["requests"], "request", log.peek()],
  ]);
});
