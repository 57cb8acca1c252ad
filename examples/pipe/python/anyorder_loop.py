"""A small event loop whose order of tasks is decided from outside, over the anyorder pipe protocol, version 1.

Copy this file next to your program; it needs nothing but Python 3.8. A program is a function that builds it:

    from anyorder_loop import run

    def build(loop):
        count = loop.var("count", 0)
        loop.handler("ui", "delayed")
        loop.input("click", lambda: loop.post("save", lambda: count.set(count.get() + 1)), handler="ui")
        loop.observe(lambda: [(["count"], "output", str(count.peek()))])

    run("my program", build)

`build` is called once for each run: all state must be made in it, and nothing may survive from one run to the next.
Anything that differs from run to run by itself (time, random numbers, hash order of strings) must come from
`loop.alternative` or `loop.injected`. What the program prints goes to standard error.
"""

import json
import os
import sys
import time

PROTOCOL = 1
_INVISIBLE = ((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x2069), (0xFEFF, 0xFEFF))


class Diverged(Exception):
    """The task that was asked for cannot run."""


def escape(text):
    """Escapes a kind or label as it stands in a task name."""
    out = []
    for c in text:
        code = ord(c)
        hidden = any(low <= code <= high for low, high in _INVISIBLE)
        control = code < 0x20 or 0x7F <= code < 0xA0
        # U+001C to U+001F are white space for Python only, and control characters anyway.
        if c in "/@#%" or hidden or control or c.isspace():
            out.append("".join("%%%02X" % byte for byte in c.encode("utf-8")))
        else:
            out.append(c)
    return "".join(out)


class _Task:
    def __init__(self, name, kind, work, handler, delay, alternatives, role):
        self.name, self.kind, self.work, self.handler = name, kind, work, handler
        self.delay, self.alternatives, self.role = delay, alternatives, role


class _Input:
    def __init__(self, kind, label, work, handler, times, enabled, alternatives, role):
        self.kind, self.label, self.work, self.handler, self.role = kind, label, work, handler, role
        self.times, self.enabled, self.alternatives, self.done = times, enabled, alternatives, 0


class Var:
    """A variable that tasks share. Every access is reported with its value and its place in the source."""

    def __init__(self, loop, name, value):
        self._loop, self._name, self._value = loop, name, value

    def get(self):
        self._loop._access(self._name, "read", read=self._value)
        return self._value

    def set(self, value):
        self._value = value
        self._loop._access(self._name, "write", written=value)

    def update(self, change):
        """Reads and writes in one step; returns the new value."""
        before, self._value = self._value, change(self._value)
        self._loop._access(self._name, "rmw", read=before, written=self._value)
        return self._value

    def peek(self):
        """Reads without a report: for observations only."""
        return self._value


