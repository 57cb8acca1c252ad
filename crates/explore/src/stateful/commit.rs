//! Commits the results of a block, state by state in order. The numbers of states, footprints and
//! facts depend only on this order.

use super::engine::Engine;
use super::found::{Attempt, Found, Item, NEW, SOURCE_BLOCKED, Unit};
use super::space::{BLOCKED, Edge, FAILED, FULL, Link, NO_PARENT, WAITING};
use anyorder_search::{Key, Limit, NUMBERS_MAX, Property};
use anyorder_system::{Effects, Failure, Hash128, Reducible};

/// A limit cut the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut;

impl<S: Reducible> Engine<'_, S> {
    /// Commits the results of a thread for its next chunk of states. States that wait for the
    /// numbers of their tasks, or that were not reached, go to `waiting`.
    pub(crate) fn commit(
        &mut self,
        found: &mut Found<S::State>,
        (items, done): (&mut impl Iterator<Item = Item<S::State>>, usize),
        width: usize,
        waiting: &mut Vec<Item<S::State>>,
    ) -> Result<(), Cut> {
        for item in items.by_ref().take(done) {
            let index = found.at.units;
            let unit = found.units[index].clone();
            found.at.units += 1;
            if unit.deferred {
                for key in &found.unknown[found.at.unknown..unit.unknown] {
                    self.know.task(self.system, *key);
                }
                found.at.unknown = unit.unknown;
                waiting.push(item);
                continue;
            }
            let fresh = self.space.nodes[item.number as usize].inside == WAITING;
            if fresh {
                self.expanded += 1;
                self.take_watched(found, index, item.number);
            } else {
                self.counts.re_expansions += 1;
            }
            let start = self.space.open(item.number);
            let done = self.take_attempts(found, &unit, &item);
            self.space.close(item.number, start);
            done?;
            self.take_sets(found, &unit, item, width);
        }
        waiting.extend(items);
        Ok(())
    }

    fn take_watched(&mut self, found: &mut Found<S::State>, unit: usize, number: u32) {
        let at = &mut found.at;
        while let Some((_, invariant)) = found.broken.get(at.broken).filter(|one| one.0 == unit) {
            self.broken.push((*invariant, number));
            at.broken += 1;
        }
        if found.watched.len() == at.watched {
            return;
        }
        let observers = self.know.observers;
        let room = self.space.nodes.len() * observers as usize;
        if self.space.watched.len() < room {
            self.space.watched.resize(room, 0);
        }
        for observer in 0..observers {
            let (mut footprint, end) = found.watched[at.watched];
            at.watched += 1;
            if footprint == NEW {
                let list = &found.touched[at.touched..end];
                footprint = self.know.footprint(observer, list);
                at.touched = end;
            }
            self.space.watched[(number * observers + observer) as usize] = footprint;
        }
    }

    fn take_attempts(
        &mut self,
        found: &mut Found<S::State>,
        unit: &Unit,
        item: &Item<S::State>,
    ) -> Result<(), Cut> {
        let at = &mut found.at;
        let attempts = at.attempts..unit.attempts;
        at.attempts = unit.attempts;
        // If a state has the edge of the last step, it has the same edges as the parent.
        let Link { parent, task: last, .. } = self.space.nodes[item.number as usize].link;
        let guess = if parent == NO_PARENT {
            0
        } else {
            let mut edges = self.space.edges(parent).iter();
            edges.position(|edge| edge.task == last).unwrap_or(0)
        };
        for index in attempts {
            let attempt = found.attempts[index];
            let mut footprint = attempt.footprint;
            if footprint == NEW {
                let end = attempt.touched as usize;
                let list = &found.touched[at.touched..end];
                footprint = self.know.footprint(attempt.task, list);
                at.touched = end;
            }
            if attempt.source == SOURCE_BLOCKED {
                self.spared += 1;
                self.push_edge(Edge { task: attempt.task, footprint, target: BLOCKED }, 0);
                continue;
            }
            self.know.optional[attempt.task as usize] |= attempt.optional;
            if attempt.source != NEW {
                self.take_inferred(&attempt, footprint, item, (last, guess))?;
                continue;
            }
            let targets = at.targets..attempt.targets as usize;
            if targets.is_empty() {
                self.push_edge(Edge { task: attempt.task, footprint, target: BLOCKED }, 0);
            }
            at.targets = targets.end;
            for (place, alternative) in targets.zip(0..) {
                let link = Link { parent: item.number, task: attempt.task, alternative };
                let mut updates = 0;
                if self.know.reading.updates {
                    updates = self.space.update_lists.intern(found.updates.of(place));
                }
                let target = match found.targets[place] {
                    FAILED => found
                        .failures
                        .pop_front()
                        .map_or(FAILED, |failure| self.fail(failure, link)),
                    NEW => match found.arrivals.pop_front() {
                        Some((hash, state)) => self.arrive(hash, state, link)?,
                        None => FAILED,
                    },
                    known => known,
                };
                self.step(Edge { task: attempt.task, footprint, target }, updates)?;
            }
        }
        Ok(())
    }

    /// Takes the edge from the source. If the source did not follow the task, runs it.
    fn take_inferred(
        &mut self,
        attempt: &Attempt,
        footprint: u32,
        item: &Item<S::State>,
        (last, guess): (u32, usize),
    ) -> Result<(), Cut> {
        if let Some(target) = self.space.only(attempt.source, last, guess) {
            self.counts.inferred += 1;
            self.spared += 1;
            return self
                .step(Edge { task: attempt.task, footprint, target }, attempt.source_updates);
        }
        let mut effects = Effects::default();
        let key = self.know.tasks.task(attempt.task);
        self.system.run(&item.state, key, &mut effects);
        self.stats.executions += 1;
        let footprint = self.know.footprint(attempt.task, &effects.touched);
        if effects.successors.is_empty() {
            self.push_edge(Edge { task: attempt.task, footprint, target: BLOCKED }, 0);
        }
        for (successor, alternative) in effects.successors.into_iter().zip(0..) {
            self.info.note_part(&successor.action, &mut self.parts_ran);
            self.know.optional[attempt.task as usize] |= self.system.is_optional(&successor.action);
            let updates = effects.updates.of(alternative as usize);
            let updates = self.space.update_lists.intern(updates);
            let link = Link { parent: item.number, task: attempt.task, alternative };
            let target = match successor.failure {
                Some(failure) => self.fail(failure, link),
                None => {
                    let hash = self.system.fingerprint(&successor.state);
                    self.arrive(hash, successor.state, link)?
                }
            };
            self.step(Edge { task: attempt.task, footprint, target }, updates)?;
        }
        Ok(())
    }

    fn take_sets(
        &mut self,
        found: &mut Found<S::State>,
        unit: &Unit,
        item: Item<S::State>,
        width: usize,
    ) {
        let at = &mut found.at;
        let (ready, rest) = found.sets[at.sets..].split_at(width);
        let inside = &rest[..width];
        at.sets += 2 * width;
        let node = item.number as usize;
        if self.space.nodes[node].ready == WAITING {
            let known = (unit.ready != NEW).then_some(unit.ready);
            self.space.nodes[node].ready = known.unwrap_or_else(|| self.intern_set(ready));
        }
        self.ended |= unit.end && !matches!(unit.dead, Some(Property::Deadlock(_)));
        if let Some(property) = &unit.dead {
            match self.dead.get_mut(property) {
                Some(states) => states.push(item.number),
                None => drop(self.dead.insert(property.clone(), vec![item.number])),
            }
        }
        self.counts.ends += u64::from(unit.end);
        self.ends.extend(unit.end.then_some(item.number));
        if unit.full {
            self.space.nodes[node].inside = FULL;
        } else {
            self.space.nodes[node].inside = self.intern_set(inside);
            self.space.kept.insert(item.number, item.state);
        }
    }

    /// Interns a set that may have fewer words than sets have now.
    fn intern_set(&mut self, words: &[u64]) -> u32 {
        if words.len() == self.know.width {
            return self.know.sets.intern(words);
        }
        let mut wide = words.to_vec();
        wide.resize(self.know.width, 0);
        self.know.sets.intern(&wide)
    }

    fn step(&mut self, edge: Edge, updates: u32) -> Result<(), Cut> {
        if self.options.transitions_max.is_some_and(|most| self.stats.transitions >= most) {
            self.limits.insert(Limit::Transitions);
            return Err(Cut);
        }
        self.stats.transitions += 1;
        self.push_edge(edge, updates);
        Ok(())
    }

    fn push_edge(&mut self, edge: Edge, updates: u32) {
        self.space.edges.push(edge);
        if self.know.reading.updates {
            self.space.updates.push(updates);
        }
    }

    fn fail(&mut self, failure: Failure, link: Link) -> u32 {
        self.failures.entry(failure).or_default().push(link);
        FAILED
    }

    /// Returns the number of a state. The state is new, or this block found it already.
    pub(crate) fn arrive(
        &mut self,
        hash: Hash128,
        state: S::State,
        link: Link,
    ) -> Result<u32, Cut> {
        let number = self.space.nodes.len() as u32;
        let most = self.options.states_max.unwrap_or(u64::MAX).min(NUMBERS_MAX);
        if u64::from(number) >= most {
            return self.space.table.find(Key::from(hash)).ok_or_else(|| {
                self.limits.insert(Limit::States);
                Cut
            });
        }
        if let Some(known) = self.space.table.enter(Key::from(hash), number) {
            return Ok(known);
        }
        let parent = self.space.nodes.get(link.parent as usize);
        let depth = parent.map_or(0, |parent| parent.depth.saturating_add(1));
        self.space.add(link, depth);
        if self.options.keep_graph {
            self.hashes.push(hash);
        }
        self.stats.states += 1;
        self.stats.max_depth = self.stats.max_depth.max(u64::from(depth));
        self.queue.push_back(Item { number, state, extra: Vec::new() });
        Ok(number)
    }
}
