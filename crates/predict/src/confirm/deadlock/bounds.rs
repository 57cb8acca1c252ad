//! Cycles of requests that the numbers of permits rule out, whatever the order.
//!
//! At the end of a run to a deadlock no permit is left of the semaphores that requests wait for, so
//! the sum of what is left of some of them is not above 0. It is what there is in the beginning and
//! by how much the calls of each thread change it. A thread of the cycle stands before its request.
//! Another one stands where its next call of these semaphores takes a permit, needs a request or is
//! kept, or where it has none. The least of all these sums is a bound. In a bounded buffer, for
//! instance, each item and each place is a permit, and all that is taken of one kind is given of
//! the other.
//!
//! And of no semaphore is less left than nothing, so threads cannot stand within more sections of a
//! semaphore than it has permits.
//!
//! **Cost.** Linear in the calls of the semaphores, once for each set of them; then in the requests
//! of the cycle, for each thread once.

use super::closure::{is_signal, locks};
use super::permits::{Gone, PermitCall, Semaphore};
use super::requests::Class;
use super::sabotage::Sabotage;
use super::signals::Signals;
use crate::confirm::past::Past;
use std::collections::HashMap;
use std::rc::Rc;

/// The largest number of semaphores in a cycle for which all pairs are checked.
const PAIRS_MAX: usize = 8;

/// What is least left of some semaphores, wherever threads stand that are not of the cycle.
#[derive(Debug, Default)]
struct Least {
    semaphores: Vec<u32>,
    /// The semaphores that are added up.
    sums: Vec<Vec<u32>>,
    /// What is left before all calls, by sum.
    base: Vec<i64>,
    /// By chain: for each sum the least change.
    of_chain: HashMap<u32, Vec<i64>>,
}

/// What is known for the sets of semaphores so far.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    known: HashMap<Gone, Option<Rc<Least>>>,
    /// Calls and requests looked at.
    pub(super) work: u64,
    sabotage: Sabotage,
}

/// The bounds of one cycle of classes.
pub(super) struct OfCycle<'b> {
    bounds: &'b mut Bounds,
    least: Option<Rc<Least>>,
    /// The semaphores of which the classes have permits.
    held: Vec<u32>,
    /// By class and chain: for each sum the least change before the requests, and for each of
    /// `held` the greatest.
    members: HashMap<(usize, u32), (Vec<i64>, Vec<i64>)>,
}

impl Bounds {
    pub(super) fn new(sabotage: Sabotage) -> Bounds {
        Bounds { sabotage, ..Bounds::default() }
    }

    /// Prepares what is known of a cycle.
    pub(super) fn of_cycle<'b>(
        &'b mut self,
        (past, signals): (&Past<'_>, &Signals),
        of_cycle: &[&Class],
    ) -> OfCycle<'b> {
        let tables = past.trace.tables();
        let first = (tables.locks.len() + tables.handlers.len()) as u32;
        let number = |thing: u32| {
            let number = thing.checked_sub(first)?;
            signals.permits.semaphore(number).map(|_| number)
        };
        let awaited = of_cycle.iter().filter(|class| is_signal((past, signals), class));
        let mut awaited: Vec<u32> = awaited.filter_map(|of| number(of.target.number)).collect();
        let held = of_cycle.iter().flat_map(|class| &class.held);
        let mut held: Vec<u32> = held.filter_map(|held| number(held.number)).collect();
        for list in [&mut awaited, &mut held] {
            list.sort_unstable();
            list.dedup();
        }
        // Of others, less than nothing may be left.
        held.retain(|of| {
            let of = signals.permits.semaphore(*of);
            of.is_some_and(|of| !of.is_overdrawn && of.base.is_some())
        });
        let gone = Gone { semaphores: awaited, locks: locks(past, of_cycle, self.sabotage) };
        let least = match self.known.get(&gone) {
            Some(least) => least.clone(),
            None => {
                let least = self.least(past, signals, &gone).map(Rc::new);
                self.known.insert(gone, least.clone());
                least
            }
        };
        OfCycle { bounds: self, least, held, members: HashMap::new() }
    }

    /// Finds where threads can stand. `None` if there are no semaphores, or what is left of one is
    /// no sum.
    fn least(&mut self, past: &Past<'_>, signals: &Signals, gone: &Gone) -> Option<Least> {
        let Gone { semaphores, locks } = gone;
        let base = |of: &u32| signals.permits.semaphore(*of).and_then(|of: &Semaphore| of.base);
        let bases: Vec<i64> = semaphores.iter().map(base).collect::<Option<_>>()?;
        let mut sums: Vec<Vec<usize>> = (0..semaphores.len()).map(|of| vec![of]).collect();
        if semaphores.len() <= PAIRS_MAX {
            let pairs = (0..semaphores.len()).flat_map(|a| (0..a).map(move |b| vec![b, a]));
            sums.extend(pairs);
        }
        if semaphores.len() > 2 {
            sums.push((0..semaphores.len()).collect());
        }
        let add = |of: &Vec<usize>, all: &[i64]| -> i64 {
            of.iter().fold(0, |sum: i64, at| sum.saturating_add(all[*at]))
        };
        let mut of_chain = HashMap::new();
        for chain in signals.callers(semaphores) {
            let mut calls: Vec<(PermitCall, usize)> = Vec::new();
            for (at, number) in semaphores.iter().enumerate() {
                let own = signals.permits.of_chain(*number, chain);
                calls.extend(own.into_iter().flat_map(|of| &of.calls).map(|call| (*call, at)));
            }
            // What takes a value may give room as well: a thread can stand before that.
            calls.sort_unstable_by_key(|(call, _)| (call.event, call.gives));
            self.work += (calls.len() * sums.len()) as u64;
            let mut now = vec![0_i64; semaphores.len()];
            let mut least = vec![i64::MAX; sums.len()];
            let (mut row, mut from) = (0, 0);
            let mut is_kept = |call: &PermitCall, from: u32| {
                self.work += locks.len() as u64;
                signals.next_section(past, locks, (chain, from)) < call.event
            };
            for next in calls.iter().map(Some).chain([None]) {
                // Where the clock changes, the next call may need a request.
                if next
                    .is_none_or(|(call, _)| !call.gives || call.row != row || is_kept(call, from))
                {
                    let sums = sums.iter().map(|of| add(of, &now));
                    least.iter_mut().zip(sums).for_each(|(least, sum)| *least = sum.min(*least));
                }
                if let Some((call, at)) = next {
                    (row, from) = (call.row, call.event + 1);
                    now[*at] = now[*at].saturating_add(call.change);
                }
            }
            of_chain.insert(chain, least);
        }
        let base = sums.iter().map(|of| add(of, &bases)).collect();
        let sums = sums.iter().map(|of| of.iter().map(|at| semaphores[*at]).collect()).collect();
        (!semaphores.is_empty()).then(|| Least {
            semaphores: semaphores.to_vec(),
            sums,
            base,
            of_chain,
        })
    }
}