class Loop:
    """Handlers, their pending tasks, and input events. A task runs to its end without interruption."""

    def __init__(self):
        self._mailboxes, self._pending, self._inputs, self._homes = {}, [], [], {}
        self._current, self._step, self._ordinals = None, None, {}
        self._alternative, self._injected, self._failures = 0, {}, []
        self._look = lambda: []

    # -- what a program calls ------------------------------------------------------------------------------------

    def handler(self, name, mailbox="fifo"):
        """Declares a handler. `fifo`: tasks run in the order of their posts; `bag`: in any order; `delayed`: a task waits
        for every task of the handler that was posted before it with the same delay or a shorter one."""
        if mailbox not in ("fifo", "bag", "delayed"):
            raise ValueError("unknown mailbox: " + mailbox)
        self._mailboxes[name] = mailbox

    def var(self, name, value):
        """Makes a shared variable."""
        return Var(self, name, value)

    def input(self, kind, work, handler="main", times=1, enabled=True, alternatives=1, label="", role="input"):
        """Declares an input event: it may come at any time while it is enabled, `times` times in all. With the role `task`,
        explorers that keep a user's inputs as they were recorded vary when and whether this one comes."""
        self._inputs.append(_Input(kind, label, work, handler, times, enabled, alternatives, role))

    def post(self, kind, work, handler=None, delay=0, label="", alternatives=1, role=None):
        """Posts a task, to the current handler where none is named; returns its name. In `build` it is a root. Its role is
        `timer` if it has a delay, unless another is given."""
        if handler is None:
            handler = self._current.handler if self._current else "main"
        creator = self._current.name if self._current else None
        ordinal = self._ordinals.get((kind, label), 0)
        self._ordinals[(kind, label)] = ordinal + 1
        name = _name(creator, kind, label, ordinal)
        role = role or ("timer" if delay else "task")
        self._pending.append(_Task(name, kind, work, handler, delay, alternatives, role))
        self._homes[name] = handler
        # The order of two posts is the order of their tasks.
        self._order(handler, "posts", "write")
        if self._step is not None:
            self._step["posted"].append({"task": name, "handler": handler, "delay": delay, "role": role})
        return name

    def cancel(self, name):
        """Cancels a pending task; one that has run or was cancelled is left alone. Returns whether it was pending."""
        if name is None:
            return False
        # Reported either way: had the two come in the other order, it would have made a difference.
        self._access({"task": name}, "write")
        # Tasks that stand behind it in its mailbox may run earlier.
        self._order(self._homes.get(name), "cancels", "write")
        for index, task in enumerate(self._pending):
            if task.name == name:
                del self._pending[index]
                if self._step is not None:
                    self._step["cancelled"].append(name)
                return True
        return False

    def enable(self, kind, label=""):
        """Lets an input event come."""
        self._switch(kind, label, True)

    def disable(self, kind, label=""):
        """Stops an input event from coming."""
        self._switch(kind, label, False)

    def fail(self, text):
        """Reports a failure of the program and goes on."""
        self._failures.append(text)
        if self._step is not None:
            self._step["failures"].append(text)

    @property
    def alternative(self):
        """The alternative of the current task, from 0."""
        return self._alternative

    def injected(self, name, default=None):
        """A value that the current task is given from outside."""
        return self._injected.get(name, default)

    def observe(self, look):
        """Says what a run amounts to: `look` returns a list of (path, level, text)."""
        self._look = look

    # -- what the protocol asks ----------------------------------------------------------------------------------

    def runnable(self):
        """The tasks that could run next, those posted first, then inputs."""
        least, tasks = {}, []
        for task in self._pending:
            mailbox = self._mailboxes.get(task.handler, "fifo")
            waits_for = least.get(task.handler)
            if mailbox == "bag" or waits_for is None or (mailbox == "delayed" and task.delay < waits_for):
                tasks.append(task)
            least[task.handler] = task.delay if waits_for is None else min(waits_for, task.delay)
        for entry in self._inputs:
            if entry.enabled and entry.done < entry.times:
                name = _name(None, entry.kind, entry.label, entry.done)
                tasks.append(_Task(name, entry.kind, entry.work, entry.handler, 0, entry.alternatives, entry.role))
        return tasks

    def execute(self, name, alternative, injected):
        task = next((task for task in self.runnable() if task.name == name), None)
        if task is None or not 0 <= alternative < task.alternatives:
            raise Diverged(name)
        is_posted = task in self._pending
        if is_posted:
            self._pending.remove(task)
        else:
            self._input_of(name).done += 1
        self._current, self._ordinals = task, {}
        self._alternative, self._injected = alternative, injected
        step = self._step = {"accesses": [], "posted": [], "cancelled": [], "failures": []}
        if is_posted:
            self._order(task.handler, "cancels", "read")
        try:
            task.work()
        except Exception as error:  # what a task throws ends the task, not the loop
            self.fail("%s: %s" % (type(error).__name__, error))
        finally:
            self._current = self._step = None
        return step

    def parts(self):
        parts = [{"path": list(path), "level": level, "content": text} for path, level, text in self._look()]
        if self._failures:
            parts.append({"path": ["failures"], "level": "failure", "content": "\n".join(self._failures)})
        return parts

    # -- inside --------------------------------------------------------------------------------------------------

    def _input_of(self, name):
        for entry in self._inputs:
            if name == _name(None, entry.kind, entry.label, entry.done):
                return entry
        raise KeyError(name)

    def _switch(self, kind, label, enabled):
        for entry in self._inputs:
            if (entry.kind, entry.label) == (kind, label):
                entry.enabled = enabled
                for ordinal in range(entry.times):
                    self._access({"task": _name(None, kind, label, ordinal)}, "write")

    def _order(self, handler, what, kind):
        """The order of a mailbox is state that tasks share: it decides which may run. A bag has none."""
        if handler is not None and self._mailboxes.get(handler, "fifo") != "bag":
            self._access({"task": _name("mailbox@" + escape(handler), what, "", 0)}, kind)

    def _access(self, location, kind, **values):
        if self._step is None:
            return
        access = {"location": location, "kind": kind}
        site = _site()
        if site is not None:
            access["site"] = site
        for key, value in values.items():
            access[key] = _plain(value)
        self._step["accesses"].append(access)


