//! Executions that show what so far only the search says.
//!
//! The search finds deadlocks and races on the trees of the threads, in states in which the program
//! may never have been. That is right if a thread does what its results tell it. Where threads
//! share data that is no object, as an atomic of the standard library, they do not, and nothing
//! shows it as long as no execution comes there: a thread waits for ever for what it would not wait
//! for. So the program runs to each such place. Either it shows the fault, or it shows what is
//! wrong with the trees: then the exploration is not complete, and that fault is none of the
//! program.

use super::learner::Learner;
use super::outcome::{Blocked, Fault, Incomplete};
use super::walks::Beyond;
use crate::execution::Step;
use crate::program::ThreadProgram;
use anyorder_common::random::SplitMix64;

/// How many random executions are compared with the trees.
const SPOT_CHECKS: u32 = 16;

impl<P: ThreadProgram + ?Sized> Learner<'_, P> {
    /// Runs the program along the way to each fault that no execution has shown.
    pub(super) fn confirm(&mut self) {
        let before = self.begin_apart();
        for fault in std::mem::take(&mut self.claimed) {
            if self.options.cancel.check().is_err() {
                break;
            }
            let found = self.learnt.faults.iter().find(|found| found.fault == fault);
            let Some(path) = found.map(|found| found.steps.clone()) else { continue };
            let reason = match self.run(&path) {
                Ok(()) if self.has_shown(&fault, &path) => continue,
                Ok(()) => Incomplete::Diverged(None),
                Err(reason @ Incomplete::Diverged(_)) => reason,
                Err(_) => continue,
            };
            self.learnt.faults.retain(|found| found.fault != fault);
            match &mut self.learnt.incomplete {
                Some(Incomplete::Diverged(Some(_))) => {}
                known => *known = Some(reason),
            }
            self.learnt.preemptions = None;
        }
        self.end_apart(before);
    }

    /// Runs some of the executions that the search has left out, if threads may share data that is
    /// no object: they show whether threads do what the trees say.
    pub(super) fn spot_check(&mut self) {
        let is_complete =
            self.learnt.incomplete.is_none() && self.options.preemptions_max.is_none();
        if !is_complete || !self.execution.program_ref().may_hide_data() {
            return;
        }
        let before = self.begin_apart();
        let mut rng = SplitMix64(3);
        let most = u64::from(SPOT_CHECKS).min(self.options.executions_max) as u32;
        for number in 0..most {
            let Ok(Some((path, Beyond::Nothing))) = self.walk_settled(&mut rng, number) else {
                break;
            };
            if let Err(reason @ Incomplete::Diverged(_)) = self.run(&path) {
                self.learnt.incomplete = Some(reason);
                break;
            }
        }
        self.end_apart(before);
    }

    /// From now on executions are counted apart. Returns what was counted before.
    fn begin_apart(&mut self) -> (u64, u64) {
        self.executions_max = u64::MAX;
        (self.learnt.executions, self.learnt.steps)
    }

    fn end_apart(&mut self, (executions, steps): (u64, u64)) {
        self.learnt.confirmations += self.learnt.executions - executions;
        (self.learnt.executions, self.learnt.steps) = (executions, steps);
    }

    /// Whether the last execution, which went along a path, ended there as a fault says. Races are
    /// a matter of the operations alone, which are those of the path.
    fn has_shown(&self, fault: &Fault, path: &[Step]) -> bool {
        let (Fault::Deadlock(blocked) | Fault::Livelock(blocked)) = fault else { return true };
        let is_at = |(pending, blocked): (_, &Blocked)| {
            let (thread, next): (_, &crate::program::Next) = pending;
            thread == blocked.thread && next.op == blocked.op
        };
        self.execution.events().len() == path.len()
            && self.execution.pending().len() == blocked.len()
            && self.execution.pending().zip(blocked).all(is_at)
    }
}
