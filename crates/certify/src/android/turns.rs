//! Received broadcasts while a schedule goes through: they come in the order of their causes.

use super::{Line, Orders};
use anyorder_trace::EventId;
use std::collections::{BTreeMap, HashMap};

/// Where causes and effects have come.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    places: HashMap<EventId, usize>,
    /// By line and place of the cause: effects that have not come.
    owed: [BTreeMap<usize, Vec<EventId>>; 4],
}

impl Turns {
    /// Takes the next event of a schedule.
    ///
    /// # Errors
    ///
    /// Names an event that has to come before.
    pub(crate) fn take(&mut self, orders: &Orders, event: EventId) -> Result<(), EventId> {
        for (line, owed) in orders.lines.iter().zip(&self.owed) {
            if let Some(causes) = line.causes.get(&event) {
                let came =
                    causes.iter().filter_map(|cause| Some((*cause, *self.places.get(cause)?)));
                for (cause, place) in came {
                    let earlier = owed.range(..place).flat_map(|(_, effects)| effects);
                    let first = earlier.copied().find(|effect| {
                        let mut of_it = line.causes.get(effect).into_iter().flatten();
                        *effect != event
                            && of_it.any(|of| {
                                self.places.get(of).is_some_and(|at| *at < place)
                                    && !is_otherwise((*of, *effect), (cause, event))
                            })
                    });
                    if let Some(first) = first {
                        return Err(first);
                    }
                }
            }
            for effect in line.effects.get(&event).into_iter().flatten() {
                if let Some(place) = self.places.get(effect) {
                    self.came_before(line, (event, *effect), *place)?;
                }
            }
        }
        self.note(orders, event);
        Ok(())
    }

    /// Looks, for an effect that came before its cause, for one that comes too late for that.
    fn came_before(
        &self,
        line: &Line,
        own: (EventId, EventId),
        place: usize,
    ) -> Result<(), EventId> {
        let mut late: Vec<EventId> = Vec::new();
        for (effect, causes) in &line.causes {
            let caused = causes.iter().any(|cause| {
                *cause != own.0
                    && self.places.contains_key(cause)
                    && !is_otherwise((*cause, *effect), own)
            });
            let is_late = self.places.get(effect).is_none_or(|at| *at > place);
            if *effect != own.1 && caused && is_late {
                late.push(*effect);
            }
        }
        late.into_iter().min().map_or(Ok(()), Err)
    }

    fn note(&mut self, orders: &Orders, event: EventId) {
        let place = self.places.len();
        let mut is_told = false;
        for (line, owed) in orders.lines.iter().zip(&mut self.owed) {
            for cause in line.causes.get(&event).into_iter().flatten() {
                is_told = true;
                let at = self.places.get(cause).copied();
                if let Some(effects) = at.and_then(|at| owed.get_mut(&at)) {
                    effects.retain(|effect| *effect != event);
                }
            }
            if let Some(effects) = line.effects.get(&event) {
                is_told = true;
                let open = effects.iter().filter(|effect| !self.places.contains_key(effect));
                owed.insert(place, open.copied().collect());
            }
        }
        if is_told {
            self.places.insert(event, place);
        }
    }
}

/// Whether the recorded run had two effects in the other order than their causes: a schedule may do
/// so as well.
fn is_otherwise(first: (EventId, EventId), second: (EventId, EventId)) -> bool {
    first.0 < second.0 && first.1 > second.1
}
