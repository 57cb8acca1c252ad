//! The rule *ended* (`docs/happens-before.md`, section 3): tasks that cannot begin any more.
//!
//! **Idea.** It gives no edges: what comes before a cancelled task need not come before the cancel,
//! since the task may not run at all. So the relation of the passes stays as it is, and a pair that
//! it leaves open is asked for here.

use crate::relation::ends::{Beginning, EndScope, Ends};
use crate::relation::engine::Engine;
use crate::relation::pass::View;
use crate::relation::rules::{Rule, RuleSet};
use crate::relation::strands::{StrandId, Strands};
use anyorder_order::ChainId;
use anyorder_trace::{EventId, EventKind, HandlerId, TaskKind, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// What can be over, and since when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Over {
    pub(crate) ends: Ends,
    /// By strand, places in the list of beginnings.
    of_strand: FxHashMap<StrandId, Vec<u32>>,
    /// By `disable`, the enablings that it can end.
    openings: FxHashMap<EventId, Vec<EventId>>,
    /// Enablings that happen before a `disable` that ends them.
    pub(crate) opened: FxHashSet<(EventId, EventId)>,
    /// Handlers that run posted tasks.
    serving: FxHashSet<HandlerId>,
    /// Handlers whose tasks are ended by events that are not in tasks of theirs.
    foreign: FxHashSet<HandlerId>,
}

/// Why an event cannot come after another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reason {
    pub(crate) rule: Rule,
    pub(crate) opened: Option<EventId>,
    pub(crate) end: EventId,
    /// The first event of the strand that begins too late for the first event.
    pub(crate) since: EventId,
    /// The event of that strand behind the end, unless the end belongs to the strand.
    pub(crate) behind: Option<EventId>,
}

/// What is before the second event of a question, by edges.
#[derive(Clone, Copy)]
pub(crate) struct Known<'k> {
    /// Whether an event is.
    pub(crate) at: &'k dyn Fn(EventId) -> bool,
    /// Whether an event is before the first event of a strand.
    pub(crate) first: &'k dyn Fn(StrandId, EventId) -> bool,
    /// The number below which all events of a chain are.
    pub(crate) bound: &'k dyn Fn(ChainId) -> u32,
}

impl Over {
    pub(crate) fn new(trace: &Trace, rules: RuleSet, strands: &Strands) -> Over {
        let scope = match rules {
            RuleSet::Threads => return Over::default(),
            RuleSet::Mailbox => EndScope::Tasks,
            RuleSet::Android => EndScope::Components,
        };
        let mut over = Over { ends: Ends::new(trace, scope), ..Over::default() };
        let strand_of = |event: EventId| strands.of_event(trace.event(event).task, event);
        for (place, beginning) in (0..).zip(over.ends.beginnings()) {
            let strand = strand_of(beginning.event);
            if !is_alone(trace, strands, strand) {
                continue;
            }
            over.of_strand.entry(strand).or_default().push(place);
            let handler = strands.get(strand).handler;
            let ends = over.ends.list(beginning.list).iter();
            let is_foreign = |end: &EventId| {
                let strand = strand_of(*end);
                let at = strands.get(strand);
                at.handler != handler || !is_alone(trace, strands, strand) || !at.posted
            };
            if ends.into_iter().any(is_foreign) {
                over.foreign.insert(handler);
            }
        }
        let posted = strands.iter().filter(|(_, strand)| strand.posted);
        over.serving = posted.map(|(_, strand)| strand.handler).collect();
        over.find_openings(trace);
        over
    }

