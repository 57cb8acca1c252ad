"""Traces, read from the native text format and from edtrace (docs/formats)."""

import re


class Refused(Exception):
    """The certificate does not hold: the place, and what was expected there."""

    def __init__(self, place, reason):
        super().__init__(f"{place}: {reason}")


class Unreadable(Exception):
    """The text is no certificate about the trace, or the trace cannot be read."""


class Beyond(Exception):
    """This checker does not know the rules that the certificate needs."""


def demand(holds, place, reason):
    if not holds:
        raise Refused(place, reason)


def as_number(word):
    """A number of 64 bits in decimal digits, or None."""
    if not (word.isascii() and word.isdigit()):
        return None
    digits = word.lstrip("0") or "0"
    # Python refuses to convert very long ones.
    return int(digits) if len(digits) <= 20 and int(digits) < 1 << 64 else None


def as_plain_number(word):
    """The same without leading zeros, as certificates write numbers."""
    return as_number(word) if word == "0" or not word.startswith("0") else None


class Event:
    __slots__ = ("id", "task", "kind", "mode", "operand", "refers", "label")

    def __init__(self, number, task, kind, mode="", operand=None, refers=None, label=None):
        self.id, self.task, self.kind, self.mode = number, task, kind, mode
        self.operand, self.refers, self.label = operand, refers, label

    reads = property(lambda self: self.kind in ("read", "rmw"))
    writes = property(lambda self: self.kind in ("write", "rmw", "free"))
    access = property(lambda self: self.kind in ("read", "write", "rmw", "free"))
    acquires = property(lambda self: self.mode in ("acquire", "acq_rel", "seq_cst"))
    releases = property(lambda self: self.mode in ("release", "acq_rel", "seq_cst"))
    shared = property(lambda self: self.mode in ("shared", "try_shared"))
    attempt = property(lambda self: self.mode in ("try", "try_shared"))


class Task:
    def __init__(self, number, name, kind, handler, delay=0, front=False):
        self.number, self.name, self.kind, self.handler = number, name, kind, handler
        self.delay, self.front = delay, front
        self.events, self.posts, self.gets, self.ends = [], [], [], []

    # `post(m)`, `get(m)` and `end(m)` of happens-before.md.
    post = property(lambda self: self.posts[0] if self.posts else None)

    @property
    def get(self):
        return self.gets[0] if self.kind == "posted" and self.gets else None

    @property
    def end(self):
        if self.get is None:
            return None
        return self.ends[0] if self.ends else self.events[-1]


class Handler:
    def __init__(self, number, name, mailbox="none"):
        self.number, self.name, self.mailbox = number, name, mailbox


INITIAL = "initial"


class Trace:
    def __init__(self):
        self.handlers, self.tasks, self.events = [], [], []
        self.locations, self.inputs, self.coherence = [], [], {}
        # By input: its instance, argument and state.
        self.parts = []
        self.locks, self.conditions, self.sites = [], [], {}
        self.labels, self.observed, self.origin = "position", True, ""

    def finish(self):
        for event in self.events:
            task = self.tasks[event.task]
            task.events.append(event.id)
            if event.kind == "get":
                task.gets.append(event.id)
                if task.handler is None:
                    task.handler = event.operand
            elif event.kind == "end":
                task.ends.append(event.id)
            elif event.kind == "post":
                self.tasks[event.operand].posts.append(event.id)
        self.by_label, self.by_task = {}, {}
        for event in self.events:
            name = self.name(event.id)
            self.by_label[name] = None if name in self.by_label else event.id
        for task in self.tasks:
            self.by_task[task.name] = None if task.name in self.by_task else task.number
        return self

    def name(self, event):
        label = self.events[event].label
        if self.labels == "position" or label is None:
            label = str(event + 1)
        if self.labels == "access-or-operation":
            return ("rwId:" if self.events[event].access else "op:") + label
        return label

    def task_of(self, event):
        return self.tasks[self.events[event].task]

    def handler_of(self, event):
        return self.task_of(event).handler

    def find(self, name, table, size):
        if name.startswith("@"):
            number = as_plain_number(name[1:])
            return number if number is not None and number < size else None
        if self.labels == "access-or-operation" and name.startswith("access:") and table is self.by_label:
            name = "rwId:" + name[7:]
        return table.get(name)

    def find_event(self, name):
        return self.find(name, self.by_label, len(self.events))

    def find_task(self, name):
        return self.find(name, self.by_task, len(self.tasks))

    def android(self):
        families = {family for family, _ in self.inputs}
        return self.origin == "droidracer" or bool(families & {"lifecycle", "service", "broadcast", "idle"})


