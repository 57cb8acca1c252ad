//! Search by rising preemptions: all executions with none, then all with at most one, and so on.
//!
//! A *preemption* is a switch away from a thread that could go on. One that waits, with a time-out
//! or without, that gives way or that has ended is not preempted. Programs have few preemptions in
//! the executions that matter (M. Musuvathi, S. Qadeer, "Iterative context bounding for systematic
//! testing of multithreaded programs", PLDI 2007), so what is complete up to some number of them
//! is worth something where not everything can be tried.
//!
//! A persistent set may leave out the only execution of its kind that stays within a bound (K.
//! Coons, M. Musuvathi, K. McKinley, "Bounded partial-order reduction", OOPSLA 2013). So there are
//! none here, but for [local](super::persistent::Persistent::is_local) steps: a thread is not
//! preempted before these, since after them the same switch costs no more. States are one as in
//! the other search, if also the thread that made the last step is in the same place, or does not
//! matter. One that was left with few preemptions need not be searched again with more.

use super::learner::Learner;
use super::outcome::{Fault, Incomplete};
use super::sabotage::Sabotage;
use super::state::{Keys, State, Successor};
use crate::execution::Step;
use crate::ids::ThreadId;
use crate::program::ThreadProgram;
use anyorder_common::hash::Hash128;
use anyorder_common::state_hash::StateHash;
use rustc_hash::FxHashMap;

/// A state of the search and the steps to try there, each with whether it is a preemption.
struct Branch {
    state: State,
    steps: Vec<(Step, bool)>,
    next: usize,
    /// The preemptions on the way to it.
    used: u32,
    /// The hash of the state, if it has a choice.
    key: Option<Hash128>,
    /// The executions when the state was entered.
    executions: u64,
}

/// The search within one bound.
#[derive(Default)]
struct Within {
    most: u32,
    stack: Vec<Branch>,
    /// By hash of a state, the fewest preemptions with which it was searched.
    least: FxHashMap<Hash128, u32>,
    /// Whether a preemption was not tried.
    is_cut: bool,
}

impl Within {
    fn is_known(&self, key: Hash128, used: u32) -> bool {
        self.least.get(&key).is_some_and(|least| *least <= used)
    }

    fn note(&mut self, key: Hash128, used: u32) {
        let least = self.least.entry(key).or_insert(used);
        *least = used.min(*least);
    }

    /// The steps from the start to where the search is.
    fn way(&self) -> Vec<Step> {
        let step = |branch: &Branch| branch.steps[branch.next.saturating_sub(1)].0;
        self.stack.iter().map(step).collect()
    }
}

