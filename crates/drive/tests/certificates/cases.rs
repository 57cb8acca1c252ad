//! Certificates of all kinds about random traces.

use super::{links, one_of, orders, traces, walks};
use anyorder_certify::{ClaimedSchedule, check_schedule, write_schedule};
use anyorder_common::random::{Random, Rng};
use anyorder_drive::{
    ConsistencyOptions, Consistent, MailboxRule, PredictOptions, RuleSet, TraceInput, consistency,
    predict, why,
};
use anyorder_formats::native_text::{NativeTextReader, NativeTextWriter};
use anyorder_system::Control;
use anyorder_testkit::consistency as partial;
use anyorder_testkit::{Naive, Rules, Shape, random_trace};
use anyorder_trace::{EventId, Problems, Trace};
use std::rc::Rc;

/// The changed traces of each trace, and the certificates that are checked against each.
const CHANGED: (usize, usize) = (6, 8);

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
    let shape = match seed % 6 {
        0 | 2 => Shape::medium(),
        4 => Shape::deep(),
        5 => Shape { delay_percent: 80, plain_percent: 5, ..Shape::bags() },
        _ => Shape { acts_max: 6, act_percent: 75, ..Shape::small() },
    };
    if let Some(maker) = Maker::new(random_trace(seed, &shape)) {
        maker.orders(&mut rng, &mut cases);
        maker.schedules(&mut rng, &mut cases);
        maker.reorderings(&mut cases);
        maker.doubtful(&mut rng, &mut cases);
        for rule in [MailboxRule::Fifo, MailboxRule::Delayed, MailboxRule::Bag] {
            maker.consistency(Some(rule), &mut cases);
        }
        maker.doubtful_links(&mut rng, &mut cases);
        maker.about_changed_traces(&mut rng, &mut cases);
    }
    let shapes = partial::Shape::ALL;
    for shape in [one_of(&mut rng, &shapes), one_of(&mut rng, &shapes)] {
        if let Some(maker) = Maker::new(partial::random_partial(seed, shape)) {
            let rules = [MailboxRule::Fifo, MailboxRule::Delayed, MailboxRule::Bag];
            maker.consistency(Some(*one_of(&mut rng, &rules)), &mut cases);
            maker.consistency(None, &mut cases);
            maker.doubtful_links(&mut rng, &mut cases);
            maker.about_changed_traces(&mut rng, &mut cases);
        }
    }
    let components = Shape { events_max: 60, ..Shape::components() };
    if let Some(maker) = Maker::new(random_trace(seed, &components)) {
        maker.ended_orders(&mut rng, &mut cases);
        maker.about_changed_traces(&mut rng, &mut cases);
    }
    if let Some(maker) = Maker::new(partial::random_openings(seed)) {
        for rule in [MailboxRule::Fifo, MailboxRule::Bag] {
            maker.consistency(Some(rule), &mut cases);
        }
        maker.openings(&mut rng, &mut cases);
        maker.ended_orders(&mut rng, &mut cases);
        maker.doubtful_links(&mut rng, &mut cases);
        maker.about_changed_traces(&mut rng, &mut cases);
    }
    cases
}

