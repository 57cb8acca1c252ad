"""Proofs of orders: docs/formats/order-proof.md."""

from relations import Ends, Relations
from traces import Beyond, Refused, Unreadable, demand
from words import Reader, header, lines

THREADS = {"po", "post", "cancel", "fork", "join", "lock", "wake", "barrier", "atomic"}
BASE = THREADS | {"loop", "attach", "enable"}
TASK_ORDERS = {"no-pre-emption": 1, "fifo": 1, "delayed-poster": 2, "task-order": 1}
FAMILIES = {"lifecycle", "idle", "service", "broadcast"}
ENDED = {"cancelled", "disabled", "exited"}
RULES = BASE | set(TASK_ORDERS) | {"fifo-backwards"} | FAMILIES | ENDED


def read(trace, text):
    numbered = lines(text)
    header(numbered, "order-proof 1")
    paths, rules, ends, missing, done = [], None, None, 0, False
    for number, words in numbered:
        line = Reader(trace, number, words)
        if missing:
            step = (line.place, line.event(), line.event(), line.word("a rule"))
            if step[3] not in RULES:
                raise Unreadable(f"{line.place}: expected a rule, found {step[3]}")
            premises = []
            while line.words:
                premise = line.number("the number of a lemma")
                own = len(paths) - 1
                if premise > own or (done and premise == own):
                    raise Unreadable(f"{line.place}: expected a lemma above")
                premises.append(premise)
            paths[-1].append((*step, premises))
            missing -= 1
            continue
        if done:
            raise Unreadable(f"{line.place}: expected the end")
        word = line.word("a part of the proof")
        if rules is None:
            rules = line.word("rules") if word == "rules" else None
            if rules not in ("android", "mailbox", "threads"):
                raise Unreadable(f"{line.place}: expected `rules RULES`")
        elif ends is None:
            if word != "order":
                raise Unreadable(f"{line.place}: expected `order EVENT EVENT`")
            ends = (line.event(), line.event())
        elif word in ("lemma", "path"):
            missing, done = line.number("a number of steps"), word == "path"
            paths.append([])
        else:
            raise Unreadable(f"{line.place}: expected `lemma N` or `path N`")
        line.end()
    if missing or not done:
        raise Unreadable("the end: expected more of the proof")
    return rules, ends, paths


def check(trace, text):
    rules, ends, paths = read(trace, text)
    demand(trace.observed, "the input", "a partial trace")
    checker = Checker(trace, rules)
    for number, path in enumerate(paths[:-1]):
        checker.shown.append(checker.path(f"lemma {number}", path))
    path, x = paths[-1], ends[0]
    if path and path[0][3] in ENDED:
        checker.ended(*path[0])
        demand(path[0][1] == x, "path", "leads between other events than `order` says")
        x, path = path[0][2], path[1:]
    if x != ends[0] and not path:
        demand(x == ends[1], "path", "leads between other events than `order` says")
    else:
        last = checker.path("path", path)
        demand((last["from"], last["to"]) == (x, ends[1]), "path", "leads between other events than `order` says")
        demand(checker.happens_before(last), "path", "section 3: between tasks of one handler only whole-task orders count")
    return f"event {trace.name(ends[0])} happens before event {trace.name(ends[1])} by the rules {rules}"


