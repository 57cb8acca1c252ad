"""Orders in which a program can run: docs/formats/trace-schedule.md."""

from relations import Ends, Relations
from traces import Refused, Unreadable, demand
from words import Reader, header, lines


def check(trace, text):
    numbered = lines(text)
    header(numbered, "trace-schedule 1")
    pair, order, places = None, [], []
    for number, words in numbered:
        line = Reader(trace, number, words)
        word = line.word("`run EVENT`")
        if word == "run":
            order.append(line.event())
            places.append(line.place)
        elif word == "adjacent" and pair is None and not order:
            pair = (line.event(), line.event())
        else:
            raise Unreadable(f"{line.place}: expected `run EVENT`")
        line.end()
    demand(trace.observed, "the input", "a partial trace")
    run_schedule(trace, Relations(trace), order, places)
    if pair:
        check_adjacent(trace, order, *pair)
    return f"the program can run these {len(order)} events in this order"


def check_adjacent(trace, order, a, b):
    for event in (a, b):
        demand(event in order, "the end", f"event {trace.name(event)} is not in the schedule")
    demand(a != b, "the end", f"event {trace.name(a)} cannot stand beside itself")
    first, last = sorted((order.index(a), order.index(b)))
    handlers = {trace.handler_of(a), trace.handler_of(b)}
    tasks = {trace.events[a].task, trace.events[b].task}
    for event in order[first + 1:last]:
        if trace.handler_of(event) in handlers:
            own = len(handlers) == 1 and trace.events[event].task in tasks
            demand(own, "the order", f"event {trace.name(event)} stands between the two events")


def run_schedule(trace, relations, order, places):
    run = Run(trace, relations)
    for place, event in zip(places, order):
        run.step(place, event)


class Run:
    def __init__(self, trace, relations):
        self.trace, self.relations = trace, relations
        self.done, self.ran, self.running = set(), {}, {}
        self.pending, self.holders, self.given = {}, {}, given_back(trace)
        self.ends, self.place_of = Ends(trace, True), {}

    def step(self, place, event):
        trace, done = self.trace, self.done
        e = trace.events[event]
        handler = trace.handler_of(event)
        demand(event not in done, place, "comes twice")
        demand(handler is not None, place, "has no handler")
        self.after(place, self.relations.before[event], "program order")
        if trace.task_of(event).kind != "burst":
            unit = self.relations.unit[event]
            other = self.running.get(handler)
            if other is not None and other != unit:
                demand(self.ran.get(other, 0) == self.relations.size[other], place, "the handler is in the middle of something else")
            self.running[handler] = unit
        self.causes(place, e, handler)
        self.mailbox(place, e)
        demand(self.ends.ended(event, self.place_of) is None, place, "what it needs is over: a cancel, a disable or an exit")
        self.place_of[event] = len(self.place_of)
        self.lock(place, e, handler)
        done.add(event)
        unit = self.relations.unit[event]
        self.ran[unit] = self.ran.get(unit, 0) + 1

    def after(self, place, first, why):
        if first is not None and first not in self.done:
            raise Refused(place, f"event {self.trace.name(first)} must come first ({why})")

    def causes(self, place, e, handler):
        trace, relations = self.trace, self.relations
        if e.kind == "post":
            task = trace.tasks[e.operand]
            attach = relations.attach.get(task.handler)
            if task.handler is not None and task.handler != handler and attach is not None and attach < e.id:
                self.after(place, attach, "attach")
            self.enabled(place, task, e.id)
        elif e.kind == "get" and trace.task_of(e.id).get == e.id:
            task = trace.task_of(e.id)
            if task.post is not None and task.post < e.id:
                self.after(place, task.post, "post")
            point = relations.loop_point.get(handler)
            if point is not None and point < e.id:
                self.after(place, point, "loop")
            self.enabled(place, task, e.id)
        elif e.kind == "cancel":
            self.cancel(place, e)
        elif e.kind == "trigger":
            self.after(place, relations.enabled_by(e.id, False), "enable")
        elif e.kind == "wake" and e.id in relations.wake_of:
            self.after(place, relations.wake_of[e.id][0], "wake")
        elif e.kind in ("join", "barrier"):
            for other in trace.events[:e.id]:
                if e.kind == "barrier":
                    needed = other.kind == "barrier" and other.operand == e.operand
                else:
                    fork = other.kind == "fork" and other.operand == e.operand
                    needed = fork or trace.handler_of(other.id) == e.operand
                if needed:
                    self.after(place, other.id, e.kind)
        for other in trace.events[:e.id]:
            if other.kind == "fork" and other.operand == handler:
                self.after(place, other.id, "fork")

    def cancel(self, place, e):
        post = self.trace.tasks[e.operand].post
        if post is not None and post < e.id:
            self.after(place, post, "cancel")

    def enabled(self, place, task, event):
        if task.get is None:
            return
        for trigger in self.relations.triggers.get(task.number, []):
            enable = self.relations.enabled_by(trigger, False)
            if enable is not None and self.trace.events[enable].task != task.number and enable < event:
                self.after(place, enable, "enable")

    def mailbox(self, place, e):
        trace = self.trace
        if e.kind == "post":
            task = trace.tasks[e.operand]
            if task.post == e.id and task.get is not None and task.handler is not None:
                self.pending.setdefault(task.handler, []).append(task)
        elif e.kind == "cancel":
            task = trace.tasks[e.operand]
            if task in self.pending.get(task.handler, []):
                self.pending[task.handler].remove(task)
        elif e.kind == "get" and trace.task_of(e.id).get == e.id:
            task = trace.task_of(e.id)
            pending = self.pending.setdefault(task.handler, [])
            if trace.handlers[task.handler].mailbox != "bag":
                for other in pending:
                    if other is task:
                        break
                    demand(not goes_first(other, task), place, f"task {other.name} must be taken first")
            if task in pending:
                pending.remove(task)

    def lock(self, place, e, handler):
        holders = self.holders.setdefault(e.operand, []) if e.kind in ("acquire", "release") else []
        if e.kind == "acquire":
            for other, shared in holders:
                demand(other == handler or (shared and e.shared), place, "the lock is held")
            holders.append((handler, e.shared))
        elif e.kind == "release":
            shared = self.given[e.id]
            if shared is not None:
                demand((handler, shared) in holders, place, "the lock is not held")
                holders.remove((handler, shared))


def given_back(trace):
    """The mode that each release gives back in the trace: its own, or else the other one that its
    handler holds; None where the recording missed the acquire, and the release has no effect."""
    holders, given = {}, {}
    for event, e in enumerate(trace.events):
        held = holders.setdefault((trace.handler_of(event), e.operand), [])
        if e.kind == "acquire":
            held.append(e.shared)
        elif e.kind == "release":
            given[event] = e.shared if e.shared in held else held[-1] if held else None
            if held:
                held.remove(given[event])
    return given


def goes_first(one, two):
    """Whether the fifo rule takes a task first that was posted earlier in the schedule."""
    in_time = one.delay == 0 or (two.delay != 0 and one.delay <= two.delay)
    posts = (-1 if one.post is None else one.post) < (-1 if two.post is None else two.post)
    overtook = posts and one.get > two.get
    return not two.front and in_time and not overtook
