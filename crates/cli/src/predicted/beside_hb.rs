//! Predictions beside the races of happens-before, for `anyorder check` on traces of threads: each race once, with a witness where there is
//! one, and behind them what happens-before does not see.

use super::question::{Analysis, Known, Question, predict};
use super::stored::place;
use super::told::{Shape, run_of, unique_label};
use crate::failure::Failure;
use anyorder_finding::run::Run;
use anyorder_finding::{Finding, Step};
use anyorder_hb::{HappensBefore, RuleSet};
use anyorder_predict::check::{Candidate, Fate, Found, form_words};
use anyorder_predict::{Form, Reorders, Witness};
use anyorder_system::Control;
use anyorder_trace::{EventId, EventKind, Trace};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// How many pairs of each race of happens-before are tried.
const PAIRS_TRIED_MAX: usize = 8;

/// A finding, and the run that shows it.
pub(crate) struct Beside {
    pub(crate) finding: Finding,
    pub(crate) run: Option<Run>,
    /// The last event of what shows or refutes it; `None` where only its sites do.
    pub(crate) last: Option<EventId>,
}

/// Tries the races of happens-before, and predicts what else could happen. Returns all findings, those of happens-before first in
/// their order, and what the prediction was.
pub(crate) fn beside_hb(
    path: &Path,
    trace: &Trace,
    races: Vec<Finding>,
    question: &Question<'_>,
    replay: &dyn Fn(&Finding) -> String,
    control: &Control<'_>,
) -> Result<(Vec<Beside>, Analysis), Failure> {
    let pairs = pairs_of(trace, &races);
    let extra: Vec<(EventId, EventId)> = pairs.iter().flatten().copied().collect();
    // Without races, happens-before orders everything that it knows of.
    let order = match races.is_empty() {
        true => None,
        false => HappensBefore::new(trace, RuleSet::Threads, &control.cancel).ok(),
    };
    let is_known = |candidate: &Candidate| {
        let ids =
            [candidate.first, candidate.second].map(|event| u32::try_from(event).map(EventId));
        let ([Ok(a), Ok(b)], Some(order)) = (ids, &order) else { return false };
        is_plain(trace, a) && is_plain(trace, b) && !order.happens_before(a, b)
    };
    let known = Known { extra: &extra, is_known: &is_known };
    let mut analysis = predict(path, trace, question, &known, control)?;
    let fates: HashMap<(u64, u64), &Fate> =
        analysis.checked.fates.iter().map(|(one, fate)| ((one.first, one.second), fate)).collect();
    let mut all = Vec::new();
    for (mut finding, pairs) in races.into_iter().zip(pairs) {
        // What a free has to do with is a use after free, and told as that.
        let fate = |(a, b): &(EventId, EventId)| fates.get(&(u64::from(a.0), u64::from(b.0)));
        let told = |(a, b): &(EventId, EventId)| !(is_plain(trace, *a) && is_plain(trace, *b));
        let confirmed = |pair| fate(pair).is_some_and(|fate| fate.form().is_some());
        if pairs.iter().any(|pair| told(pair) && confirmed(pair)) {
            continue;
        }
        let (run, last) = confirm(trace, &mut finding, &pairs, &fates)?;
        all.push(Beside { finding, run, last });
    }
    for Found { mut finding, witness, .. } in std::mem::take(&mut analysis.checked.found) {
        let mut run = None;
        let last = last_of(trace, &finding, witness.as_ref());
        if let Some((first, second, witness)) = &witness {
            place(&mut finding, trace, (*first, *second, witness), Reorders::Threads, None)?;
            run = Some(run_of(trace, (*first, *second, witness), Shape::default()));
            finding.replay = Some(replay(&finding));
        }
        all.push(Beside { finding, run, last });
    }
    Ok((all, analysis))
}

/// Returns whether an event reads or writes memory, and does not free it.
fn is_plain(trace: &Trace, event: EventId) -> bool {
    let kind = trace.event(event).kind();
    kind.is_access() && kind != EventKind::Free
}

