//! Bombs for the analyses of threads: traces in which one thing grows.

use std::fmt::Write;

/// A trace that grows with its size.
pub(crate) type Family = fn(usize) -> String;

/// All families, with the size at which an algorithm that is not near-linear is slow.
pub(crate) const FAMILIES: &[(&str, Family, usize)] = &[
    ("nested sections", nested_sections, 3_000),
    ("sections nested once more by each thread", staircase, 1_500),
    ("locks", locks, 20_000),
    ("locks passed round", passed_locks, 20_000),
    ("locks never released", held_locks, 30_000),
    ("several locks held by chance", random_locks, 60_000),
    ("threads forked by one", forked, 20_000),
    ("threads forked in a chain", fork_chain, 20_000),
    ("threads forked in a tree", fork_tree, 20_000),
    ("one lock and many threads", one_lock, 10_000),
    ("readers of one variable", readers, 10_000),
    ("races on one variable", races, 60_000),
    ("races of many threads on one variable", crowd, 4_000),
    ("racy variables", variables, 60_000),
    ("racy sites", sites, 20_000),
    ("overlapping ranges", overlapping, 10_000),
    ("generations of one address", generations, 60_000),
    ("waits and signals", signals, 10_000),
    ("broadcasts to many", broadcasts, 600),
    ("uses under a lock that orders nothing", guarded, 20_000),
    ("atomic accesses", atomics, 60_000),
];

/// Writes a trace from lines: a thread and an operation each.
struct Std(String, usize);

impl Std {
    fn new() -> Std {
        Std(String::new(), 0)
    }

    /// Adds an event. Every event has a site of its own, up to 200 sites.
    fn add(&mut self, thread: usize, operation: &str) {
        self.1 = self.1 % 200 + 1;
        let _ = writeln!(self.0, "T{thread}|{operation}|{}", self.1);
    }

    /// Adds an event with a site.
    fn at(&mut self, thread: usize, operation: &str, site: usize) {
        let _ = writeln!(self.0, "T{thread}|{operation}|{site}");
    }
}

/// Three threads that each hold `size` locks, one inside the other.
fn nested_sections(size: usize) -> String {
    let mut out = Std::new();
    for thread in 1..=3 {
        (0..size).for_each(|lock| out.add(thread, &format!("acq(L{lock})")));
        out.add(thread, "w(x)");
        (0..size).rev().for_each(|lock| out.add(thread, &format!("rel(L{lock})")));
    }
    out.0
}

/// Two threads in turn, each a bit deeper in the same locks, with an access at every depth.
fn staircase(size: usize) -> String {
    let mut out = Std::new();
    for turn in 0..6 {
        let thread = turn % 2 + 1;
        for lock in 0..size {
            out.add(thread, &format!("acq(L{lock})"));
            out.add(thread, &format!("w(x{})", lock % 7));
        }
        (0..size).rev().for_each(|lock| out.add(thread, &format!("rel(L{lock})")));
    }
    out.0
}

/// Two threads that each use every lock once.
fn locks(size: usize) -> String {
    let mut out = Std::new();
    for thread in 1..=2 {
        for lock in 0..size {
            out.add(thread, &format!("acq(L{lock})"));
            out.add(thread, &format!("w(x{lock})"));
            out.add(thread, &format!("rel(L{lock})"));
        }
    }
    out.0
}

/// Eight threads that pass every lock round.
fn passed_locks(size: usize) -> String {
    let mut out = Std::new();
    for lock in 0..size {
        for turn in 0..3 {
            let thread = (lock + turn) % 8;
            out.add(thread, &format!("acq(L{lock})"));
            out.add(thread, &format!("w(x{})", lock % 50));
            out.add(thread, &format!("rel(L{lock})"));
        }
    }
    out.0
}

/// Two threads that take more and more locks, and access variables while they hold them.
fn held_locks(size: usize) -> String {
    let mut out = Std::new();
    for lock in 0..size {
        for thread in 1..=2 {
            out.add(thread, &format!("acq(L{thread}_{lock})"));
            out.add(thread, &format!("w(x{})", lock % 11));
        }
    }
    out.0
}

/// Eight threads that hold some of 40 locks, any four at a time.
fn random_locks(size: usize) -> String {
    let mut out = Std::new();
    let mut random = 12345_usize;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (random >> 33) % below
    };
    for turn in 0..size / 10 {
        let thread = turn % 8;
        let first = next(40);
        let taken: Vec<usize> = (0..4).map(|i| (first + i * 7) % 40).collect();
        taken.iter().for_each(|lock| out.add(thread, &format!("acq(L{lock})")));
        (0..4).for_each(|_| out.add(thread, &format!("w(x{})", next(1_000))));
        taken.iter().rev().for_each(|lock| out.add(thread, &format!("rel(L{lock})")));
    }
    out.0
}

/// One thread forks and joins all others, which share a variable.
fn forked(size: usize) -> String {
    let mut out = Std::new();
    (1..=size).for_each(|thread| out.add(0, &format!("fork(T{thread})")));
    (1..=size).for_each(|thread| out.add(thread, &format!("w(x{})", thread % 100)));
    (1..=size).for_each(|thread| out.add(0, &format!("join(T{thread})")));
    out.0
}

