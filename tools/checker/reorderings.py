"""Reorderings: docs/formats/reordering.md and docs/witnesses.md."""

from relations import Ends, Relations, match_wakes
from schedules import Run as Schedule
from traces import Beyond, Refused, Unreadable, demand

FORMS = ("reversed", "last", "co_enabled", "overtakes", "deadlock")
KEYS = {"reordering", "finding", "title", "form", "first", "second", "reorders", "prefix", "shortest", "events", "steps", "requests"}


def address_of(lock):
    """The first address of a lock whose name is an address, or a range of addresses."""
    digits = lock[2:].split("+")[0] if lock.startswith("0x") else ""
    return int(digits, 16) if digits and all(c in "0123456789abcdefABCDEF" for c in digits) else None


def typed(value, kind, place):
    fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if not fits or (kind is int and not 0 <= value < 1 << 64):
        raise Unreadable(f"{place}: expected {kind.__name__}")
    return value


def read(value):
    """Reads the shape of a reordering: what breaks it is no certificate."""
    if typed(value.get("reordering"), int, "reordering") != 1:
        raise Unreadable("expected version 1 as `reordering`")
    if "left_out" in value:
        raise Unreadable("`left_out`: only the last steps are there")
    for key in ("finding", "title"):
        typed(value.get(key, ""), str, key)
    typed(value.get("shortest", False), bool, "shortest")
    for key, kind in (("form", str), ("reorders", str), ("prefix", int), ("events", int), ("steps", list)):
        typed(value.get(key), kind, key)
    deadlock = value["form"] == "deadlock"
    for key in ("first", "second"):
        if deadlock and key in value:
            raise Unreadable(f"unknown field `{key}`")
        typed(value.get(key, "") if deadlock else value.get(key), str, key)
    if "requests" in value and not deadlock:
        raise Unreadable("unknown field `requests`")
    for request in typed(value.get("requests", None if deadlock else []), list, "requests"):
        typed(request, str, "requests")
    for key in value:
        if key not in KEYS:
            raise Unreadable(f"unknown field `{key}`")
    if value["form"] not in FORMS or value["reorders"] not in ("threads", "tasks", "components"):
        raise Unreadable("unknown form or kind")


def check(trace, value):
    read(value)

    def find(name, place):
        event = trace.find_event(name)
        demand(event is not None, place, f"the trace has no one event {name}")
        return event

    if value["form"] == "deadlock":
        actions = [find(name, f"request {number}") for number, name in enumerate(value["requests"], 1)]
    else:
        actions = [find(value["first"], "`first`"), find(value["second"], "`second`")]
    steps = value["steps"]
    demand(value["events"] == len(steps), "`events`", f"there are {len(steps)} steps")
    order = []
    for number, step in enumerate(steps, 1):
        place = f"step {number}"
        typed(step, dict, place)
        typed(step.get("event"), str, place)
        for key in step:
            if key not in ("event", "lane", "text", "at"):
                raise Unreadable(f"{place}: unknown field `{key}`")
            typed(step[key], str, place)
        event = find(step["event"], place)
        if "lane" in step:
            handler = trace.handler_of(event)
            demand(handler is not None and step["lane"] == trace.handlers[handler].name, place, "another handler runs it")
        order.append(event)
    demand(trace.observed, "the input", "a partial trace")
    if value["reorders"] == "tasks" and trace.android():
        raise Refused("`reorders`", "expected `components`")
    if value["reorders"] == "components" and trace.android():
        raise Beyond("rules of Android's components")
    if any(event.kind == "invoke" for event in trace.events):
        raise Beyond("invocations of objects")
    checker = Checker(trace, value["reorders"] != "threads", value["form"], actions, value["prefix"], order)
    checker.check()
    names = " and ".join(trace.name(action) for action in actions)
    return f"{value['form']}: events {names}, by {len(order)} events after {value['prefix']}"


