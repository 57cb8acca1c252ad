//! The phrases that all reports share, so that their wording agrees.

use anyorder_common::numbers::{count, plural};
use anyorder_finding::{
    ExplanationStep, Finding, Harm, Kind, Outcome, Policy, Site, Stat, Verdict, Warning,
    WarningKind, option,
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns a warning as text: its subject, its count and its places.
pub(crate) fn warning(outcome: &Outcome, warning: &Warning) -> String {
    let mut text = warning.text.clone();
    let mut places = warning.places.join(", ");
    if warning.count > warning.places.len() as u64 && !places.is_empty() {
        places.push_str(", …");
    }
    match (warning.count, places.is_empty()) {
        (0 | 1, true) => {}
        (0 | 1, false) => text.push_str(&format!(" ({places})")),
        (n, true) => text.push_str(&format!(" ({} times)", count(n))),
        (n, false) => text.push_str(&format!(" ({} times: {places})", count(n))),
    }
    match &warning.input {
        Some(input) if outcome.inputs.len() > 1 => format!("{input}: {text}"),
        _ => text,
    }
}

/// Returns the warnings that the answer may depend on: about ignored and missing parts.
pub(crate) fn grave(outcome: &Outcome) -> impl Iterator<Item = &Warning> {
    outcome.warnings.iter().filter(|warning| warning.kind != WarningKind::Odd)
}

/// States which results depend on ignored input; `None` if nothing was ignored.
pub(crate) fn ignored_input(outcome: &Outcome) -> Option<String> {
    if !outcome.warnings.iter().any(|warning| warning.kind == WarningKind::Ignored) {
        return None;
    }
    let found =
        outcome.findings.iter().filter(|finding| finding.depends_on_ignored_input()).count() as u64;
    Some(match (found, outcome.verdict) {
        (0, Verdict::Findings | Verdict::NotRobust | Verdict::Inconsistent) => {
            "what was not understood may hide more".to_owned()
        }
        (0, _) => "what was not understood may hide something".to_owned(),
        (1, _) => "1 finding rests on what was ignored".to_owned(),
        (n, _) => format!("{} findings rest on what was ignored", count(n)),
    })
}

/// Returns whether the input was not understood as a whole, so that the answer is open.
pub(crate) fn is_not_understood(outcome: &Outcome) -> bool {
    outcome.limits.iter().any(|limit| *limit == option::NOT_UNDERSTOOD.word())
}

/// Returns whether the search itself ended early, whatever was not understood.
pub(crate) fn is_cut(outcome: &Outcome) -> bool {
    let is_other = |limit: &String| limit != option::NOT_UNDERSTOOD.word();
    !outcome.complete && (outcome.limits.is_empty() || outcome.limits.iter().any(is_other))
}

/// Returns the phrase for a site's access: `write of`, or `event` where it is not an access.
pub(crate) fn access(site: &Site) -> &str {
    site.access.as_deref().unwrap_or("event")
}

/// Returns what the handler of a site is, with the word before it: in an update conflict it is the
/// component that makes the update.
pub(crate) fn of_handler(finding: &Finding) -> (&'static str, &'static str) {
    match finding.kind {
        Kind::UpdateConflict => ("for", "component"),
        _ => ("on", "handler"),
    }
}

/// Returns the handler of a site, with what it is.
pub(crate) fn on_handler(finding: &Finding, site: &Site) -> Option<String> {
    let (on, handler) = of_handler(finding);
    site.handler.as_ref().map(|name| format!("{on} {handler} `{name}`"))
}

/// Returns the thread of a site if it adds information to the handler and the task.
pub(crate) fn thread(site: &Site) -> Option<&str> {
    let said = |name: &Option<String>| name.as_deref() == site.thread.as_deref();
    site.thread.as_deref().filter(|_| !said(&site.handler) && !said(&site.task))
}

/// Returns the coverage of a finding: `uncovered`, `covered`, or nothing where coverage does not
/// apply.
pub(crate) fn coverage(finding: &Finding) -> Option<&'static str> {
    finding.coverage.map(|coverage| if coverage.uncovered { "uncovered" } else { "covered" })
}

