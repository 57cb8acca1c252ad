"""Witnesses and refutations of consistency: docs/formats/consistency-witness.md and consistency-proof.md."""

from traces import INITIAL, Refused, Task, Unreadable, demand
from words import Reader, header, lines


def split_own_code(trace):
    """Makes each piece of a handler's own code after its initial message, and its exit, a burst of its own."""
    runs = {task.handler for task in trace.tasks if task.kind == "posted" and task.events}
    if not trace.observed:
        for event in list(trace.events):
            task = trace.task_of(event.id)
            if event.kind == "exit" and task.kind == "initial" and task.events[-1] == event.id and task.handler in runs:
                new = Task(len(trace.tasks), task.name, "burst", task.handler)
                new.delay, new.front = task.delay, task.front
                trace.tasks.append(new)
                trace.by_task[new.name] = None if new.name in trace.by_task else new.number
                event.task = new.number
        relist(trace)
        return
    last, past, cut, piece = {}, set(), set(), {}
    for event in trace.events:
        last[trace.handler_of(event.id)] = event.id
    for event in list(trace.events):
        task = trace.task_of(event.id)
        handler = task.handler
        if handler is None:
            continue
        if task.kind == "posted" and task.events[0] == event.id and task.gets[:1] == [event.id]:
            cut.add(handler)
            past.add(handler)
        elif task.kind == "initial":
            exits = event.kind == "exit" and handler in past and last[handler] == event.id
            if handler in past:
                if handler in cut or exits or handler not in piece:
                    new = Task(len(trace.tasks), task.name, "burst", handler)
                    new.delay, new.front = task.delay, task.front
                    trace.tasks.append(new)
                    trace.by_task[new.name] = None if new.name in trace.by_task else new.number
                    piece[handler] = new.number
                cut.discard(handler)
                event.task = piece[handler]
            if event.kind == "loop" and handler in runs:
                cut.add(handler)
                past.add(handler)
    relist(trace)


def relist(trace):
    for task in trace.tasks:
        task.events = []
    for event in trace.events:
        trace.tasks[event.task].events.append(event.id)


