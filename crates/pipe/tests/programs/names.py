"""Tasks with names that need care; the names stand in the order of the list in `names.js`."""

import os
import sys

sys.path.insert(0, os.environ["ANYORDER_EXAMPLES"])
from anyorder_loop import run

NAMES = ["a/b", "c@d", "e#1", "f%2F", "g h", "i\tj", "\u00fc\u00e9", "k\u200bl", "\u202em", "n\u00a0o", "p\u0085q",
         "\ufeffr", "s\u2028t", "\U0001f600", "\u3000", "\x1b[31m", "\u1680u", "\x1cv", "\u2066w", "\u2065x"]


def build(loop):
    def post_two(label):
        for _ in range(2):
            loop.post("x", lambda: None, label=label)

    for name in NAMES:
        loop.post(name, lambda name=name: post_two(name), handler="bag")
    loop.handler("bag", "bag")


run("names", build)