impl OfCycle<'_> {
    /// Returns how much all bounds looked at so far.
    pub(super) const fn work(&self) -> u64 {
        self.bounds.work
    }

    /// Returns whether permits can run out, and suffice, for some requests of the lists: those of
    /// the chosen thread of each class.
    pub(super) fn may_be(&mut self, signals: &Signals, lists: &[(u32, &[u32])]) -> bool {
        if self.least.is_none() && self.held.is_empty() {
            return true;
        }
        for (class, (chain, list)) in lists.iter().enumerate() {
            if !self.members.contains_key(&(class, *chain)) {
                let of = self.member(signals, *chain, list);
                self.members.insert((class, *chain), of);
            }
        }
        let of = |at: usize| &self.members[&(at, lists[at].0)];
        let is_member = |chain: u32| lists.iter().any(|(member, _)| *member == chain);
        let can_run_out = self.least.as_ref().is_none_or(|least| {
            let of_members = |sum: usize| (0..lists.len()).map(move |at| of(at).0[sum]);
            self.runs_out(least, &is_member, &|sum| of_members(sum).fold(0, i64::saturating_add))
        });
        can_run_out
            && self.held.iter().enumerate().all(|(at, number)| {
                let Some(semaphore) = signals.permits.semaphore(*number) else { return true };
                let others = semaphore.chains.iter().filter(|of| !is_member(of.chain));
                let others = others.fold(0, |sum: i64, of| sum.saturating_add(of.most));
                let own = (0..lists.len()).map(|member| of(member).1[at]);
                let own = own.fold(others, i64::saturating_add);
                own.saturating_add(semaphore.base.unwrap_or(i64::MAX)) >= 0
            })
    }

    /// Returns whether permits can run out for these requests, of these chains.
    pub(super) fn may_run_out(&mut self, signals: &Signals, requests: &[(u32, u32)]) -> bool {
        let Some(least) = &self.least else { return true };
        self.bounds.work += (requests.len() * least.semaphores.len()) as u64;
        let change = |of: &u32, (chain, request): &(u32, u32)| {
            signals.permits.of_chain(*of, *chain).map_or(0, |of| of.sum(*request))
        };
        let own = |sum: usize| {
            let all = least.sums[sum].iter().flat_map(|of| requests.iter().map(move |r| (of, r)));
            all.fold(0, |sum: i64, (of, request)| sum.saturating_add(change(of, request)))
        };
        self.runs_out(least, &|chain| requests.iter().any(|of| of.0 == chain), &own)
    }

    fn runs_out(
        &self,
        least: &Least,
        is_member: &dyn Fn(u32) -> bool,
        own: &dyn Fn(usize) -> i64,
    ) -> bool {
        (0..least.sums.len()).all(|sum| {
            let others = least.of_chain.iter().filter(|(chain, _)| !is_member(**chain));
            let others = others.fold(0, |all: i64, (_, of)| all.saturating_add(of[sum]));
            let others =
                if self.bounds.sabotage == Sabotage::OutsidersForgotten { 0 } else { others };
            others.saturating_add(own(sum)).saturating_add(least.base[sum]) <= 0
        })
    }

    /// Finds the bounds of one thread of a class.
    fn member(&mut self, signals: &Signals, chain: u32, list: &[u32]) -> (Vec<i64>, Vec<i64>) {
        let nothing = (Vec::new(), Vec::new());
        let (semaphores, sums) = match &self.least {
            Some(least) => (&least.semaphores, &least.sums),
            None => (&nothing.0, &nothing.1),
        };
        self.bounds.work += (list.len() * (semaphores.len() + self.held.len() + 1)) as u64;
        let mut least = vec![i64::MAX; sums.len()];
        let mut most = vec![i64::MIN; self.held.len()];
        let change = |number: u32, request: u32| {
            signals.permits.of_chain(number, chain).map_or(0, |of| of.sum(request))
        };
        for request in list {
            let now: HashMap<u32, i64> =
                semaphores.iter().map(|of| (*of, change(*of, *request))).collect();
            for (least, sum) in least.iter_mut().zip(sums) {
                let sum = sum.iter().fold(0, |all: i64, of| all.saturating_add(now[of]));
                *least = sum.min(*least);
            }
            for (most, number) in most.iter_mut().zip(&self.held) {
                *most = change(*number, *request).max(*most);
            }
        }
        (least, most)
    }
}