class Model:
    def __init__(self, trace, mailbox):
        self.trace = trace
        self.idle = {trace.events[e].task for e in range(len(trace.events))
                     if trace.events[e].kind == "trigger" and trace.inputs[trace.events[e].operand][0] == "idle"}
        self.rule = mailbox or self.recorded()
        split_own_code(trace)
        self.role = {task.number: self.role_of(task) for task in trace.tasks}
        self.sources()
        self.coherence()
        self.find_ends()
        self.needed = {}
        for task in trace.tasks:
            self.needed[task.number] = [event for event in task.events if self.needs(trace.events[event])]

    def recorded(self):
        rule = "fifo"
        for task in self.trace.tasks:
            if task.kind != "posted" or not task.events:
                continue
            mailbox = self.trace.handlers[task.handler].mailbox
            if mailbox == "bag":
                return "bag"
            if mailbox == "delayed" or task.delay or task.front or task.number in self.idle:
                rule = "delayed"
        return rule

    def role_of(self, task):
        if not task.events:
            return "absent"
        if task.handler is not None and task.kind == "initial":
            return "initial"
        if task.handler is not None and task.kind == "posted" and task.gets[:1] == task.events[:1]:
            return "posted"
        return "alone"

    def message(self, event):
        """The handler of which an event belongs to a message, or None."""
        task = self.trace.events[event].task
        return self.trace.tasks[task].handler if self.role[task] in ("initial", "posted") else None

    def post(self, task):
        return task.post if self.role[task.number] == "posted" else None

    def needs(self, event):
        if event.kind == "post":
            task = self.trace.tasks[event.operand]
            cancelled = task.number in self.cancels and task.post == event.id
            return cancelled or self.post(task) == event.id
        if event.kind == "exit":
            return event.id in self.exits.values()
        return event.kind in ("get", "fork", "join", "cancel", "enable", "disable", "trigger") or event.access

    def find_ends(self):
        """Beginnings, each with what opened it and the ends that bind it; exits of handlers."""
        trace = self.trace
        self.cancels, self.begins, self.enabled_by, disables, enabled = {}, {}, {}, {}, {}
        for e in trace.events:
            if e.kind == "cancel" and trace.tasks[e.operand].kind == "posted":
                self.cancels.setdefault(e.operand, []).append(e.id)
            elif e.kind == "enable":
                enabled[e.operand] = e.id
            elif e.kind == "disable":
                enabled.pop(e.operand, None)
                disables.setdefault(e.operand, []).append(e.id)
            elif e.kind == "trigger" and trace.observed and e.operand in enabled:
                opened, task = enabled[e.operand], trace.task_of(e.id)
                self.enabled_by[e.id] = opened
                self.begins.setdefault(e.id, []).append((opened, e.operand))
                get = task.gets[0] if task.gets else None
                if get is not None and opened < get < e.id and trace.events[opened].task != e.task:
                    self.begins.setdefault(get, []).append((opened, e.operand))
        for begins in self.begins.values():
            begins[:] = [(opened, disables.get(of, [])) for opened, of in begins]
        for number, cancels in self.cancels.items():
            task = trace.tasks[number]
            if task.events:
                first, post = task.events[0], task.post
                bind = [c for c in cancels if not (trace.observed and c < first and (post is None or post < c))]
                self.begins.setdefault(first, []).append((post, bind))
        runs, last, self.exits = set(), {}, {}
        for e in trace.events:
            task = trace.task_of(e.id)
            if task.kind == "posted":
                runs.add(task.handler)
            elif e.kind == "exit" and (trace.observed or len(task.events) == 1):
                self.exits[task.handler] = e.id
            last[task.handler] = e.id
        self.exits = {h: e for h, e in self.exits.items()
                      if h is not None and h in runs and (not trace.observed or last[h] == e)}

    def cancelled_post(self, e):
        """The post of the task that an event cancels, if it comes first for sure."""
        if e.kind != "cancel" or e.operand not in self.cancels:
            return None
        post = self.trace.tasks[e.operand].post
        return post if post is not None and (not self.trace.observed or post < e.id) else None

    def opened(self, begins, end):
        """What opened a beginning that an end binds, as a list of one; or the empty list."""
        return [opened for opened, ends in self.begins.get(begins, []) if end in ends][:1]

    def sources(self):
        trace, last = self.trace, {}
        self.source = {}
        for event in trace.events:
            if not event.access:
                continue
            if event.reads:
                self.source[event.id] = last.get(event.operand, INITIAL) if trace.observed else "any"
                if event.refers is not None:
                    self.source[event.id] = self.referred(event)
            if event.writes:
                last[event.operand] = event.id

    def referred(self, event):
        if event.refers == INITIAL:
            return INITIAL
        if event.refers < len(self.trace.events):
            write = self.trace.events[event.refers]
            if write.writes and write.operand == event.operand and write.id != event.id:
                return write.id
        return "wrong"

    def coherence(self):
        self.place, by_location = {}, {}
        for location, writes in self.trace.coherence.items():
            for place, write in enumerate(writes):
                if write < len(self.trace.events):
                    event = self.trace.events[write]
                    if event.writes and event.operand == location:
                        self.place[write] = place
        for event in self.trace.events:
            if event.writes and event.operand not in self.trace.coherence:
                by_location.setdefault(event.operand, []).append(event.id)
        for writes in by_location.values():
            if self.trace.observed or len(writes) == 1:
                self.place.update((write, place) for place, write in enumerate(writes))

    def due(self, task):
        if self.rule == "bag":
            return "free"
        if self.rule == "fifo":
            return 0
        if task.number in self.idle and task.kind == "posted":
            return "free"
        return "front" if task.front else task.delay

    def keeps(self, one, two):
        """Whether the mailbox runs `one` first when it is posted first."""
        one, two = self.due(one), self.due(two)
        if "free" in (one, two) or two == "front":
            return False
        return one == "front" or one <= two

    def of_others(self, event, kind):
        """The handler that an event forks or joins, unless it is its own."""
        e = self.trace.events[event]
        if e.kind != kind or self.trace.handler_of(event) == e.operand:
            return None
        return e.operand

    def starts(self, fork, event):
        return not self.trace.observed or fork < event