    /// Pairs each `disable` with the enablings that it can end: those that have begun something,
    /// without another `enable` of the input in between.
    fn find_openings(&mut self, trace: &Trace) {
        let mut of_list: FxHashMap<u32, Vec<EventId>> = FxHashMap::default();
        for beginning in self.ends.beginnings() {
            if self.ends.rule(beginning.list) == Rule::Disabled {
                of_list.entry(beginning.list).or_default().extend(beginning.opened);
            }
        }
        let lists: FxHashMap<EventId, u32> =
            of_list.iter().flat_map(|(list, of)| of.iter().map(|open| (*open, *list))).collect();
        // By list and input, the last enabling.
        let mut last: FxHashMap<u32, FxHashMap<u32, EventId>> = FxHashMap::default();
        let mut list_of_input: FxHashMap<u32, u32> = FxHashMap::default();
        for event in trace.events() {
            if event.kind() == EventKind::Enable {
                match lists.get(&event.id) {
                    Some(list) => {
                        list_of_input.insert(event.operand, *list);
                        last.entry(*list).or_default().insert(event.operand, event.id);
                    }
                    None => {
                        let list = list_of_input.get(&event.operand);
                        if let Some(of) = list.and_then(|list| last.get_mut(list)) {
                            of.remove(&event.operand);
                        }
                    }
                }
            } else if let Some(list) = self.ends.list_of(event.id)
                && let Some(of) = last.get(&list)
            {
                let mut open: Vec<EventId> = of.values().copied().collect();
                open.sort_unstable();
                self.openings.insert(event.id, open);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.of_strand.is_empty()
    }

    /// Returns the enablings that an event can end.
    pub(crate) fn openings_of(&self, end: EventId) -> &[EventId] {
        self.openings.get(&end).map_or(&[], Vec::as_slice)
    }

    /// Returns whether events outside its tasks can end tasks of a handler.
    pub(crate) fn is_foreign(&self, handler: HandlerId) -> bool {
        self.foreign.contains(&handler)
    }
}

/// Whether a handler runs a strand without interruption.
fn is_alone(trace: &Trace, strands: &Strands, strand: StrandId) -> bool {
    let at = strands.get(strand);
    let is_burst = trace.tables().tasks[at.task.index()].kind == TaskKind::Burst;
    !is_burst && at.handler.index() < trace.tables().handlers.len()
}

impl Engine<'_> {
    /// Returns why `x` cannot come after `y`, by the rule *ended*; both are of different strands,
    /// and `x` is earlier in the trace. `known` says what is before `y` by edges.
    pub(crate) fn ended(
        &self,
        (x, one): (EventId, StrandId),
        (y, two): (EventId, StrandId),
        known: Known<'_>,
    ) -> Option<Reason> {
        let places = self.over.of_strand.get(&one)?;
        let beginnings = places.iter().map(|place| self.over.ends.beginnings()[*place as usize]);
        let begun = beginnings.filter(|beginning| beginning.event <= x);
        begun.into_iter().find_map(|beginning| self.ended_by(beginning, one, (y, two), known))
    }

    /// Returns whether a strand is a task of a handler, or a piece of its thread code after the
    /// loop point.
    fn is_unit_of(&self, strand: StrandId, handler: HandlerId) -> bool {
        let at = self.strands.get(strand);
        let point = self.strands.loop_points.get(handler.index()).and_then(|point| point.some());
        // A handler that runs tasks may have no code before the first one.
        let is_piece = match point {
            Some(point) => at.first > point,
            None => self.over.serving.contains(&handler),
        };
        at.handler == handler
            && is_alone(self.trace, &self.strands, strand)
            && (at.posted || is_piece)
    }

    /// Returns the units of a handler that can be late and before an event by edges: the last one
    /// of each chain of the handler.
    pub(crate) fn last_units(
        &self,
        handler: HandlerId,
        bound: &dyn Fn(ChainId) -> u32,
    ) -> Vec<StrandId> {
        let posted = self.chains.posted_of(handler).iter();
        let chains = posted.chain(self.chains.thread_of(handler));
        let last = chains.filter_map(|chain| self.chains.begun_on(*chain, bound(*chain)).last());
        last.copied().filter(|unit| self.is_unit_of(*unit, handler)).collect()
    }

    /// Returns the first event of a unit that begins behind an end, and the event of it that is
    /// behind the end by edges.
    fn late_unit(
        &self,
        handler: HandlerId,
        end: EventId,
        (y, two): (EventId, StrandId),
        known: Known<'_>,
    ) -> Option<(EventId, EventId)> {
        let first = |unit: StrandId| self.strands.get(unit).first;
        let own = self.is_unit_of(two, handler);
        if own && end < y && (known.at)(end) {
            return Some((first(two), y));
        }
        if !self.over.is_foreign(handler) || own && self.strands.get(two).posted {
            return None;
        }
        let units = self.last_units(handler, known.bound).into_iter();
        let mut late = units.filter(|unit| *unit != two && end < first(*unit) && first(*unit) < y);
        late.find(|unit| (known.first)(*unit, end)).map(|unit| (first(unit), first(unit)))
    }

    fn ended_by(
        &self,
        beginning: Beginning,
        one: StrandId,
        (y, two): (EventId, StrandId),
        known: Known<'_>,
    ) -> Option<Reason> {
        let over = &self.over;
        let (rule, list) = (over.ends.rule(beginning.list), over.ends.list(beginning.list));
        let later = &list[list.partition_point(|end| *end < beginning.event)..];
        let handler = self.strands.get(one).handler;
        let is_of_handler = self.is_unit_of(two, handler);
        let binds = |end: &EventId| {
            rule != Rule::Disabled
                || beginning.opened.is_some_and(|opened| over.opened.contains(&(opened, *end)))
        };
        for &end in later {
            let strand = self.strand_of(end);
            if strand == one || !binds(&end) {
                continue;
            }
            let (since, behind) = if self.is_unit_of(strand, handler) {
                let at = self.strands.get(strand);
                let is_over = strand == two
                    || match at.posted && is_of_handler && self.strands.get(two).posted {
                        true => self.task_before(strand, two),
                        false => at.first < y && (known.at)(at.first),
                    };
                if !is_over {
                    continue;
                }
                (at.first, None)
            } else {
                let Some((since, behind)) = self.late_unit(handler, end, (y, two), known) else {
                    continue;
                };
                (since, Some(behind))
            };
            let opened = beginning.opened.filter(|_| rule == Rule::Disabled);
            return Some(Reason { rule, opened, end, since, behind });
        }
        None
    }
}

impl View<'_, '_> {
    /// Returns whether `x` cannot come after `y`, the current event of its strand, by the rule
    /// *ended*.
    pub(crate) fn is_ended(&self, x: (EventId, StrandId), y: (EventId, StrandId)) -> bool {
        if self.engine.over.is_empty() {
            return false;
        }
        let chains = &self.engine.chains;
        let bound = |chain| match chain == chains.of(y.1) {
            true => y.0.0,
            false => self.clocks.get(self.at[y.1.index()], chain),
        };
        let chain_of = |event| chains.of(self.engine.strand_of(event));
        let known = Known {
            at: &|event| bound(chain_of(event)) > event.0,
            first: &|strand, event| {
                let from = chain_of(event);
                let clock = self.firsts.get(&strand);
                from == chains.of(strand)
                    || clock.is_some_and(|clock| self.clocks.get(*clock, from) > event.0)
            },
            bound: &bound,
        };
        self.engine.ended(x, y, known).is_some()
    }
}
