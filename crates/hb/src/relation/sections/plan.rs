//! Finds, before any pass, the actions that each release orders.
//!
//! **Problem.** Event-driven EDC has an edge from the release of each section to each later action
//! that lies in a section of the same lock on another handler and does not commute with some action
//! of the first section. The number of these edges can be quadratic in the events.
//!
//! **Idea.** A *slot* represents the sections of one lock, exclusive or shared, that contain an
//! action of one class on one object. A release publishes its clock to the slots of its section. A
//! slot keeps, for each handler, the releases that no later release of that handler knows. An
//! action pulls the clocks of other handlers from the slots with which it does not commute. A
//! strand never pulls the same clock twice, and a clock that no action pulls is not published.
//!
//! **Cost.** Time and memory are linear in the objects that each section touches, and in the
//! actions that pull a new clock.

use super::actions::{Act, Actions};
use super::open_sections::{OpenSections, SectionId};
use crate::relation::strands::{StrandId, Strands};
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{Action, EventId, HandlerId, LockId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// A slot: its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SlotId(pub(crate) u32);

/// The identity of a slot.
type Key = (LockId, bool, Act);

/// An action takes the clocks of a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pull {
    pub(crate) event: EventId,
    pub(crate) slot: SlotId,
}

/// A release gives its clock to a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Publish {
    pub(crate) event: EventId,
    pub(crate) slot: SlotId,
    pub(crate) section: SectionId,
}

/// The section edges that passes apply.
#[derive(Debug, Default)]
pub(crate) struct SectionPlan {
    /// The pulls, by event, ascending.
    pub(crate) pulls: Vec<Pull>,
    /// The publishes, by event, ascending.
    pub(crate) publishes: Vec<Publish>,
    pub(crate) slots: usize,
}

/// The handler that last published to a slot.
#[derive(Clone, Copy, Debug)]
struct Newest {
    handler: HandlerId,
    version: u32,
    /// The last version by another handler than `handler`; 0 for none.
    other: u32,
    /// The last action that pulls from it.
    pulled: EventId,
}

/// The state of a strand inside sections.
#[derive(Debug, Default)]
struct StrandSections {
    /// The actions of each open section, in order and as a set.
    done: FxHashMap<SectionId, (Vec<Act>, FxHashSet<Act>)>,
    /// The version of each slot that the strand has pulled.
    taken: FxHashMap<SlotId, u32>,
}

struct Planner<'t> {
    strands: &'t Strands,
    held: OpenSections,
    inside: FxHashMap<StrandId, StrandSections>,
    of_key: FxHashMap<Key, SlotId>,
    newest: Vec<Newest>,
    plan: SectionPlan,
}

impl SectionPlan {
    /// Builds the plan in one traversal of a trace.
    pub(crate) fn new(
        trace: &Trace,
        strands: &Strands,
        strand_of: impl Fn(EventId) -> StrandId,
        actions: &Actions<'_>,
        cancel: &Cancel,
    ) -> Result<SectionPlan, Stopped> {
        let mut planner = Planner {
            strands,
            held: OpenSections::new(strands.len()),
            inside: FxHashMap::default(),
            of_key: FxHashMap::default(),
            newest: Vec::new(),
            plan: SectionPlan::default(),
        };
        for event in trace.events() {
            if event.id.0 % 64 == 0 {
                cancel.check()?;
            }
            let strand = strand_of(event.id);
            match event.action() {
                Action::Acquire(lock, mode) => {
                    planner.held.acquire(event.id, strand, lock, mode.is_shared());
                }
                Action::Release(lock, _) => {
                    if let Some(section) = planner.held.release(event.id, strand, lock) {
                        planner.publish(event.id, strand, section);
                    }
                }
                _ if planner.held.is_inside(strand) => planner.act(event.id, strand, actions),
                _ => {}
            }
            if strands.get(strand).last == event.id {
                planner.inside.remove(&strand);
            }
        }
        let mut plan = planner.plan;
        let newest = &planner.newest;
        plan.publishes.retain(|publish| {
            newest[publish.slot.0 as usize].pulled.some().is_some_and(|last| publish.event < last)
        });
        plan.slots = planner.newest.len();
        Ok(plan)
    }
}

impl Planner<'_> {
    /// Handles an action inside sections: pulls new clocks and records the action for the releases.
    fn act(&mut self, event: EventId, strand: StrandId, actions: &Actions<'_>) {
        let handler = self.strands.get(strand).handler;
        let inside = self.inside.entry(strand).or_default();
        let (held, of_key, newest) = (&self.held, &self.of_key, &mut self.newest);
        let pulls = &mut self.plan.pulls;
        let first = pulls.len();
        actions.conflicting(event, |act| {
            for section in held.of(strand).map(|id| held.section(id)) {
                for shared in [false, true] {
                    if shared && section.shared {
                        continue;
                    }
                    let Some(&slot) = of_key.get(&(section.lock, shared, act)) else { continue };
                    let newest = &mut newest[slot.0 as usize];
                    let version =
                        if newest.handler == handler { newest.other } else { newest.version };
                    let taken = inside.taken.entry(slot).or_insert(0);
                    if version > *taken {
                        *taken = version;
                        newest.pulled = event;
                        pulls.push(Pull { event, slot });
                    }
                }
            }
        });
        pulls[first..].sort_by_key(|pull| pull.slot);
        actions.of(event, |act| {
            for section in held.of(strand) {
                let (list, set) = inside.done.entry(section).or_default();
                if set.insert(act) {
                    list.push(act);
                }
            }
        });
    }

    /// Handles the end of a section.
    fn publish(&mut self, event: EventId, strand: StrandId, section: SectionId) {
        let Some(inside) = self.inside.get_mut(&strand) else { return };
        let Some((acts, _)) = inside.done.remove(&section) else { return };
        let handler = self.strands.get(strand).handler;
        let at = self.held.section(section);
        for act in acts {
            let slot = *self.of_key.entry((at.lock, at.shared, act)).or_insert_with(|| {
                let pulled = EventId::NONE;
                self.newest.push(Newest { handler, version: 0, other: 0, pulled });
                SlotId(self.newest.len() as u32 - 1)
            });
            let newest = &mut self.newest[slot.0 as usize];
            if newest.handler != handler {
                newest.other = newest.version;
                newest.handler = handler;
            }
            newest.version += 1;
            self.plan.publishes.push(Publish { event, slot, section });
        }
    }
}
