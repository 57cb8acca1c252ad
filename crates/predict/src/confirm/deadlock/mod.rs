//! Deadlocks that another order of the recorded events shows: threads that wait for one another in
//! a cycle. `docs/deadlocks.md` has the definitions.
//!
//! Requests are grouped into classes (`requests.rs`), cycles of classes are listed (`cycles.rs`),
//! and each cycle is decided: by a closure if the locks can keep their recorded order
//! (`closure.rs`), else by the order solver, for one choice of requests after the other.

pub use found::{
    Deadlock, DeadlockCut, DeadlockEvidence, DeadlockOptions, DeadlockRequest, Deadlocks, Permits,
    WaitsFor,
};

#[cfg(test)]
pub use sabotage::Sabotage;

mod arrivals;
mod bounds;
mod closing;
pub(super) mod closure;
mod cycles;
mod found;
pub(super) mod permits;
mod requests;
pub(super) mod sabotage;
pub(super) mod signals;

use super::answer::{Answer, GaveUp, Witness};
use super::clause::Atom;
use super::confirmer::Confirmer;
use super::past::Past;
use super::question::Question;
use anyorder_system::{Cancel, Control};
use anyorder_trace::EventId;
use bounds::{Bounds, OfCycle};
use closure::{Choice, Closed, Closures, Rule, barrier, is_signal};
use cycles::{Bounds as CycleBounds, cycles};
use found::deadlock;
use requests::{Class, classes};
use signals::Signals;
use std::ops::ControlFlow;

/// Checks a witness for these requests, or says what is wrong with it.
pub type CheckDeadlock<'c> = &'c mut dyn FnMut(&[EventId], &Witness) -> Result<(), String>;

/// The most choices of threads for one cycle.
const THREADS_MAX: u64 = 4_096;

/// The most choices of requests of one cycle that are compared with what they need.
const CHOICES_MAX: u64 = 20_000;

/// How often calls get what they lack in the order of the trace.
const LACKING_MAX: u32 = 16;

/// A choice of threads for a cycle: for each class the place of the thread among its members.
type Threads = Vec<usize>;

/// What is known of one cycle.
struct Decided {
    requests: Vec<u32>,
    evidence: DeadlockEvidence,
}

impl Confirmer<'_> {
    /// Searches for a run after which each of the requests is the next event of its thread and
    /// waits for the next one's thread, the last for the first: for a lock that it holds, for its
    /// end or its arrival at a barrier, or, where `waits` says so, for a signal or permit that it
    /// gives. All such runs have the
    /// events of `needs`. A proof that there is none is about these requests only.
    fn confirm_deadlock(
        &mut self,
        (requests, waits, needs): (&[u32], &[bool], Vec<u32>),
        cancel: &Cancel,
    ) -> Answer {
        let signals = self.signals(cancel);
        let of = (requests, waits, &signals);
        let question = Question::deadlock(&self.past, of, needs, self.sabotage);
        let mut doubt = false;
        match self.solve(&question, &mut doubt, cancel) {
            Ok(Some(found)) => Answer::Confirmed(self.witness(&question, found, cancel)),
            Ok(None) if doubt => Answer::Unconfirmed(GaveUp::Barrier),
            Ok(None) => Answer::Impossible,
            Err(why) => Answer::Unconfirmed(why),
        }
    }

    /// Lists the cycles of requests of the trace, and decides each. Only for traces whose tasks
    /// stay in order: nothing is looked for in others.
    pub fn deadlocks(
        &mut self,
        options: &DeadlockOptions,
        check: CheckDeadlock<'_>,
        control: &Control<'_>,
    ) -> Deadlocks {
        let mut deadlocks = Deadlocks::default();
        if self.past.tasks {
            return deadlocks;
        }
        if self.past.is_cut {
            deadlocks.stopped = control.cancel.reason();
            deadlocks.cut(match deadlocks.stopped {
                Some(_) => DeadlockCut::Stopped,
                None => DeadlockCut::Trace,
            });
            return deadlocks;
        }
        let signals = self.signals(&control.cancel);
        let (classes, is_cut) = classes(&self.past, &signals, &control.cancel, self.sabotage);
        let bounds = CycleBounds { cycles: options.cycles_max, steps: options.steps_max };
        let found = cycles(&classes, bounds, &control.cancel, self.sabotage);
        if let Some(reason) = control.cancel.reason() {
            deadlocks.cut(DeadlockCut::Stopped);
            deadlocks.stopped = Some(reason);
        } else if found.is_cut || is_cut {
            deadlocks.cut(DeadlockCut::Cycles);
        }
        deadlocks.cycles = found.cycles.len() as u64;
        if found.cycles.is_empty() {
            return deadlocks;
        }
        let closures = self.closures(&control.cancel);
        let work_max = self.stats().events.saturating_add(options.work_max);
        let mut search = Search {
            closures: closures.as_deref(),
            options,
            check,
            work_max,
            bounds: Bounds::new(self.sabotage),
            tries: 0,
            choices: 0,
        };
        let total = found.cycles.len() as u64;
        for (done, cycle) in (0..).zip(&found.cycles) {
            if let Err(stopped) = control.step(done, Some(total)) {
                deadlocks.stopped = Some(stopped.0);
                deadlocks.undecided += total - done;
                break;
            }
            // Each of the rest would be a finding that says nothing.
            if search.work() > options.work_max {
                deadlocks.cut(DeadlockCut::Work);
                deadlocks.undecided += total - done;
                break;
            }
            let of_cycle: Vec<&Class> = cycle.iter().map(|at| &classes[*at as usize]).collect();
            match search.decide(self, &of_cycle, &control.cancel) {
                None => deadlocks.impossible += 1,
                Some(Decided { requests, evidence }) => {
                    if let DeadlockEvidence::Open(cut) = &evidence {
                        deadlocks.cut(*cut);
                    }
                    deadlocks.undecided += u64::from(evidence.is_open());
                    let deadlock = deadlock(&self.past, (&of_cycle, &signals), &requests, evidence);
                    deadlocks.found.push(deadlock);
                }
            }
        }
        deadlocks
    }
}

