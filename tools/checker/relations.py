"""What proofs of orders and schedules share: sections 1 and 2 of docs/happens-before.md."""


class Relations:
    def __init__(self, trace):
        self.trace = trace
        self.loop_point = self.loop_points()
        self.attach = {}
        self.wake_of = match_wakes(trace)
        for event in trace.events:
            if event.kind == "attach":
                self.attach.setdefault(event.operand, event.id)
        self.pieces()
        self.first_after_fork, self.sequence, self.enable = {}, {}, {}
        self.triggers = {}
        first = {}
        for event in reversed(trace.events):
            if event.kind == "fork" and event.operand in first:
                self.first_after_fork[event.id] = first[event.operand]
            handler = trace.handler_of(event.id)
            if handler is not None:
                first[handler] = event.id
        writes, switches = {}, {}
        for event in trace.events:
            if event.reads and event.acquires:
                self.sequence[event.id] = writes.get(event.operand)
            continues = event.kind == "rmw" and event.mode != ""
            if event.writes and not (continues and event.operand in writes):
                writes[event.operand] = event.id
            if event.kind in ("enable", "disable"):
                switches[event.operand] = event
            if event.kind == "trigger":
                last = switches.get(event.operand)
                if last is not None and last.kind == "enable":
                    self.enable[event.id] = last.id
                self.triggers.setdefault(event.task, []).append(event.id)

    def posted(self, event):
        """The task of an event, if it was posted and has begun."""
        task = self.trace.task_of(event)
        return task if task.get is not None else None

    def is_get(self, event):
        return self.trace.task_of(event).get == event

    def loop_points(self):
        """By handler that runs posted tasks: its first `loop`, else its last initial event before its first `get`."""
        loops, last, first_get = {}, {}, {}
        for event in self.trace.events:
            task = self.trace.tasks[event.task]
            handler = task.handler
            if handler is None:
                continue
            if task.get == event.id:
                first_get.setdefault(handler, event.id)
            if task.kind == "initial":
                if event.kind == "loop":
                    loops.setdefault(handler, event.id)
                if handler not in first_get:
                    last[handler] = event.id
        last.update(loops)
        return {handler: event for handler, event in last.items() if handler in first_get}

    def pieces(self):
        """By event: what its handler runs without interruption, and the event before it in program order."""
        gets, last, count = {}, {}, {}
        self.unit, self.before, self.size = [], [], {}
        for event in self.trace.events:
            task = self.trace.tasks[event.task]
            handler = task.handler
            if handler is not None and task.get == event.id:
                gets[handler] = gets.get(handler, 0) + 1
            if task.kind != "initial" or handler is None:
                unit, before = ("task", task.number), last.get(("task", task.number))
            else:
                unit = ("piece", handler, gets.get(handler, 0))
                point = self.loop_point.get(handler)
                before = last.get(("code", handler))
                if before is not None and (point is None or event.id > point):
                    if self.unit[before] != unit or (point is not None and before <= point):
                        before = point
                if before is None and point is not None and point < event.id:
                    before = point
                last[("code", handler)] = event.id
            last[unit] = event.id
            self.unit.append(unit)
            self.before.append(before)
            self.size[unit] = self.size.get(unit, 0) + 1

    def enabled_by(self, trigger, android):
        family = self.trace.inputs[self.trace.events[trigger].operand][0]
        if android and family not in ("plain", "ui", "focus"):
            return None
        return self.enable.get(trigger)


