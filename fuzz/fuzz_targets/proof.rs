//! Proofs of inconsistency, about traces that stay the same: none is accepted of a consistent one.
#![no_main]

use anyorder_certify::consistency::{check_inconsistency, read_proof};
use anyorder_consistency::{MailboxRule, Procedure};
use anyorder_fuzz::answers::{edtrace, keeps_its_text, rule, verdict};
use anyorder_trace::Trace;
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

/// Traces with messages of two posters, with open coherence, with delays.
const TRACES: [&str; 3] = [
    include_str!("../seeds/example6.edtrace"),
    include_str!("../seeds/open.edtrace"),
    include_str!("../seeds/consistent.edtrace"),
];

/// A trace, and for each rule whether it is consistent under it.
struct Known {
    trace: Trace,
    answers: [(MailboxRule, bool); 3],
}

static KNOWN: OnceLock<[Known; 3]> = OnceLock::new();

fn known(text: &str) -> Known {
    let trace = edtrace(text.as_bytes(), true).expect("a trace");
    let answer =
        |rule| verdict(&trace, rule, true, Procedure::Solver, 10_000).expect("the traces are easy");
    let answers = MailboxRule::ALL.map(|rule| (rule, answer(rule)));
    Known { trace, answers }
}

fuzz_target!(|data: &[u8]| {
    for Known { trace, answers } in KNOWN.get_or_init(|| TRACES.map(known)) {
        let proof = match read_proof(data, trace) {
            Ok(proof) => proof,
            Err(error) => {
                let _ = error.to_string();
                continue;
            }
        };
        keeps_its_text(trace, &proof);
        for (mailboxes, consistent) in answers {
            match check_inconsistency(trace, rule(*mailboxes), &proof) {
                Ok(_) => assert!(!consistent, "a proof about a consistent trace, {mailboxes:?}"),
                Err(error) => drop(error.to_string()),
            }
        }
    }
});
