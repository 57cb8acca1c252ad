//! Proofs of inconsistency with one step more, which holds or fails by little.

use super::one_of;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{Action, Event, EventKind, Trace};

/// The steps tried for each proof.
const TRIED: usize = 24;

/// Returns texts of proofs, each a valid one with one step before its own.
pub(crate) fn doubtful(trace: &Trace, valid: &str, rng: &mut Rng) -> Vec<String> {
    let events: Vec<Event> = trace.events().collect();
    let Some((header, steps)) = valid.split_once('\n') else { return Vec::new() };
    let maker = Maker { trace, events };
    let texts = (0..TRIED).filter_map(|_| {
        let step = maker.step(rng)?;
        Some(format!("{header}\n{step}\n{steps}"))
    });
    texts.collect()
}

/// What can be ended.
fn begins(event: &Event) -> bool {
    matches!(event.kind(), EventKind::Get | EventKind::Trigger | EventKind::Read)
}

/// What can end something.
fn ends(event: &Event) -> bool {
    matches!(event.kind(), EventKind::Cancel | EventKind::Disable | EventKind::Exit)
}

struct Maker<'t> {
    trace: &'t Trace,
    events: Vec<Event>,
}

impl Maker<'_> {
    fn step(&self, rng: &mut Rng) -> Option<String> {
        let reads = |event: &Event| event.kind().reads();
        let writes = |event: &Event| event.kind().writes();
        match rng.below(9) {
            8 => {
                let (begins, end) = self.pair(rng, &begins, &ends)?;
                Some(format!("ended @{} @{}", begins.id.0, end.id.0))
            }
            0 => {
                let (read, write) = self.pair(rng, &reads, &writes)?;
                Some(format!("reads @{} @{}", read.id.0, write.id.0))
            }
            1 => {
                let word = one_of(rng, &["derived", "forget"]);
                let fact = self.fact(rng)?;
                let [kind, a, b] = fact.split(' ').collect::<Vec<_>>()[..] else { return None };
                Some(match rng.below(3) {
                    0 => format!("{word} {fact}"),
                    _ => format!("{word} {fact} {kind} {b} {a}"),
                })
            }
            _ => {
                let (from, to, relation) = self.link(rng)?;
                let (from, to) = (from.id.0, to.id.0);
                // The link back closes the cycle, and holds.
                Some(match rng.below(12) {
                    0 => "cycle 0".to_owned(),
                    1 => format!("cycle 1\n@{from} @{to} {relation}"),
                    _ => format!(
                        "cycle 2\n@{from} @{to} {relation}\n@{to} @{from} before @{to} @{from}"
                    ),
                })
            }
        }
    }

    fn link(&self, rng: &mut Rng) -> Option<(Event, Event, String)> {
        let any = |_: &Event| true;
        let reads = |event: &Event| event.kind().reads();
        let writes = |event: &Event| event.kind().writes();
        let of = |kind: EventKind| move |event: &Event| event.kind() == kind;
        let word = *one_of(
            rng,
            &[
                "program",
                "reads-from",
                "coherence",
                "from-reads",
                "posted-by",
                "fork",
                "join",
                "cancel",
                "enable",
                "ended",
                "runs",
                "before",
            ],
        );
        let (from, to) = match word {
            "reads-from" => self.pair(rng, &writes, &reads),
            "coherence" => self.pair(rng, &writes, &writes),
            "from-reads" => self.pair(rng, &reads, &writes),
            "posted-by" => self.pair(rng, &of(EventKind::Post), &of(EventKind::Get)),
            "fork" => self.pair(rng, &of(EventKind::Fork), &any),
            "join" => self.pair(rng, &any, &of(EventKind::Join)),
            "cancel" => self.pair(rng, &of(EventKind::Post), &of(EventKind::Cancel)),
            "enable" => self.pair(rng, &of(EventKind::Enable), &of(EventKind::Trigger)),
            "ended" if rng.below(3) == 0 => self.pair(rng, &any, &of(EventKind::Exit)),
            "ended" if rng.below(2) == 0 => {
                let (trigger, disable) =
                    self.pair(rng, &of(EventKind::Trigger), &of(EventKind::Disable))?;
                (trigger.operand == disable.operand).then_some((trigger, disable))
            }
            "ended" => self.pair(rng, &begins, &ends),
            "program" => self.pair(rng, &any, &any),
            _ => return self.link_by_fact(rng, word),
        }?;
        Some((from, to, word.to_owned()))
    }

    fn link_by_fact(&self, rng: &mut Rng, word: &str) -> Option<(Event, Event, String)> {
        let any = |_: &Event| true;
        let (mut from, mut to) = self.pair(rng, &any, &any)?;
        if word == "before" {
            let other = one_of(rng, &self.events).id.0;
            let last = if rng.below(3) == 0 { other } else { to.id.0 };
            return Some((from, to, format!("before @{} @{last}", from.id.0)));
        }
        let relation = format!("runs @{} @{}", from.task.0, to.task.0);
        let post = |task| {
            let mut events = self.events.iter();
            events.find(|event| event.action() == Action::Post(task)).copied()
        };
        if rng.below(2) == 0
            && let (Some(first), Some(second)) = (post(from.task), post(to.task))
        {
            // The mailbox may keep the order of the posts in reverse.
            (from, to) = if rng.below(4) == 0 { (second, first) } else { (first, second) };
        }
        Some((from, to, relation))
    }

    fn fact(&self, rng: &mut Rng) -> Option<String> {
        let any = |_: &Event| true;
        let (one, two) = self.pair(rng, &any, &any)?;
        Some(match rng.below(2) {
            0 => format!("before @{} @{}", one.id.0, two.id.0),
            _ => format!("runs @{} @{}", one.task.0, two.task.0),
        })
    }

    /// Two events of these kinds, mostly of one operand, task or handler.
    fn pair(
        &self,
        rng: &mut Rng,
        first: &dyn Fn(&Event) -> bool,
        second: &dyn Fn(&Event) -> bool,
    ) -> Option<(Event, Event)> {
        let firsts: Vec<Event> = self.events.iter().filter(|event| first(event)).copied().collect();
        if firsts.is_empty() {
            return Some((*one_of(rng, &self.events), *one_of(rng, &self.events)));
        }
        let one = *one_of(rng, &firsts);
        let handler = |event: &Event| self.trace.tables().tasks[event.task.0 as usize].handler;
        let same = rng.below(5);
        let fits = |event: &Event| match same {
            0 | 1 => match one.action() {
                Action::Post(task) => event.task == task,
                Action::Fork(other) | Action::Join(other) => handler(event) == other,
                _ => event.operand == one.operand && event.kind().is_access(),
            },
            2 => event.task == one.task,
            3 => handler(event) == handler(&one),
            _ => true,
        };
        let wild = rng.below(8) == 0;
        let is_second = |event: &&Event| wild || second(event);
        let near: Vec<Event> =
            self.events.iter().filter(is_second).filter(|event| fits(event)).copied().collect();
        if !near.is_empty() {
            return Some((one, *one_of(rng, &near)));
        }
        let seconds: Vec<Event> = self.events.iter().filter(is_second).copied().collect();
        if seconds.is_empty() { None } else { Some((one, *one_of(rng, &seconds))) }
    }
}