/// The text of a certificate whose steps are not described: the descriptions are those of the trace
/// as it was, and the checker in Python does not compare them.
fn without_descriptions(case: &Case) -> String {
    if case.kind != "reordering" {
        return case.text.clone();
    }
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(&case.text) else {
        return case.text.clone();
    };
    for step in value["steps"].as_array_mut().into_iter().flatten() {
        if let Some(step) = step.as_object_mut() {
            step.remove("text");
            step.remove("at");
        }
    }
    value.to_string()
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
        Maker::of_text(String::from_utf8(text).expect("text"))
    }

    /// `None` if the text is no trace, or the trace is not well-formed.
    fn of_text(text: String) -> Option<Maker> {
        let trace = Trace::read(&mut NativeTextReader::new(text.as_bytes())).ok()?;
        let control = Control::default();
        let input = TraceInput::new("t", trace, &Problems::default(), &control).ok()?;
        Some(Maker { input: Rc::new(input), text: Rc::new(text), control })
    }

    /// Certificates that may not hold, made by hand.
    fn doubtful(&self, rng: &mut Rng, cases: &mut Vec<Case>) {
        let trace = &self.input.trace;
        let all = [
            ("order-proof", orders::doubtful(&self.input, rng)),
            ("trace-schedule", walks::schedules(trace, rng)),
            ("reordering", walks::reorderings(trace, rng)),
        ];
        for (kind, texts) in all {
            for text in texts {
                self.push(cases, (kind, None), text.into_bytes());
                cases.last_mut().expect("just pushed").is_mutant = true;
            }
        }
    }

    /// Orders that keep all rules but one, of what has ended.
    fn openings(&self, rng: &mut Rng, cases: &mut Vec<Case>) {
        use partial::OrderRule::{Cancel, Cancelled, Disabled, Enable, Exited};
        let trace = &self.input.trace;
        let rules = partial::OrderRules::of(trace, partial::Mailbox::Bag);
        for _ in 0..3 {
            let dropped = *one_of(rng, &[Cancel, Cancelled, Disabled, Enable, Exited]);
            let Some(order) = rules.without(&[dropped]).find() else { continue };
            let lines = order.iter().map(|event| trace.unique_label(*event) + "\n");
            let text = lines.collect::<String>().into_bytes();
            self.push(cases, ("consistency-witness", Some(MailboxRule::Bag)), text);
            cases.last_mut().expect("just pushed").is_mutant = true;
        }
    }

    /// Proofs of inconsistency with a step that may not hold.
    fn doubtful_links(&self, rng: &mut Rng, cases: &mut Vec<Case>) {
        let is_proof = |case: &&Case| {
            let own = Rc::ptr_eq(&case.input, &self.input);
            own && case.kind == "consistency-proof" && !case.is_mutant
        };
        let proofs: Vec<Case> = cases.iter().filter(is_proof).cloned().collect();
        for proof in proofs {
            for text in links::doubtful(&self.input.trace, &proof.text, rng) {
                cases.push(Case { text, is_mutant: true, ..proof.clone() });
            }
        }
    }

    /// Checks some certificates about this trace against traces that differ from it.
    fn about_changed_traces(&self, rng: &mut Rng, cases: &mut Vec<Case>) {
        let own = cases.iter().filter(|case| Rc::ptr_eq(&case.input, &self.input));
        let own: Vec<Case> = own.cloned().collect();
        if own.is_empty() {
            return;
        }
        for _ in 0..CHANGED.0 {
            let mut text = traces::changed(&self.text, rng);
            if rng.below(3) == 0 {
                text = traces::changed(&text, rng);
            }
            let Some(other) = Maker::of_text(text) else { continue };
            for _ in 0..CHANGED.1 {
                let (input, trace) = (Rc::clone(&other.input), Rc::clone(&other.text));
                let case = one_of(rng, &own).clone();
                let text = without_descriptions(&case);
                cases.push(Case { input, trace, text, is_mutant: true, ..case });
            }
        }
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
            let answer = why(&self.input, labels, Some(rules), None, &self.control);
            let Ok(Some(answer)) = answer else { continue };
            if answer.has_certificate() && answer.first != answer.second {
                let mut text = Vec::new();
                answer.write_certificate(trace, &mut text).expect("memory takes all");
                self.push(cases, ("order-proof", None), text);
            }
        }
    }

    /// Proofs of orders that only what has ended gives.
    fn ended_orders(&self, rng: &mut Rng, cases: &mut Vec<Case>) {
        let trace = &self.input.trace;
        let (rules, set) = *one_of(
            rng,
            &[
                (RuleSet::Mailbox, anyorder_testkit::RuleSet::Mailbox),
                (RuleSet::Android, anyorder_testkit::RuleSet::Android),
            ],
        );
        let naive = Naive::new(trace, Rules { set, disabled: &[] });
        let events = || (0..trace.len() as u32).map(EventId);
        let pairs = events().flat_map(|y| (0..y.0).map(move |x| (EventId(x), y)));
        let mut ended: Vec<(EventId, EventId)> =
            pairs.filter(|(x, y)| naive.ended(*x, *y).is_some()).collect();
        for _ in 0..4.min(ended.len()) {
            let (x, y) = ended.swap_remove(rng.below(ended.len() as u64) as usize);
            let labels = [x, y].map(|event| trace.unique_label(event));
            let labels = [labels[0].as_str(), labels[1].as_str()];
            let answer = why(&self.input, labels, Some(rules), None, &self.control);
            let Ok(Some(answer)) = answer else { continue };
            if answer.has_certificate() {
                let mut text = Vec::new();
                answer.write_certificate(trace, &mut text).expect("memory takes all");
                let valid = String::from_utf8(text.clone()).expect("proofs are text");
                self.push(cases, ("order-proof", None), text);
                for text in orders::doubtful_ends(trace, &valid, rng) {
                    self.push(cases, ("order-proof", None), text.into_bytes());
                    cases.last_mut().expect("just pushed").is_mutant = true;
                }
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
        let Ok(found) = predict(&self.input, &options, &(&self.control).into()) else { return };
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
        let Ok(answer) = consistency(&self.input, &options, &self.control) else {
            return;
        };
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
