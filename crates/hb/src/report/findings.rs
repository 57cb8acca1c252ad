//! Groups of races as findings.

use crate::races::category::CapturedClocks;
use crate::races::coverage::Uncovered;
use crate::races::detector::Races;
use crate::races::filters::Filter;
use crate::races::groups::{Group, Key, pairs};
use crate::relation::engine::Engine;
use crate::report::describe;
use crate::report::explain;
use anyorder_finding::{
    Coverage, CoverageLevel, ExplanationStep, Finding, Harm, Kind, Severity, assign_ids,
};
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{Allocated, Allocations, EventId, Trace};
use std::collections::BTreeMap;

/// Groups beyond this number are not explained step by step.
const EXPLAINED_MAX: usize = 500;
/// The most pairs of a finding that a stopped check lists.
const PAIRS_AFTER_STOP_MAX: usize = 16;

/// The races of a trace, with the data that a report needs.
#[derive(Clone, Copy)]
pub(crate) struct Found<'f> {
    pub(crate) races: &'f Races,
    pub(crate) groups: &'f [Group],
    pub(crate) uncovered: &'f Uncovered,
    /// The coverage that decides which races are covered.
    pub(crate) level: CoverageLevel,
    /// The most pairs that a finding lists.
    pub(crate) max_pairs: usize,
}

/// Whether findings are explained. That takes one more pass over the trace.
#[derive(Clone, Copy)]
pub(crate) enum Explain<'c> {
    /// They are, unless the token stops it.
    With(&'c Cancel),
    /// They are not, because the check was stopped.
    Nothing,
}

/// A finding, and the pairs of events that it lists.
pub(crate) type WithPairs = (Finding, Vec<(EventId, EventId)>);

/// Turns each group into a finding, the most important first. Its sites are those of its first
/// pair.
///
/// # Errors
///
/// Fails if it was cancelled.
pub(crate) fn findings(
    engine: &mut Engine<'_>,
    found: &Found<'_>,
    explain: Explain<'_>,
) -> Result<Vec<WithPairs>, Stopped> {
    let Found { races, groups, uncovered, max_pairs, .. } = *found;
    let max = if matches!(explain, Explain::Nothing) {
        max_pairs.min(PAIRS_AFTER_STOP_MAX)
    } else {
        max_pairs
    };
    let mut listed: Vec<Vec<(EventId, EventId)>> = Vec::with_capacity(groups.len());
    for group in groups {
        if let Explain::With(cancel) = explain {
            cancel.check()?;
        }
        listed.push(pairs(engine.trace, races, uncovered, group, max.max(1)));
    }
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|i| (groups[*i].uncovered == 0, *i));
    let captured = match explain {
        Explain::Nothing => None,
        Explain::With(cancel) => {
            let mut wanted = Vec::new();
            for i in order.iter().take(EXPLAINED_MAX) {
                if let Some((a, b)) = listed[*i].first() {
                    explain::needs(engine, *a, *b, &mut wanted);
                }
            }
            let mut captured = CapturedClocks::new(wanted.into_iter());
            engine.visit(&mut captured, cancel, &mut |_| ())?;
            Some(captured)
        }
    };
    let shown = listed.iter().filter_map(|pairs| pairs.first());
    let allocated = Allocations::at(engine.trace, shown.flat_map(|(a, b)| [*a, *b]).collect());
    let mut findings: Vec<Finding> = order
        .iter()
        .enumerate()
        .map(|(rank, i)| {
            let explained = captured.as_ref().filter(|_| rank < EXPLAINED_MAX);
            let mut finding = finding(engine, found, &groups[*i], &listed[*i], explained);
            name_allocation(engine, &listed[*i], &allocated, &mut finding);
            finding
        })
        .collect();
    assign_ids(&mut findings);
    let pairs = order.iter().map(|i| std::mem::take(&mut listed[*i]));
    let mut found: Vec<WithPairs> = findings.into_iter().zip(pairs).collect();
    found.sort_by(|(one, _), (other, _)| one.rank(other));
    Ok(found)
}

/// Names the place that allocated the memory whose address a finding contains. The place is the
/// same in every run.
fn name_allocation(
    engine: &Engine<'_>,
    listed: &[(EventId, EventId)],
    allocated: &BTreeMap<EventId, Allocated>,
    finding: &mut Finding,
) {
    let tables = engine.trace.tables();
    let Some((a, b)) = listed.first() else { return };
    for (event, site) in [a, b].into_iter().zip(&mut finding.sites) {
        let Some(place) = allocated.get(event) else { continue };
        site.allocated = Some(place.text(tables));
        let name = site.location.as_ref().map(|location| format!("`{location}`"));
        let at = format!("(allocated {})", place.phrase(tables));
        if let Some(name) = name.filter(|_| !finding.title.contains("(allocated ")) {
            finding.title = finding.title.replacen(&name, &format!("{name} {at}"), 1);
        }
    }
}

fn finding(
    engine: &Engine<'_>,
    found: &Found<'_>,
    group: &Group,
    listed: &[(EventId, EventId)],
    captured: Option<&CapturedClocks>,
) -> Finding {
    let Found { races, level, max_pairs, .. } = *found;
    let trace = engine.trace;
    let mut finding = Finding::new(Kind::Race);
    let (a, b) = listed.first().copied().unwrap_or((EventId(0), EventId(0)));
    finding.category = Some(group.category.word().to_owned());
    if let Some(filter) = group.filters.first() {
        finding.harm = Harm::Harmless;
        finding.harm_class = Some(filter.word().to_owned());
    }
    if group.filters.contains(&Filter::OnlyGuards) {
        finding.explanation.push(only_guards(trace, a, b));
    }
    finding.filters = group.filters.iter().map(|filter| filter.word().to_owned()).collect();
    finding.severity = Severity::of_race(finding.harm, group.uncovered > 0);
    finding.coverage =
        Some(Coverage { level, uncovered: group.uncovered > 0, uncovered_pairs: group.uncovered });
    finding.title = title(engine, races, group, (a, b));
    finding.sites = vec![describe::site(trace, a), describe::site(trace, b)];
    let named = |(x, y): &(EventId, EventId)| [*x, *y].map(|event| trace.event_name(event));
    finding.pairs = listed.iter().take(max_pairs).map(named).collect();
    finding.pairs_total = group.pairs_total;
    if let Some(captured) = captured {
        finding.explanation.extend(explain::steps(engine, captured, a, b));
    }
    finding
}

/// Explains why a race whose read only guards does no harm.
#[must_use]
pub fn only_guards(trace: &Trace, a: EventId, b: EventId) -> ExplanationStep {
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

fn title(engine: &Engine<'_>, races: &Races, group: &Group, (a, b): (EventId, EventId)) -> String {
    let trace = engine.trace;
    let location = races.run(races.pairs[group.members[0] as usize].0).location;
    let what = match group.key {
        Key::Field { object: Some(_), .. } => trace.location_text(location),
        _ => describe::location_title(trace, location),
    };
    let word = |event: EventId| trace.event(event).kind().word();
    format!("{} and {} of `{what}` can happen in either order", word(a), word(b))
}
