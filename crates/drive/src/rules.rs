//! The default rules of a trace.

use anyorder_hb::RuleSet;
use anyorder_trace::{InputFamily, Tables, TaskKind, Trace};

/// Returns whether the rules of Android's components fit a trace.
pub(crate) fn is_android(tables: &Tables) -> bool {
    let android = |family| {
        use InputFamily::{Broadcast, Idle, Lifecycle, Service};
        matches!(family, Lifecycle | Service | Broadcast | Idle)
    };
    tables.meta.origin == "droidracer" || tables.inputs.iter().any(|i| android(i.family))
}

/// Returns the rules that fit the contents of a trace.
pub(crate) fn fitting_rules(trace: &Trace) -> RuleSet {
    let tables = trace.tables();
    if is_android(tables) {
        RuleSet::Android
    } else if tables.tasks.iter().any(|task| task.kind == TaskKind::Posted) {
        RuleSet::Mailbox
    } else {
        RuleSet::Threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckTraceOptions, JobControl, TraceInput, check_trace};
    use anyorder_trace::{Input, Mailbox, Problems, TraceBuilder};

    #[test]
    fn rules_are_chosen_by_what_the_trace_holds() {
        let mut b = TraceBuilder::new();
        let ui = b.handler("ui", Mailbox::Fifo).unwrap();
        assert_eq!(fitting_rules(&b.clone().finish()), RuleSet::Threads);
        b.task("click", ui).unwrap();
        assert_eq!(fitting_rules(&b.clone().finish()), RuleSet::Mailbox);
        let mut logged = b.clone();
        logged.interner.tables.meta.origin = "droidracer".to_owned();
        assert_eq!(fitting_rules(&logged.finish()), RuleSet::Android);
        b.interner.input(Input { family: InputFamily::Idle, ..Input::default() }).unwrap();
        assert_eq!(fitting_rules(&b.clone().finish()), RuleSet::Android);
        let control = JobControl::default();
        let input = TraceInput::new("-", b.finish(), &Problems::default(), &control).unwrap();
        let options =
            CheckTraceOptions { rules: Some(RuleSet::Threads), ..CheckTraceOptions::default() };
        let result = check_trace(&input, &options, &control).unwrap();
        assert_eq!(result.options.get("rules"), Some(&"threads".into()));
    }
}
