//! Bombs for the analyses of tasks: traces of event loops in which one thing grows.

use crate::families_threads::Family;
use std::fmt::Write;

/// All families, with the size at which an algorithm that is not near-linear is slow.
pub(crate) const FAMILIES: &[(&str, Family, usize)] = &[
    ("tasks of a bag", |size| tasks(size, "bag", false), 20_000),
    ("tasks of a bag that write", |size| tasks(size, "bag", true), 20_000),
    ("tasks of a fifo", |size| tasks(size, "fifo", true), 60_000),
    ("delayed tasks", delayed, 20_000),
    ("tasks that post the next one", chain, 60_000),
    ("tasks that post two others", tree, 30_000),
    ("tasks posted by many threads", posters, 10_000),
    ("handlers with a task each", handlers, 10_000),
    ("bags that post to one another", bags, 10_000),
    ("tasks posted in front", front, 10_000),
    ("sections of tasks", sections, 10_000),
    ("invocations of a queue", invocations, 10_000),
    ("inputs", inputs, 10_000),
    ("stacks", stacks, 3_000),
    ("long names", long_names, 400),
];

struct Native {
    head: String,
    events: String,
    tasks: usize,
}

impl Native {
    /// Begins a trace with a plain thread (handler 0, task 0) and other handlers.
    fn new(handlers: &[&str]) -> Native {
        let mut head = "anyorder-trace 1\nhandler h0 \"user\"\n".to_owned();
        for (at, mailbox) in handlers.iter().enumerate() {
            let at = at + 1;
            let _ = writeln!(head, "handler h{at} \"h{at}\" {mailbox}");
        }
        head.push_str("task t0 \"user\" initial h0\n");
        Native { head, events: String::new(), tasks: 1 }
    }

    /// Defines a posted task.
    fn task(&mut self, handler: usize, more: &str) -> usize {
        let task = self.tasks;
        self.tasks += 1;
        let _ = writeln!(self.head, "task t{task} \"t{}\" posted h{handler}{more}", task % 100);
        task
    }

    fn define(&mut self, line: &str) {
        self.head.push_str(line);
        self.head.push('\n');
    }

    fn add(&mut self, task: usize, event: &str) {
        let _ = writeln!(self.events, "t{task} {event}");
    }

    fn done(self) -> String {
        self.head + &self.events
    }
}

/// One thread posts all tasks to one handler.
fn tasks(size: usize, mailbox: &str, write: bool) -> String {
    let mut out = Native::new(&[mailbox]);
    out.define("location x0 \"x\"");
    let all: Vec<usize> = (0..size).map(|_| out.task(1, "")).collect();
    all.iter().for_each(|task| out.add(0, &format!("post t{task}")));
    for task in all {
        out.add(task, "get h1");
        if write {
            out.add(task, "write x0");
        }
        out.add(task, "end");
    }
    out.done()
}

/// Delays grow and repeat.
fn delayed(size: usize) -> String {
    let mut out = Native::new(&["delayed"]);
    out.define("location x0 \"x\"");
    let all: Vec<usize> =
        (0..size).map(|at| out.task(1, &format!(" delay={}", at * 7 % 1_000))).collect();
    all.iter().for_each(|task| out.add(0, &format!("post t{task}")));
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by_key(|at| at * 7 % 1_000);
    for at in order {
        out.add(all[at], "get h1");
        out.add(all[at], "write x0");
        out.add(all[at], "end");
    }
    out.done()
}

/// Every task posts the next one.
fn chain(size: usize) -> String {
    let mut out = Native::new(&["fifo"]);
    out.define("location x0 \"x\"");
    let first = out.task(1, "");
    out.add(0, &format!("post t{first}"));
    for task in first..first + size {
        let next = out.task(1, "");
        out.add(task, "get h1");
        out.add(task, "write x0");
        out.add(task, &format!("post t{next}"));
        out.add(task, "end");
    }
    out.done()
}

/// Every task posts two others to a bag.
fn tree(size: usize) -> String {
    let mut out = Native::new(&["bag"]);
    out.define("location x0 \"x\"");
    let first = out.task(1, "");
    out.add(0, &format!("post t{first}"));
    for task in first..first + size / 2 {
        out.add(task, "get h1");
        out.add(task, "write x0");
        for _ in 0..2 {
            let next = out.task(1, "");
            out.add(task, &format!("post t{next}"));
        }
        out.add(task, "end");
    }
    out.done()
}

/// Many plain threads post one task each.
fn posters(size: usize) -> String {
    let mut out = Native::new(&["fifo"]);
    out.define("location x0 \"x\"");
    let mut posted = Vec::new();
    for at in 0..size {
        out.define(&format!("handler h{} \"p{at}\"", at + 2));
        let poster = out.tasks;
        out.tasks += 1;
        out.define(&format!("task t{poster} \"p{at}\" initial h{}", at + 2));
        let task = out.task(1, "");
        out.add(poster, &format!("post t{task}"));
        posted.push(task);
    }
    for task in posted {
        out.add(task, "get h1");
        out.add(task, "write x0");
        out.add(task, "end");
    }
    out.done()
}