/// Returns the first pairs of each race, as events.
fn pairs_of(trace: &Trace, races: &[Finding]) -> Vec<Vec<(EventId, EventId)>> {
    let tried = |finding: &Finding| finding.pairs.iter().take(PAIRS_TRIED_MAX).cloned().collect();
    let wanted: Vec<Vec<[String; 2]>> = races.iter().map(tried).collect();
    let mut by_label: BTreeMap<&str, Option<EventId>> =
        wanted.iter().flatten().flatten().map(|label| (label.as_str(), None)).collect();
    for event in (0..trace.len() as u32).map(EventId) {
        // Labels of accesses; in traces of threads nothing else is numbered.
        if trace.event(event).kind().is_access()
            && let Some(found) = by_label.get_mut(trace.label(event).as_str())
        {
            found.get_or_insert(event);
        }
    }
    let find = |label: &String| by_label.get(label.as_str()).copied().flatten();
    let pair = |[a, b]: &[String; 2]| {
        let (a, b) = (find(a)?, find(b)?);
        (a < b).then_some((a, b))
    };
    wanted.iter().map(|pairs| pairs.iter().filter_map(pair).collect()).collect()
}

/// Says of a race whether one of its pairs has a witness; returns the run of the best.
fn confirm(
    trace: &Trace,
    finding: &mut Finding,
    pairs: &[(EventId, EventId)],
    fates: &HashMap<(u64, u64), &Fate>,
) -> Result<(Option<Run>, Option<EventId>), Failure> {
    let fate = |(a, b): &(EventId, EventId)| fates.get(&(u64::from(a.0), u64::from(b.0))).copied();
    let confirmed = pairs.iter().filter_map(|pair| match fate(pair)? {
        Fate::Confirmed(witness) => Some((*pair, witness)),
        _ => None,
    });
    let best = confirmed.min_by_key(|(pair, witness)| (witness.form, witness.order.len(), *pair));
    if let Some(((first, second), witness)) = best {
        finding.confirmed = Some(true);
        finding.form = Some(witness.form.word().to_owned());
        let claimed = (first, second, witness);
        place(finding, trace, claimed, Reorders::Threads, None)?;
        finding.explanation.insert(0, told(trace, first, second, witness.form));
        let last = last_of(trace, finding, Some(&(first, second, witness.clone())));
        return Ok((Some(run_of(trace, claimed, Shape::default())), last));
    }
    if let Some(form) = pairs.iter().filter_map(|pair| fate(pair)?.form()).min() {
        finding.confirmed = Some(true);
        finding.form = Some(form.word().to_owned());
        return Ok((None, last_of(trace, finding, None)));
    }
    let all = pairs.len() as u64 == finding.pairs_total && !pairs.is_empty();
    if all && pairs.iter().all(|pair| fate(pair) == Some(&Fate::Impossible)) {
        finding.confirmed = Some(false);
        let text = "no order of the recorded events has the two the other way round, as long as each thread sees what it saw";
        finding
            .explanation
            .insert(0, Step { rule: Some("impossible".to_owned()), ..Step::new(text) });
        // The proof is about the whole trace.
        return Ok((None, Some(EventId(trace.len() as u32))));
    }
    Ok((None, None))
}

/// Returns the last event of the witness of a finding; where a confirmed one has no witness that
/// was kept, the end of the trace.
pub(crate) fn last_of(
    trace: &Trace,
    finding: &Finding,
    witness: Option<&(EventId, EventId, Witness)>,
) -> Option<EventId> {
    match witness {
        None => (finding.confirmed == Some(true)).then_some(EventId(trace.len() as u32)),
        Some((first, second, witness)) => {
            let prefix = EventId(witness.prefix.saturating_sub(1));
            witness.order.iter().chain([first, second, &prefix]).copied().max()
        }
    }
}

fn told(trace: &Trace, first: EventId, second: EventId, form: Form) -> Step {
    Step {
        rule: Some("witness".to_owned()),
        events: vec![unique_label(trace, first), unique_label(trace, second)],
        ..Step::new(form_words(form))
    }
}
