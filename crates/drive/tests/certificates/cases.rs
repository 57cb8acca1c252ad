//! Certificates of all kinds about random traces.

use super::one_of;
use anyorder_certify::{ClaimedSchedule, check_schedule, write_schedule};
use anyorder_common::random::{Random, Rng};
use anyorder_drive::{
    ConsistencyOptions, Consistent, MailboxRule, PredictOptions, RuleSet, TraceInput, consistency,
    predict, why,
};
use anyorder_system::Control;
use anyorder_testkit::consistency as partial;
use anyorder_testkit::{Shape, random_trace};
use anyorder_trace::format::native_text::{NativeTextReader, NativeTextWriter};
use anyorder_trace::{EventId, Problems, Trace};
use std::rc::Rc;

/// A certificate about a trace.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) input: Rc<TraceInput>,
    /// The trace as native text.
    pub(crate) trace: Rc<String>,
    pub(crate) kind: &'static str,
    /// The mailbox rule of certificates of consistency.
    pub(crate) mailbox: Option<&'static str>,
    pub(crate) text: String,
    pub(crate) is_mutant: bool,
}

/// The certificates about the traces of a seed.
pub(crate) fn of(seed: u64) -> Vec<Case> {
    let mut rng = Rng::new(seed);
    let mut cases = Vec::new();
    let shape = if seed.is_multiple_of(2) { Shape::medium() } else { Shape::small() };
    if let Some(maker) = Maker::new(random_trace(seed, &shape)) {
        maker.orders(&mut rng, &mut cases);
        maker.schedules(&mut rng, &mut cases);
        maker.reorderings(&mut cases);
        for rule in [MailboxRule::Fifo, MailboxRule::Delayed, MailboxRule::Bag] {
            maker.consistency(Some(rule), &mut cases);
        }
    }
    let shapes = partial::Shape::ALL;
    for shape in [one_of(&mut rng, &shapes), one_of(&mut rng, &shapes)] {
        if let Some(maker) = Maker::new(partial::random_partial(seed, shape)) {
            let rules = [MailboxRule::Fifo, MailboxRule::Delayed, MailboxRule::Bag];
            maker.consistency(Some(*one_of(&mut rng, &rules)), &mut cases);
            maker.consistency(None, &mut cases);
        }
    }
    cases
}

/// Makes certificates about a trace.
struct Maker {
    input: Rc<TraceInput>,
    text: Rc<String>,
    control: Control<'static>,
}

impl Maker {
    /// `None` if the trace is not well-formed.
    fn new(trace: Trace) -> Option<Maker> {
        let mut text = Vec::new();
        trace.write(&mut NativeTextWriter::new(&mut text)).expect("memory takes all");
        let trace = Trace::read(&mut NativeTextReader::new(&text[..])).expect("what was written");
        let control = Control::default();
        let input = TraceInput::new("t", trace, &Problems::default(), &control).ok()?;
        let text = Rc::new(String::from_utf8(text).expect("text"));
        Some(Maker { input: Rc::new(input), text, control })
    }

    fn push(
        &self,
        cases: &mut Vec<Case>,
        (kind, mailbox): (&'static str, Option<MailboxRule>),
        text: Vec<u8>,
    ) {
        cases.push(Case {
            input: Rc::clone(&self.input),
            trace: Rc::clone(&self.text),
            kind,
            mailbox: mailbox.map(MailboxRule::word),
            text: String::from_utf8(text).expect("certificates are text"),
            is_mutant: false,
        });
    }

    fn orders(&self, rng: &mut Rng, cases: &mut Vec<Case>) {
        let trace = &self.input.trace;
        let events = trace.len() as u64;
        for rules in [RuleSet::Mailbox, RuleSet::Mailbox, RuleSet::Threads, RuleSet::Android] {
            if events < 2 {
                return;
            }
            let labels = [rng.below(events), rng.below(events)]
                .map(|event| trace.unique_label(EventId(event as u32)));
            let labels = [labels[0].as_str(), labels[1].as_str()];
            let answer = why(&self.input, labels, Some(rules), &self.control);
            let Ok(Some(answer)) = answer else { continue };
            if answer.has_certificate() && answer.first != answer.second {
                let mut text = Vec::new();
                answer.write_certificate(trace, &mut text).expect("memory takes all");
                self.push(cases, ("order-proof", None), text);
            }
        }
    }

    /// Schedules found by exchanging neighbours of the recorded run, where it is one.
    fn schedules(&self, rng: &mut Rng, cases: &mut Vec<Case>) {
        let trace = &self.input.trace;
        let mut order: Vec<EventId> = (0..trace.len() as u32).map(EventId).collect();
        if order.len() < 3 || check_schedule(trace, &order).is_err() {
            return;
        }
        for _ in 0..40 {
            let at = rng.below(order.len() as u64 - 1) as usize;
            order.swap(at, at + 1);
            if check_schedule(trace, &order).is_err() {
                order.swap(at, at + 1);
            }
        }
        let at = rng.below(order.len() as u64 - 1) as usize;
        let adjacent = (rng.below(2) == 0).then_some((order[at], order[at + 1]));
        let claimed = ClaimedSchedule { adjacent, order, lines: Vec::new() };
        let mut text = Vec::new();
        write_schedule(&claimed, trace, &mut text).expect("memory takes all");
        self.push(cases, ("trace-schedule", None), text);
    }

    fn reorderings(&self, cases: &mut Vec<Case>) {
        let options = PredictOptions::default();
        let Ok(found) = predict(&self.input, &options, &self.control) else { return };
        let findings = found.result.findings.iter().zip(&found.witnesses);
        for (finding, witness) in findings.take(4) {
            let Some(witness) = witness else { continue };
            let mut text = Vec::new();
            witness
                .write(&self.input.trace, &finding.finding, &mut text)
                .expect("memory takes all");
            self.push(cases, ("reordering", None), text);
        }
    }

    fn consistency(&self, mailbox: Option<MailboxRule>, cases: &mut Vec<Case>) {
        let options = ConsistencyOptions {
            mailbox,
            infer_coherence: true,
            whole_proof: true,
            ..ConsistencyOptions::default()
        };
        let Ok(answer) = consistency(&self.input, &options, &self.control) else { return };
        let trace = &self.input.trace;
        match answer.verdict {
            Consistent::Yes(order) => {
                let lines = order.iter().map(|event| trace.unique_label(*event) + "\n");
                let text = lines.collect::<String>().into_bytes();
                self.push(cases, ("consistency-witness", mailbox), text);
            }
            Consistent::No(Some(proof)) => {
                let mut text = Vec::new();
                proof.write(trace, &mut text).expect("memory takes all");
                self.push(cases, ("consistency-proof", mailbox), text);
            }
            Consistent::No(None) | Consistent::Unknown(_) => {}
        }
    }
}
