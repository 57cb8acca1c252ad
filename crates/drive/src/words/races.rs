//! Groups of races as findings.

use super::events::{location_title, site, why_command};
use super::unordered::reason;
use anyorder_finding::{
    Coverage, CoverageLevel, ExplanationStep, Finding, Harm, Kind, PredictedCategory, Severity,
    Site, assign_ids,
};
use anyorder_hb::{Checked, Filter, LockGroup, LockMemory, RaceGroup, RaceOptions};
use anyorder_trace::{Allocated, Allocations, EventId, OperandKind, Trace};
use std::collections::BTreeMap;
use std::mem;

/// The events of one finding, in trace order.
type Pairs = Vec<(EventId, EventId)>;

/// A race in words, with what it was made of.
pub(crate) struct RaceFinding {
    pub(crate) finding: Finding,
    /// The pairs of events that it lists, the pair of its sites first.
    pub(crate) pairs: Pairs,
    /// Whether its title says that the two come in either order.
    title: Option<Title>,
}

/// The parts of the title of a race.
#[derive(Clone)]
struct Title {
    /// The two accesses.
    verbs: [&'static str; 2],
    /// The location, with the place that allocated it.
    what: String,
}

impl Title {
    /// Returns the title. `never` says that the two never come at the same time.
    fn text(&self, never: bool) -> String {
        let Title { verbs: [a, b], what } = self;
        let never = if never { ", never at the same time," } else { "" };
        format!("{a} and {b} of {what}{never} can happen in either order")
    }
}

impl RaceFinding {
    /// Says that the two never come at the same time.
    pub(crate) fn say_never_together(&mut self) {
        if let Some(title) = &self.title {
            self.finding.title = title.text(true);
        }
    }
}

/// Takes the groups of a check. Returns their findings, the most important first, each with its id
/// and the command that explains its first pair, which ends in
/// `more_words`.
pub(crate) fn races(
    (input, more_words): (&str, &str),
    trace: &Trace,
    checked: &mut Checked<'_>,
    options: &RaceOptions,
) -> Vec<RaceFinding> {
    let (groups, locks) = (mem::take(&mut checked.groups), mem::take(&mut checked.locks));
    let shown = groups.iter().filter_map(|group| group.pairs.first());
    let allocated = Allocations::at(trace, shown.flat_map(|(a, b)| [*a, *b]).collect());
    let races = groups.into_iter().map(|group| race(trace, group, options, &allocated));
    let mut found: Vec<RaceFinding> = races.collect();
    rank(&mut found);
    if !locks.is_empty() {
        found.extend(locks.into_iter().map(|group| lock(trace, group, options.max_pairs)));
        rank(&mut found);
    }
    for one in &mut found {
        if let Some(&(a, b)) = one.pairs.first().filter(|_| options.max_pairs > 0) {
            one.finding.replay = Some(why_command(input, trace, [a, b]) + more_words);
        }
    }
    found
}

/// Gives findings their ids and their order.
fn rank(found: &mut [RaceFinding]) {
    let take = |one: &mut RaceFinding| mem::replace(&mut one.finding, Finding::new(Kind::Race));
    let mut findings: Vec<Finding> = found.iter_mut().map(take).collect();
    assign_ids(&mut findings);
    for (one, finding) in found.iter_mut().zip(findings) {
        one.finding = finding;
    }
    found.sort_by(|one, other| one.finding.rank(&other.finding));
}

fn race(
    trace: &Trace,
    group: RaceGroup,
    options: &RaceOptions,
    allocated: &BTreeMap<EventId, Allocated>,
) -> RaceFinding {
    let mut finding = Finding::new(Kind::Race);
    let pair = group.pairs.first().copied().unwrap_or((EventId(0), EventId(0)));
    let (a, b) = pair;
    finding.category = Some(group.category.word().to_owned());
    if let Some(filter) = group.filters.first() {
        finding.harm = Harm::Harmless;
        finding.harm_class = Some(filter.word().to_owned());
    }
    if group.filters.contains(&Filter::OnlyGuards) {
        finding.explanation.push(only_guards(trace, a, b));
    }
    finding.filters = group.filters.iter().map(|filter| filter.word().to_owned()).collect();
    let uncovered = group.uncovered_pairs > 0;
    finding.severity = Severity::of_race(finding.harm, uncovered);
    let level = level(options.coverage);
    finding.coverage = Some(Coverage { level, uncovered, uncovered_pairs: group.uncovered_pairs });
    finding.sites = [a, b].map(|event| allocated_site(trace, event, allocated)).into();
    let title = title(trace, &group, pair, allocated);
    finding.title = title.text(false);
    finding.pairs = names(trace, &group.pairs, options.max_pairs);
    finding.pairs_total = group.pairs_total;
    finding.explanation.extend(group.reasons.iter().map(|one| reason(trace, one)));
    RaceFinding { finding, pairs: group.pairs, title: Some(title) }
}

/// Returns an access with the place that allocated the memory whose address it contains.
fn allocated_site(trace: &Trace, event: EventId, allocated: &BTreeMap<EventId, Allocated>) -> Site {
    let place = allocated.get(&event).map(|place| place.text(trace.tables()));
    Site { allocated: place, ..site(trace, event) }
}

/// Returns the parts of the title of a race. The place of an allocation is the same in every run,
/// unlike the address.
fn title(
    trace: &Trace,
    group: &RaceGroup,
    (a, b): (EventId, EventId),
    allocated: &BTreeMap<EventId, Allocated>,
) -> Title {
    let named = trace.location_text(group.location);
    let what = match group.is_of_object {
        true => named,
        false => location_title(trace, group.location),
    };
    let verbs = [a, b].map(|event| trace.event(event).kind().word());
    let is_named = |event: &&EventId| {
        let location = trace.event(**event).location();
        location.is_some_and(|location| trace.location_text(location) == what)
    };
    let place = [a, b].iter().filter(is_named).find_map(|event| allocated.get(event));
    let place = place.map(|place| format!(" (allocated {})", place.phrase(trace.tables())));
    Title { verbs, what: format!("`{what}`{}", place.unwrap_or_default()) }
}

/// Explains why a race whose read only guards does no harm.
pub(crate) fn only_guards(trace: &Trace, a: EventId, b: EventId) -> ExplanationStep {
    let read = if trace.event(a).kind().writes() { b } else { a };
    let task = trace.task_name(trace.event(read).task);
    let text = format!(
        "the read in `{task}` only guards: tasks of this code do nothing once a newer request has written the location, and act only before"
    );
    ExplanationStep {
        rule: Some(Filter::OnlyGuards.word().to_owned()),
        events: vec![trace.event_name(read)],
        ..ExplanationStep::new(text)
    }
}

/// Returns the finding of uses of a lock that are unordered with what happens to its memory.
fn lock(trace: &Trace, group: LockGroup, max_pairs: usize) -> RaceFinding {
    let name = trace.tables().name(trace.tables().locks[group.lock.index()]);
    let (a, b) = group.pairs[0];
    let is_use = |event: EventId| trace.event(event).kind().operand() == OperandKind::Lock;
    let user = if is_use(a) { a } else { b };
    let by = trace.handler_name(trace.handler_of(user));
    let mut finding = Finding::new(Kind::OrderViolation);
    let (category, title) = match group.memory {
        LockMemory::Freed => (
            PredictedCategory::UseAfterFree,
            format!("lock `{name}` can be used by `{by}` after its memory is freed"),
        ),
        LockMemory::Overwritten => (
            PredictedCategory::OverwrittenLock,
            format!("lock `{name}` can be written over before or after `{by}` uses it"),
        ),
    };
    finding.category = Some(category.word().to_owned());
    finding.severity = Severity::Warning;
    finding.title = title;
    finding.sites = [a, b].map(|event| site(trace, event)).into();
    for (event, site) in [a, b].into_iter().zip(&mut finding.sites) {
        if is_use(event) {
            site.location = Some(name.to_owned());
        }
    }
    finding.pairs = names(trace, &group.pairs, max_pairs);
    finding.pairs_total = group.pairs.len() as u64;
    RaceFinding { finding, pairs: group.pairs, title: None }
}

fn names(trace: &Trace, pairs: &[(EventId, EventId)], max: usize) -> Vec<[String; 2]> {
    let named = |(a, b): &(EventId, EventId)| [*a, *b].map(|event| trace.event_name(event));
    pairs.iter().take(max).map(named).collect()
}

/// Returns the word for a definition of coverage.
pub(crate) const fn level(level: anyorder_hb::CoverageLevel) -> CoverageLevel {
    match level {
        anyorder_hb::CoverageLevel::Task => CoverageLevel::Task,
        anyorder_hb::CoverageLevel::Access => CoverageLevel::Access,
        anyorder_hb::CoverageLevel::Single => CoverageLevel::Single,
    }
}

/// Returns the definition of coverage that a word means.
pub(crate) const fn level_of(level: CoverageLevel) -> anyorder_hb::CoverageLevel {
    match level {
        CoverageLevel::Task => anyorder_hb::CoverageLevel::Task,
        CoverageLevel::Access => anyorder_hb::CoverageLevel::Access,
        CoverageLevel::Single => anyorder_hb::CoverageLevel::Single,
    }
}

#[cfg(test)]
mod tests {
    use anyorder_finding::RaceCategory as Word;
    use anyorder_hb::RaceCategory;

    #[test]
    fn the_categories_of_races_have_words_in_the_order_of_reports() {
        let words: Vec<&str> = RaceCategory::ALL.iter().map(|one| one.word()).collect();
        let expected: Vec<&str> = Word::ALL.iter().map(|one| one.word()).collect();
        assert_eq!(words, expected);
    }
}