class Checker:
    def __init__(self, trace, tasks, form, actions, prefix, order):
        self.trace, self.tasks, self.form, self.actions = trace, tasks, form, actions
        self.first, self.second = actions if form != "deadlock" else (None, None)
        self.prefix, self.order = prefix, order
        self.wakes = match_wakes(trace)
        self.sections()
        self.rounds()
        self.memory()
        self.bound()

    # Rule 1 of witnesses.md: lanes of threads.
    def lane(self, event):
        task = self.trace.task_of(event)
        whole = task.kind in ("initial", "posted") and task.handler is not None
        return ("handler", task.handler) if whole else ("task", task.number)

    def holder(self, event):
        if not self.tasks:
            return self.lane(event)
        task = self.trace.task_of(event)
        return ("handler", task.handler) if task.handler is not None else ("task", task.number)

    # Rule 3: critical sections, from taking a lock to releasing it as often.
    def sections(self):
        self.begins, self.ends, self.met = {}, {}, {}
        opened, self.broken = {}, len(self.trace.events)
        every = []
        for e in self.trace.events:
            key = (self.holder(e.id), e.operand)
            if e.kind == "acquire":
                if key in opened:
                    opened[key]["depth"] += 1
                else:
                    opened[key] = {"holder": key[0], "lock": e.operand, "from": e.id, "to": None, "depth": 1, "exclusive": False}
                    self.begins[e.id] = opened[key]
                    every.append(opened[key])
                opened[key]["exclusive"] |= not e.shared
            elif e.kind == "release" and key in opened:
                opened[key]["depth"] -= 1
                if opened[key]["depth"] == 0:
                    self.ends[e.id] = opened.pop(key)
                    self.ends[e.id]["to"] = e.id
            elif e.kind == "refused":
                met = [s for (holder, lock), s in opened.items() if lock == e.operand and holder != key[0]
                       and (not e.shared or s["exclusive"])]
                if met:
                    self.met[e.id] = max(met, key=lambda s: s["from"])
        for section in every:
            for other in every:
                if other["from"] < section["from"] and other["lock"] == section["lock"] and (other["to"] is None or other["to"] > section["from"]):
                    if other["exclusive"] or section["exclusive"]:
                        self.broken = min(self.broken, section["from"])
        self.every = every

    # Section 2: barriers.
    def rounds(self):
        trace, counts, previous, forks = self.trace, {}, {}, {}
        rounds = {}
        for e in trace.events:
            before = previous.get(e.task)
            previous[e.task] = e.id
            if e.kind == "fork":
                forks.setdefault(e.operand, []).append(e.id)
            if e.kind == "barrier":
                count = counts[(e.operand, e.task)] = counts.get((e.operand, e.task), 0) + 1
                arrivals = [before] if before is not None else list(forks.get(trace.handler_of(e.id), []))
                rounds.setdefault(e.operand, {}).setdefault(count, []).append((e.id, arrivals))
        self.arrivals, self.irregular = {}, {}
        for barrier, by_count in rounds.items():
            ordered = [by_count[count] for count in sorted(by_count)]
            regular = True
            for at, events in enumerate(ordered):
                start = events[0][0]
                regular &= all(a < start for _, arrivals in events for a in arrivals)
                if at + 1 < len(ordered):
                    regular &= max(event for event, _ in events) < ordered[at + 1][0][0]
            if not regular:
                self.irregular[barrier] = ordered[0][0][0]
                continue
            for events in ordered:
                for event, _ in events:
                    self.arrivals[event] = [a for _, arrivals in events for a in arrivals]

    # Rule 4: what each read observes, byte by byte; rule 2: the allocation that each access needs.
    def cells(self, event):
        location = self.trace.locations[self.trace.events[event].operand]
        if location[0] == "range":
            _, generation, start, size = location
            if size > 1 << 16:
                raise Beyond("a range of more than 65,536 bytes")
            return [(generation, byte) for byte in range(start, start + size)]
        return [location]

    def memory(self):
        self.source, self.alloc = {}, {}
        last, allocs, around = {}, {}, {}
        addresses = [address_of(lock) for lock in self.trace.locks]
        for e in self.trace.events:
            # A lock whose name is an address lies in the memory that was allocated there last.
            if e.kind in ("acquire", "release", "destroy", "refused", "request") and e.operand in around:
                self.alloc[e.id] = around[e.operand]
            if e.kind == "alloc" and self.trace.locations[e.operand][0] == "range":
                _, _, start, size = self.trace.locations[e.operand]
                for lock, at in enumerate(addresses):
                    if at is not None and start <= at < start + size:
                        around[lock] = e.id
            if not (e.access or e.kind == "alloc"):
                continue
            cells = self.cells(e.id)
            if e.reads:
                self.source[e.id] = [last.get(cell) for cell in cells]
            if e.access:
                found = [allocs[cell] for cell in cells if cell in allocs]
                if found:
                    self.alloc[e.id] = max(found)
            if e.writes:
                last.update((cell, e.id) for cell in cells)
            if e.kind == "alloc":
                allocs.update((cell, e.id) for cell in cells)

    # Free reads: where the trace records branches, and nothing needs what they observe.
    def bound(self):
        trace = self.trace
        branch = lambda e: e.kind == "other" and e.operand.split("(")[0] == "branch"
        if self.tasks or not any(branch(e) for e in trace.events):
            return
        plain = {"read", "write", "free", "alloc", "acquire", "release", "destroy", "refused", "request", "signal", "broadcast",
                 "wait", "wake", "barrier", "fork", "join", "begin", "exit", "other"}
        users = [e.id for e in trace.events if e.kind not in plain or branch(e)]
        needed = set()
        while users:
            user = users.pop()
            for e in trace.events[:user + 1]:
                if e.reads and e.id not in needed and self.lane(e.id) == self.lane(user):
                    needed.add(e.id)
                    users.extend(write for write in self.source[e.id] if write is not None)
        self.source = {read: source for read, source in self.source.items() if read in needed}

    def check(self):
        trace, order = self.trace, self.order
        doubt = min(self.irregular.values(), default=None)
        fits = self.prefix <= self.broken and (doubt is None or self.prefix <= doubt)
        demand(fits, "`prefix`", "the prefix is no run")
        if self.form in ("last", "co_enabled"):
            self.check_form()
        if self.tasks:
            schedule = Schedule(trace, Relations(trace))
            for event in range(self.prefix):
                schedule.step("the prefix", event)
            for number, event in enumerate(order, 1):
                schedule.step(f"step {number}", event)
        free = {"last": {self.first}, "co_enabled": {self.first, self.second}}.get(self.form, set())
        self.run(free)
        if self.form == "reversed":
            self.check_form()
        if self.form == "overtakes":
            self.check_overtakes()
        if self.form == "deadlock":
            self.check_deadlock()

    def check_form(self):
        order, first, second = self.order, self.first, self.second
        demand(first in order and second in order, "the end", "the two actions are not in it")
        demand(first < second and order.index(second) < order.index(first), "the end", "the two actions are not reversed")
        if self.form != "reversed":
            demand(order[-1] == first, "the end", "the first action is not the last event")
        if self.form == "co_enabled":
            demand(order[-2] == second, "the end", "the second action is not the last event but one")

    def check_deadlock(self):
        trace, requests = self.trace, self.actions
        here = set(range(self.prefix)) | set(self.order)
        lanes = [self.lane(request) for request in requests]
        fits = not self.tasks and len(requests) > 1 and len(set(lanes)) == len(lanes)
        demand(fits, "the end", "no cycle of requests of different threads")
        awaited = [self.signal_wait(request) for request in requests]
        needs = self.needs(requests) if any(awaited) else set()
        for number, request in enumerate(requests):
            place, e = f"request {number + 1}", trace.events[request]
            follower = (number + 1) % len(requests)
            demand(request not in here, place, "happens in the run")
            for other in trace.events[:request]:
                if self.lane(other.id) == lanes[number]:
                    self.after(place, here, other.id, "program order")
                if other.kind == "fork" and other.operand == trace.handler_of(request):
                    self.after(place, here, other.id, "fork")
            if awaited[number] and self.misses(awaited[number], needs, requests[follower], lanes[follower]):
                if e.kind not in ("join", "barrier"):
                    self.after(place, here, self.alloc.get(request), "alloc")
            elif e.kind == "acquire":
                self.after(place, here, self.alloc.get(request), "alloc")
                demand(not e.attempt, place, "an attempt does not wait")
                begun = self.begins.get(request)
                demand(begun is not None, place, "its thread has the lock")
                held = [s for s in self.every if s["lock"] == e.operand and s["holder"] == lanes[follower]
                        and s["from"] in here and (s["to"] is None or s["to"] not in here)
                        and (s["exclusive"] or begun["exclusive"])]
                demand(held, place, "the thread of the next request does not have the lock")
            elif e.kind == "request":
                self.after(place, here, self.alloc.get(request), "alloc")
                demand(not e.attempt, place, "an attempt does not wait")
                later = [x for x in trace.events[request + 1:] if self.lane(x.id) == lanes[number] and x.kind != "exit"]
                demand(not later, place, "its thread goes on")
                opened = [s for s in self.every if s["lock"] == e.operand and s["from"] in here and (s["to"] is None or s["to"] not in here)]
                demand(all(s["holder"] != lanes[number] for s in opened), place, "its thread has the lock")
                held = [s for s in opened if s["holder"] == lanes[follower] and (s["exclusive"] or not e.shared)]
                demand(held, place, "the thread of the next request does not have the lock")
            elif e.kind == "barrier":
                late = [a for a in self.arrivals.get(request, []) if a not in here]
                demand(any(self.lane(a) == lanes[follower] for a in late), place, "the thread of the next request has arrived")
            else:
                demand(e.kind == "join", place, "neither an acquire, nor a request, nor a join, nor a barrier, nor a wait for a signal")
                other = requests[follower]
                waits = trace.handler_of(other) == e.operand and other < request
                demand(waits, place, "does not wait for the end of the next request's thread")

    def signal_wait(self, request):
        """The wait and the condition of a thread that stands before this event until a signal comes."""
        trace, task = self.trace, self.trace.events[request].task
        own = [e for e in trace.events if e.task == task]
        at = next(number for number, e in enumerate(own) if e.id == request)
        end, begin = at, at - 1
        while end < len(own) and own[end].kind in ("acquire", "request"):
            end += 1
        while begin >= 0 and own[begin].kind == "release":
            begin -= 1
        if end == len(own) or begin < 0 or own[end].kind != "wake" or own[begin].kind != "wait":
            return None
        signal, wait = self.wakes.get(own[end].id, (None, None))
        condition = own[begin].operand
        same = wait == own[begin].id and own[end].operand == condition and trace.events[signal].operand == condition
        gives = same and trace.events[signal].kind in ("signal", "broadcast")
        return (wait, condition) if gives else None

    def needs(self, requests):
        """What comes after a request by lanes, forks, joins and barriers."""
        trace, found = self.trace, set()
        for e in trace.events:
            handler = trace.handler_of(e.id)
            for other in trace.events[:e.id]:
                if other.id not in found:
                    continue
                forks = other.kind == "fork" and other.operand == handler
                joins = e.kind == "join" and (trace.handler_of(other.id) == e.operand or (other.kind == "fork" and other.operand == e.operand))
                if self.lane(other.id) == self.lane(e.id) or forks or joins:
                    found.add(e.id)
                    break
            if e.id in requests or any(a in found for a in self.arrivals.get(e.id, [])):
                found.add(e.id)
        return found

    def misses(self, awaited, needs, follower, lane):
        """Whether no signal can come any more, and the next lane would give one."""
        wait, condition = awaited
        places = {event: place for place, event in enumerate([*range(self.prefix), *self.order])}
        every = [e.id for e in self.trace.events if e.kind in ("signal", "broadcast") and e.operand == condition]
        if wait not in places:
            return False
        over = all(places[s] < places[wait] if s in places else s in needs for s in every)
        return over and any(s >= follower and self.lane(s) == lane for s in every)

    def check_overtakes(self):
        one, two = self.trace.task_of(self.first), self.trace.task_of(self.second)
        here = set(range(self.prefix)) | set(self.order)
        places = {event: place for place, event in enumerate([*range(self.prefix), *self.order])}
        rest = [event for event in two.events if event not in places]
        places.update((event, len(here) + event) for event in rest)
        demand(self.tasks and self.first < self.second, "the end", "the two tasks are not reversed")
        one_get = one.gets[0] if one.gets else None
        two_get = two.gets[0] if two.gets else None
        demand(one_get is not None and one.post is not None, "the end", "the first action is of no posted task")
        demand(one_get != two_get and one.handler == two.handler and one_get not in here, "the end", "no task overtakes the other")
        demand(Ends(self.trace, True).ended(one_get, places, True) is None, "the end", "the task that waits is over when the other ends")
        demand(one.post in here, "the end", "the task of the first action does not wait")
        demand(self.order and two_get is not None and self.order[-1] == two_get, "the end", "does not end with the get of the second task")

    def run(self, free):
        trace = self.trace
        happened = set(range(self.prefix))
        ends = Ends(trace, self.tasks)
        last, place_of, signals = {}, {}, {}
        opened = [s for s in self.every if s["from"] < self.prefix and (s["to"] is None or s["to"] >= self.prefix)]
        lanes, before = {}, {}
        for e in trace.events:
            before[e.id] = lanes.get(self.lane(e.id))
            lanes[self.lane(e.id)] = e.id
        waits, wait_of = {}, {}
        for e in trace.events:
            if e.kind == "wait":
                waits[(e.task, e.operand)] = e.id
            elif e.kind == "wake" and e.mode == "timeout":
                wait_of[e.id] = waits.get((e.task, e.operand))
        for event in range(self.prefix):
            place_of[event] = event - self.prefix
            e = trace.events[event]
            if e.writes:
                last.update((cell, event) for cell in self.cells(event))
            if e.kind in ("signal", "broadcast"):
                signals.setdefault(e.operand, []).append(event)
        for number, event in enumerate(self.order):
            place, e = f"step {number + 1}", trace.events[event]
            demand(event not in happened, place, "happens twice")
            if not self.tasks:
                self.after(place, happened, before[event], "program order")
            self.causes(place, happened, e)
            if not self.tasks:
                demand(ends.ended(event, place_of) is None, place, "what it needs is over: a cancel or a disable")
            begun = self.begins.get(event)
            if begun is not None:
                for other in opened:
                    if other["lock"] == begun["lock"] and other["holder"] != begun["holder"]:
                        demand(not (other["exclusive"] or begun["exclusive"]), place, "the lock is held")
            if event in self.wakes:
                signal, wait = self.wakes[event]
                self.after(place, happened, signal, "wake")
                if wait is not None:
                    demand(wait in happened and place_of[wait] < place_of[signal], place, "is woken before its wait")
            if event not in free:
                self.observes(place, e, last, opened)
                if wait_of.get(event) is not None:
                    wait = wait_of[event]
                    for signal in signals.get(e.operand, []):
                        there = wait < signal < event
                        if not there and place_of[signal] > place_of.get(wait, -1 << 40):
                            raise Refused(place, f"would be woken by event {trace.name(signal)}")
            happened.add(event)
            place_of[event] = number
            if begun is not None:
                opened.append(begun)
            if event in self.ends and self.ends[event] in opened:
                opened.remove(self.ends[event])
            if e.writes:
                last.update((cell, event) for cell in self.cells(event))
            if e.kind in ("signal", "broadcast"):
                signals.setdefault(e.operand, []).append(event)

    def after(self, place, happened, first, why):
        if first is not None and first not in happened:
            raise Refused(place, f"event {self.trace.name(first)} must come first ({why})")

    def causes(self, place, happened, e):
        trace = self.trace
        handler = trace.handler_of(e.id)
        for other in trace.events[:e.id]:
            fork = other.kind == "fork" and (other.operand == handler or (e.kind == "join" and other.operand == e.operand))
            joined = e.kind == "join" and trace.handler_of(other.id) == e.operand
            barrier = e.kind == other.kind == "barrier" and other.operand == e.operand
            if fork or joined or barrier:
                self.after(place, happened, other.id, "fork, join or barrier")
        if e.kind == "barrier":
            demand(e.operand not in self.irregular, place, "passes a barrier, and nobody knows who had arrived")
            for arrival in self.arrivals[e.id]:
                self.after(place, happened, arrival, "arrival")
        if e.kind == "cancel":
            post = trace.tasks[e.operand].post
            if post is not None and post < e.id:
                self.after(place, happened, post, "cancel")
        if e.kind == "trigger" and not self.tasks:
            self.after(place, happened, Ends(trace, False).enable(e), "enable")
        if e.kind == "get":
            post = trace.task_of(e.id).post
            if post is not None and post < e.id:
                self.after(place, happened, post, "post")
        self.after(place, happened, self.alloc.get(e.id), "alloc")

    def observes(self, place, e, last, opened):
        if e.reads and e.id in self.source:
            now = [last.get(cell) for cell in self.cells(e.id)]
            demand(now == self.source[e.id], place, "reads another write than in the trace")
        if e.kind == "refused" and e.id in self.met:
            demand(self.met[e.id] in opened, place, "the attempt would succeed")
