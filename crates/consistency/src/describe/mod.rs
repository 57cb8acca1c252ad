//! Says in words why a trace is inconsistent.

mod clauses;
mod core;
mod notes;
mod overtakings;
mod words;

pub use overtakings::Overtakings;

use crate::answer::{Fact, Link, Refutation, Step, Why};
use crate::partial::{PartialTrace, Slot};
use anyorder_trace::{EventId, Trace};
use words::Words;

/// Why a trace is inconsistent, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    /// Facts that follow, each from those before it, then how they contradict what the trace gives.
    pub reasons: Vec<Told>,
    /// The events of the last cycle, or of the first one where there is a choice; empty where there
    /// is none.
    pub cycle: Vec<EventId>,
    /// The pairs of messages of which either order was tried; 0 where everything was forced.
    pub pairs: u64,
    /// The cycles that the reasons rest on, those not told included.
    pub cycles: u64,
}

/// One reason. Names in it are as the trace has them: escape them before they are shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Told {
    /// The reason.
    pub text: String,
    /// The events it speaks of.
    pub events: Vec<EventId>,
}

/// Puts a refutation into words, with at most `reasons_max` reasons of each kind.
///
/// What its conclusion does not rest on is left out. `trace` is the one that `partial` was made
/// from. Takes time linear in the links, and what unit propagation takes; that is bounded, and
/// behind the bound there is less to read.
#[must_use]
pub fn describe(
    trace: &Trace,
    partial: &PartialTrace,
    refutation: &Refutation,
    reasons_max: usize,
) -> Explanation {
    let mut tale = Tale { words: Words::new(trace, partial), told: Explanation::default() };
    let Some(core) = core::core(partial, refutation) else {
        let count = |cycle: &&Step| matches!(cycle, Step::Cycle(_));
        tale.told.cycles = refutation.steps.iter().filter(count).count() as u64;
        let text = format!(
            "however the messages are ordered, one of {} cycles closes; the proof is too long to tell \
             which of them matter",
            tale.told.cycles
        );
        tale.tell(text, &[]);
        return tale.told;
    };
    tale.told.cycles =
        (core.forced.len() + core.choices.len()) as u64 + u64::from(core.conflict.is_some());
    tale.told.pairs = core.pairs as u64;
    let hidden = core.forced.len().saturating_sub(reasons_max);
    for (at, (fact, step)) in core.forced.iter().enumerate() {
        // The last ones are nearest to the conclusion.
        if at >= hidden {
            tale.forced(*fact, &refutation.steps[*step]);
        } else {
            tale.words.number(*fact);
            if at == 0 {
                tale.tell(
                    format!("({hidden} orders that are forced before these are left out)"),
                    &[],
                );
            }
        }
    }
    if let Some(step) = core.conflict {
        tale.conflict(&refutation.steps[step], core.forced.is_empty());
        return tale.told;
    }
    tale.choices(&core.choices, core.pairs, refutation, reasons_max);
    tale.told
}

/// An explanation that is being told.
struct Tale<'a> {
    words: Words<'a>,
    told: Explanation,
}