class Checker:
    def __init__(self, trace, rules):
        self.trace, self.rules, self.relations = trace, rules, Relations(trace)
        self.shown = []

    def path(self, name, steps):
        demand(steps, name, "no steps")
        at, whole, whole_before = steps[0][1], True, True
        for place, x, y, rule, premises in steps:
            demand(x == at, place, "does not begin where the step before it ends")
            demand(x < y, place, "does not go forward")
            demand(rule not in ENDED, place, "only the first step of the path")
            self.in_rules(place, rule)
            demand(all(p < len(self.shown) for p in premises), place, "a lemma is its own premise")
            self.step(place, x, y, rule, [self.shown[p] for p in premises])
            whole_before = whole
            if rule == "po":
                whole = whole and self.relations.posted(x) is not None
            else:
                whole = whole and rule in TASK_ORDERS
            at = y
        _, last_from, to, rule, _ = steps[-1]
        base = rule in ("post", "loop", "enable", "fork") and self.relations.is_get(to)
        if rule == "cancel" and self.relations.posted(to) is not None:
            base = last_from < self.trace.task_of(to).get
        return {"from": steps[0][1], "to": at, "whole": whole, "whole_before": whole_before,
                "base": last_from if base else None, "longer": len(steps) > 1}

    def ended(self, place, x, y, rule, premises):
        """The rule *ended* of section 3, as the first step of the path."""
        trace, relations = self.trace, self.relations
        demand(self.rules != "threads", place, "no rule of `threads`")
        demand(x < y, place, "does not go forward")
        demand(all(p < len(self.shown) for p in premises), place, "a lemma is its own premise")
        shown = [self.shown[p] for p in premises]
        handler, point = trace.handler_of(x), relations.loop_point.get(trace.handler_of(x))
        demand(trace.task_of(x).kind != "burst", place, "other bursts may interrupt it")
        demand(handler is not None and trace.handler_of(y) == handler, place, "two handlers")
        demand(self.begins_unit(y, point), place, "the target begins no task or piece")
        demand(relations.unit[x] != relations.unit[y], place, "both in one unit")

        def at_start(event):
            task = trace.task_of(event)
            return task.kind == "initial" and task.handler == handler and point is not None and event <= point

        def over(opened, end):
            inside = trace.task_of(end).kind != "burst" and trace.handler_of(end) == handler
            inside = inside and relations.unit[end] == relations.unit[y] and y <= end
            wanted = [] if inside else [(end, y)]
            if rule == "disabled":
                if opened is None or opened >= end:
                    return False
                wanted.append((opened, end))
            def meant(path, pair):
                # Any event of the unit may be what comes behind the end.
                last = relations.unit[path["to"]] == relations.unit[y] and y <= path["to"]
                return path["from"] == pair[0] and (path["to"] == pair[1] or (pair[1] == y and last))

            fits = len(shown) == len(wanted) and all(meant(*both) for both in zip(shown, wanted))
            return fits and all(self.happens_before(path) for path in shown)

        for event, beginnings in Ends(trace, True, self.rules == "android").of.items():
            together = relations.unit[event] == relations.unit[x] or (at_start(event) and at_start(x))
            if event <= x and together:
                for opened, of, ends in beginnings:
                    if of == rule and any(end > event and over(opened, end) for end in ends):
                        return
        raise Refused(place, "nothing ends it there")

    def begins_unit(self, event, point):
        task, relations = self.trace.task_of(event), self.relations
        if task.kind == "posted":
            return task.get == event
        if task.kind != "initial" or relations.before[event] != point:
            return False
        return event > point if point is not None else relations.unit[event][2] > 0

    def in_rules(self, place, rule):
        if self.rules == "threads":
            demand(rule in THREADS, place, "no rule of `threads`")
        if self.rules == "mailbox":
            demand(rule not in FAMILIES, place, "no rule of `mailbox`")
        if rule in FAMILIES:
            raise Beyond(f"{place}: rules of Android's components")

    def happens_before(self, shown, x=None, y=None, whole=None):
        """Section 3, for two events connected by a path."""
        x, y = (shown["from"], shown["to"]) if x is None else (x, y)
        if self.rules == "threads" or (shown["whole"] if whole is None else whole):
            return True
        one, two = self.relations.posted(x), self.relations.posted(y)
        return one is None or two is None or one is two or one.handler != two.handler

    def step(self, place, x, y, rule, premises):
        wanted = TASK_ORDERS.get(rule, 1 if rule == "fifo-backwards" else 0)
        demand(len(premises) == wanted, place, f"expected {wanted} premises")
        if rule in BASE:
            reason = self.base(rule, x, y)
            demand(reason is None, place, f"`{rule}`: {reason}")
        elif rule == "fifo-backwards":
            self.fifo_backwards(place, x, y, premises[0])
        else:
            self.task_order(place, x, y, rule, premises)

    def tasks(self, place, x, y):
        """The tasks of one handler whose end and get these are."""
        one, two = self.trace.task_of(x), self.trace.task_of(y)
        demand(one.end == x, place, "the source is not the end of a posted task")
        demand(two.get == y, place, "the target is not the get of a posted task")
        demand(one is not two and one.handler is not None and one.handler == two.handler, place,
               "not two tasks of one handler")
        return one, two

    def ordered(self, place, premise):
        """The tasks that a premise orders."""
        demand(premise["whole"], place, "the premise is no order of whole tasks")
        return self.tasks(place, premise["from"], premise["to"])

    def posts_in_order(self, place, one, two, premise):
        demand((one.post, two.post) == (premise["from"], premise["to"]), place, "the premise is not about the posts")
        demand(self.happens_before(premise), place, "the posts are not ordered")

    def not_bag(self, place, task):
        demand(self.trace.handlers[task.handler].mailbox != "bag", place, "the mailbox is a bag")

    def task_order(self, place, x, y, rule, premises):
        one, two = self.tasks(place, x, y)
        if rule == "task-order":
            demand(self.ordered(place, premises[0]) == (one, two), place, "the premise is about other tasks")
        elif rule == "no-pre-emption":
            path = premises[0]
            reaches = path["to"] == y or (self.trace.task_of(path["to"]) is two and path["to"] > y)
            demand(self.trace.task_of(path["from"]) is one and reaches, place, "the premise is about other events")
            demand(path["base"] is not None, place, "the premise does not end with a base edge into the get")
            if path["longer"]:
                demand(self.happens_before(path, path["from"], path["base"], path["whole_before"]), place,
                       "the premise without its last step is no happens-before")
        elif rule == "fifo":
            self.not_bag(place, two)
            demand(not two.front, place, "the second was posted to the front")
            demand(one.delay == 0 or (two.delay != 0 and one.delay <= two.delay), place, "the first has the greater delay")
            self.posts_in_order(place, one, two, premises[0])
        else:
            self.not_bag(place, two)
            demand(one.delay != 0, place, "the first has no delay")
            self.posts_in_order(place, one, two, premises[0])
            first, poster = self.ordered(place, premises[1])
            demand(first is one and two.post is not None and self.trace.task_of(two.post) is poster, place,
                   "the order is about other tasks")

    def fifo_backwards(self, place, x, y, premise):
        one, two = self.ordered(place, premise)
        self.not_bag(place, two)
        demand(not one.front and not two.front, place, "one was posted to the front")
        demand(two.delay == 0, place, "the second has a delay")
        demand((one.post, two.post) == (x, y), place, "not the posts of the tasks")
        a, b = self.relations.posted(x), self.relations.posted(y)
        same = a is not None and b is not None and a is not b and a.handler == b.handler
        demand(not same, place, "posts of two tasks of one handler")

    def base(self, rule, x, y):
        """Section 1. Returns what is wrong, or None."""
        trace, relations = self.trace, self.relations
        a, b = trace.events[x], trace.events[y]
        from_task, to_task = trace.task_of(x), trace.task_of(y)
        if rule == "po":
            return self.program_order(x, y, from_task, to_task)
        if rule == "post":
            return None if relations.is_get(y) and to_task.post == x else "not the post of the task that begins"
        if rule == "cancel":
            fits = b.kind == "cancel" and trace.tasks[b.operand].post == x
            return None if fits else "not the post of a task and a cancel of it"
        if rule == "loop":
            fits = relations.is_get(y) and relations.loop_point.get(to_task.handler) == x
            return None if fits else "not the loop point and a get of its handler"
        if rule == "attach":
            if a.kind != "attach" or b.kind != "post" or relations.attach.get(a.operand) != x:
                return "not the first attach of a handler, and a post"
            if trace.tasks[b.operand].handler != a.operand:
                return "posts to another handler"
            return "posted by the handler itself" if to_task.handler == a.operand else None
        if rule == "fork":
            fits = relations.first_after_fork.get(x) == y
            return None if fits else "not a fork and the first event of its handler after it"
        if rule == "join":
            if b.kind != "join":
                return "the target is no join"
            fork = a.kind == "fork" and a.operand == b.operand
            return None if fork or from_task.handler == b.operand else "not of the joined handler"
        if rule == "lock":
            if a.kind != "release" or b.kind != "acquire" or a.operand != b.operand:
                return "not a release and an acquire of one lock"
            if from_task.handler == to_task.handler:
                return "tasks of one handler"
            return "both are shared" if a.shared and b.shared else None
        if rule == "wake":
            fits = relations.wake_of.get(y, (None,))[0] == x
            return None if fits else "not the signal that the wake is matched with"
        if rule == "barrier":
            fits = a.kind == b.kind == "barrier" and a.operand == b.operand and a.task != b.task
            return None if fits else "not two events of one barrier by two tasks"
        if rule == "atomic":
            first = relations.sequence.get(y)
            fits = a.writes and a.releases and a.operand == b.operand
            if not fits or first is None or not first <= x < y:
                return "not a releasing atomic in the sequence that an acquiring read sees"
            return None
        return self.enables(x, y, a, b, from_task)

    def program_order(self, x, y, one, two):
        relations = self.relations
        if self.rules == "threads":
            if "burst" in (one.kind, two.kind):
                return None if one is two else "different bursts"
            same = one is two or (one.handler is not None and one.handler == two.handler)
            return None if same else "different handlers"
        if not (one.kind == two.kind == "initial"):
            return None if one is two else "different tasks"
        if one.handler is None or one.handler != two.handler:
            return "thread code of different handlers"
        point = relations.loop_point.get(one.handler)
        if (point is not None and x <= point) or relations.unit[x] == relations.unit[y]:
            return None
        return "pieces of thread code with a task between them"

    def enables(self, x, y, a, b, from_task):
        android = self.rules == "android"
        if a.kind != "enable":
            return "the source is no enable"
        if b.kind == "trigger" and self.relations.enabled_by(y, android) == x:
            return None
        posted = self.trace.tasks[b.operand] if b.kind == "post" else self.trace.task_of(y)
        if posted.get is None or y not in (posted.get, posted.post) or posted is from_task:
            return "no trigger that it enables, nor the get or post of the task of one"
        triggers = self.relations.triggers.get(posted.number, [])
        fits = any(self.relations.enabled_by(t, android) == x for t in triggers)
        return None if fits else "enables no trigger of the task"
