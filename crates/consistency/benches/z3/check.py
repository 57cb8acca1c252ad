#!/usr/bin/env python3
"""Decides a trace of the `edtrace` format with Z3, and prints one line of JSON.

    check.py --encoding paper|split|int|dimacs [--limit SECONDS] FILE

Encodings:

paper    Algorithm 2 of "Checking Consistency of Event-driven Traces": an enumeration sort with one value an event, one
         partial order of Z3's special relations that contains all given relations, and for each pair of messages of one handler
         that one runs wholly before the other and was posted before it.
split    The same, with the two orders of a pair as two disjunctions that implications tie together.
int      One integer an event; each order is a comparison (difference logic).
dimacs   FILE is a formula in DIMACS, and no trace: what Z3 says of the formula that a trace is the image of.

Of po and co only consecutive pairs are stated, of fr only the next write: the rest follows from transitivity, and Z3 has
less to read. `check_s` is the processor time of `check()` alone (below 0.1 s its wall-clock time, as that clock then tells too
little), `wall_s` its wall-clock time, `build_s` what stating the constraints took before. The limit counts processor
time of `check()`: a process that exceeds it is ended by SIGXCPU after its first line, `{"built": ...}`.
"""

import argparse
import json
import resource
import sys
import time

import z3


class Trace:
    """Messages with events, and the edges between them."""

    def __init__(self, path):
        self.count = 0
        self.edges = []
        # For each message: [handler, first, last]; and for each posted message, its post.
        self.messages = {}
        self.post = {}
        self._read(path)

    def _read(self, path):
        index, reads, writes, order = {}, [], {}, {}
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                words = line.split("#", 1)[0].split()
                if number == 0 or not words:
                    continue
                if words[0] == "co":
                    order[words[1]] = words[2:]
                    continue
                name, handler, message, op = words[:4]
                event = self.count
                self.count += 1
                index[name] = event
                self._place(event, handler, message)
                if op == "r":
                    reads.append((event, words[4], words[5]))
                elif op == "w":
                    writes.setdefault(words[4], []).append(name)
                elif op == "post":
                    self.post[words[4]] = event
        self._relate(index, reads, writes, order)

    def _place(self, event, handler, message):
        key = (handler, None) if message == "-" else (None, message)
        known = self.messages.get(key)
        if known is None:
            self.messages[key] = [handler, event, event]
        else:
            self.edges.append((known[2], event))
            known[2] = event

    def _relate(self, index, reads, writes, order):
        """Adds initial messages before others, pb, co, rf and fr."""
        for (_, message), (handler, first, _) in self.messages.items():
            if message is not None:
                self.edges.append((self.post[message], first))
                start = self.messages.get((handler, None))
                if start is not None:
                    self.edges.append((start[2], first))
        following = {}
        for variable, names in writes.items():
            names = [index[name] for name in order.get(variable, names)]
            assert len(names) == 1 or variable in order, f"no co line for {variable}"
            following[variable, "init"] = names[0]
            for first, second in zip(names, names[1:]):
                self.edges.append((first, second))
                following[variable, first] = second
        for read, variable, source in reads:
            if source == "init":
                after = following.get((variable, "init"))
            else:
                self.edges.append((index[source], read))
                after = following.get((variable, index[source]))
            if after is not None:
                self.edges.append((read, after))

    def pairs(self):
        """Yields, for each two posted messages of one handler, (post, first, last) of both."""
        handlers = {}
        for (_, message), (handler, first, last) in self.messages.items():
            if message is not None:
                handlers.setdefault(handler, []).append((self.post[message], first, last))
        for messages in handlers.values():
            for at, one in enumerate(messages):
                for other in messages[at + 1 :]:
                    yield one, other


def state(trace, encoding):
    """Returns a solver with all constraints."""
    if encoding == "int":
        solver = z3.SolverFor("QF_IDL")
        events = [z3.Int(f"e{event}") for event in range(trace.count)]

        def before(first, second):
            return events[first] < events[second]

    else:
        solver = z3.Solver()
        sort, events = z3.EnumSort("Event", [f"e{event}" for event in range(trace.count)])
        relation = z3.PartialOrder(sort, 0)

        def before(first, second):
            return relation(events[first], events[second])

    solver.add(*[before(first, second) for first, second in trace.edges])
    for (post, first, last), (other_post, other_first, other_last) in trace.pairs():
        runs, runs_later = before(last, other_first), before(other_last, first)
        posted, posted_later = before(post, other_post), before(other_post, post)
        if encoding == "split":
            solver.add(z3.Or(runs, runs_later), z3.Or(posted, posted_later))
            solver.add(z3.Implies(posted, runs), z3.Implies(posted_later, runs_later))
        else:
            solver.add(z3.Or(z3.And(runs, posted), z3.And(runs_later, posted_later)))
    return solver


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--encoding", choices=["paper", "split", "int", "dimacs"], default="paper")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("file")
    arguments = parser.parse_args()
    sys.setrecursionlimit(100_000)
    begin = time.process_time()
    contradiction = False
    if arguments.encoding == "dimacs":
        solver = z3.Solver()
        solver.from_file(arguments.file)
    else:
        trace = Trace(arguments.file)
        contradiction = any(first == second for first, second in trace.edges)
        solver = state(trace, arguments.encoding)
    build = time.process_time() - begin
    print(json.dumps({"built": round(build, 3)}), flush=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    spent = int(time.process_time()) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (spent + arguments.limit, hard))
    wall, begin = time.monotonic(), time.process_time()
    result = solver.check()
    check, wall = time.process_time() - begin, time.monotonic() - wall
    if wall < 0.1:
        check = wall
    answer = {"sat": "consistent", "unsat": "inconsistent"}.get(str(result), "unknown")
    # A partial order is reflexive: an event before itself is no contradiction to Z3.
    if contradiction:
        answer = "inconsistent"
    print(json.dumps({
        "answer": answer,
        "check_s": round(check, 4),
        "wall_s": round(wall, 4),
        "build_s": round(build, 3),
        "encoding": arguments.encoding,
        "z3": z3.get_version_string(),
    }), flush=True)


if __name__ == "__main__":
    main()
