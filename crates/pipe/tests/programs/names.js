// Tasks with names that need care; the same as in `names.py`.

"use strict";

const { run } = require(process.env.ANYORDER_EXAMPLES + "/anyorder_loop.js");

const NAMES = ["a/b", "c@d", "e#1", "f%2F", "g h", "i\tj", "\u00fc\u00e9", "k\u200bl", "\u202em", "n\u00a0o", "p\u0085q",
  "\ufeffr", "s\u2028t", "\u{1f600}", "\u3000", "\x1b[31m", "\u1680u", "\x1cv", "\u2066w", "\u2065x"];

run("names", (loop) => {
  for (const name of NAMES) {
    loop.post(name, () => [name, name].map((label) => loop.post("x", () => {}, { label })), { handler: "bag" });
  }
  loop.handler("bag", "bag");
});
