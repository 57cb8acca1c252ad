//! The Android logs, without the order of their messages.

use crate::Options;
use crate::ours;
use anyorder_consistency::MailboxRule;
use anyorder_formats::droidracer::DroidRacerReader;
use anyorder_trace::Trace;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Prints verdict and time of both logs under each rule, or a note where they are absent.
pub(crate) fn print(options: &Options) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/droidracer");
    println!(
        "{:<12}{:<10}{:>8}{:>7}{:>7}  {:<13}{:>9}{:>8}{:>8}{:>10}",
        "log", "mailbox", "events", "msgs", "hand", "answer", "pairs", "open", "vars", "ours ms"
    );
    for name in ["RemindMe", "twitter"] {
        let Ok(file) = File::open(folder.join(name).join("trace.txt")) else {
            println!("{name:<12}skipped: the log is not there");
            continue;
        };
        let trace =
            Trace::read(&mut DroidRacerReader::new(BufReader::new(file))).expect("a readable log");
        for rule in [MailboxRule::Fifo, MailboxRule::Delayed, MailboxRule::Bag] {
            let partial = ours::partial(&trace, rule);
            let decided = ours::best(&partial, options.runs);
            let stats = decided.stats;
            let recorded = if rule == MailboxRule::recorded(&trace) { " (recorded)" } else { "" };
            println!(
                "{name:<12}{:<10}{:>8}{:>7}{:>7}  {:<13}{:>9}{:>8}{:>8}{:>10.3}{recorded}",
                rule.word(),
                stats.events,
                stats.messages,
                stats.handlers,
                decided.answer,
                stats.pairs_total,
                stats.pairs,
                stats.variables,
                decided.solve.as_secs_f64() * 1e3
            );
        }
    }
}
