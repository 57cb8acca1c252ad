#!/usr/bin/env python3
"""Our commands beside RAPID's engines on traces of many shapes, the same STD file for both.

    tools/rapid/shapes.py [SHAPE...]

RAPID_CLASSPATH is the class path of a build of RAPID (github.com/umangm/rapid), ANYORDER the command
(target/dist/anyorder), EVENTS the length of each trace (1,000,000), RAPID_ENGINES what runs of
HB, SHB, WCP, SyncPreserving (all), LIMIT the seconds for each run (600), HEAP RAPID's heap (8g).
Without the class path our commands run alone. Prints one row a shape and engine: processor seconds
(user and system, start and reading included) and peak memory of both, and how many times as much
RAPID takes. Traces are made in a temporary folder, from fixed seeds, and removed.
"""

import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EVENTS = int(os.environ.get("EVENTS", "1000000"))
LIMIT = float(os.environ.get("LIMIT", "600"))
ENGINES = os.environ.get("RAPID_ENGINES", "HB,SHB,WCP,SyncPreserving").split(",")
COMMAND = os.environ.get("ANYORDER", str(HERE.parent.parent / "target/dist/anyorder"))

# What of ours answers the question that an engine of RAPID answers. Happens-before of a recorded
# order is `check --no-predict`, which has findings, coverage and sources as well.
OURS = {
    "HB": [["predict", "--analysis", "hb", "--no-confirm"], ["check", "--no-predict"]],
    "SHB": [["check", "--no-predict"]],
    "WCP": [["predict", "--analysis", "wdc", "--no-confirm"]],
    "SyncPreserving": [["check"], ["predict"]],
}


def accesses(rng, thread, variable, line):
    return f"T{thread}|{'w' if rng.random() < 0.3 else 'r'}(V{variable})|{line}\n"


def polled_flag(_rng):
    while True:
        yield "T1|w(V0)|1\n"
        yield "T2|r(V0)|2\n"


def thread_local(rng):
    while True:
        thread = rng.randrange(8)
        for _ in range(9):
            yield accesses(rng, thread, 1000 * (thread + 1) + rng.randrange(1000), thread)
        yield f"T{thread}|acq(L0)|50\n"
        yield accesses(rng, thread, 0, 51)
        yield f"T{thread}|rel(L0)|52\n"