def check_witness(trace, text, mailbox):
    model = Model(trace, mailbox)
    order = []
    for number, words in lines(text):
        name = " ".join(words) if len(words) == 1 else text.split("\n")[number - 1].strip(" \t\r\n\f")
        event = trace.find_event(name)
        if event is None and not order:
            raise Unreadable(f"line {number}: no certificate")
        demand(event is not None, f"line {number}", f"the trace has no one event {name}")
        order.append((f"line {number}", event))
    run = Run(model)
    for time, (place, event) in enumerate(order):
        run.step(place, event, time)
    for task, needed in model.needed.items():
        demand(all(event in run.done for event in needed), "the end", "an event is missing")
    return f"consistent: these {len(order)} events are a run, with mailbox rule {model.rule}"


class Run:
    def __init__(self, model):
        self.model, self.trace = model, model.trace
        self.done, self.running, self.pending = set(), {}, {}
        self.next = {task: 0 for task in model.needed}
        self.last, self.value, self.ordered, self.times = {}, {}, {}, {}

    def open_needed(self, task):
        return self.next[task] < len(self.model.needed[task])

    def step(self, place, event, time):
        model, trace = self.model, self.trace
        e, task = trace.events[event], trace.task_of(event)
        demand(event not in self.done, place, "comes twice")
        needed = model.needed[task.number]
        if self.open_needed(task.number):
            demand(needed[self.next[task.number]] >= event, place, "an earlier event of its task is missing (program order)")
        demand(self.last.get(task.number, -1) < event, place, "a later event of its task has come (program order)")
        handler = model.message(event)
        if handler is not None and self.running.get(handler) is not task:
            self.begin(place, event, task, handler, time)
        self.is_open(place, e)
        if model.needs(e):
            self.effect(place, e, time)
        self.done.add(event)
        self.times[event] = time
        self.last[task.number] = event
        if self.open_needed(task.number) and needed[self.next[task.number]] == event:
            self.next[task.number] += 1

    def begin(self, place, event, task, handler, time):
        model, runs = self.model, self.running.get(handler)
        initial = model.role[task.number] == "initial"
        demand(task.number not in self.last, place, "the handler has gone on to another task")
        if runs is not None:
            demand(not (initial and model.role[runs.number] == "posted"), place, "an initial task after a posted one")
            demand(not self.open_needed(runs.number), place, "the handler has not finished another task")
        if not initial:
            for other in self.trace.tasks:
                if other.handler == handler and model.role[other.number] == "initial":
                    demand(not self.open_needed(other.number), place, "initial tasks come first")
            if model.post(task) is not None:
                pending = self.pending.get(handler, {})
                demand(task.number in pending, place, "its post must come first (posted by)")
                for other, when in pending.items():
                    if when < pending[task.number]:
                        demand(not model.keeps(self.trace.tasks[other], task), place, "the mailbox delivers another task first")
                del pending[task.number]
        self.running[handler] = task

    def is_open(self, place, e):
        model, handler = self.model, self.trace.handler_of(e.id)
        for other in self.trace.events:
            if model.of_others(other.id, "fork") == handler and model.starts(other.id, e.id):
                demand(other.id in self.done, place, "a fork must come first")
            if model.of_others(other.id, "join") == handler and model.starts(e.id, other.id):
                demand(other.id not in self.done, place, "its handler was joined")
        demand(model.exits.get(self.trace.handler_of(e.id)) not in self.done, place, "its handler has quit")
        for first in (model.cancelled_post(e), model.enabled_by.get(e.id)):
            demand(first is None or first in self.done, place, "what it needs has not come (cancel, enable)")
        for opened, ends in model.begins.get(e.id, []):
            if opened is not None and opened not in self.done:
                continue
            since = self.times.get(opened, -1)
            demand(all(self.times.get(end, -1) <= since for end in ends), place, "something has ended it")

    def effect(self, place, e, time):
        model, trace = self.model, self.trace
        if e.kind == "post":
            task = trace.tasks[e.operand]
            if model.post(task) == e.id:
                self.pending.setdefault(task.handler, {})[task.number] = time
        elif e.kind == "join":
            joined = model.of_others(e.id, "join")
            for other in trace.events if joined is not None else []:
                if trace.handler_of(other.id) == joined and model.needs(other) and model.starts(other.id, e.id):
                    demand(other.id in self.done, place, "the joined handler has not finished")
        elif e.access:
            self.access(place, e)

    def access(self, place, e):
        source = self.model.source.get(e.id)
        if e.reads and source != "any":
            demand(source != "wrong", place, "reads from no write")
            demand(self.value.get(e.operand, INITIAL) == source, place, "reads another value")
        if e.writes:
            self.value[e.operand] = e.id
            position = self.model.place.get(e.id)
            if position is not None:
                demand(self.ordered.get(e.operand, -1) < position, place, "a later write has come (coherence)")
                self.ordered[e.operand] = position