/// Every thread forks the next one.
fn fork_chain(size: usize) -> String {
    let mut out = Std::new();
    for thread in 0..size {
        out.add(thread, &format!("fork(T{})", thread + 1));
        out.add(thread, &format!("w(x{})", thread % 100));
    }
    out.0
}

/// Every thread forks two others.
fn fork_tree(size: usize) -> String {
    let mut out = Std::new();
    for thread in 0..size / 2 {
        out.add(thread, &format!("fork(T{})", 2 * thread + 1));
        out.add(thread, &format!("fork(T{})", 2 * thread + 2));
    }
    (0..size).for_each(|thread| out.add(thread, &format!("w(x{})", thread % 100)));
    out.0
}

/// All threads take the same lock, five times each.
fn one_lock(size: usize) -> String {
    let mut out = Std::new();
    for turn in 0..size * 5 {
        let thread = turn % size;
        out.add(thread, "acq(L)");
        out.add(thread, "w(x)");
        out.add(thread, "rel(L)");
    }
    out.0
}

/// All threads read a variable, then one writes it, and again.
fn readers(size: usize) -> String {
    let mut out = Std::new();
    for turn in 0..5 {
        (1..=size).for_each(|thread| out.add(thread, "r(x)"));
        out.add(turn + 1, "w(x)");
    }
    out.0
}

/// Two threads write one variable.
fn races(size: usize) -> String {
    let mut out = Std::new();
    (0..size).for_each(|turn| out.add(turn % 2, "w(x)"));
    out.0
}

/// Many threads write one variable, a few times each.
fn crowd(size: usize) -> String {
    let mut out = Std::new();
    (0..size * 4).for_each(|turn| out.add(turn % size, "w(x)"));
    out.0
}

/// Two threads write many variables.
fn variables(size: usize) -> String {
    let mut out = Std::new();
    (0..size).for_each(|turn| out.add(turn % 2, &format!("w(x{})", turn / 2)));
    out.0
}

/// Two threads write many variables, every access at a site of its own.
fn sites(size: usize) -> String {
    let mut out = Std::new();
    for turn in 0..size {
        out.at(1, &format!("w(x{})", turn % 100), turn);
        out.at(2, &format!("r(x{})", turn % 100), size + turn);
    }
    out.0
}

/// Two threads write ranges that all overlap.
fn overlapping(size: usize) -> String {
    let mut out = Std::new();
    for turn in 0..size {
        out.add(turn % 2, &format!("w(0x{:x}+{})", 0x1000 + turn * 8, 8 * size));
    }
    out.0
}

/// One address is allocated, used and freed by two threads in turn.
fn generations(size: usize) -> String {
    let mut out = Std::new();
    for turn in 0..size / 4 {
        out.add(turn % 2, "alloc(0x1000+64)");
        out.add(turn % 2, "w(0x1008+8)");
        out.add((turn + 1) % 2, "r(0x1008+8)");
        out.add(turn % 2, "free(0x1000)");
    }
    out.0
}

/// Two threads signal one another.
fn signals(size: usize) -> String {
    let mut out = Std::new();
    for turn in 0..size {
        let condition = turn % 10;
        for operation in ["acq(L)", &format!("wait(C{condition})"), "rel(L)"] {
            out.add(1, operation);
        }
        for operation in ["acq(L)", "w(x)", &format!("signal(C{condition})"), "rel(L)"] {
            out.add(2, operation);
        }
        for operation in ["acq(L)", &format!("wake(C{condition})"), "r(x)", "rel(L)"] {
            out.add(1, operation);
        }
    }
    out.0
}

/// Many threads wait, one broadcast wakes them all, five times.
fn broadcasts(size: usize) -> String {
    let mut out = Std::new();
    for _ in 0..5 {
        for thread in 1..=size {
            ["acq(L)", "wait(C)", "rel(L)"].iter().for_each(|text| out.add(thread, text));
        }
        ["acq(L)", "w(x)", "broadcast(C)", "rel(L)"].iter().for_each(|text| out.add(0, text));
        for thread in 1..=size {
            ["acq(L)", "wake(C)", "r(x)", "rel(L)"].iter().for_each(|text| out.add(thread, text));
        }
    }
    out.0
}

/// Two threads with sections of one lock that never conflict, then a race.
fn guarded(size: usize) -> String {
    let mut out = Std::new();
    for turn in 0..size {
        let thread = turn % 2;
        out.add(thread, "acq(L)");
        out.add(thread, &format!("w(x{thread})"));
        out.add(thread, "rel(L)");
    }
    out.add(0, "w(y)");
    out.add(1, "w(y)");
    out.0
}

/// Sixteen threads access ten variables atomically.
fn atomics(size: usize) -> String {
    let mut out = Std::new();
    for turn in 0..size {
        let operation = ["aload", "astore", "armw"][turn % 3];
        out.add(turn % 16, &format!("{operation}(a{})", turn * 7 % 10));
    }
    out.0
}