impl<P: ThreadProgram + ?Sized> Learner<'_, P> {
    /// Explores all executions with at most so many preemptions, few before many.
    pub(super) fn rise(&mut self, most: u32) -> Result<(), Incomplete> {
        self.is_rising = true;
        self.bound = (most != u32::MAX).then_some(most);
        if self.known.root(ThreadId::MAIN).is_none() {
            self.run(&[])?;
        }
        for bound in 0..=most {
            loop {
                self.begin_search();
                let mut within = Within { most: bound, ..Within::default() };
                self.search_within(&mut within)?;
                if self.has_learnt {
                    continue;
                }
                if !within.is_cut {
                    self.learnt.preemptions = None;
                    return Ok(());
                }
                self.learnt.preemptions = self.learnt.preemptions.max(Some(bound));
                break;
            }
        }
        Ok(())
    }

    /// Searches what is known within a bound, and learns what is not.
    fn search_within(&mut self, within: &mut Within) -> Result<(), Incomplete> {
        let Some(start) = State::start(&self.known, self.sabotage) else { return Ok(()) };
        self.branch(start, None, 0, within)?;
        while let Some(branch) = within.stack.last_mut() {
            let Some((step, preempts)) = branch.steps.get(branch.next).copied() else {
                self.leave(within);
                continue;
            };
            branch.next += 1;
            let used = branch.used + u32::from(preempts);
            if used > within.most {
                within.is_cut = true;
                continue;
            }
            if !self.goes_on()? {
                return Ok(());
            }
            let state = match branch.next == branch.steps.len() {
                true => std::mem::take(&mut branch.state),
                false => branch.state.clone(),
            };
            let keep = self.options.classes;
            let (after, races) = match state.after(step, &self.known, &mut self.slots, keep) {
                Successor::Known(after, races) => (after, races),
                Successor::Unknown(node, result) => {
                    let path = within.way();
                    self.run_to_learn(&path, (node, result))?;
                    // The same step, from what is known now.
                    let state = self.state_after(&path[..path.len() - 1]);
                    if let (Some(branch), Some(state)) = (within.stack.last_mut(), state) {
                        branch.next -= 1;
                        branch.state = state;
                    }
                    continue;
                }
            };
            for race in races {
                self.claim(Fault::Race(race), || within.way());
            }
            self.branch(after, Some(step.thread), used, within)?;
        }
        Ok(())
    }

    /// Leaves the state at the top of the stack.
    fn leave(&self, within: &mut Within) {
        let Some(branch) = within.stack.pop() else { return };
        // What was learnt below may be news about another state with this key, too.
        if let Some(key) = branch.key
            && branch.executions == self.learnt.executions
        {
            within.note(key, branch.used);
        }
    }

    /// Enters a state, unless it was searched with as few preemptions.
    fn branch(
        &mut self,
        state: State,
        last: Option<ThreadId>,
        used: u32,
        within: &mut Within,
    ) -> Result<(), Incomplete> {
        self.settle(&state, || within.way())?;
        let mut ways = Vec::new();
        state.ways(&self.known, self.options.spins_max, &mut ways);
        let held = last.and_then(|last| self.held(&state, &ways, last));
        let is_alone = held.is_some_and(|at| {
            self.persistent.is_local(at, &state, &self.known, &ways, self.sabotage)
        });
        let mut steps = Vec::new();
        for preempts in [false, true] {
            for (at, (thread, _)) in state.live.iter().enumerate() {
                if preempts != held.is_some_and(|held| held != at) || (preempts && is_alone) {
                    continue;
                }
                let step = |alternative| (Step { thread: *thread, alternative }, preempts);
                steps.extend((0..ways[at]).map(step));
            }
        }
        // A state without a choice leads to one with a choice, or to an end.
        let mut key = None;
        if steps.len() > 1 {
            let Keys { like, same } = self.keys_within(&state, held);
            if within.is_known(like, used) || within.is_known(same, used) {
                return Ok(());
            }
            // Classes change as long as something is learnt; places stay what they are.
            within.note(same, used);
            key = Some(like);
            self.learnt.states += 1;
        }
        if steps.is_empty() {
            self.note_end_of(&state, || within.way());
            return Ok(());
        }
        let executions = self.learnt.executions;
        within.stack.push(Branch { state, steps, next: 0, used, key, executions });
        Ok(())
    }

    /// The position of the thread that made the last step, if a switch to another one preempts it.
    fn held(&self, state: &State, ways: &[u32], last: ThreadId) -> Option<usize> {
        let at = state.live.binary_search_by_key(&last, |live| live.0).ok()?;
        let op = self.known.op(state.live[at].1);
        (ways[at] > 0 && state.world.goes_on(last, op, self.sabotage)).then_some(at)
    }

    /// The hashes of a state, and of the thread that a switch preempts.
    fn keys_within(&self, state: &State, held: Option<usize>) -> Keys {
        let keys = state.keys(&self.known, &self.slots, self.sabotage);
        let Some(at) = held.filter(|_| self.sabotage != Sabotage::LastForgotten) else {
            return keys;
        };
        let (thread, node) = state.live[at];
        // Where the key of a state has the numbers of threads, it has that of this one.
        let preempted = state.has_views().then_some(thread);
        Keys {
            like: StateHash::of(&(keys.like, preempted, self.known.node(node).class)),
            same: StateHash::of(&(keys.same, thread)),
        }
    }
}
