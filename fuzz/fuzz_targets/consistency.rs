//! Consistency of edtraces: every answer stands the independent check, and procedures agree.
#![no_main]

use anyorder_consistency::{MailboxRule, Procedure};
use anyorder_fuzz::answers::{edtrace, verdict};
use libfuzzer_sys::fuzz_target;

/// Longer traces are for the solver alone: the others enumerate.
const EVENTS_FOR_ALL_MAX: usize = 40;

fuzz_target!(|data: &[u8]| {
    for infer_coherence in [false, true] {
        let Some(trace) = edtrace(data, infer_coherence) else { continue };
        for rule in MailboxRule::ALL {
            let solver = verdict(&trace, rule, infer_coherence, Procedure::Solver, 300);
            if trace.len() > EVENTS_FOR_ALL_MAX {
                continue;
            }
            for other in [Procedure::Enumerate, Procedure::Flat] {
                let answer = verdict(&trace, rule, infer_coherence, other, 60);
                if let (Some(one), Some(two)) = (solver, answer) {
                    assert_eq!(one, two, "{other:?} and the solver under {rule:?}");
                }
            }
        }
    }
});
