//! Giving up reduction: the search stops looking for tasks to leave out once it finds none.
//!
//! If all ready tasks of a state were attempted, the set of all tasks is valid for it, because this
//! set obeys S1 to S3 whatever facts follow. So a search may switch to following everything in new
//! states at any time. States that were reduced before stay reduced, and their sets are kept closed
//! as long as such states exist. For this, and to infer edges, the search still records footprints.

use super::commuting::EXECUTED;
use super::engine::{Engine, Mode};
use super::expand::{Shared, Worker};
use super::found::{Item, NEW, SOURCE_BLOCKED};
use super::options::{FEW, GiveUp};
use super::space::{NOT_RECORDED, WAITING};
use anyorder_common::bits;
use anyorder_system::{Reducible, Successor};

impl<S: Reducible> Engine<'_, S> {
    /// Returns whether inferring edges has saved time so far.
    pub(crate) fn inference_pays(&self) -> bool {
        self.spared * 32 >= self.stats.transitions.saturating_sub(1 << 12)
    }

    /// Decides between blocks whether to give up reduction. Depends on the results in order, not on
    /// threads.
    pub(crate) fn decide_giving_up(&mut self) {
        if self.mode != Mode::Reduce {
            return;
        }
        let now = match self.options.give_up {
            GiveUp::Never => false,
            GiveUp::At(states) => self.expanded >= states,
            GiveUp::WhenUseless | GiveUp::Leave(_) => {
                let ask = self.expanded >= self.ask_at && !self.queue.is_empty();
                if ask {
                    self.ask_at = self.expanded.saturating_mul(2);
                    self.counts.left = self.leaves();
                }
                ask && self.space.kept.is_empty()
                    && !self.queue.iter().any(|item| self.is_reduced(item))
            }
        };
        if !now {
            return;
        }
        self.counts.gave_up_reducing = Some(self.stats.states);
        let reduced =
            !self.space.kept.is_empty() || self.queue.iter().any(|item| self.is_reduced(item));
        let infers = self.options.infer && self.inference_pays() && !self.reports_tasks();
        self.mode = if reduced || infers { Mode::FollowAll } else { Mode::Bare };
    }

    /// Returns whether a full search should take over.
    fn leaves(&self) -> bool {
        let GiveUp::Leave(from) = self.options.give_up else { return false };
        if self.expanded > from.saturating_mul(8) {
            return false;
        }
        let left_out: u64 = self.space.kept.keys().map(|number| self.left_out(*number)).sum();
        left_out * FEW <= self.space.edges_in_use() + left_out
    }

    /// Returns the number of ready tasks that were not attempted in a state.
    fn left_out(&self, number: u32) -> u64 {
        let ready = self.know.sets.rows.row(self.space.nodes[number as usize].ready);
        let attempted = self.space.edges(number).chunk_by(|one, other| one.task == other.task);
        u64::from(ready.iter().map(|word| word.count_ones()).sum::<u32>())
            .saturating_sub(attempted.count() as u64)
    }

    /// Returns whether the system reports the task of each transition. Then computing all
    /// transitions of a state at once costs less than inferring some of them.
    fn reports_tasks(&self) -> bool {
        let mut transitions = Vec::new();
        self.queue.iter().take(8).any(|item| {
            self.system.successors(&item.state, &mut transitions);
            let is_reported = |one: &Successor<S::State, S::Action>| {
                self.system.task_of(&item.state, &one.action).is_some()
            };
            transitions.drain(..).any(|one| is_reported(&one))
        })
    }

    /// Returns whether a waiting state was expanded before, and has a set of its own.
    fn is_reduced(&self, item: &Item<S::State>) -> bool {
        self.space.nodes[item.number as usize].inside != WAITING
    }
}