class Ends:
    """Rule 6 of witnesses.md: by event, what opened it, the rule, and the events that end that."""

    def __init__(self, trace, tasks, android=False):
        self.trace, self.of = trace, {}
        cancels, disables, exits = {}, {}, {}
        for event in trace.events:
            if event.kind == "cancel":
                cancels.setdefault(event.operand, []).append(event.id)
            elif event.kind == "disable":
                disables.setdefault(event.operand, []).append(event.id)
            elif event.kind == "exit" and trace.task_of(event.id).kind == "initial":
                exits.setdefault(trace.handler_of(event.id), []).append(event.id)
        for number, ends in cancels.items():
            task = trace.tasks[number]
            if task.events:
                self.add(task.events[0], task.post, "cancelled", ends)
        if android:
            self.components()
        for event in trace.events:
            own = event.kind == "trigger" and (not android or trace.inputs[event.operand][0] in ("plain", "ui", "focus"))
            if own and event.operand in disables:
                opened = self.enable(event)
                if opened is not None:
                    self.triggered(event, opened, disables[event.operand], tasks)
            if tasks and trace.task_of(event.id).kind != "burst":
                handler = trace.handler_of(event.id)
                if handler is not None and handler in exits:
                    self.add(event.id, None, "exited", exits[handler])

    def triggered(self, trigger, opened, ends, tasks=True):
        """A trigger, and the begin of its task, unless that task enables the input itself."""
        task = self.trace.task_of(trigger.id)
        self.add(trigger.id, opened, "disabled", ends)
        between = task.get is not None and opened < task.get < trigger.id
        if tasks and between and self.trace.events[opened].task != trigger.task:
            self.add(task.get, opened, "disabled", ends)

    def components(self):
        """Idle handlers and receivers of broadcasts (android-components.md)."""
        trace, removals, found = self.trace, {}, []
        added, registered, sticky, queued, sends, announced = {}, {}, set(), {}, {}, {}

        def settle(intent, receiver):
            oldest = None
            if sends.get(intent) == "sticky" and queued.get(receiver):
                oldest = queued[receiver].pop(0)
            return oldest if oldest is not None else registered.get(receiver)

        for event in trace.events:
            if event.kind not in ("enable", "disable", "trigger"):
                continue
            family, name = trace.inputs[event.operand]
            instance, argument, state = trace.parts[event.operand]
            if family == "idle":
                key = ("idle", instance, argument)
                if event.kind == "enable":
                    added.setdefault(key, event.id)
                elif event.kind == "disable":
                    removals.setdefault(key, []).append(event.id)
                    added.pop(key, None)
                elif key in added and trace.task_of(event.id).kind == "posted":
                    found.append((event, added[key], key))
            elif family == "broadcast":
                receiver, key = (instance, name), ("receiver", instance)
                what = (event.kind, state)
                if what == ("enable", "SEND_BROADCAST"):
                    sends[argument] = "plain"
                elif what == ("enable", "SEND_STICKY_BROADCAST"):
                    sends[argument] = "sticky"
                    sticky.add(name)
                elif what == ("disable", "REMOVE_STICKY_BROADCAST"):
                    sticky.discard(name)
                elif what == ("enable", "REGISTER_RECEIVER"):
                    registered.setdefault(receiver, event.id)
                    if name in sticky:
                        queued.setdefault(receiver, []).append(event.id)
                elif what == ("disable", "UNREGISTER_RECEIVER"):
                    removals.setdefault(key, []).append(event.id)
                    registered = {of: at for of, at in registered.items() if of[0] != instance}
                    queued = {of: at for of, at in queued.items() if of[0] != instance}
                elif what == ("enable", "ONRECEIVE_LATER"):
                    announced[event.id] = settle(argument, receiver)
                elif what == ("trigger", "ONRECEIVE"):
                    known = event.refers in announced
                    opened = announced[event.refers] if known else settle(argument, receiver)
                    if opened is not None:
                        found.append((event, opened, key))
        for event, opened, key in found:
            self.triggered(event, opened, removals.get(key, []))

    def enable(self, trigger):
        for event in reversed(self.trace.events[:trigger.id]):
            if event.kind in ("enable", "disable") and event.operand == trigger.operand:
                return event.id if event.kind == "enable" else None
        return None

    def add(self, event, opened, rule, ends):
        if opened is not None and opened >= event:
            opened = None
        # What the trace itself has between the two binds nothing.
        binding = [end for end in ends if end > event or (opened is not None and end < opened)]
        if binding:
            self.of.setdefault(event, []).append((opened, rule, binding))

    def ended(self, event, place_of, waits=False):
        """An event that has ended what an event needs; `place_of` has the places of those that came.
        If the event only waits, what opens it can still come, after the ends."""
        for opened, _, ends in self.of.get(event, []):
            since = place_of.get(opened)
            if waits and opened is not None and since is None:
                continue
            for end in ends:
                if end in place_of and (since is None or place_of[end] > since):
                    return end
        return None


def match_wakes(trace):
    """By wake: the signal that it is matched with, and the wait that must come before that."""
    signals, waits, matched = {}, {}, {}
    for event in trace.events:
        if event.kind in ("signal", "broadcast"):
            signals.setdefault(event.operand, []).append(event.id)
        elif event.kind == "wait":
            waits[(event.task, event.operand)] = event.id
        elif event.kind == "wake" and event.mode != "timeout":
            wait = waits.get((event.task, event.operand))
            if event.refers is not None:
                signal = event.refers if event.refers != "initial" and event.refers < event.id else None
            else:
                candidates = signals.get(event.operand, [])
                signal = next((s for s in candidates if wait is None or s > wait), None)
            if signal is None:
                continue
            source = trace.events[signal]
            if source.kind == "signal" and signal in signals.get(source.operand, []):
                signals[source.operand].remove(signal)
            matched[event.id] = (signal, wait if wait is not None and wait < signal else None)
    return matched
