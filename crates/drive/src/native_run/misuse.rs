//! Findings of what the threads of a native program do that no program may, whatever the order.

use super::RecordedRun;
use crate::result::{JobResult, Reported};
use crate::words::site;
use anyorder_common::numbers::plural;
use anyorder_finding::{
    ExplanationStep, Finding, Harm, Kind, MisuseCategory, PredictedCategory, Severity, Site,
    assign_ids,
};
use anyorder_native::{Misuse, Rule};
use anyorder_trace::EventId;

/// Adds a finding for each misuse of a part of a run. Where the result has a prediction of the same
/// places, one of the two stays: of a use after the end of a lock the prediction, as both orders
/// are open, and of the end of a lock that is held what happened.
pub fn add_misuses(run: &RecordedRun<'_>, result: &mut JobResult) {
    let positions = |finding: &Finding| {
        let mut all: Vec<Option<String>> = finding.sites.iter().map(Site::position).collect();
        all.sort_unstable();
        all
    };
    let mut findings = Vec::new();
    for misuse in &run.misuses {
        let finding = finding(run, misuse);
        let places = positions(&finding);
        let is_same = |one: &Reported| {
            let category = one.finding.category.as_deref();
            category == Some(PredictedCategory::DestroyedLock.word())
                && positions(&one.finding) == places
        };
        match misuse.rule {
            Rule::UsedDestroyed if result.findings.iter().any(is_same) => continue,
            Rule::DestroyedHeld => result.findings.retain(|one| !is_same(one)),
            _ => {}
        }
        findings.push(finding);
    }
    assign_ids(&mut findings);
    findings.into_iter().for_each(|finding| result.push(finding, None));
}

fn finding(run: &RecordedRun<'_>, misuse: &Misuse) -> Finding {
    let trace = &run.input.trace;
    let mut sites: Vec<Site> = misuse.events.iter().map(|row| site(trace, EventId(*row))).collect();
    let (category, wrong, title) = words(misuse, &sites);
    if let Some(first) = sites.first_mut() {
        first.access = Some(wrong.to_owned());
    }
    let is_minor =
        matches!(misuse.rule, Rule::ThreadLeak | Rule::UnsafeInHandler | Rule::ErrnoInHandler);
    // The title has what the others are about.
    for site in &mut sites {
        site.location = (!is_minor).then(|| misuse.object.clone());
    }
    let mut finding = Finding::new(Kind::Misuse);
    finding.category = Some(category.word().to_owned());
    (finding.severity, finding.harm) = match is_minor {
        true => (Severity::Warning, Harm::Undecided),
        false => (Severity::Error, Harm::Harmful),
    };
    finding.title = title;
    finding.sites = sites;
    if misuse.times > 1 {
        let text = format!("it happened {} at these places", plural(misuse.times, "time"));
        finding.explanation.push(ExplanationStep::new(text));
    }
    finding
}

/// Returns the category of a misuse, what its first place does, and a title.
fn words(misuse: &Misuse, sites: &[Site]) -> (MisuseCategory, &'static str, String) {
    let name = |at: usize| sites.get(at).and_then(|site| site.thread.as_deref()).unwrap_or("?");
    let (object, thread) = (&misuse.object, name(0));
    let by = |other: &str| if other == thread { "itself".to_owned() } else { format!("`{other}`") };
    match misuse.rule {
        Rule::BadUnlock => {
            let holder = match sites.len() {
                0 | 1 => "no thread holds".to_owned(),
                _ => format!("`{}` holds", name(1)),
            };
            let title = format!("`{thread}` gives back `{object}`, which {holder}");
            (MisuseCategory::BadUnlock, "unlock", title)
        }
        Rule::DoubleLock => {
            let title = format!("`{thread}` waits for `{object}`, which it holds itself");
            (MisuseCategory::DoubleLock, "lock", title)
        }
        Rule::DestroyedHeld => {
            let title = format!("`{thread}` destroys `{object}`, held by {}", by(name(1)));
            (MisuseCategory::DestroyedHeld, "destroy", title)
        }
        Rule::InitialisedHeld => {
            let title = format!("`{thread}` initialises `{object}`, held by {}", by(name(1)));
            (MisuseCategory::InitialisedHeld, "initialise", title)
        }
        Rule::UsedDestroyed => {
            let title = format!("`{thread}` uses `{object}` after it was destroyed");
            (MisuseCategory::UsedDestroyed, "use", title)
        }
        Rule::WaitUnlocked => {
            let title = format!("`{thread}` waits with `{object}`, which it does not hold");
            (MisuseCategory::WaitUnlocked, "wait", title)
        }
        Rule::WrongMode => {
            let title = format!("`{thread}` gives back `{object}` in another mode than it took it");
            (MisuseCategory::WrongMode, "unlock", title)
        }
        Rule::ThreadLeak => {
            let title = format!("`{object}` has ended, and nobody joins or detaches it");
            (MisuseCategory::ThreadLeak, "creation", title)
        }
        Rule::UnsafeInHandler => {
            let title = format!("`{thread}` calls what it must not: {object}");
            (MisuseCategory::UnsafeInHandler, "call", title)
        }
        Rule::ErrnoInHandler => {
            let title = format!("the handler of {object} changes `errno` of `{thread}`");
            (MisuseCategory::ErrnoInHandler, "handler", title)
        }
    }
}
