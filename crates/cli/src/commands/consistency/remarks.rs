//! The text after the verdict: the size of the problem, notes on the trace, and a hint.

use crate::args::ConsistencyArgs;
use crate::output::width;
use anyorder_common::numbers::{count, plural};
use anyorder_common::text::{escape, shown};
use anyorder_drive::{Consistency, Consistent};

/// Returns the remarks, escaped, each line ended.
pub(super) fn of(args: &ConsistencyArgs, answer: &Consistency) -> String {
    let mut text = Text { lines: String::new(), width: width() };
    text.lines.push('\n');
    verdict(&mut text, args, answer);
    let stats = &answer.stats;
    text.line(&format!(
        "{} on {}; {}.",
        plural(answer.partial.messages.len() as u64, "message"),
        plural(answer.kept.handlers, "handler"),
        answer.partial.mailboxes.describe(),
    ));
    text.line(&format!(
        "{} of messages on one handler: {} left open by saturation; {}, {}.",
        plural(stats.pairs_total, "pair"),
        count(stats.pairs),
        plural(stats.decisions, "decision"),
        plural(stats.conflicts, "conflict"),
    ));
    let notes = answer.kept.notes(answer.partial.mailboxes);
    if !notes.is_empty() {
        text.line("Notes on the trace:");
        for note in notes {
            text.item(&note);
        }
    }
    hint(&mut text, args, answer);
    text.lines
}

/// Reports how the answer was verified.
fn verdict(text: &mut Text, args: &ConsistencyArgs, answer: &Consistency) {
    match &answer.verdict {
        Consistent::Yes(order) => {
            let events = plural(order.len() as u64, "event");
            text.line(&format!(
                "A run of all {events} explains the trace. An independent checker verified it."
            ));
            if let Some(path) = &args.witness {
                text.line(&format!("It is in {}.", shown(path)));
            }
        }
        Consistent::No(Some(proof)) => {
            let steps = plural(proof.steps() as u64, "step");
            text.line(&format!("The proof has {steps}. An independent checker verified it."));
            if let Some(path) = &args.certificate {
                text.line(&format!("It is in {}.", shown(path)));
            }
            text.line(
                "In a chain, -po-> is program order, -rf-> a write and its read, -co-> a write and a later one, \
                 -fr-> a read and a later write, -pb-> a post and its message, -eo(n)-> two messages in the \
                 order that reason n gives, -mo(n)-> their posts.",
            );
        }
        Consistent::No(None) => {
            text.line("This answer has no proof, so no independent checker verified it.");
        }
        Consistent::Unknown(_) => text.line("The search ended at a limit without an answer."),
    }
    recorded(text, answer);
}

/// Reports whether the recorded order obeys the mailbox rule.
fn recorded(text: &mut Text, answer: &Consistency) {
    let Some(recorded) = &answer.recorded else { return };
    let order = "The order in which the trace was recorded";
    match recorded {
        Ok(()) => text.line(&format!("{order} is such a run, too.")),
        Err(why) => text.line(&format!("{order} breaks this rule: {}.", escape(why))),
    }
    let Some(found) = answer.overtakings().filter(|found| found.total() > 0) else { return };
    let total = plural(found.total(), "pair");
    text.line(&format!("In it, {total} of messages ran against the order of their posts:"));
    for (number, what) in [
        (found.idle, "one of the two ran because the mailbox was idle"),
        (found.front, "the one that ran first was posted to the front"),
        (found.delay, "the one that ran later had the greater delay"),
        (found.unexplained, "the trace gives no reason"),
    ] {
        if number > 0 {
            text.item(&format!("{}: {what}", count(number)));
        }
    }
}

fn hint(text: &mut Text, args: &ConsistencyArgs, answer: &Consistency) {
    let hint = match &answer.verdict {
        Consistent::Yes(_) if args.witness.is_none() => {
            "`--witness FILE` writes the run, an event a line"
        }
        Consistent::No(Some(_)) if args.certificate.is_none() => {
            "`--certificate FILE` writes the proof, for others to check"
        }
        _ => return,
    };
    text.line(&format!("hint: {hint}"));
}

/// Text wrapped at the width of the terminal.
struct Text {
    lines: String,
    width: usize,
}

impl Text {
    fn line(&mut self, line: &str) {
        self.wrapped("", "", line);
    }

    fn item(&mut self, line: &str) {
        self.wrapped("  - ", "    ", line);
    }

    fn wrapped(&mut self, first: &str, rest: &str, line: &str) {
        self.lines.push_str(first);
        let mut column = first.len();
        for (at, word) in line.split(' ').enumerate() {
            let long = word.chars().count();
            if at > 0 && column + 1 + long > self.width {
                self.lines.push('\n');
                self.lines.push_str(rest);
                column = rest.len();
            } else if at > 0 {
                self.lines.push(' ');
                column += 1;
            }
            self.lines.push_str(word);
            column += long;
        }
        self.lines.push('\n');
    }
}