def _name(creator, kind, label, ordinal):
    name = escape(kind) + ("@" + escape(label) if label else "") + ("#%d" % ordinal if ordinal else "")
    return name if creator is None else creator + "/" + name


def _plain(value):
    """A value as the protocol knows them: a number that JSON can write, a text, or a truth value."""
    if isinstance(value, float):
        return value if value - value == 0 else repr(value)
    if isinstance(value, int):
        return value if 0 <= value < 2**64 else str(value)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)


def _site():
    """The first position on the stack outside this file; none where the loop itself acts, without a task."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename == __file__:
        if frame.f_code.co_name == "run":
            return None
        frame = frame.f_back
    return {
        "file": os.path.basename(frame.f_code.co_filename),
        "line": frame.f_lineno,
        "function": frame.f_code.co_name,
    }


# -- the conversation --------------------------------------------------------------------------------------------


def option(name, default):
    """Returns the number after `--name` on the command line."""
    flag = "--" + name
    if flag in sys.argv and sys.argv.index(flag) + 1 < len(sys.argv):
        return int(sys.argv[sys.argv.index(flag) + 1])
    return default


def is_lost(seed, start, count, one_in):
    """Whether to lose a reply: the same for the same numbers, and different after a restart."""
    mixed = (seed * 0x9E3779B1 + start * 0x85EBCA6B + count * 0xC2B2AE35) & 0xFFFFFFFF
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        mixed = ((mixed ^ (mixed >> shift)) * factor) & 0xFFFFFFFF
    return (mixed ^ (mixed >> 16)) % one_in == 0


def run(name, build, version=""):
    """Answers requests until there are no more. Options: `--step-ms N` makes each task take that long; `--lose N` loses one
    reply in N, and `--seed S` decides which."""
    step_ms, lose, seed = option("step-ms", 0), option("lose", 0), option("seed", 0)
    start = int(os.environ.get("ANYORDER_PIPE_START", "0"))
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    # Whatever the program prints must not get between the replies.
    os.dup2(2, 1)
    count = 0
    loop = _fresh(build)
    for line in sys.stdin:
        if not line.strip():
            continue
        request = json.loads(line)
        op, reply = request.get("op"), {"id": request["id"]}
        try:
            if op == "hello":
                reply["ok"] = _hello(name, version, request.get("versions", []))
            elif op == "reset":
                loop = _fresh(build)
                reply["ok"] = {}
            elif op == "enabled":
                tasks = [
                    {
                        "task": task.name,
                        "handler": task.handler,
                        "alternatives": task.alternatives,
                        "role": task.role,
                    }
                    for task in loop.runnable()
                ]
                reply["ok"] = {"tasks": tasks}
            elif op == "execute":
                time.sleep(step_ms / 1000)
                injected = {entry["name"]: _value(entry["value"]) for entry in request.get("inject", [])}
                reply["ok"] = loop.execute(request["task"], request.get("alternative", 0), injected)
            elif op == "observe":
                reply["ok"] = {"parts": loop.parts()}
            elif op in ("ping", "quit"):
                reply["ok"] = {}
            else:
                reply["error"] = {"kind": "unsupported", "message": "unknown request: %s" % op}
        except Diverged:
            enabled = [task.name for task in loop.runnable()]
            reply["error"] = {"kind": "diverged", "enabled": enabled}
        except Exception as error:
            reply["error"] = {"kind": "crashed", "message": "%s: %s" % (type(error).__name__, error)}
        count += 1
        if not (lose and is_lost(seed, start, count, lose)):
            replies.write(json.dumps(reply, ensure_ascii=False) + "\n")
            replies.flush()
        if op == "quit":
            return


def _hello(name, version, versions):
    if PROTOCOL not in versions:
        raise ValueError("this program speaks version %d of the protocol" % PROTOCOL)
    capabilities = {"enabled": "exact", "deterministic": True, "values": True, "accesses": "list"}
    return {"version": PROTOCOL, "program": {"name": name, "version": version}, "capabilities": capabilities}


def _fresh(build):
    loop = Loop()
    build(loop)
    loop._ordinals = {}
    return loop


def _value(value):
    if "integer" in value:
        return int(value["integer"])
    return next(iter(value.values()), None)
