//! Failures in a few words, and in some lines.

use super::blocked::Waiting;
use super::failure::{Endless, Failure, FailureKind, Leak, RaceAccess, RaceReport};
use super::source::short;
use super::table::list;
use super::trace::Trace;
use crate::runtime::Position;
use anyorder_threads::{Act, ThreadId};

pub(super) fn at(position: Option<&Position>) -> String {
    position.map_or_else(
        || "an unknown place".to_owned(),
        |place| format!("{}:{}:{}", short(&place.file), place.line, place.column),
    )
}

impl Failure {
    /// Returns what kind of failure it is, in a word or two.
    #[must_use]
    pub const fn class(&self) -> &'static str {
        match self.kind {
            FailureKind::Panic(_) => "panic",
            FailureKind::Deadlock(_) => "deadlock",
            FailureKind::Livelock(_) => "livelock",
            FailureKind::Race(_) => "data race",
            FailureKind::Leak(_) => "leak",
            FailureKind::Misuse(ref misuse) => misuse.class(),
            FailureKind::Endless(Endless { starves: true, .. }) => "unfair starvation",
            FailureKind::Endless(_) => "endless execution",
        }
    }

    /// Returns the failure in one line.
    #[must_use]
    pub fn title(&self) -> String {
        let words = match &self.kind {
            FailureKind::Panic(panic) => {
                let who = self.trace.thread_name(panic.thread);
                let message = panic.message.lines().next().unwrap_or_default();
                let message = if message.is_empty() { "(no message)" } else { message };
                format!("{who} panicked at {}: {message}", at(panic.position.as_ref()))
            }
            FailureKind::Deadlock(waiting) => deadlock(&self.trace, waiting, &self.cycle()),
            FailureKind::Livelock(waiting) => {
                let spin: Vec<ThreadId> = waiting
                    .iter()
                    .filter(|one| matches!(one.act, Act::Await(_)))
                    .map(|one| one.thread)
                    .collect();
                let verb = if spin.len() == 1 { "spins" } else { "spin" };
                format!("{} {verb} for what nobody will change", list(&self.trace, &spin))
            }
            FailureKind::Race(race) => format!(
                "{} and {} of {} at the same time",
                access(&race.first),
                access(&race.second),
                race.cell
            ),
            FailureKind::Leak(leaks) => leaks_title(leaks),
            FailureKind::Misuse(misuse) => misuse.title(&self.trace),
            FailureKind::Endless(endless) => self.endless_title(endless),
        };
        match &self.kind {
            FailureKind::Panic(_) => words,
            _ => format!("{}: {words}", self.class()),
        }
    }

    fn endless_title(&self, endless: &Endless) -> String {
        if endless.threads.is_empty() {
            return format!("not at its end after {} operations", endless.operations);
        }
        let (who, one) = (list(&self.trace, &endless.threads), endless.threads.len() == 1);
        match (endless.starves, one) {
            (true, _) => format!("{who} repeats a loop without giving way, so that others wait"),
            (false, true) => format!("{who} repeats a loop for ever"),
            (false, false) => format!("{who} repeat a loop for ever"),
        }
    }

    /// Returns what else there is to say of the failure, in lines.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        match &self.kind {
            FailureKind::Panic(panic) => panic.message.lines().skip(1).map(str::to_owned).collect(),
            FailureKind::Deadlock(waiting) | FailureKind::Livelock(waiting) => {
                let mut lines: Vec<String> =
                    waiting.iter().flat_map(|one| waiting_lines(&self.trace, one)).collect();
                let cycle = self.cycle();
                if cycle.len() > 1 {
                    lines.push(format!("cycle: {}", self.cycle_words(waiting, &cycle)));
                }
                lines
            }
            FailureKind::Race(race) => race_lines(&self.trace, race),
            FailureKind::Leak(leaks) => {
                let of = |leak: &Leak| format!("made at {}", at(Some(&leak.made)));
                match leaks.as_slice() {
                    [_] => Vec::new(),
                    leaks => leaks.iter().map(of).collect(),
                }
            }
            FailureKind::Misuse(misuse) => misuse.lines(&self.trace),
            FailureKind::Endless(endless) => endless_lines(endless),
        }
    }

    /// `main → b → thread 1 → a → main`.
    fn cycle_words(&self, waiting: &[Waiting], cycle: &[ThreadId]) -> String {
        let of = |thread: &ThreadId| {
            let one = waiting.iter().find(|one| one.thread == *thread);
            let over = one.and_then(|one| match one.act {
                Act::Join => Some("join".to_owned()),
                _ => self.trace.object(one.object).map(|object| object.name.clone()),
            });
            format!("{} → {} → ", self.trace.thread_name(*thread), over.unwrap_or_default())
        };
        let words: String = cycle.iter().map(of).collect();
        words + self.trace.thread_name(cycle[0])
    }
}

