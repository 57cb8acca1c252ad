//! The rule *ended* of section 3 of `docs/happens-before.md`: what a task began with cannot come
//! after the tasks after which it would be cancelled.

use crate::check::{CheckedPath, Checker};
use crate::edges::{condition, require};
use crate::ends::Ended;
use crate::index::Unit;
use crate::proof::{LemmaId, Path, ProofStep, Rule};
use crate::reason::{ProofError, Reason};
use anyorder_trace::{EventId, HandlerId, TaskKind};

/// Whether a rule orders by what ends something.
pub(crate) fn is_ended(rule: &Rule) -> bool {
    matches!(rule, Rule::Cancelled | Rule::Disabled | Rule::Exited)
}

impl Checker<'_> {
    /// Checks the first step of a proof by this rule.
    pub(crate) fn ended(self, step: &ProofStep, lemmas: &[CheckedPath]) -> Result<(), Reason> {
        let ProofStep { from, to, rule, premises } = step;
        let (view, index) = (self.view, self.index);
        require(view.has(*from) && view.has(*to), Reason::Unknown("event"))?;
        require(from < to, Reason::NotForward)?;
        require(self.in_rule_set(rule), Reason::NotInRuleSet)?;
        let premises: Vec<CheckedPath> = premises
            .iter()
            .map(|&LemmaId(number)| lemmas.get(number as usize).copied())
            .collect::<Option<_>>()
            .ok_or(Reason::Unknown("lemma before this one"))?;
        let handler = view.handler_of(*from).ok_or(Reason::Unknown("handler"))?;
        let is_burst = view.kind_of(*from) == Some(TaskKind::Burst);
        condition(!is_burst, "nothing interrupts a burst's handler")?;
        condition(view.handler_of(*to) == Some(handler), "target on another handler")?;
        condition(self.begins_unit(*to, handler), "target begins no task or piece")?;
        let unit = index.facts[from.index()].unit;
        condition(index.facts[to.index()].unit != unit, "both in one unit")?;
        let point = index.loop_points.get(&handler);
        let is_start = |event: EventId| {
            view.kind_of(event) == Some(TaskKind::Initial)
                && view.handler_of(event) == Some(handler)
                && point.is_some_and(|point| event <= *point)
        };
        let begins = |event: EventId| {
            let together = index.facts[event.index()].unit == unit;
            event <= *from && (together || (is_start(event) && is_start(*from)))
        };
        let mut found = index.ends.of(begins).filter(|(event, .., end)| event < end);
        let fits = found.any(|(_, opened, of, end)| {
            self.is_over(rule, (*to, handler), (opened, of, end), &premises)
        });
        condition(fits, "nothing ends it there")
    }

    fn is_over(
        self,
        rule: &Rule,
        (to, handler): (EventId, HandlerId),
        (opened, of, end): (Option<EventId>, Ended, EventId),
        premises: &[CheckedPath],
    ) -> bool {
        let fits_rule = match of {
            Ended::Task(_) => *rule == Rule::Cancelled,
            Ended::Handler(_) => *rule == Rule::Exited,
            Ended::Input(_) | Ended::Idle(..) | Ended::Receiver(_) => *rule == Rule::Disabled,
        };
        let inside = self.view.kind_of(end) != Some(TaskKind::Burst)
            && self.view.handler_of(end) == Some(handler)
            && self.index.facts[end.index()].unit == self.index.facts[to.index()].unit
            && to <= end;
        let mut wanted = Vec::new();
        if !inside {
            wanted.push((end, to));
        }
        if *rule == Rule::Disabled {
            let Some(opened) = opened.filter(|opened| *opened < end) else { return false };
            wanted.push((opened, end));
        }
        // Any event of the unit may be what comes behind the end.
        let unit_of = |event: EventId| self.index.facts[event.index()].unit;
        let is_meant = |premise: &CheckedPath, (from, last): (EventId, EventId)| {
            let in_unit = last == to && to <= premise.to && unit_of(premise.to) == unit_of(to);
            premise.from == from && (premise.to == last || in_unit)
        };
        let is_there = |(wanted, premise): (&(EventId, EventId), &CheckedPath)| {
            is_meant(premise, *wanted)
                && self.is_happens_before(premise.from, premise.to, premise.by_tasks)
        };
        fits_rule && wanted.len() == premises.len() && wanted.iter().zip(premises).all(is_there)
    }

    /// Whether an event is the first of a posted task, or of a piece of thread code after the loop
    /// point.
    fn begins_unit(self, event: EventId, handler: HandlerId) -> bool {
        let task = self.view.task_of(event);
        match self.view.kind_of(event) {
            Some(TaskKind::Posted) => self.view.get(task) == Some(event),
            Some(TaskKind::Initial) => {
                let point = self.index.loop_points.get(&handler).copied();
                let previous = self.index.facts[event.index()].previous;
                let unit = self.index.facts[event.index()].unit;
                // A handler may have no code before its first task.
                let is_later = matches!(unit, Unit::Piece(_, tasks) if tasks > 0);
                point.map_or(is_later, |point| event > point) && previous == point
            }
            _ => false,
        }
    }

    /// Checks the rest of the path behind such a step, and its ends.
    pub(crate) fn behind_ended(
        self,
        (x, y): (EventId, EventId),
        step: &ProofStep,
        rest: &Path,
        lemmas: &[CheckedPath],
    ) -> Result<(), ProofError> {
        let whole = |reason| ProofError { lemma: None, step: None, shown: None, reason };
        let mut to = step.to;
        if !rest.steps.is_empty() {
            let path = self.path(None, rest, lemmas)?;
            if path.from != step.to {
                let reason = Reason::NotLinked { from: path.from, previous: step.to };
                return Err(whole(reason));
            }
            to = path.to;
            self.require_happens_before(path.from, path.to, path.by_tasks).map_err(whole)?;
        }
        if (step.from, to) != (x, y) {
            let found = (step.from, to);
            return Err(whole(Reason::WrongEnds { found, expected: (x, y) }));
        }
        Ok(())
    }
}
