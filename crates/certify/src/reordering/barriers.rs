//! Barriers: the arrivals required before a passage.

use anyorder_trace::{EventKind, Trace};
use std::collections::{BTreeMap, HashMap};

/// An event of a round, with the events that must precede the first one.
struct Passage {
    event: u32,
    arrivals: Vec<u32>,
}

/// The barriers of a trace.
#[derive(Default)]
pub(super) struct Barriers {
    /// By the first event of each round of a regular barrier: all arrivals.
    arrivals: HashMap<u32, Vec<u32>>,
    /// By event of a regular barrier: the first event of its round.
    first: HashMap<u32, u32>,
    /// The irregular barriers, each with its first event.
    irregular: BTreeMap<u32, u32>,
}

impl Barriers {
    pub(super) fn new(trace: &Trace) -> Barriers {
        // By barrier and round.
        let mut rounds: BTreeMap<u32, BTreeMap<u64, Vec<Passage>>> = BTreeMap::new();
        let mut counts: HashMap<(u32, u32), u64> = HashMap::new();
        let mut before: HashMap<u32, u32> = HashMap::new();
        let mut forks: HashMap<u32, Vec<u32>> = HashMap::new();
        for event in trace.events() {
            let previous = before.insert(event.task.0, event.id.0);
            if event.kind() == EventKind::Fork {
                forks.entry(event.operand).or_default().push(event.id.0);
            }
            if event.kind() != EventKind::Barrier {
                continue;
            }
            let count = counts.entry((event.operand, event.task.0)).or_default();
            *count += 1;
            let def = trace.tables().tasks.get(event.task.index());
            let handler = def.and_then(|def| def.handler.some());
            let started = || handler.and_then(|handler| forks.get(&handler.0)).cloned();
            let arrivals = previous.map_or_else(|| started().unwrap_or_default(), |one| vec![one]);
            let of = rounds.entry(event.operand).or_default().entry(*count).or_default();
            of.push(Passage { event: event.id.0, arrivals });
        }
        let mut barriers = Barriers::default();
        for (barrier, rounds) in rounds {
            let all: Vec<Vec<Passage>> = rounds.into_values().collect();
            match is_regular(&all) {
                true => barriers.add_all(&all),
                false => drop(barriers.irregular.insert(barrier, all[0][0].event)),
            }
        }
        barriers
    }

    fn add_all(&mut self, rounds: &[Vec<Passage>]) {
        for round in rounds {
            let (first, arrivals) = (round[0].event, round.iter().flat_map(|of| &of.arrivals));
            self.arrivals.insert(first, arrivals.copied().collect());
            self.first.extend(round.iter().map(|passed| (passed.event, first)));
        }
    }

    /// Returns the arrivals of the round of an event; none if its barrier is irregular.
    pub(super) fn round(&self, event: u32) -> &[u32] {
        self.first.get(&event).map_or(&[], |first| self.before(*first))
    }

    /// Returns the events that must precede an event, if it begins a round.
    pub(super) fn before(&self, event: u32) -> &[u32] {
        self.arrivals.get(&event).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a barrier is irregular: the trace does not determine who waits for whom.
    pub(super) fn is_irregular(&self, barrier: u32) -> bool {
        self.irregular.contains_key(&barrier)
    }

    /// Returns the first event of an irregular barrier.
    pub(super) fn first_irregular(&self) -> Option<u32> {
        self.irregular.values().copied().min()
    }
}

/// Each round's arrivals come before its events, and its events before those of the next round.
fn is_regular(rounds: &[Vec<Passage>]) -> bool {
    rounds.iter().enumerate().all(|(at, round)| {
        let first = round[0].event;
        let last = round.iter().map(|passed| passed.event).max().unwrap_or(first);
        let in_time = round.iter().flat_map(|passed| &passed.arrivals).all(|event| *event < first);
        in_time && rounds.get(at + 1).is_none_or(|next| last < next[0].event)
    })
}