def many_variables(rng):
    """Each variable is used by one thread, or under the lock of its part."""
    while True:
        thread, variable = rng.randrange(8), rng.randrange(600_000)
        yield f"T{thread}|acq(L{variable % 16})|{variable % 16}\n"
        for part in range(4):
            yield accesses(rng, thread, (variable // 16 * 16 + variable % 16 + 16 * part), 20 + part)
        yield f"T{thread}|rel(L{variable % 16})|{variable % 16}\n"


def hot_set(rng):
    """Four threads race on sixteen variables."""
    while True:
        thread = rng.randrange(4)
        for _ in range(10):
            variable = rng.randrange(16)
            yield accesses(rng, thread, variable, 10 * thread + variable % 4)
        yield f"T{thread}|acq(L{thread})|60\n"
        yield f"T{thread}|rel(L{thread})|61\n"


def nested(rng):
    """Sections in sections, always in the same order."""
    while True:
        thread, first, depth = rng.randrange(8), rng.randrange(4), 4
        for lock in range(depth):
            yield f"T{thread}|acq(L{4 * first + lock})|{lock}\n"
        for _ in range(8):
            yield accesses(rng, thread, 100 * first + rng.randrange(100), 10 + first)
        for lock in reversed(range(depth)):
            yield f"T{thread}|rel(L{4 * first + lock})|{lock}\n"


def well_locked(rng):
    while True:
        thread, lock = rng.randrange(8), rng.randrange(16)
        yield f"T{thread}|acq(L{lock})|{lock}\n"
        for _ in range(2):
            yield accesses(rng, thread, lock, 20 + lock)
        yield f"T{thread}|rel(L{lock})|{lock}\n"


def by_chance(rng):
    """Two of 64 locks at once, and any of 10,000 variables."""
    while True:
        thread = rng.randrange(8)
        locks = sorted(rng.sample(range(64), 2))
        for lock in locks:
            yield f"T{thread}|acq(L{lock})|1\n"
        for _ in range(6):
            yield accesses(rng, thread, rng.randrange(10_000), 2 + thread)
        for lock in reversed(locks):
            yield f"T{thread}|rel(L{lock})|3\n"


def many_threads(rng):
    """64 threads, 16 locks with their variables, now and then one without."""
    while True:
        thread, lock = rng.randrange(64), rng.randrange(16)
        yield f"T{thread}|acq(L{lock})|{lock}\n"
        for _ in range(6):
            yield accesses(rng, thread, 100 * lock + rng.randrange(100), 20 + lock)
        yield f"T{thread}|rel(L{lock})|{lock}\n"
        if rng.random() < 0.001:
            yield accesses(rng, thread, 100 * lock, 99)


def fork_join(rng):
    """A pool of four workers at a time, forked and joined again and again."""
    worker = 0
    while True:
        now = range(worker + 1, worker + 5)
        worker += 4
        for thread in now:
            yield f"T0|fork(T{thread})|1\n"
        for _ in range(200):
            thread = rng.choice(now)
            yield accesses(rng, thread, 1000 * (thread % 4) + rng.randrange(100), 10 + thread % 4)
            if rng.random() < 0.1:
                yield f"T{thread}|acq(L0)|2\n"
                yield f"T{thread}|w(V9999)|3\n"
                yield f"T{thread}|rel(L0)|4\n"
        for thread in now:
            yield f"T0|join(T{thread})|5\n"
        for part in range(100):
            yield f"T0|r(V{1000 * rng.randrange(4) + part})|6\n"


def hand_over_hand(rng):
    """A list whose nodes have a lock each."""
    nodes = 50
    while True:
        thread = rng.randrange(8)
        yield f"T{thread}|acq(L0)|1\n"
        until = rng.randrange(2, nodes)
        for node in range(1, until):
            yield f"T{thread}|r(V{node - 1})|2\n"
            yield f"T{thread}|acq(L{node})|3\n"
            yield f"T{thread}|rel(L{node - 1})|4\n"
        yield f"T{thread}|w(V{until - 1})|5\n"
        yield f"T{thread}|rel(L{until - 1})|6\n"


def one_lock(rng):
    """Two threads and one lock, for all that they share."""
    while True:
        thread = rng.randrange(2)
        yield f"T{thread}|acq(L0)|1\n"
        yield f"T{thread}|r(V0)|2\n"
        yield f"T{thread}|w(V0)|3\n"
        yield f"T{thread}|rel(L0)|4\n"


def producers(rng):
    """A ring of slots, with a lock for its two ends, and what it hands over without one."""
    full, next_out, next_in = 0, 0, 0
    while True:
        puts = full == 0 or (full < 64 and rng.random() < 0.5)
        thread = rng.randrange(3) + (0 if puts else 3)
        slot = (next_in if puts else next_out) % 64
        if puts:
            for word in range(4):
                yield f"T{thread}|w(V{1000 + 4 * (thread * 64 + slot) + word})|10\n"
        yield f"T{thread}|acq(L0)|1\n"
        yield f"T{thread}|r(V0)|2\n"
        yield f"T{thread}|{'w' if puts else 'r'}(V{100 + slot})|3\n"
        yield f"T{thread}|w(V0)|4\n"
        yield f"T{thread}|rel(L0)|5\n"
        full, next_in, next_out = (full + 1, next_in + 1, next_out) if puts else (full - 1, next_in, next_out + 1)


SHAPES = {shape.__name__.replace("_", " "): shape for shape in (
    polled_flag, thread_local, many_variables, hot_set, nested, well_locked, by_chance, many_threads,
    fork_join, hand_over_hand, one_lock, producers,
)}


def write(shape, path):
    """Writes a trace whose sections are whole; returns its number of events."""
    count, open_locks = 0, 0
    with open(path, "w") as out:
        for line in SHAPES[shape](random.Random(7)):
            out.write(line)
            count += 1
            open_locks += ("|acq" in line) - ("|rel" in line)
            if count >= EVENTS and open_locks == 0:
                return count


def measured(arguments):
    """Runs a command; returns its processor seconds, peak MiB and status (None: over the limit)."""
    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (int(LIMIT), int(LIMIT) + 1))
    process = subprocess.Popen(
        arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limited
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    return seconds, usage.ru_maxrss / 1024, None if process.returncode < 0 else process.returncode


def shown(result):
    seconds, mebibytes, status = result
    return f"{'> ' if status is None else ''}{seconds:.2f} s, {mebibytes:,.0f} MiB"


def main(names):
    unknown = [name for name in names if name not in SHAPES]
    if unknown:
        sys.exit(f"no such shape: {', '.join(unknown)}; there are {', '.join(SHAPES)}")
    if not os.access(COMMAND, os.X_OK):
        sys.exit(f"no command {COMMAND}: build it with `cargo build --profile dist -p anyorder-cli`, or set ANYORDER")
    classpath = os.environ.get("RAPID_CLASSPATH")
    heap = os.environ.get("HEAP", "8g")
    print("| shape | RAPID | cost | our command | cost | times |\n| --- | --- | ---: | --- | ---: | ---: |")
    for shape in names or SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "trace.std")
            write(shape, path)
            done = {}
            for engine in ENGINES:
                java = ["java", f"-Xmx{heap}", "-cp", classpath or "", engine, "-f=std", f"-p={path}"]
                peer = measured(java) if classpath else None
                for command in OURS[engine]:
                    words = " ".join(command)
                    if words not in done:
                        done[words] = measured([COMMAND, command[0], path, *command[1:]])
                    ours = done[words]
                    times = f"{peer[0] / ours[0]:.0f}" if peer else ""
                    if peer and peer[2] is None:
                        times = "> " + times
                    print(f"| {shape} | {engine} | {shown(peer) if peer else ''} | `{words}` | {shown(ours)} | {times} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
