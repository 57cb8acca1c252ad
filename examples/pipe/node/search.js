// Search as you type: each key asks the server, and whatever reply comes last is shown, also when it answers
// an older question. With `--fixed` replies to old questions are dropped.

"use strict";

const { run } = require("./anyorder_loop.js");

const FIXED = process.argv.includes("--fixed");
const TYPED = ["a", "an", "any"];

run("search" + (FIXED ? ", fixed" : ""), (loop) => {
  loop.handler("net", "bag");
  const box = loop.variable("box", "");
  const list = loop.variable("list", "");

  function key() {
    const question = TYPED.find((text) => text.length === box.get().length + 1);
    box.set(question);
    loop.post("reply", () => reply(question), { handler: "net", label: question });
  }

  function reply(question) {
    if (FIXED && box.get() !== question) return;
    list.set("results for " + question);
  }

  loop.input("key", key, { handler: "ui", times: TYPED.length });
  loop.observe(() => [
    [["page", "box"], "output", box.peek()],
    [["page", "list"], "output", list.peek()],
  ]);
});
