//! The order of received broadcasts in a schedule: it follows the order of their causes.

use super::{Line, Orders};
use anyorder_trace::EventId;
use std::collections::{BTreeMap, HashMap};

/// The causes and effects that have come so far.
#[derive(Debug, Default)]
pub(crate) struct BroadcastOrder {
    places: HashMap<EventId, usize>,
    /// By line and position of the cause: effects that have not come.
    owed: [BTreeMap<usize, Vec<EventId>>; 4],
}

impl BroadcastOrder {
    /// Takes the next event of a schedule.
    ///
    /// # Errors
    ///
    /// The error names an event that has to come first.
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
                                    && !is_reversed((*of, *effect), (cause, event))
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

    /// For an effect that came before its cause, finds another effect that comes too late.
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
                    && !is_reversed((*cause, *effect), own)
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
        let mut is_known = false;
        for (line, owed) in orders.lines.iter().zip(&mut self.owed) {
            for cause in line.causes.get(&event).into_iter().flatten() {
                is_known = true;
                let at = self.places.get(cause).copied();
                if let Some(effects) = at.and_then(|at| owed.get_mut(&at)) {
                    effects.retain(|effect| *effect != event);
                }
            }
            if let Some(effects) = line.effects.get(&event) {
                is_known = true;
                let open = effects.iter().filter(|effect| !self.places.contains_key(effect));
                owed.insert(place, open.copied().collect());
            }
        }
        if is_known {
            self.places.insert(event, place);
        }
    }
}

/// Whether the recorded run itself reversed two effects and their causes: then a schedule may do so
/// as well.
fn is_reversed(first: (EventId, EventId), second: (EventId, EventId)) -> bool {
    first.0 < second.0 && first.1 > second.1
}
