//! Barriers: the events required before the first event of each round, and the barriers for which
//! these events are unknown.

use anyorder_system::Cancel;
use anyorder_trace::{EventKind, Trace};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The barriers of a trace; see `docs/witnesses.md`, section 2.
#[derive(Clone, Debug, Default)]
pub(super) struct Barriers {
    /// By the first event of a round: the arrivals of all participants.
    pub(super) arrivals: HashMap<u32, Vec<u32>>,
    /// Barriers that are not regular.
    pub(super) irregular: HashSet<u32>,
    /// The rounds of regular barriers: the barrier, and who arrives, by event, without repetitions.
    pub(super) rounds: Vec<(u32, Vec<u32>)>,
    /// By event of a regular barrier, ascending: its round.
    of_event: Vec<(u32, u32)>,
}

/// The events of one round.
#[derive(Default)]
struct Round {
    first: u32,
    last: u32,
    arrivals: Vec<u32>,
    events: Vec<u32>,
}

impl Barriers {
    /// Finds the barriers in one pass. Skips traces without barriers. None once the job is stopped.
    pub(super) fn new(trace: &Trace, cancel: &Cancel) -> Barriers {
        let ops = &trace.columns().ops;
        if !ops.iter().any(|op| op.kind() == EventKind::Barrier) {
            return Barriers::default();
        }
        let mut rounds: BTreeMap<u32, Vec<Round>> = BTreeMap::new();
        let mut passed: HashMap<(u32, u32), usize> = HashMap::new();
        let mut last_of: HashMap<u32, u32> = HashMap::new();
        let mut forks: HashMap<u32, Vec<u32>> = HashMap::new();
        for event in trace.events() {
            let (id, task) = (event.id.0, event.task.0);
            if id.is_multiple_of(1 << 12) && cancel.reason().is_some() {
                return Barriers::default();
            }
            match event.kind() {
                EventKind::Fork => forks.entry(event.operand).or_default().push(id),
                EventKind::Barrier => {
                    let round = passed.entry((event.operand, task)).or_default();
                    let of = rounds.entry(event.operand).or_default();
                    if *round == of.len() {
                        of.push(Round { first: id, ..Round::default() });
                    }
                    let this = &mut of[*round];
                    *round += 1;
                    this.last = id;
                    this.events.push(id);
                    let handler = trace.tables().tasks[event.task.index()].handler.some();
                    let forks = handler.and_then(|handler| forks.get(&handler.0));
                    match last_of.get(&task) {
                        Some(arrival) => this.arrivals.push(*arrival),
                        None => this.arrivals.extend(forks.into_iter().flatten()),
                    }
                }
                _ => {}
            }
            last_of.insert(task, id);
        }
        let mut barriers = Barriers::default();
        for (barrier, rounds) in rounds {
            let in_turn = rounds.windows(2).all(|two| two[0].last < two[1].first);
            let in_time = |round: &Round| round.arrivals.iter().all(|event| *event < round.first);
            if in_turn && rounds.iter().all(in_time) {
                rounds.into_iter().for_each(|round| barriers.add(barrier, round));
            } else {
                barriers.irregular.insert(barrier);
            }
        }
        barriers.of_event.sort_unstable();
        barriers
    }

    fn add(&mut self, barrier: u32, Round { first, mut arrivals, events, .. }: Round) {
        let number = self.rounds.len() as u32;
        self.of_event.extend(events.into_iter().map(|event| (event, number)));
        self.arrivals.insert(first, arrivals.clone());
        arrivals.sort_unstable();
        arrivals.dedup();
        self.rounds.push((barrier, arrivals));
    }

    /// Returns the round of an event of a regular barrier.
    pub(super) fn round(&self, event: u32) -> Option<u32> {
        let at = self.of_event.binary_search_by_key(&event, |(event, _)| *event).ok()?;
        Some(self.of_event[at].1)
    }

    /// Returns the events of regular barriers, ascending, each with its round.
    pub(super) fn events(&self) -> &[(u32, u32)] {
        &self.of_event
    }
}