impl Tale<'_> {
    fn tell(&mut self, text: String, links: &[Link]) {
        let mut events: Vec<EventId> = Vec::new();
        for slot in links.iter().flat_map(|link| [link.from, link.to]) {
            let event = self.words.event(slot);
            if !events.contains(&event) {
                events.push(event);
            }
        }
        self.told.reasons.push(Told { text, events });
    }

    /// Remembers the cycle that was told last.
    fn keep_cycle(&mut self) {
        self.told.cycle =
            self.told.reasons.last().map(|last| last.events.clone()).unwrap_or_default();
    }

    /// Tells a fact with the step that forces it.
    fn forced(&mut self, fact: Fact, step: &Step) {
        let text = self.words.fact(fact);
        let (because, links) = self.because(fact, step);
        let number = self.words.number(fact);
        self.tell(format!("({number}) {text}, {because}"), &links);
    }

    fn because(&self, fact: Fact, step: &Step) -> (String, Vec<Link>) {
        let links = match step {
            Step::Cycle(links) => links,
            Step::ReadsOpen { read, other } => return (self.reads(*read, *other), Vec::new()),
            Step::Derived(_) | Step::Forget(_) => return (String::new(), Vec::new()),
        };
        let opposite = Why::Decided(fact.opposite());
        let mut at = links.iter().enumerate().filter(|(_, link)| link.why == opposite);
        match (at.next(), at.next()) {
            // Without the link against it, the cycle is a path that says why.
            (Some((at, _)), None) => {
                let path = links[at + 1..].iter().chain(&links[..at]).copied();
                let path = self.words.joined(path);
                (format!("because {}", self.words.chain(&path)), path)
            }
            _ => {
                let cycle = self.words.cycle(links);
                (format!("or else {}", self.words.chain(&cycle)), cycle)
            }
        }
    }

    fn reads(&self, read: Slot, other: Slot) -> String {
        let [read, other] = [read, other].map(|slot| self.words.label(slot));
        format!("as {read} must not read from {other}")
    }

    /// Tells the last step: what is given and forced has a cycle.
    fn conflict(&mut self, step: &Step, alone: bool) {
        let head = if alone {
            "whatever the order of the messages, what the trace says has a cycle"
        } else {
            "that closes a cycle"
        };
        match step {
            Step::Cycle(links) => {
                let cycle = self.words.cycle(links);
                self.tell(format!("{head}: {}", self.words.chain(&cycle)), &cycle);
                self.keep_cycle();
            }
            Step::ReadsOpen { read, other } => {
                let text = self.reads(*read, *other);
                self.tell(format!("that leaves no place for a write, {text}"), &[]);
            }
            Step::Derived(_) | Step::Forget(_) => {}
        }
    }

    /// Tells the cycles of which each choice closes one.
    fn choices(
        &mut self,
        choices: &[(Vec<Fact>, usize)],
        pairs: usize,
        refutation: &Refutation,
        reasons_max: usize,
    ) {
        let both = if pairs == 1 { "1 pair".to_owned() } else { format!("{pairs} pairs") };
        self.tell(
            format!(
                "nothing forces the order of {both} of messages, but however they are ordered, \
                 one of {} cycles closes:",
                choices.len()
            ),
            &[],
        );
        // Pairs that have one order because fifo carries it over from the messages that post them
        // come as cycles too: two a pair.
        let carried = |(_, step): &&(Vec<Fact>, usize)| match &refutation.steps[*step] {
            Step::Cycle(links) => links.iter().all(|link| matches!(link.why, Why::Decided(_))),
            _ => false,
        };
        let (same, real): (Vec<_>, Vec<_>) = choices.iter().partition(|choice| carried(choice));
        for (facts, step) in real.iter().take(reasons_max) {
            match &refutation.steps[*step] {
                Step::Cycle(links) => {
                    let against = facts.iter().map(|fact| self.words.fact(fact.opposite()));
                    let against: Vec<String> = against.collect();
                    let cycle = self.words.cycle(links);
                    let chain = self.words.chain(&cycle);
                    self.tell(format!("if {}: {chain}", against.join(" and ")), &cycle);
                    if self.told.cycle.is_empty() {
                        self.keep_cycle();
                    }
                }
                Step::ReadsOpen { read, other } => {
                    let facts: Vec<String> =
                        facts.iter().map(|fact| self.words.fact(*fact)).collect();
                    let why = self.reads(*read, *other);
                    self.tell(format!("{}, {why}", facts.join(" or ")), &[]);
                }
                Step::Derived(_) | Step::Forget(_) => {}
            }
        }
        let hidden = real.len().saturating_sub(reasons_max);
        if hidden > 0 {
            self.tell(format!("({hidden} more cycles; the certificate has all of them)"), &[]);
        }
        if !same.is_empty() {
            let text = format!(
                "({} more cycles say that messages come in the order of the messages that post them)",
                same.len()
            );
            self.tell(text, &[]);
        }
    }
}