/// The search for the deadlocks of one trace.
struct Search<'s> {
    closures: Option<&'s Closures>,
    options: &'s DeadlockOptions,
    check: CheckDeadlock<'s>,
    work_max: u64,
    bounds: Bounds,
    /// Choices tried for the current cycle, by the solver and by closures.
    tries: u64,
    choices: u64,
}

impl Search<'_> {
    /// Returns what closures and bounds visited so far.
    fn work(&self) -> u64 {
        self.closures.map_or(0, Closures::work).saturating_add(self.bounds.work)
    }

    /// Decides one cycle. `None` if no run of the recorded events ends in it.
    fn decide(
        &mut self,
        confirmer: &mut Confirmer<'_>,
        of_cycle: &[&Class],
        cancel: &Cancel,
    ) -> Option<Decided> {
        (self.tries, self.choices) = (0, 0);
        let mut open: Vec<(Threads, Vec<usize>)> = Vec::new();
        let mut count = 0;
        let mut decided = None;
        let signals = confirmer.signals(cancel);
        let mut all_bounds = std::mem::take(&mut self.bounds);
        let mut bounds = all_bounds.of_cycle((&confirmer.past, &signals), of_cycle);
        let is_whole = each_choice_of_threads(of_cycle, &mut |threads| {
            count += 1;
            if count > THREADS_MAX {
                return ControlFlow::Break(());
            }
            let lists = lists(of_cycle, threads);
            if !bounds.may_be(&signals, &lists) {
                return ControlFlow::Continue(());
            }
            let Some(closures) = self.closures else {
                open.push((threads.clone(), vec![0; threads.len()]));
                return ControlFlow::Continue(());
            };
            let (from, choice) = (vec![0; threads.len()], (&lists[..], of_cycle));
            let past = &confirmer.past;
            let Some(needed) = closures.close(past, choice, &from, Rule::Necessary) else {
                return ControlFlow::Continue(());
            };
            if let Some(closed) = closures.close(past, choice, &needed.chosen, Rule::InOrder)
                && let Some(found) = self.in_order(confirmer, (&lists, of_cycle), closed, cancel)
            {
                decided = Some(found);
                return ControlFlow::Break(());
            }
            open.push((threads.clone(), needed.chosen));
            ControlFlow::Continue(())
        });
        if decided.is_none() {
            decided = self.by_solver(confirmer, (of_cycle, &mut bounds), (open, is_whole), cancel);
        }
        self.bounds = all_bounds;
        decided
    }

    /// Makes the witness of a closure. `None` if its order breaks a rule that the closure does not
    /// know: what calls wait for, or barriers. Calls that wait too long get what they lack, some
    /// times.
    fn in_order(
        &mut self,
        confirmer: &mut Confirmer<'_>,
        choice: (&Choice<'_>, &[&Class]),
        mut closed: Closed,
        cancel: &Cancel,
    ) -> Option<Decided> {
        let signals = confirmer.signals(cancel);
        for _ in 0..LACKING_MAX {
            let past = &confirmer.past;
            let doubtful =
                |top: &u32| top.checked_sub(1).is_some_and(|last| past.is_doubtful(last));
            if closed.tops.iter().any(doubtful) || cancel.reason().is_some() {
                return None;
            }
            let chosen = choice.0.iter().zip(&closed.chosen);
            let requests: Vec<u32> = chosen.map(|((_, list), at)| list[*at]).collect();
            let of = (&requests[..], &waits((past, &signals), choice.1)[..], &signals);
            let question = Question::deadlock(past, of, Vec::new(), confirmer.sabotage);
            let first = past.holding.overlap().min(past.first_doubt);
            let found = Closures::events(past, &closed.tops, first);
            let broken = confirmer.broken(&question, found.0, &found.1);
            if broken.is_empty() {
                let witness = confirmer.witness(&question, found, cancel);
                return Some(self.checked(requests, (witness, true), cancel));
            }
            let closures = self.closures?;
            let waiting = broken.iter().filter_map(|clause| match clause[..] {
                [Atom::Out(call), ..] => Some(call),
                _ => None,
            });
            let waiting: Vec<u32> = waiting.collect();
            let past = &confirmer.past;
            let lacking = Closures::lacking(past, &waiting, &closed.tops);
            if lacking.is_empty() {
                return None;
            }
            closed = closures.close_with(past, choice, (closed, &lacking), Rule::InOrder)?;
        }
        None
    }

    fn checked(
        &mut self,
        requests: Vec<u32>,
        (witness, in_order): (Witness, bool),
        cancel: &Cancel,
    ) -> Decided {
        let ids: Vec<EventId> = requests.iter().copied().map(EventId).collect();
        let evidence = match (self.check)(&ids, &witness) {
            Ok(()) => DeadlockEvidence::Confirmed { witness, in_order },
            // The check of a stopped job says nothing.
            Err(_) if cancel.reason().is_some() => DeadlockEvidence::Open(DeadlockCut::Stopped),
            Err(why) => DeadlockEvidence::Rejected(why),
        };
        Decided { requests, evidence }
    }

    /// Asks the order solver for one choice of requests after the other.
    fn by_solver(
        &mut self,
        confirmer: &mut Confirmer<'_>,
        (of_cycle, bounds): (&[&Class], &mut OfCycle<'_>),
        (open, is_whole): (Vec<(Threads, Vec<usize>)>, bool),
        cancel: &Cancel,
    ) -> Option<Decided> {
        let mut undecided: Option<(Vec<u32>, DeadlockCut)> = None;
        if !is_whole {
            let first = of_cycle.iter().map(|class| class.members[0].1[0]).collect();
            undecided = Some((first, DeadlockCut::Tries));
        }
        'threads: for (threads, from) in open {
            let lists = lists(of_cycle, &threads);
            let mut at = from.clone();
            loop {
                let requests: Vec<u32> =
                    lists.iter().zip(&at).map(|((_, list), at)| list[*at]).collect();
                let choice = (&lists[..], of_cycle);
                match self.ask(confirmer, (choice, bounds), (&at, &requests), cancel) {
                    Asked::Found(witness) => {
                        return Some(self.checked(requests, (witness, false), cancel));
                    }
                    Asked::Impossible => {}
                    Asked::Open(cut) => {
                        undecided.get_or_insert((requests, cut));
                    }
                    Asked::Enough(cut) => {
                        undecided.get_or_insert((requests, cut));
                        break 'threads;
                    }
                }
                if !next(&mut at, &from, &lists) {
                    break;
                }
            }
        }
        let (requests, cut) = undecided?;
        Some(Decided { requests, evidence: DeadlockEvidence::Open(cut) })
    }

    fn ask(
        &mut self,
        confirmer: &mut Confirmer<'_>,
        (choice, bounds): ((&Choice<'_>, &[&Class]), &mut OfCycle<'_>),
        (at, requests): (&[usize], &[u32]),
        cancel: &Cancel,
    ) -> Asked {
        self.choices += 1;
        if self.choices > CHOICES_MAX {
            return Asked::Enough(DeadlockCut::Tries);
        }
        let signals = confirmer.signals(cancel);
        let waits = waits((&confirmer.past, &signals), choice.1);
        if !meets((&confirmer.past, &signals), choice, requests) {
            return Asked::Impossible;
        }
        let of_chains = choice.0.iter().zip(requests).map(|((chain, _), of)| (*chain, *of));
        if !bounds.may_run_out(&signals, &of_chains.collect::<Vec<_>>()) {
            return Asked::Impossible;
        }
        let mut needs = Vec::new();
        if let Some(closures) = self.closures {
            let closed = closures.close(&confirmer.past, choice, at, Rule::Necessary);
            let Some(closed) = closed.filter(|closed| closed.chosen == at) else {
                return Asked::Impossible;
            };
            needs.extend(closed.tops.iter().filter_map(|top| top.checked_sub(1)));
        }
        if cancel.reason().is_some() {
            return Asked::Enough(DeadlockCut::Stopped);
        }
        self.tries += 1;
        if self.tries > self.options.tries_max {
            return Asked::Enough(DeadlockCut::Tries);
        }
        let work = self.closures.map_or(0, Closures::work).saturating_add(bounds.work());
        if confirmer.stats().events > self.work_max || work > self.options.work_max {
            return Asked::Enough(DeadlockCut::Work);
        }
        match confirmer.confirm_deadlock((requests, &waits, needs), cancel) {
            Answer::Confirmed(witness) => Asked::Found(witness),
            Answer::Impossible => Asked::Impossible,
            Answer::Unconfirmed(why) => Asked::Open(DeadlockCut::GaveUp(why)),
        }
    }
}

enum Asked {
    Found(Witness),
    Impossible,
    /// This choice is undecided.
    Open(DeadlockCut),
    /// No further choice is tried.
    Enough(DeadlockCut),
}

/// Returns which requests of a cycle wait for signals or permits.
fn waits(of: (&Past<'_>, &Signals), of_cycle: &[&Class]) -> Vec<bool> {
    of_cycle.iter().map(|class| is_signal(of, class)).collect()
}

/// Returns whether the next thread has yet to arrive at each barrier where a request waits.
fn meets(
    of: (&Past<'_>, &Signals),
    (choice, of_cycle): (&Choice<'_>, &[&Class]),
    requests: &[u32],
) -> bool {
    of_cycle.iter().enumerate().all(|(at, class)| {
        let Some(number) = barrier(of, class) else { return true };
        let follower = (at + 1) % requests.len();
        let next = (choice[follower].0, requests[follower]);
        let round = of.0.barriers.round(requests[at]);
        round.is_some_and(|round| of.1.arrivals.late(number, next, round) == Some(round))
    })
}

/// Returns the lists of the chosen threads.
fn lists<'c>(of_cycle: &[&'c Class], threads: &[usize]) -> Vec<(u32, &'c [u32])> {
    let member = |(class, at): (&&'c Class, &usize)| {
        let (chain, list) = &class.members[*at];
        (*chain, list.as_slice())
    };
    of_cycle.iter().zip(threads).map(member).collect()
}

/// Advances to the next choice of requests; returns whether there is one.
fn next(at: &mut [usize], from: &[usize], lists: &[(u32, &[u32])]) -> bool {
    for ((at, from), (_, list)) in at.iter_mut().zip(from).zip(lists) {
        *at += 1;
        if *at < list.len() {
            return true;
        }
        *at = *from;
    }
    false
}

/// Calls `each` with every choice of different threads for the classes of a cycle. Returns whether
/// all were listed.
fn each_choice_of_threads(
    of_cycle: &[&Class],
    each: &mut dyn FnMut(&Threads) -> ControlFlow<()>,
) -> bool {
    let mut threads: Threads = Vec::new();
    let mut used: Vec<u32> = Vec::new();
    let mut place = 0;
    loop {
        let depth = threads.len();
        let members = of_cycle.get(depth).map_or(&[][..], |class| &class.members);
        if depth == of_cycle.len() {
            if each(&threads).is_break() {
                return false;
            }
        } else if let Some((chain, _)) = members.get(place) {
            if used.contains(chain) {
                place += 1;
            } else {
                used.push(*chain);
                threads.push(place);
                place = 0;
            }
            continue;
        }
        let Some(last) = threads.pop() else { return true };
        used.pop();
        place = last + 1;
    }
}
