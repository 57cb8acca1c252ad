//! What files of other tools are, and what to do with them.

use super::Foreign;

const IN_STD: &str = "record reads, writes, locks, forks and joins, one a line, such as \
    `T1|acq(m)|main.c:10` (docs/formats/std.md)";

pub(super) const GO_EXECUTION: Foreign = Foreign {
    what: "this is an execution trace of Go: it tells when goroutines ran, and neither what they \
        accessed nor which locks they took",
    advice: IN_STD,
};

pub(super) const PERF: Foreign = Foreign {
    what: "this is a profile of Linux `perf`, which samples where time went, not the events of a run",
    advice: IN_STD,
};

pub(super) const FUCHSIA: Foreign = Foreign {
    what: "this is a trace of Fuchsia: durations and counters, without accesses and locks",
    advice: IN_STD,
};

pub(super) const PERFETTO: Foreign = Foreign {
    what: "this is a trace of Perfetto: it tells what ran when, and neither what was accessed nor \
        which locks were taken",
    advice: IN_STD,
};

pub(super) const OPEN_TELEMETRY: Foreign = Foreign {
    what: "these are spans of OpenTelemetry: what called what and how long it took, not the accesses \
        in between",
    advice: "record posts, begins and ends of tasks and their accesses in the native text format \
        (docs/formats/native-text.md)",
};

pub(super) const JAEGER: Foreign = Foreign {
    what: "these are spans of Jaeger: what called what and how long it took, not the accesses in \
        between",
    advice: OPEN_TELEMETRY.advice,
};

pub(super) const FTRACE: Foreign = Foreign {
    what: "this is a trace of Linux `ftrace`: events of the kernel, in which the locks and the memory \
        of a program do not occur",
    advice: IN_STD,
};

pub(super) const STRACE: Foreign = Foreign {
    what: "this is a log of `strace`: system calls, of which a lock makes none while it is free, and \
        an access never",
    advice: IN_STD,
};

pub(super) const JAVA_DEADLOCK: Foreign = Foreign {
    what: "this is a thread dump of Java with a deadlock that has happened: it names the threads, the \
        locks that they hold and those that they wait for, and needs no further search",
    advice: "to find others before they happen, record the locks of a run that ends, such as \
        `T1|acq(m)|Main.java:10` (docs/formats/std.md)",
};

pub(super) const JAVA_DUMP: Foreign = Foreign {
    what: "this is a thread dump of Java: where each thread was at one moment, and no order of events",
    advice: IN_STD,
};

pub(super) const LOCKDEP: Foreign = Foreign {
    what: "this is a report of the Linux kernel's lockdep: the cycle of locks is in it already, with \
        the places where they were taken",
    advice: "mend the order of these locks; nothing more can be learned from the report",
};

pub(super) const LINCHECK: Foreign = Foreign {
    what: "this is a report of Lincheck: the interleaving in it is a finding already, and its table is \
        for people",
    advice: "replay it in Lincheck; to look for races, record a run in the native text format \
        (docs/formats/native-text.md)",
};

pub(super) const SHIVIZ: Foreign = Foreign {
    what: "this is a log for ShiViz: events with vector clocks, which order hosts by their messages \
        and name no accesses",
    advice: "record the accesses of each host as well, in the native text format \
        (docs/formats/native-text.md)",
};

pub(super) const TLC: Foreign = Foreign {
    what: "this is a counterexample of TLC: a list of states, not of events",
    advice: "the steps are already in the order that fails; to search a design with anyorder, write it \
        as a model (docs/language.md)",
};

pub(super) const ITF: Foreign = Foreign {
    what: "this is a trace of states in the Informal Trace Format of Apalache and Quint: states, not \
        events",
    advice: TLC.advice,
};

pub(super) const FOCS: Foreign = Foreign {
    what: "this is a trace of focs-lab's race detectors: operation, thread, target, value",
    advice: "rewrite each line `Acq 1 l_0 0` as `1|acq(l_0)|`: `awk '{op[\"Acq\"]=\"acq\";op[\"Rel\"]=\"rel\"; \
        op[\"Read\"]=\"r\";op[\"Write\"]=\"w\";op[\"Fork\"]=\"fork\";op[\"Join\"]=\"join\"; \
        if($1 in op)print $2\"|\"op[$1]\"(\"$3\")|\"}'` (docs/formats/std.md)",
};

pub(super) const ADVOCATE: Foreign = Foreign {
    what: "this is a trace of ADVOCATE for Go: operations of channels, mutexes and wait groups, without \
        plain accesses; its fields differ by version",
    advice: "ADVOCATE analyses it; for anyorder, record reads, writes and locks, one a line, such as \
        `T1|acq(m)|main.go:10` (docs/formats/std.md)",
};
