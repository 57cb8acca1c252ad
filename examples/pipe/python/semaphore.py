"""A semaphore for an event loop that loses a wake-up.

`release` wakes the first waiter of the queue. A waiter that was cancelled stays in the queue until its own task runs. A
`release` in between wakes the cancelled waiter, and so nobody: the next in the queue waits for ever.

`alice` gets the semaphore first, `bob` and `carol` wait. From outside come a time-out that cancels bob, and the end of
alice's work. In the order in which the program declares these two, nothing goes wrong.

With `--fixed` a waiter that was cancelled wakes the next one.
"""

import sys

from anyorder_loop import run

FIXED = "--fixed" in sys.argv


def build(loop):
    loop.handler("loop", "fifo")
    free = loop.var("free", 1)
    queue = loop.var("queue", [])
    states = {name: loop.var(name, "new") for name in ("alice", "bob", "carol")}

    def acquire(name):
        if free.get() > 0 and not queue.get():
            hold(name)
        else:
            queue.set(queue.get() + [name])
            states[name].set("waits")

    def hold(name):
        free.set(free.get() - 1)
        states[name].set("holds")
        if name == "alice":
            loop.enable("done")
        else:
            loop.post("release", lambda: release(name), label=name)

    def release(name):
        free.set(free.get() + 1)
        states[name].set("done")
        wake()

    def wake():
        waiting = queue.get()
        if waiting and states[waiting[0]].get() == "waits":
            states[waiting[0]].set("woken")
            loop.post("resume", lambda name=waiting[0]: resume(name), label=waiting[0])

    def resume(name):
        queue.set([other for other in queue.get() if other != name])
        if states[name].get() == "woken":
            hold(name)
        elif FIXED and free.get() > 0:
            wake()

    def timeout():
        if states["bob"].get() == "waits":
            states["bob"].set("cancelled")
            loop.post("resume", lambda: resume("bob"), handler="loop", label="bob")

    def done():
        loop.post("release", lambda: release("alice"), handler="loop", label="alice")

    for name in states:
        loop.post("acquire", lambda name=name: acquire(name), handler="loop", label=name)
    loop.input("timeout", timeout, handler="outside")
    loop.input("done", done, handler="outside", enabled=False)
    stuck = lambda: [name for name in states if states[name].peek() in ("waits", "woken")]
    loop.observe(lambda: [(["waits for ever"], "output", ",".join(stuck()))])


run("semaphore" + (", fixed" if FIXED else ""), build)
