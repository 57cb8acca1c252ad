"""A random program on the event loop of examples/pipe, and its twin: all orders, one by one, by this file alone.

    random.py SEED [--hide]            speaks the protocol; with --hide it reports no variable
    random.py SEED --all               prints what all orders give, as JSON
"""

import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../../examples/pipe/python"))

import anyorder_loop

SEED = int(sys.argv[1])
HIDE = "--hide" in sys.argv


class Hidden:
    """A variable that is not reported."""

    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value

    peek = get

    def set(self, value):
        self.value = value


def plan():
    """What the tasks do: drawn once, the same for every run."""
    numbers = random.Random(SEED)
    boxes = {name: numbers.choice(["fifo", "bag", "delayed"]) for name in ("ui", "net")}
    tasks = []
    quiet = numbers.random() < 0.4  # only inputs write
    for index in range(numbers.randint(3, 5)):
        parent = numbers.choice([None, None] + list(range(index)))
        is_input = parent is None and numbers.random() < 0.5
        kinds = ["set", "append", "append", "copy", "fail", "cancel", "none"]
        if quiet:
            kinds = ["set", "append"] if is_input else ["fail", "none", "none"]
        work = [(numbers.choice(kinds), numbers.choice("xy"), numbers.choice("ab")) for _ in range(numbers.randint(1, 2))]
        tasks.append((parent, is_input, numbers.choice(["ui", "net"]), numbers.choice([0, 0, 5]), work))
    return boxes, tasks


BOXES, TASKS = plan()


def build(loop):
    for name, mailbox in BOXES.items():
        loop.handler(name, mailbox)
    texts = {name: Hidden("") if HIDE else loop.var(name, "") for name in "xy"}
    names = {}

    def run(index):
        for what, variable, letter in TASKS[index][4]:
            text = texts[variable]
            if what == "set":
                text.set(letter)
            elif what == "append":
                text.set(text.get() + letter)
            elif what == "copy":
                text.set(texts["y" if variable == "x" else "x"].get())
            elif what == "fail" and text.get() == letter:
                loop.fail("%s is %s" % (variable, text.get()))
            elif what == "cancel":
                # Names are paths of creators, so a task can be cancelled before it is there.
                loop.cancel(name_of(len(TASKS) - 1))
        for child, (parent, _, handler, delay, _) in enumerate(TASKS):
            if parent == index:
                loop.post("t%d" % child, lambda child=child: run(child), handler=handler, delay=delay, role="task")

    def name_of(index):
        parent = TASKS[index][0]
        own = "t%d" % index
        return own if parent is None else name_of(parent) + "/" + own

    for index, (parent, is_input, handler, _, _) in enumerate(TASKS):
        if parent is None and is_input:
            loop.input("t%d" % index, lambda index=index: run(index), handler=handler)
        elif parent is None:
            loop.post("t%d" % index, lambda index=index: run(index), handler=handler)
    loop.observe(lambda: [(["texts"], "output", texts["x"].peek() + "|" + texts["y"].peek())])


def every_order():
    """All complete runs, each from the start."""
    open_ = [[]]
    while open_:
        names = open_.pop()
        loop = anyorder_loop._fresh(build)
        for name in names:
            loop.execute(name, 0, {})
        next_ = loop.runnable()
        if not next_:
            yield names, loop.parts(), list(loop._failures)
        open_.extend(names + [task.name] for task in next_)


def report():
    inputs = {"t%d" % index for index, task in enumerate(TASKS) if task[1]}
    ends, failures, runs = {}, set(), 0
    for names, parts, failed in every_order():
        runs += 1
        order = tuple(name for name in names if name in inputs)
        ends.setdefault(order, set()).add(json.dumps(parts))
        failures.update(failed)
    print(json.dumps({
        "runs": runs,
        "inputs": len(inputs),
        "differs": any(len(one) > 1 for one in ends.values()),
        "ends": len(set().union(*ends.values())),
        "fails": bool(failures),
        "cancels": any(what == "cancel" for task in TASKS for what, _, _ in task[4]),
        "boxes": sorted(BOXES.values()),
    }))


if "--all" in sys.argv:
    report()
else:
    anyorder_loop.run("random %d" % SEED, build)
