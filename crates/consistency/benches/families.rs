//! The solver's time on each family of traces, one line per trace.
//!
//! `cargo bench -p anyorder-consistency --bench families [-- FILTER]`; `MAILBOX=bag` or
//! `MAILBOX=delayed` for other mailboxes than fifo.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use anyorder_consistency::{Answer, Effort, FromTrace, MailboxRule, PartialTrace, Procedure};
use anyorder_generate::{Family, PAPER_ROWS, Request, RunMailbox, generate, generate_sized};
use anyorder_system::Control;
use anyorder_trace::Trace;
use std::time::Instant;

fn main() {
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with("--")).unwrap_or_default();
    println!(
        "{:<28}{:>9}{:>8}{:>7}  {:<13}{:>9}{:>10}{:>9}{:>9}{:>9}{:>7}",
        "trace", "events", "msgs", "hand", "answer", "ms", "open", "vars", "decis", "confl", "cand"
    );
    for (name, make) in rows() {
        if name.contains(&filter) {
            measure(&name, &make());
        }
    }
}

type Make = Box<dyn Fn() -> Trace>;

fn rows() -> Vec<(String, Make)> {
    let mut rows: Vec<(String, Make)> = Vec::new();
    let mut add = |name: String, request: Request| {
        rows.push((name, Box::new(move || generate(&request).expect("a request that can be met"))));
    };
    for family in Family::ALL {
        let sizes: &[u64] = match family {
            Family::Sat3 => &[40, 80, 120, 200, 250, 300],
            Family::Bi3Sat => &[10, 20, 40],
            Family::Knot => &[10, 100, 1000],
            Family::Shuffle => &[40, 160, 640, 2560],
            Family::Flat => &[40, 200, 1000],
            Family::Android => &[],
            _ => &[2, 4, 8, 16],
        };
        for &size in sizes {
            for seed in [1, 2, 3] {
                for mailbox in RunMailbox::ALL {
                    if mailbox == RunMailbox::Bag && !family.is_recorded() {
                        continue;
                    }
                    let name = format!("{}-{size}-{}-{seed}", family.name(), mailbox.word());
                    add(name, Request { seed, mailbox, ..Request::new(family, size) });
                }
            }
        }
    }
    for row in PAPER_ROWS {
        let make = move || {
            generate_sized(row.counts.events, row.counts.messages, row.counts.handlers, 1)
                .expect("sizes that can be met")
        };
        rows.push((format!("paper-{}", row.name), Box::new(make)));
    }
    for (events, messages, handlers) in
        [(100_000, 1_000, 16), (1_000_000, 10_000, 16), (1_000_000, 10_000, 64)]
    {
        for seed in [1, 2] {
            let make = move || {
                generate_sized(events, messages, handlers, seed).expect("sizes that can be met")
            };
            rows.push((format!("android-{events}-{messages}-{handlers}-{seed}"), Box::new(make)));
        }
    }
    rows
}

fn measure(name: &str, trace: &Trace) {
    let mailboxes = match std::env::var("MAILBOX").as_deref() {
        Ok("bag") => MailboxRule::Bag,
        Ok("delayed") => MailboxRule::Delayed,
        _ => MailboxRule::Fifo,
    };
    let options = FromTrace { mailboxes, infer_coherence: false };
    let (partial, _) = PartialTrace::from_trace(trace, &options).expect("a trace of messages");
    let begin = Instant::now();
    let outcome = Procedure::Solver
        .decide(&partial, Effort::default(), &Control::default())
        .expect("for all traces");
    let time = begin.elapsed();
    let answer = match outcome.answer {
        Answer::Consistent(_) => "consistent",
        Answer::Inconsistent(_) => "inconsistent",
        Answer::Unknown(_) => "unknown",
    };
    let stats = outcome.stats;
    println!(
        "{name:<28}{:>9}{:>8}{:>7}  {answer:<13}{:>9.1}{:>10}{:>9}{:>9}{:>9}{:>7}",
        stats.events,
        stats.messages,
        stats.handlers,
        time.as_secs_f64() * 1e3,
        stats.pairs,
        stats.variables,
        stats.decisions,
        stats.conflicts,
        stats.candidates
    );
}