/// Each handler runs one task.
fn handlers(size: usize) -> String {
    let mailboxes = vec!["fifo"; size];
    let mut out = Native::new(&mailboxes);
    out.define("location x0 \"x\"");
    let all: Vec<usize> = (0..size).map(|at| out.task(at + 1, "")).collect();
    all.iter().for_each(|task| out.add(0, &format!("post t{task}")));
    for (at, task) in all.into_iter().enumerate() {
        out.add(task, &format!("get h{}", at + 1));
        out.add(task, "write x0");
        out.add(task, "end");
    }
    out.done()
}

/// Tasks of ten bags that post to one another.
fn bags(size: usize) -> String {
    let mut out = Native::new(&["bag"; 10]);
    (0..100).for_each(|at| out.define(&format!("location x{at} \"x{at}\"")));
    let handler = |at: usize| at * 7 % 10 + 1;
    let firsts: Vec<usize> = (0..50).map(|at| out.task(handler(at), "")).collect();
    firsts.iter().for_each(|task| out.add(0, &format!("post t{task}")));
    for at in 0..size {
        let task = at + 1;
        out.add(task, &format!("get h{}", handler(at)));
        out.add(task, &format!("write x{}", at * 13 % 100));
        let next = out.task(handler(at + 50), "");
        out.add(task, &format!("post t{next}"));
        out.add(task, "end");
    }
    out.done()
}

/// Tasks posted in front of all others run in reverse.
fn front(size: usize) -> String {
    let mut out = Native::new(&["delayed"]);
    out.define("location x0 \"x\"");
    let all: Vec<usize> = (0..size).map(|_| out.task(1, " front")).collect();
    all.iter().for_each(|task| out.add(0, &format!("post t{task}")));
    for task in all.into_iter().rev() {
        out.add(task, "get h1");
        out.add(task, "write x0");
        out.add(task, "end");
    }
    out.done()
}

/// Tasks of two bags take locks.
fn sections(size: usize) -> String {
    let mut out = Native::new(&["bag", "bag"]);
    (0..50).for_each(|at| out.define(&format!("lock l{at} \"l{at}\"")));
    (0..50).for_each(|at| out.define(&format!("location x{at} \"x{at}\"")));
    let all: Vec<usize> = (0..size).map(|at| out.task(at % 2 + 1, "")).collect();
    all.iter().for_each(|task| out.add(0, &format!("post t{task}")));
    for (at, task) in all.into_iter().enumerate() {
        out.add(task, &format!("get h{}", at % 2 + 1));
        out.add(task, &format!("acquire l{}", at * 7 % 50));
        out.add(task, &format!("write x{}", at * 3 % 50));
        out.add(task, &format!("release l{}", at * 7 % 50));
        out.add(task, "end");
    }
    out.done()
}

/// Two threads use a queue.
fn invocations(size: usize) -> String {
    let mut out = Native::new(&["none"]);
    out.define("task t1 \"worker\" initial h1");
    for at in 0..size {
        out.define(&format!("invocation v{} \"queue:q{}\" \"enqueue\" {at}", 2 * at, at % 5));
        out.define(&format!(
            "invocation v{} \"queue:q{}\" \"dequeue\" -> {at}",
            2 * at + 1,
            at % 5
        ));
    }
    for at in 0..size {
        out.add(0, &format!("invoke v{}", 2 * at));
        out.add(0, &format!("return v{}", 2 * at));
        out.add(1, &format!("invoke v{}", 2 * at + 1));
        out.add(1, &format!("return v{}", 2 * at + 1));
    }
    out.done()
}

/// Inputs are enabled, and trigger tasks.
fn inputs(size: usize) -> String {
    let mut out = Native::new(&["fifo"]);
    out.define("location x0 \"x\"");
    for at in 0..size {
        out.define(&format!("input i{at} ui \"click{at}\" instance=\"v\""));
        out.add(0, &format!("enable i{at}"));
    }
    for at in 0..size {
        let task = out.task(1, "");
        out.add(0, &format!("trigger i{at}"));
        out.add(0, &format!("post t{task}"));
        out.add(task, "get h1");
        out.add(task, "write x0");
        out.add(task, "end");
    }
    out.done()
}

/// Every access has a deep stack of its own.
fn stacks(size: usize) -> String {
    let mut out = Native::new(&["none"]);
    out.define("task t1 \"worker\" initial h1");
    out.define("location x0 \"x\"");
    for site in 1..=size {
        out.define(&format!("site s{site} function=\"f{site}\" file=\"a.c\" line={site}"));
    }
    for at in 0..size {
        let sites: String = (0..100).map(|i| format!(" s{}", (at + i) % size + 1)).collect();
        out.define(&format!("stack k{at}{sites}"));
        out.add(at % 2, &format!("write x0 @s{} stack=k{at}", at + 1));
    }
    out.done()
}

/// Names of 50,000 characters.
fn long_names(size: usize) -> String {
    let mut out = Native::new(&["none"]);
    out.define("task t1 \"worker\" initial h1");
    for at in 0..size {
        out.define(&format!("location x{at} \"{}{at}\"", "\u{fc}\\u{202e}".repeat(4_000)));
        out.add(0, &format!("write x{at}"));
        out.add(1, &format!("write x{at}"));
    }
    out.done()
}