def check_refutation(trace, text, mailbox):
    model = Model(trace, mailbox)
    steps = read_refutation(model, text)
    clauses = Clauses()
    for place, kind, content in steps:
        if kind == "cycle":
            clause = cycle(model, place, content)
        elif kind == "reads":
            clause = reads(model, place, *content)
        elif kind == "ended":
            clause = ended(model, place, *content)
        else:
            clause = frozenset(fact_of(model, place, fact) for fact in content)
            if kind == "forget":
                demand(clauses.forget(clause), place, "there is no such clause")
                continue
            demand(clauses.follows(clause), place, "does not follow by unit propagation")
        clauses.add(clause)
        if not clause:
            return f"inconsistent: no order is a run, with mailbox rule {model.rule}"
    raise Refused("the end", "no step gives the empty clause")


WORDS = ("program", "reads-from", "coherence", "from-reads", "posted-by", "fork", "join", "cancel", "enable", "ended")


def read_refutation(model, text):
    numbered = lines(text)
    header(numbered, "consistency-proof 1")
    steps, missing = [], 0

    def fact(line, word):
        if word == "runs":
            return ("runs", line.task(), line.task())
        if word == "before":
            return ("before", line.event(), line.event())
        raise Unreadable(f"{line.place}: expected a fact, found {word}")

    for number, words in numbered:
        line = Reader(model.trace, number, words)
        if missing:
            x, y, word = line.event(), line.event(), line.word("a relation")
            steps[-1][2].append((x, y, word if word in WORDS else fact(line, word)))
            missing -= 1
        else:
            kind = line.word("a step")
            if kind == "cycle":
                missing = line.number()
                steps.append((line.place, kind, []))
            elif kind in ("reads", "ended"):
                steps.append((line.place, kind, (line.event(), line.event())))
            elif kind in ("derived", "forget"):
                facts = []
                while line.words:
                    facts.append(fact(line, line.words.pop(0)))
                steps.append((line.place, kind, facts))
            else:
                raise Unreadable(f"{line.place}: expected a step, found {kind}")
        line.end()
    if missing:
        raise Unreadable("the end: links are missing")
    return steps


def complement(fact):
    return (fact[0], fact[2], fact[1])


def fact_of(model, place, fact):
    kind, a, b = fact
    demand(a != b, place, "a fact about one and itself")
    if kind == "runs":
        one, two = model.trace.tasks[a], model.trace.tasks[b]
        both = all(model.role[task] in ("initial", "posted") for task in (a, b))
        demand(both and one.handler == two.handler, place, "not two messages of one handler")
    return fact


def cycle(model, place, links):
    demand(links, place, "a cycle without links")
    at, clause = links[-1][1], set()
    for x, y, why in links:
        demand(x == at, place, "does not begin where the link before it ends")
        at = y
        if isinstance(why, tuple):
            clause.add(complement(fact_of(model, place, why)))
        reason = link(model, x, y, why)
        demand(reason is None, place, f"{model.trace.name(x)} {model.trace.name(y)}: {reason}")
    return frozenset(clause)


