//! Checks the proofs of the engine with the crate `certify`, which does not depend on it.

use anyorder_certify as certify;
use anyorder_hb::{OrderExplanation, Proof, ProofStep, Rule, RuleSet};
use anyorder_trace::Trace;

/// Checks the proof that two events are ordered.
///
/// # Errors
///
/// Fails with the reason when the proof is invalid: then the engine or the checker has a bug.
pub(super) fn certified(trace: &Trace, claimed: &certify::ClaimedOrder) -> Result<(), String> {
    let certify::ClaimedOrder { rules, first, second, proof } = claimed;
    let checked = certify::check_proof(trace, *rules, proof, *first, *second);
    checked.map_err(|error| error.to_string())
}

/// Returns the proof that two events are ordered as a certificate; `None` if there is no proof,
/// because the events are unordered or the proof is too long.
pub(super) fn certificate(rules: RuleSet, why: &OrderExplanation) -> Option<certify::ClaimedOrder> {
    let rules = match rules {
        RuleSet::Android => certify::RuleSet::Android,
        RuleSet::Mailbox => certify::RuleSet::Mailbox,
        RuleSet::Threads => certify::RuleSet::Threads,
    };
    let proof = translated(why.proof.as_ref()?)?;
    Some(certify::ClaimedOrder { rules, first: why.first, second: why.second, proof })
}

/// `None` for a proof that rests on calls of objects, of which certificates know nothing.
fn translated(proof: &Proof) -> Option<certify::Proof> {
    let path = |steps: &[ProofStep]| -> Option<certify::Path> {
        Some(certify::Path { steps: steps.iter().map(step).collect::<Option<_>>()? })
    };
    let lemmas = proof.lemmas.iter().map(|lemma| path(lemma)).collect::<Option<_>>()?;
    Some(certify::Proof { lemmas, path: path(&proof.path)? })
}

fn step(step: &ProofStep) -> Option<certify::ProofStep> {
    let rule = match step.rule {
        Rule::Po => certify::Rule::Po,
        Rule::Loop => certify::Rule::LoopPoint,
        Rule::Attach => certify::Rule::Attach,
        Rule::Post => certify::Rule::Post,
        Rule::Fork => certify::Rule::Fork,
        Rule::Join => certify::Rule::Join,
        Rule::Lock => certify::Rule::Lock,
        Rule::Wake => certify::Rule::Wake,
        Rule::Barrier => certify::Rule::Barrier,
        Rule::Atomic => certify::Rule::Atomic,
        Rule::Call => return None,
        Rule::Enable => certify::Rule::Enable,
        Rule::NoPreemption => certify::Rule::NoPreemption,
        Rule::Fifo => certify::Rule::Fifo,
        Rule::FifoBackwards => certify::Rule::FifoBackwards,
        Rule::Cancel => certify::Rule::Cancel,
        Rule::Cancelled => certify::Rule::Cancelled,
        Rule::Disabled => certify::Rule::Disabled,
        Rule::Exited => certify::Rule::Exited,
        Rule::Component(word) => certify::Rule::Component(word.to_owned()),
    };
    let premises = step.premises.iter().map(|lemma| certify::LemmaId(*lemma)).collect();
    Some(certify::ProofStep { from: step.from, to: step.to, rule, premises })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_formats::native_text::NativeTextReader;
    use anyorder_system::Cancel;
    use anyorder_trace::{EventId, TraceSource};

    fn example() -> Trace {
        let text = include_bytes!("../../../../examples/notes-app.trace");
        let source: &mut dyn TraceSource = &mut NativeTextReader::new(&text[..]);
        Trace::read(source).expect("the example is a trace")
    }

    fn all_pairs(trace: &Trace) -> impl Iterator<Item = (EventId, EventId)> + use<> {
        let n = trace.len() as u32;
        (0..n).flat_map(move |a| (a + 1..n).map(move |b| (EventId(a), EventId(b))))
    }

    #[test]
    fn every_order_in_the_example_has_a_proof_that_holds() {
        let trace = example();
        for rules in [RuleSet::Mailbox, RuleSet::Threads, RuleSet::Android] {
            let (mut ordered, mut unordered) = (0, 0);
            for (a, b) in all_pairs(&trace) {
                let why =
                    anyorder_hb::why(&trace, rules, a, b, &Cancel::new()).expect("not stopped");
                match certificate(rules, &why).map(|claimed| certified(&trace, &claimed)) {
                    None => {
                        assert!(!why.ordered, "{a:?} {b:?}: an order without proof");
                        unordered += 1;
                    }
                    Some(result) => {
                        assert_eq!(result, Ok(()), "{rules:?}: {a:?} {b:?}");
                        ordered += 1;
                    }
                }
            }
            assert!(ordered > 1000 && unordered > 500, "{rules:?}: {ordered} and {unordered}");
        }
    }

    #[test]
    fn a_wrong_proof_is_refused() {
        let trace = example();
        let why = all_pairs(&trace)
            .map(|(a, b)| anyorder_hb::why(&trace, RuleSet::Mailbox, a, b, &Cancel::new()))
            .filter_map(Result::ok)
            .find(|why| why.proof.as_ref().is_some_and(|proof| proof.path.len() > 2));
        let mut why = why.expect("some proof has three steps");
        if let Some(proof) = &mut why.proof {
            proof.path.remove(1);
        }
        let claimed = certificate(RuleSet::Mailbox, &why).expect("a proof");
        assert!(certified(&trace, &claimed).is_err());
    }
}