fn deadlock(trace: &Trace, waiting: &[Waiting], cycle: &[ThreadId]) -> String {
    match cycle {
        [] => {}
        [one] => {
            let own = waiting.iter().find(|waiting| waiting.thread == *one);
            let lock = own.map_or("a lock", |own| trace.object_name(own.object));
            let who = trace.thread_name(*one);
            return format!("{who} waits for {lock}, which it holds itself");
        }
        [_, _] => return format!("{} wait for each other", list(trace, cycle)),
        _ => return format!("{} wait for each other in a circle", list(trace, cycle)),
    }
    // Those that do not wait for another one that waits.
    let is_root = |one: &&Waiting| one.needs.is_empty();
    let roots: Vec<&Waiting> = waiting.iter().filter(is_root).collect();
    match roots.as_slice() {
        [one] => format!("{} {} for ever", trace.thread_name(one.thread), one.words),
        roots => {
            let threads: Vec<ThreadId> = roots.iter().map(|one| one.thread).collect();
            match threads.is_empty() {
                true => "no thread can go on".to_owned(),
                false => format!("{} wait for ever", list(trace, &threads)),
            }
        }
    }
}

fn waiting_lines(trace: &Trace, one: &Waiting) -> Vec<String> {
    let mut lines = vec![format!(
        "{} {} ({})",
        trace.thread_name(one.thread),
        one.words,
        at(one.position.as_ref())
    )];
    if let Some(reason) = &one.reason {
        lines.push(format!("  {reason}"));
    }
    lines.extend(
        one.reads
            .iter()
            .map(|(read, place)| format!("  again and again: {read} ({})", at(place.as_ref()))),
    );
    lines
}

const fn access(access: &RaceAccess) -> &'static str {
    if access.write { "a write" } else { "a read" }
}

fn race_lines(trace: &Trace, race: &RaceReport) -> Vec<String> {
    let of = |side: &RaceAccess| {
        let verb = if side.write { "writes" } else { "reads" };
        let step = side.at.and_then(|at| trace.lines[at].step);
        let step = step.map(|step| format!(", step {step}")).unwrap_or_default();
        let who = trace.thread_name(side.thread);
        format!("{who} {verb} {} ({}{step})", race.cell, at(side.position.as_ref()))
    };
    let mut lines = vec![of(&race.first), of(&race.second)];
    lines.push(match &race.reason {
        Some(reason) => reason.clone(),
        None => {
            "nothing orders the two: no lock, no join, no release that an acquire reads".to_owned()
        }
    });
    lines
}

fn leaks_title(leaks: &[Leak]) -> String {
    match leaks {
        [leak] => format!("what was made at {} is left at the end", at(Some(&leak.made))),
        leaks => format!("{} values or allocations are left at the end", leaks.len()),
    }
}

fn endless_lines(endless: &Endless) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if endless.turn.is_empty() {
        lines.push("no loop was found at its end; `steps_max` allows longer executions".to_owned());
        return lines;
    }
    lines.push(format!("after {} operations it repeats:", endless.operations));
    lines.extend(
        endless.turn.iter().map(|(words, place)| format!("  {words} ({})", at(place.as_ref()))),
    );
    if endless.starves {
        lines.push(
            "a loop that waits for others gives way: `hint::spin_loop()` or `thread::yield_now()`"
                .to_owned(),
        );
    }
    lines
}