impl<S: Reducible> Worker<S> {
    /// Expands a state by attempting all ready tasks.
    pub(super) fn follow_all(&mut self, shared: &Shared<'_, S>, item: &Item<S::State>) {
        self.begin_offers();
        if shared.mode == Mode::Bare {
            self.check_invariants(shared, item);
        } else {
            // What observers read here are facts for the sets of other states.
            self.check_and_watch(shared, item);
        }
        if shared.mode != Mode::Bare || !self.take_transitions(shared, item) {
            self.find_commuting_steps(shared, item.number);
            for index in 0..self.ready.len() {
                let word = self.ready[index];
                for bit in bits::members_of_word(word) {
                    if shared.is_stopped() {
                        break;
                    }
                    self.attempt_all(shared, item, index as u32 * 64 + bit);
                }
            }
        }
        self.inside.copy_from_slice(&self.ready);
        let number = shared.know.sets.find(&self.ready);
        self.finish(shared, item, true, number);
    }

    /// Takes all transitions of a state at once. Returns false, and takes none, if the system does
    /// not report their tasks.
    fn take_transitions(&mut self, shared: &Shared<'_, S>, item: &Item<S::State>) -> bool {
        let mut all = std::mem::take(&mut self.transitions);
        let mut updates = std::mem::take(&mut self.updates);
        updates.clear();
        if shared.know.reading.updates {
            shared.system.successors_with_updates(&item.state, &mut all, &mut updates);
        } else {
            shared.system.successors(&item.state, &mut all);
        }
        self.owners.clear();
        for transition in &all {
            let key = shared.system.task_of(&item.state, &transition.action);
            let Some(task) = key.and_then(|key| shared.know.tasks.find(key.0)) else {
                all.clear();
                self.transitions = all;
                self.updates = updates;
                return false;
            };
            self.owners.push(task);
        }
        // Groups the transitions by task, in their order.
        let mut places: Vec<usize> = Vec::new();
        if !self.owners.is_sorted() {
            let owned = self.owners.drain(..).zip(all.drain(..)).enumerate();
            let mut sorted: Vec<_> = owned.collect();
            sorted.sort_by_key(|(_, (task, _))| *task);
            for (place, (task, transition)) in sorted {
                places.push(place);
                self.owners.push(task);
                all.push(transition);
            }
        }
        let mut rest = all.drain(..);
        let mut from = 0;
        while let Some(task) = self.owners.get(from).copied() {
            let count = self.owners[from..].iter().take_while(|one| **one == task).count();
            self.effects.clear();
            self.effects.successors.extend(rest.by_ref().take(count));
            for at in from..if updates.is_empty() { from } else { from + count } {
                let place = places.get(at).copied().unwrap_or(at);
                updates.of(place).iter().for_each(|update| self.effects.updates.push(*update));
                self.effects.updates.end();
            }
            from += count;
            self.found.executions += 1;
            let optional = self.take_successors(shared);
            self.push_attempt(task, NOT_RECORDED, (EXECUTED, optional));
        }
        drop(rest);
        self.transitions = all;
        self.updates = updates;
        true
    }

    fn attempt_all(&mut self, shared: &Shared<'_, S>, item: &Item<S::State>, task: u32) {
        let source = self.sources[task as usize];
        if source.number == item.number {
            if source.state != SOURCE_BLOCKED {
                self.note_known(shared, task, true);
            }
            self.push_attempt(task, source.footprint, (source, false));
            return;
        }
        self.run(shared, item, task);
        let mut footprint = NOT_RECORDED;
        if shared.mode != Mode::Bare {
            let known = shared.know.footprints.find(task, &self.effects.touched);
            footprint = known.unwrap_or(NEW);
            if known.is_none() {
                self.found.touched.extend_from_slice(&self.effects.touched);
            }
        }
        let optional = self.take_successors(shared);
        self.push_attempt(task, footprint, (EXECUTED, optional));
    }

    pub(super) fn check_invariants(&mut self, shared: &Shared<'_, S>, item: &Item<S::State>) {
        let unit = self.found.units.len();
        let broken = shared.info.properties.broken(&item.state);
        self.found.broken.extend(broken.map(|invariant| (unit, invariant)));
    }
}
