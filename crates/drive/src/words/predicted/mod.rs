//! Predictions as findings, each with its best witness.

mod events;
mod evidence;
mod hints;
mod title;

pub(crate) use evidence::{UNDECIDED, add_free_reads, form_words};

use super::events::chain;
use super::races::only_guards;
use anyorder_finding::{ExplanationStep, Finding, Harm, Kind, Severity, Stack, assign_ids};
use anyorder_hb::Filter;
use anyorder_predict::check::{Category, Checked, Fact, Facts, Found};
use anyorder_system::Cancel;
use anyorder_trace::{EventKind, Tables, Trace};
use hints::{Pair, hint};
use std::collections::BTreeMap;
use std::mem;

/// The filter of findings without a witness.
const UNCONFIRMED: &str = "unconfirmed";

/// A prediction in words, with what it was made of.
pub(crate) struct Predicted {
    /// The finding without a witness. The caller chooses how to store the witness.
    pub(crate) finding: Finding,
    pub(crate) found: Found,
}

/// Takes what a check found. Returns it as findings, the most important first, each with its id.
pub(crate) fn predictions(tables: &Tables, checked: &mut Checked) -> Vec<Predicted> {
    let mut stacks = BTreeMap::new();
    let facts = &checked.facts;
    let in_words = |found: Found| {
        let finding = finding((tables, facts), &found, &mut stacks)?;
        Some(Predicted { finding, found })
    };
    let mut all: Vec<Predicted> =
        mem::take(&mut checked.found).into_iter().filter_map(in_words).collect();
    let take = |one: &mut Predicted| mem::replace(&mut one.finding, Finding::new(Kind::Race));
    let mut findings: Vec<Finding> = all.iter_mut().map(take).collect();
    assign_ids(&mut findings);
    for (one, with_id) in all.iter_mut().zip(findings) {
        one.finding = with_id;
    }
    all.sort_by(|a, b| a.finding.rank(&b.finding));
    all
}

/// Adds to findings what only the trace tells: the posts that led to the two tasks, what their
/// reads guard, and how the analysis had ordered them. A job that is stopped leaves out the posts.
pub(crate) fn with_trace(trace: &Trace, predicted: &mut [Predicted], cancel: &Cancel) {
    for Predicted { finding, found } in predicted {
        if let Some((first, second, _)) = &found.witness
            && cancel.reason().is_none()
        {
            for (site, event) in finding.sites.iter_mut().zip([*first, *second]) {
                site.chain = chain(trace, trace.event(event).task);
            }
        }
        if found.is_confirmed() {
            add_free_reads(trace, finding);
        }
        if found.only_guards
            && let Some((a, b)) = found.event_pairs().first()
        {
            finding.harm = Harm::Harmless;
            finding.severity = Severity::Note;
            finding.explanation.push(only_guards(trace, *a, *b));
            finding.harm_class = Some(Filter::OnlyGuards.word().to_owned());
        }
        if let Some(steps) = &found.missed {
            let at = finding.explanation.len().min(2);
            finding.explanation.insert(at, evidence::missed(trace, steps));
        }
    }
}

/// Returns the finding of a group; `None` if there are no facts about its events. `stacks` are
/// those that findings have: all findings of an event share its stack.
fn finding(
    (tables, facts): (&Tables, &Facts),
    found: &Found,
    stacks: &mut BTreeMap<u64, Stack>,
) -> Option<Finding> {
    let (shown, category) = (found.shown, found.category);
    let (first, second) = (facts.get(shown.first)?, facts.get(shown.second)?);
    let mut finding = of_category(found);
    finding.title = title::title(tables, category, first, second);
    let mut site = |event: u64, fact: &Fact| {
        let stack = stacks.entry(event).or_insert_with(|| events::stack(tables, fact));
        events::site(tables, fact, stack.clone())
    };
    finding.sites = vec![site(shown.first, first), site(shown.second, second)];
    let label = |event: u64| facts.get(event).map(Fact::label);
    let named = |(a, b): &(u64, u64)| Some([label(*a)?, label(*b)?]);
    finding.pairs = found.members.iter().filter_map(named).collect();
    finding.pairs_total = found.total;
    finding.confirmed = found.confirmed;
    finding.form = found.form().map(|form| form.word().to_owned());
    if !found.is_confirmed() {
        finding.filters = vec![UNCONFIRMED.to_owned()];
    }
    if found.is_confirmed() && is_woken(facts, found) {
        finding.harm = Harm::Harmless;
        finding.severity = Severity::Note;
        finding.harm_class = Some(WOKEN.to_owned());
    }
    let second_event = shown.second;
    let pair = Pair { tables, facts, category, first, second, second_event };
    finding.explanation = evidence::explanation(&pair, shown, &found.evidence);
    let mut say = |rule: &str, text: String| {
        let rule = Some(rule.to_owned());
        finding.explanation.push(ExplanationStep { rule, ..ExplanationStep::new(text) });
    };
    if finding.harm_class.as_deref() == Some(WOKEN) {
        say(WOKEN, WOKEN_WHY.to_owned());
    }
    if found.is_undecided {
        say("undecided", UNDECIDED.to_owned());
    }
    if found.open > 0 {
        say("unconfirmed", format!("{} more of the group: without an answer", found.open));
    }
    say("hint", hint(&pair));
    Some(finding)
}

/// The class of signals that came before a wait which ended all the same.
const WOKEN: &str = "woken";

/// Why they do no harm.
const WOKEN_WHY: &str = "the signal came first in the recorded run, and the wait ended all the same; where the wait comes first, the signal can wake it";

/// Returns whether all pairs of a finding are signals that came before a wait, which ended: the
/// other order loses nothing. A signal after its change of the predicate is such a one, where it is
/// given without the lock.
fn is_woken(facts: &Facts, found: &Found) -> bool {
    let is_signal = |event: u64| {
        let kind = facts.get(event).map(|fact| fact.op.kind());
        matches!(kind, Some(EventKind::Signal | EventKind::Broadcast))
    };
    let all_known = found.members.len() as u64 == found.total;
    found.category == Category::LostSignal
        && all_known
        && found.members.iter().all(|(a, b)| is_signal(*a) && facts.wait_ends(*b))
}

/// Makes a finding with the kind, the severity and the harm of its category.
fn of_category(found: &Found) -> Finding {
    let category = found.category;
    let mut finding = Finding::new(match found.is_race() {
        true => Kind::Race,
        false => Kind::OrderViolation,
    });
    finding.category = Some(category.word().to_owned());
    finding.severity = if found.is_confirmed() { severity(category) } else { Severity::Note };
    if matches!(category, Category::Arrival | Category::Guarded) {
        finding.harm = Harm::Harmless;
        finding.harm_class = Some(category.word().to_owned());
    }
    finding
}

/// Returns the severity of a confirmed finding of a category.
pub(crate) const fn severity(category: Category) -> Severity {
    match category {
        Category::UseAfterFree
        | Category::DoubleFree
        | Category::DestroyedLock
        | Category::OverwrittenLock
        | Category::ClosedChannel => Severity::Error,
        Category::Arrival | Category::Guarded => Severity::Note,
        _ => Severity::Warning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::{PredictedCategory, RaceCategory};

    #[test]
    fn the_categories_of_predictions_have_words() {
        for category in Category::ALL {
            let word = category.word();
            let is_known = PredictedCategory::from_word(word).is_some()
                || RaceCategory::from_word(word) == Some(RaceCategory::MultiThreaded);
            assert!(is_known, "{word}");
        }
    }
}
