//! Races of `mode`: what happens to a trigger that comes while a run of its automation waits.
//!
//! **Problem.** In a quiet state a run of an automation waits, and an event starts the automation
//! again. `single` refuses the start, `restart` ends the run that waits, `parallel` begins another
//! one. Each may leave a state as nobody wanted it. **Guarantee.** A finding has a run in which,
//! after the event, nothing comes from outside until all timers have ended.
//!
//! - *Refused*, *overlapping*: the same event has begun the run that waits, and made it set a
//!   state. The run goes on and sets the state to something else, although what the event has
//!   brought is still so: the second event has bought no time.
//! - *Cut short*: the run that waits would have set a state again. The run that ends it does not.

use super::finding::FindingKind;
use super::reaction::Way;
use super::search::{About, Search};
use crate::lower::{DROPPED, OVERLAPS, RESTARTED};
use anyorder_vm::Write;

impl Search<'_> {
    pub(super) fn modes(&mut self, at: usize, event: &str, way: &Way) {
        for (word, entity) in way.notes.clone() {
            if !self.nodes[at].waiting.contains(&entity) {
                continue;
            }
            let Some(by) = self.names.iter().position(|name| *name == entity) else { continue };
            let by = by as u32;
            match word.as_str() {
                DROPPED => self.again(FindingKind::Refused, at, event, way, by),
                OVERLAPS => self.again(FindingKind::Overlapping, at, event, way, by),
                RESTARTED => self.cut_short(at, event, way, by),
                _ => {}
            }
        }
    }

    /// What the run of a part that waits has set since it began, and nobody has changed since: the
    /// event that began it, and the last update of each state.
    fn since_start(&self, at: usize, by: u32) -> (String, Vec<Write>) {
        let entity = &self.names[by as usize];
        let (mut node, mut found, mut event) = (at, Vec::<Write>::new(), String::new());
        while self.nodes[node].waiting.contains(entity) {
            let this = &self.nodes[node];
            if this.way.is_guessed() {
                // What it has set may be something else.
                return (String::new(), Vec::new());
            }
            for write in this.way.writes.iter().rev() {
                if found.iter().all(|known| known.attribute != write.attribute) {
                    found.push(write.clone());
                }
            }
            event.clone_from(&this.event);
            let Some(before) = this.before else { break };
            node = before;
        }
        found.retain(|write| write.by == Some(by));
        (event, found)
    }

    /// The event that began the run comes again, and the run ends as if it had not.
    fn again(&mut self, kind: FindingKind, at: usize, event: &str, way: &Way, by: u32) {
        let (began, set) = self.since_start(at, by);
        // A state that is still so, not a moment that is over.
        if began != event || !event.contains(" becomes ") {
            return;
        }
        for run in self.aftermath(&way.state) {
            let all: Vec<&Way> = run.iter().map(|(_, way)| way).collect();
            if all.iter().any(|way| way.is_guessed()) {
                continue;
            }
            for first in &set {
                let mut last = all.iter().flat_map(|way| &way.writes);
                let last = last.rfind(|w| w.attribute == first.attribute);
                let Some(last) = last.filter(|w| w.by == Some(by) && w.value != first.value) else {
                    continue;
                };
                let writers = vec![self.writer(first), self.writer(last)];
                let about = About {
                    entity: first.attribute.clone(),
                    writers,
                    aftermath: run.clone(),
                    ..About::default()
                };
                return self.found(kind, at, event, way, about);
            }
        }
    }

    /// A run is ended by another one that does not finish what the first one began.
    fn cut_short(&mut self, at: usize, event: &str, way: &Way, by: u32) {
        let (_, set) = self.since_start(at, by);
        if set.is_empty() {
            return;
        }
        let state = self.nodes[at].state.clone();
        let (without, with) = (self.aftermath(&state), self.aftermath(&way.state));
        for first in &set {
            let of = |w: &&Write| w.attribute == first.attribute;
            // Without the event, each run ends with another value.
            let end = |run: &Vec<(String, Way)>| {
                let last = run.iter().flat_map(|(_, way)| &way.writes).rfind(of)?;
                (last.by == Some(by) && last.value != first.value).then(|| last.clone())
            };
            let ends: Option<Vec<Write>> = without.iter().map(end).collect();
            let Some(last) = ends.and_then(|ends| ends.into_iter().next()) else { continue };
            if way.writes.iter().any(|w| of(&w)) {
                continue;
            }
            let untouched = |run: &&Vec<(String, Way)>| {
                run.iter().all(|(_, way)| !way.is_guessed() && !way.writes.iter().any(|w| of(&w)))
            };
            let Some(run) = with.iter().find(untouched) else { continue };
            let writers = vec![self.writer(first), self.writer(&last)];
            let about = About {
                entity: first.attribute.clone(),
                writers,
                aftermath: run.clone(),
                ..About::default()
            };
            return self.found(FindingKind::CutShort, at, event, way, about);
        }
    }
}