def read_trace(text, infer=False):
    for line in text.split("\n"):
        words = line.split("#")[0].split()
        if words:
            if words[:2] == ["edtrace", "1"]:
                return edtrace(text, infer)
            if words[:2] == ["anyorder-trace", "1"]:
                return Native(text).trace.finish()
            break
    raise Unreadable("the trace is neither native text nor edtrace; `anyorder convert --to text` writes the former")


TOKEN = re.compile(r'(\w+=|#)?"((?:[^"\\]|\\.)*)"|(\S+)')
ESCAPE = re.compile(r'\\(u\{([0-9a-fA-F]+)\}|.)')


def unescape(text):
    plain = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
    return ESCAPE.sub(lambda m: chr(int(m[2], 16)) if m[2] else plain[m[1]], text)


def number(text):
    return int(text, 16) if text.startswith("0x") else int(text)


class Quoted(str):
    """A string in quotes."""


def is_word(value):
    return not isinstance(value, Quoted)


class Native:
    """The native text format. Texts that the reader of anyorder refuses may be accepted."""

    def __init__(self, text):
        self.trace, self.names, self.ids = Trace(), [""], {"": 0}
        self.last = None
        for line_number, line in enumerate(text.split("\n"), 1):
            stripped = line.strip()
            if not stripped or stripped.startswith("#") or line_number == 1:
                continue
            try:
                self.line(self.tokens(stripped))
            except (KeyError, IndexError, ValueError) as error:
                raise Unreadable(f"line {line_number} of the trace: {error!r}") from None

    def tokens(self, line):
        tokens = []
        for key, string, word in TOKEN.findall(line):
            if word:
                tokens.append((None, word))
                continue
            name = unescape(string)
            if name not in self.ids:
                self.ids[name] = len(self.names)
                self.names.append(name)
            tokens.append((key.rstrip("=") or None, Quoted(name)))
        return tokens

    def string(self, token):
        value = token[1] if isinstance(token, tuple) else token
        return str(value) if isinstance(value, Quoted) else self.names[int(value[1:])]

    def line(self, tokens):
        word, trace = tokens[0][1], self.trace
        rest = tokens[1:]
        plain = [token[1] for token in rest]
        keys = dict(w.split("=", 1) for w in plain if is_word(w) and "=" in w and not w.startswith("#"))
        keys.update({key: value for key, value in rest if key})
        if word == "meta":
            trace.labels = keys.get("labels", trace.labels)
            trace.observed = keys.get("order", "observed") == "observed"
            if "origin" in keys:
                trace.origin = self.string(keys["origin"])
        elif word in ("handler", "change"):
            mailbox = next((w for w in plain[2:] if w in ("none", "fifo", "bag", "delayed")), "none")
            handler = Handler(int(plain[0][1:]), self.string(rest[1]), mailbox)
            if word == "handler":
                trace.handlers.append(handler)
            else:
                trace.handlers[handler.number] = handler
        elif word == "task":
            handler = next((int(w[1:]) for w in plain[2:] if is_word(w) and re.fullmatch(r"h\d+", w)), None)
            trace.tasks.append(Task(int(plain[0][1:]), self.string(rest[1]), plain[2], handler,
                                    number(keys.get("delay", "0")), any(is_word(w) and w == "front" for w in plain[3:])))
        elif word == "location":
            shape = plain[1]
            if shape == "range":
                start, size = plain[2].split("+")
                trace.locations.append(("range", number(keys.get("generation", "0")), number(start), max(number(size), 1)))
            else:
                trace.locations.append(("whole", len(trace.locations)))
        elif word == "lock":
            trace.locks.append(self.string(rest[1]))
        elif word == "condition":
            trace.conditions.append(self.string(rest[1]))
        elif word == "input":
            trace.inputs.append((plain[1], self.string(rest[2])))
            state = self.string(keys["state"]) if "state" in keys else ""
            trace.parts.append((number(keys.get("instance", "0")), number(keys.get("argument", "0")), state))
        elif word == "coherence":
            self.last = trace.coherence.setdefault(int(plain[0][1:]), [])
            self.last.extend(number(w) for w in plain[1:])
        elif word == "more":
            if self.last is None or not all(is_word(w) for w in plain):
                raise Beyond("a string on several lines in the trace")
            self.last.extend(number(w) for w in plain)
        elif word == "name":
            # The token itself has added the name if it was new.
            while len(self.names) <= int(plain[0][1:]):
                self.names.append(self.string(rest[1]))
        elif word in ("site", "stack", "invocation"):
            pass
        else:
            self.event(word, plain, keys)
        if word not in ("coherence", "more"):
            self.last = None

    OPERANDS = {"t": "task", "h": "handler", "x": "location", "l": "lock", "c": "condition", "v": "call", "i": "input", "n": "name"}

    def event(self, task, words, keys):
        kind, _, mode = words[0].partition(".")
        event = Event(len(self.trace.events), int(task[1:]), kind, mode)
        if kind == "other" and len(words) > 1:
            event.operand = self.string(words[1])
        for word in words[1:]:
            if not is_word(word):
                continue
            if word.startswith("#"):
                event.label = word[1:]
                if self.trace.labels == "name":
                    event.label = "" if word == "#-" else self.string(word[1:])
            elif word.startswith("refers="):
                value = word[7:]
                event.refers = INITIAL if value == "initial" else number(value)
            elif word.startswith("@") or "=" in word:
                pass
            elif event.operand is None and word[0] in self.OPERANDS:
                event.operand = int(word[1:])
        if "#" in keys:
            event.label = self.string(keys["#"])
        self.trace.events.append(event)


