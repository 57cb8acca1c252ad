//! The traces of the comparison.

use anyorder_generate::{
    Family, PAPER_ROWS, Request, RunMailbox, generate, generate_sized, sat3_formula,
};
use anyorder_trace::Trace;

/// A named trace.
pub(crate) struct Row {
    pub(crate) name: String,
    make: Box<dyn Fn() -> Trace>,
}

impl Row {
    pub(crate) fn make(&self) -> Trace {
        (self.make)()
    }
}

/// The rows of the paper's two tables at their sizes, then families that are harder for their
/// length.
pub(crate) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    let programs = [
        Family::Buyers,
        Family::ChangRoberts,
        Family::Consensus,
        Family::Counting,
        Family::MessageLoop,
        Family::SparseMat,
    ];
    for family in programs {
        for size in [2, 4, 8] {
            for (mailbox, seed) in
                [(RunMailbox::Fifo, 1), (RunMailbox::Bag, 1), (RunMailbox::Bag, 2)]
            {
                rows.push(recorded(family, size, mailbox, seed));
            }
        }
    }
    for paper in PAPER_ROWS {
        let counts = paper.counts;
        rows.push(Row {
            name: paper.name.to_lowercase(),
            make: Box::new(move || {
                generate_sized(counts.events, counts.messages, counts.handlers, 1)
                    .expect("sizes that can be met")
            }),
        });
    }
    for (family, sizes) in
        [(Family::Shuffle, [20, 40, 80, 160]), (Family::Flat, [40, 100, 200, 400])]
    {
        for size in sizes {
            for mailbox in RunMailbox::ALL {
                rows.push(recorded(family, size, mailbox, 1));
            }
        }
    }
    for size in [10, 20, 40, 60, 80] {
        for seed in [1, 2] {
            rows.push(sat3(size, seed));
        }
    }
    rows
}

fn recorded(family: Family, size: u64, mailbox: RunMailbox, seed: u64) -> Row {
    let name = format!("{}-{size}-{}-{seed}", family.name(), mailbox.word());
    of_request(name, Request { seed, mailbox, ..Request::new(family, size) })
}

/// A random formula of 3-SAT with 4.26 clauses a variable, as a trace.
pub(crate) fn sat3(variables: u64, seed: u64) -> Row {
    of_request(format!("sat3-{variables}-{seed}"), sat3_request(variables, seed))
}

/// The same formula in DIMACS.
pub(crate) fn sat3_dimacs(variables: u64, seed: u64) -> String {
    let clauses = sat3_formula(&sat3_request(variables, seed)).expect("a request that can be met");
    let mut text = format!("p cnf {variables} {}\n", clauses.len());
    for [one, two, three] in clauses {
        text.push_str(&format!("{one} {two} {three} 0\n"));
    }
    text
}

const fn sat3_request(variables: u64, seed: u64) -> Request {
    Request { seed, ..Request::new(Family::Sat3, variables) }
}

/// Independent groups of messages on one looper, shaped like a run of an Android application.
pub(crate) fn android(events: u64, messages: u64, handlers: u64, seed: u64) -> Row {
    let name = format!("android-{events}-{messages}-{handlers}-{seed}");
    Row {
        name,
        make: Box::new(move || {
            generate_sized(events, messages, handlers, seed).expect("sizes that can be met")
        }),
    }
}

fn of_request(name: String, request: Request) -> Row {
    Row { name, make: Box::new(move || generate(&request).expect("a request that can be met")) }
}