/// Returns the findings that a text report shows in full: those that are not excluded, and of a
/// group only its representative.
pub(crate) fn shown_in_full(outcome: &Outcome) -> Vec<&Finding> {
    let all = || outcome.findings.iter().filter(|finding| !finding.is_excluded());
    let ids: BTreeSet<&str> = all().map(|finding| finding.id.as_str()).collect();
    let stands = |finding: &&Finding| {
        let group = finding.group.as_ref().filter(|group| **group != finding.id);
        // If the representative of a group is excluded, its members are shown individually.
        group.is_none_or(|group| !ids.contains(group.as_str()))
    };
    all().filter(stands).collect()
}

/// The findings of a result by group, without excluded ones and without the representatives.
pub(crate) struct Members<'a>(BTreeMap<&'a str, Vec<&'a Finding>>);

impl<'a> Members<'a> {
    /// Collects the groups of a result. O(n log n).
    pub(crate) fn of(outcome: &'a Outcome) -> Members<'a> {
        let mut groups: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
        for finding in outcome.findings.iter().filter(|finding| !finding.is_excluded()) {
            if let Some(group) = finding.group.as_deref().filter(|group| *group != finding.id) {
                groups.entry(group).or_default().push(finding);
            }
        }
        Members(groups)
    }

    /// Returns the other findings of a representative's group.
    pub(crate) fn with(&self, finding: &Finding) -> &[&'a Finding] {
        let stands = finding.group.as_ref() == Some(&finding.id);
        let members = stands.then(|| self.0.get(finding.id.as_str())).flatten();
        members.map_or(&[], Vec::as_slice)
    }
}

/// Counts the excluded findings: `3 in the baseline and 1 suppressed`; `None` if there are none.
pub(crate) fn excluded_summary(outcome: &Outcome) -> Option<String> {
    let of = |test: &dyn Fn(&&Finding) -> bool| outcome.findings.iter().filter(test).count() as u64;
    let known = of(&|finding| finding.baseline);
    let suppressed = of(&|finding| !finding.baseline && finding.suppressed.is_some());
    let known = (known > 0).then(|| format!("{} in the baseline", plural(known, "finding")));
    let named: u64 = suppressed_by(outcome).map(|(_, n)| n).sum();
    let suppressed = (suppressed > named)
        .then(|| format!("{} suppressed", plural(suppressed - named, "finding")));
    let by = suppressed_by(outcome)
        .map(|(line, n)| format!("{} suppressed by {line}", plural(n, "finding")));
    let parts: Vec<String> = known.into_iter().chain(suppressed).chain(by).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns how many findings each line of a named file of suppressions sets aside.
fn suppressed_by(outcome: &Outcome) -> impl Iterator<Item = (String, u64)> {
    let mut by: BTreeMap<(&str, u32), u64> = BTreeMap::new();
    for finding in outcome.findings.iter().filter(|finding| !finding.baseline) {
        let mark = finding.suppressed.as_ref();
        if let Some((file, line)) = mark.and_then(|mark| Some((mark.file.as_deref()?, mark.line?)))
        {
            *by.entry((file, line)).or_default() += 1;
        }
    }
    by.into_iter().map(|((file, line), n)| (format!("{file}:{line}"), n))
}

/// Returns the attributes of a finding: category, coverage, harm, filters, reasons for exclusion.
pub(crate) fn marks(finding: &Finding) -> Vec<String> {
    let mut marks = vec![finding.kind.word().to_owned()];
    marks.extend(finding.category.clone());
    if let Some(coverage) = coverage(finding) {
        let level = finding.coverage.map_or("", |coverage| coverage.level.word());
        marks.push(format!("{coverage} ({level} level)"));
    }
    match (finding.harm, &finding.harm_class) {
        (Harm::Undecided, _) => {}
        (harm, Some(class)) => marks.push(format!("{harm}: {class}")),
        (harm, None) => marks.push(harm.word().to_owned()),
    }
    let unconfirmed = finding.filters.iter().any(|filter| filter == UNCONFIRMED);
    match (finding.confirmed, &finding.form) {
        (Some(true), Some(form)) => marks.push(format!("confirmed: {form}")),
        (Some(true), None) => marks.push("confirmed".into()),
        (Some(false), _) if unconfirmed => marks.push("unconfirmed: no witness found".into()),
        (Some(false), _)
            if finding.explanation.iter().any(|step| step.rule.as_deref() == Some(IMPOSSIBLE)) =>
        {
            marks.push("no other order of this run shows it".into());
        }
        (Some(false), _) => marks.push("not confirmed by replay".into()),
        (None, _) if unconfirmed => marks.push("unconfirmed: not tried".into()),
        (None, _) => {}
    }
    if let Some(reproduced) = &finding.reproduced {
        marks.push(reproduced.class.word().replace('_', " "));
    }
    if finding.depends_on_ignored_input() {
        marks.push("rests on what was ignored".to_owned());
    }
    let filters = finding.filters.iter().filter(|filter| *filter != UNCONFIRMED);
    marks.extend(filters.map(|filter| format!("filter {filter}")));
    if finding.baseline {
        marks.push("in the baseline".into());
    }
    if let Some(mark) = &finding.suppressed {
        let reason = mark.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        marks.push(format!("suppressed{reason}"));
    }
    marks
}

/// The filter of predictions without a witness.
const UNCONFIRMED: &str = "unconfirmed";

/// The rule of the step that states a proof that no witness exists.
const IMPOSSIBLE: &str = "impossible";

/// The format of the witness of a prediction.
const REORDERING: &str = "reordering";

/// Returns whether a finding was predicted: another order of recorded events or a second run shows
/// it, or the engine looked for one.
pub(crate) fn is_predicted(finding: &Finding) -> bool {
    finding.reproduced.is_some()
        || finding.witness.as_ref().is_some_and(|witness| witness.format == REORDERING)
        || finding.filters.iter().any(|filter| filter == UNCONFIRMED)
}

/// Returns the head of a step in a prediction's explanation; `None` for other steps.
pub(crate) fn predicted_head(finding: &Finding, step: &ExplanationStep) -> Option<&'static str> {
    let rule = step.rule.as_deref()?;
    let always = ["ignored", "hint", "second run"];
    if let Some(head) = always.into_iter().find(|head| *head == rule) {
        return Some(head);
    }
    if !is_predicted(finding) && rule != IMPOSSIBLE {
        return None;
    }
    Some(match rule {
        IMPOSSIBLE => "in this run",
        "locks" => "locks",
        "witness" => "shown by",
        "unconfirmed" => "unconfirmed",
        "missed" => "ordered",
        _ => return None,
    })
}

/// Returns the number of pairs of a finding as text, and how many of them are uncovered.
pub(crate) fn pairs(finding: &Finding) -> Option<String> {
    if finding.pairs_total == 0 {
        return None;
    }
    let total = plural(finding.pairs_total, "pair");
    Some(match finding.coverage {
        Some(coverage) if coverage.uncovered => {
            format!("{total}, {} uncovered", count(coverage.uncovered_pairs))
        }
        _ => total,
    })
}

/// Returns the size of the input as text, as far as the statistics contain it.
pub(crate) fn sizes(outcome: &Outcome) -> Vec<String> {
    let mut sizes = Vec::new();
    let nouns = [
        ("events", "event"),
        ("tasks", "task"),
        ("handlers", "handler"),
        ("states", "state"),
        ("transitions", "transition"),
        ("recorded_tasks", "recorded task"),
    ];
    let stat = |name: &str| outcome.stats.get(name).and_then(Stat::integer);
    let threads = only_threads(outcome);
    for (name, noun) in nouns {
        match (stat(name), threads) {
            (_, Some(threads)) if name == "tasks" => sizes.push(plural(threads, "thread")),
            (_, Some(_)) if name == "handlers" => {}
            (Some(number), _) => sizes.push(plural(number, noun)),
            (None, _) => {}
        }
    }
    // The candidates of other commands mean something else.
    if let (Some(candidates), Some(_)) = (stat("candidates"), stat("dropped")) {
        let parts = ["confirmed", "dropped", "unconfirmed"]
            .into_iter()
            .filter_map(|name| stat(name).filter(|n| *n > 0).map(|n| (name, n)));
        let parts: Vec<String> = parts.map(|(name, n)| format!("{} {name}", count(n))).collect();
        let list = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        sizes.push(plural(candidates, "candidate") + &list);
    }
    let runs = stat("executions").filter(|runs| *runs > 0);
    // In a search with reduction, executions are of steps, not of runs.
    if stat("inferred").is_none() {
        sizes.extend(runs.map(|runs| plural(runs, "run")));
    }
    if let Some(runs) = stat("stress_runs") {
        let [orders, failed] =
            ["stress_schedules", "stress_failed"].map(|name| stat(name).unwrap_or(0));
        let runs = plural(runs, "run");
        let (orders, failed) = (count(orders), count(failed));
        sizes.push(format!("{runs} in random orders: {orders} different, {failed} failed"));
    }
    if let Some(Stat::Map(classes)) = outcome.stats.get("reversals") {
        let all: u64 = classes.iter().map(|(_, n)| *n).sum();
        let some = classes.iter().filter(|(_, n)| **n > 0);
        let some: Vec<String> = some.map(|(class, n)| format!("{} {class}", count(*n))).collect();
        let list = if some.is_empty() { String::new() } else { format!(": {}", some.join(", ")) };
        sizes.push(plural(all, "reversal") + &list);
    }
    sizes
}

/// Returns the number of threads of an input that has neither tasks nor handlers.
pub(crate) fn only_threads(outcome: &Outcome) -> Option<u64> {
    let stat = |name: &str| outcome.stats.get(name).and_then(Stat::integer);
    // Some commands count neither.
    let has_none = ["tasks", "handlers"].iter().all(|name| stat(name).unwrap_or(0) == 0);
    stat("threads").filter(|threads| *threads > 0 && has_none)
}

/// Returns the elapsed time as text, if the statistics contain it.
pub(crate) fn elapsed(outcome: &Outcome) -> Option<String> {
    let ms = outcome.stats.get("elapsed_ms")?.integer()?;
    Some(match ms {
        0..10_000 => format!("{} ms", count(ms)),
        _ => format!("{}.{} s", count(ms / 1000), ms % 1000 / 100),
    })
}

/// The number of findings by status.
pub(crate) struct Tally {
    /// Those that make the result a failure.
    pub(crate) counting: u64,
    /// Uncovered races, including excluded ones.
    pub(crate) uncovered: u64,
    /// Races that are covered.
    pub(crate) covered: u64,
    /// Findings that a suppression or the baseline excludes.
    pub(crate) excluded: u64,
    /// Findings represented by another one.
    pub(crate) tied: u64,
}

/// Counts the findings of a result.
pub(crate) fn tally(outcome: &Outcome, policy: &Policy) -> Tally {
    let number = |test: &dyn Fn(&Finding) -> bool| {
        outcome.findings.iter().filter(|finding| test(finding)).count() as u64
    };
    Tally {
        counting: number(&|finding| policy.counts(finding)),
        uncovered: number(&|finding| finding.coverage.is_some_and(|c| c.uncovered)),
        covered: number(&Finding::is_covered),
        excluded: number(&Finding::is_excluded),
        tied: number(&|finding| finding.group.as_ref().is_some_and(|group| *group != finding.id)),
    }
}

/// Returns the parts of the summary line of all findings.
pub(crate) fn summary(outcome: &Outcome, policy: &Policy) -> Vec<String> {
    let tally = tally(outcome, policy);
    let mut parts = vec![plural(outcome.findings.len() as u64, "finding")];
    for (n, what) in [
        (tally.uncovered, "uncovered"),
        (tally.covered, "covered"),
        (tally.excluded, "suppressed or in the baseline"),
        (tally.tied, "of one mistake with another"),
    ] {
        if n > 0 {
            parts.push(format!("{} {what}", count(n)));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::Kind;

    #[test]
    fn groups_are_as_defined() {
        // All results of five findings, each in no group or in that of one of three.
        for code in 0..4_u32.pow(5) {
            let finding = |at: u32| Finding {
                id: at.to_string(),
                group: Some(code / 4_u32.pow(at) % 4).filter(|it| *it > 0).map(|it| it.to_string()),
                baseline: code % 7 == at,
                ..Finding::new(Kind::Race)
            };
            let findings: Vec<Finding> = (0..5).map(finding).collect();
            let outcome = Outcome { findings, ..Outcome::new("check", "1") };
            let all = &outcome.findings;
            let members = Members::of(&outcome);
            for one in all {
                let stands = one.group.as_ref() == Some(&one.id);
                let with = |other: &&Finding| {
                    let same = stands && other.group == one.group && other.id != one.id;
                    same && !other.is_excluded()
                };
                assert_eq!(members.with(one), all.iter().filter(with).collect::<Vec<_>>());
            }
            let full = |one: &&Finding| {
                let group = one.group.as_ref().filter(|group| **group != one.id);
                let is_shown = |id: &String| all.iter().any(|o| o.id == *id && !o.is_excluded());
                !one.is_excluded() && !group.is_some_and(is_shown)
            };
            assert_eq!(shown_in_full(&outcome), all.iter().filter(full).collect::<Vec<_>>());
        }
    }
}