def link(model, x, y, why):
    """What is wrong with a link, or None."""
    trace = model.trace
    a, b, one, two = trace.events[x], trace.events[y], trace.task_of(x), trace.task_of(y)
    if why == "program":
        if one is two:
            return None if x < y else "not earlier in the task"
        initial = model.role[one.number] == "initial" and model.role[two.number] == "posted"
        return None if initial and one.handler == two.handler else "not in program order"
    if why == "reads-from":
        return None if b.reads and model.source.get(y) == x else "does not read from it"
    if why == "coherence":
        fits = a.writes and b.writes and a.operand == b.operand and in_coherence(model, x, y)
        return None if fits else "not in coherence order"
    if why == "from-reads":
        if not (a.reads and b.writes and a.operand == b.operand and x != y):
            return "not a read and another write"
        source = model.source.get(x)
        if source == INITIAL:
            return None
        fits = isinstance(source, int) and in_coherence(model, source, y)
        return None if fits else "the write that is read is not before it in coherence order"
    if why == "posted-by":
        fits = model.role[two.number] == "posted" and two.events[0] == y and model.post(two) == x
        return None if fits else "not a post and the get of its task"
    if why == "cancel":
        return None if model.cancelled_post(b) == x else "does not post what the other cancels"
    if why == "enable":
        return None if model.enabled_by.get(y) == x else "does not enable the other"
    if why == "ended":
        if model.exits.get(trace.handler_of(x)) == y:
            return None if x != y else "an event and itself"
        opened = model.opened(x, y)
        if not opened:
            return "does not end it"
        sure = opened[0] is None or model.cancelled_post(b) == opened[0]
        same = opened[0] is not None and trace.task_of(opened[0]) is two and opened[0] < y
        return None if sure or same else "the end may come before what opened it"
    if why in ("fork", "join"):
        fork = why == "fork"
        handler = model.of_others(x if fork else y, why)
        if handler is None or trace.handler_of(y if fork else x) != handler:
            return "not of another handler that is forked or joined"
        return None if model.starts(x, y) else "on the wrong side in the trace"
    kind, p, q = why
    if kind == "before":
        return None if (x, y) == (p, q) else "not the events of the fact"
    if (one.number, two.number) == (p, q):
        return None
    first, second = trace.tasks[p], trace.tasks[q]
    if (model.post(first), model.post(second)) != (x, y):
        return "neither events of the two messages nor their posts"
    return None if model.keeps(second, first) else "the mailbox does not keep their order"


def in_coherence(model, x, y):
    return x in model.place and y in model.place and model.place[x] < model.place[y]


def reads(model, place, read, other):
    a, b = model.trace.events[read], model.trace.events[other]
    fits = a.reads and b.writes and a.operand == b.operand and read != other
    demand(fits, place, "not a read and another write")
    source = model.source.get(read)
    demand(source == INITIAL or (isinstance(source, int) and source != other), place, "the write that is read, or nobody knows it")
    later = ("before", read, other)
    return frozenset([later] if source == INITIAL else [("before", other, source), later])


def ended(model, place, begins, end):
    opened = model.opened(begins, end)
    demand(opened and opened[0] is not None, place, "does not end it, or nothing opened it")
    demand(end not in (begins, opened[0]), place, "an event and itself")
    return frozenset([("before", end, opened[0]), ("before", begins, end)])


class Clauses:
    """Clauses of facts. A fact that was forced remains, also when its clause is forgotten."""

    def __init__(self):
        self.clauses, self.forced, self.refuted = [], set(), False

    def add(self, clause):
        self.clauses.append(clause)
        forced = self.propagate(set(self.forced))
        self.refuted |= forced is None
        self.forced = forced or self.forced

    def forget(self, clause):
        if clause in self.clauses:
            self.clauses.remove(clause)
            return True
        return False

    def follows(self, clause):
        if self.refuted or any(fact in self.forced or complement(fact) in clause for fact in clause):
            return True
        return self.propagate(self.forced | {complement(fact) for fact in clause}) is None

    def propagate(self, forced):
        """All facts that are forced, or None when all facts of some clause fail."""
        changed = True
        while changed:
            changed = False
            for clause in self.clauses:
                if any(fact in forced for fact in clause):
                    continue
                left = [fact for fact in clause if complement(fact) not in forced]
                if not left:
                    return None
                if len(left) == 1:
                    forced.add(left[0])
                    changed = True
        return forced
