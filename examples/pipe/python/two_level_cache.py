"""A cache with two levels whose invalidation leaves an old value behind.

A lookup asks the memory of this process first, then the remote level, and fills the memory with what that answers. An
invalidation empties the memory and asks the remote level to delete its copy. A lookup between the two still gets the old
value from the remote level, and puts it into the memory, for good.

With `--fixed` the memory is emptied again once the remote level has deleted its copy, and a fill that was asked for before
is dropped.
"""

import sys

from anyorder_loop import run

FIXED = "--fixed" in sys.argv


def build(loop):
    loop.handler("app", "bag")
    loop.handler("net", "bag")
    memory = loop.var("memory", "old")
    remote = loop.var("remote", "old")
    age = loop.var("age", 0)

    def lookup():
        if memory.get() == "":
            asked = age.get()
            loop.post("get", lambda: get(asked), handler="net")

    def get(asked):
        value = remote.get()
        loop.post("fill", lambda: fill(value, asked), handler="app")

    def fill(value, asked):
        if not FIXED or age.get() == asked:
            memory.set(value)

    def invalidate():
        memory.set("")
        loop.post("delete", delete, handler="net")

    def delete():
        remote.set("")
        if FIXED:
            loop.post("deleted", deleted, handler="app")

    def deleted():
        age.update(lambda old: old + 1)
        memory.set("")

    loop.post("lookup", lookup, handler="app")
    loop.post("invalidate", invalidate, handler="app")
    loop.observe(lambda: [(["stale"], "output", "yes" if memory.peek() != remote.peek() else "no")])


run("two-level cache" + (", fixed" if FIXED else ""), build)