def edtrace(text, infer):
    trace, handlers, tasks, locations, events = Trace(), {}, {}, {}, {}
    trace.labels, trace.observed = "name", False
    reads = []

    def intern(table, key, make):
        if key not in table:
            table[key] = len(table)
            make(table[key])
        return table[key]

    def task(name, handler, kind):
        key = (handler, "-") if kind == "initial" else name
        task_name = trace.handlers[handler].name if kind == "initial" else name
        return intern(tasks, key, lambda n: trace.tasks.append(Task(n, task_name, kind, handler)))

    lines = [line.split("#")[0].split() for line in text.split("\n")]
    lines = [line for line in lines if line][1:]
    runs_on = {line[2]: line[1] for line in lines if line[0] != "co" and len(line) > 2 and line[2] != "-"}
    for words in lines:
        if words[0] == "co":
            continue
        name, handler_name, message, operation = words[:4]
        handler = intern(handlers, handler_name, lambda n, h=handler_name: trace.handlers.append(Handler(n, h, "none")))
        own = task(message, handler, "initial" if message == "-" else "posted")
        event = Event(len(trace.events), own, {"r": "read", "w": "write"}.get(operation, operation), label=name)
        if operation in "rw":
            event.operand = intern(locations, words[4], lambda n: trace.locations.append(("whole", n)))
        if operation == "r":
            reads.append((event, words[5]))
        if operation == "post":
            to = runs_on.get(words[4])
            if to is None:
                raise Unreadable(f"`{words[4]}` is posted and never begins")
            to = intern(handlers, to, lambda n, h=to: trace.handlers.append(Handler(n, h, "none")))
            event.operand = task(words[4], to, "posted")
        if operation == "get":
            event.operand = handler
            trace.handlers[handler].mailbox = "fifo"
        events[name] = event.id
        trace.events.append(event)
    for event, source in reads:
        event.refers = INITIAL if source == "init" else events[source]
    for words in lines:
        if words[0] == "co":
            trace.coherence[locations[words[1]]] = [events[write] for write in words[2:]]
    return trace.finish()
