//! Jobs on traces.

use crate::polls::harness::{
    INTERRUPT, at_every_poll, cut_or_whole, honest, is_known, lines, or_stopped, whole,
};
use anyorder_drive::{
    Analysis, CheckTraceOptions, ConsistencyOptions, Consistent, Failure, JobResult, MailboxRule,
    Pairs, PredictOptions, Prediction, Procedure, RobustTraceOptions, RuleSet, StoredWitness,
    TraceInput, check_trace, consistency, predict, predict_stream, replay_witness, robust_trace,
    why,
};
use anyorder_finding::Kind;
use anyorder_formats::native_text::NativeTextReader;
use anyorder_formats::std::{StdReader, StdWriter};
use anyorder_system::Control;
use anyorder_testkit::{Shape, consistency as partial, random_trace};
use anyorder_trace::{Problems, Trace, TraceSource};
use std::path::Path;

/// The largest trace whose predictions are stopped at each poll, in events.
const PREDICTED_EVENTS_MAX: usize = 60;

/// Lists all pairs, so that those of a part can be found in the whole.
const ALL_PAIRS: usize = 1 << 20;

fn example(path: &str) -> Trace {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let text = std::fs::read(root.join(path)).expect("an example");
    let mut source: Box<dyn TraceSource> = match path.rsplit_once('.') {
        Some((_, "std")) => Box::new(StdReader::new(text.as_slice())),
        _ => Box::new(NativeTextReader::new(text.as_slice())),
    };
    Trace::read(&mut *source).expect("an example can be read")
}

/// Small traces of all kinds: recorded runs with tasks and with threads.
fn traces() -> Vec<(String, Trace)> {
    let examples = [
        "notes-app.trace",
        "traces/channel.trace",
        "traces/file.trace",
        "traces/condlost.std",
        "traces/uaf_pred.std",
        "traces/lock-destroyed.std",
        "traces/thesis-figure-3-1.trace",
    ];
    let mut traces: Vec<(String, Trace)> =
        examples.iter().map(|name| ((*name).to_owned(), example(name))).collect();
    for seed in 0..3 {
        traces.push((format!("small {seed}"), random_trace(seed, &Shape::small())));
        traces.push((format!("components {seed}"), random_trace(seed, &Shape::components())));
        traces.push((format!("medium {seed}"), random_trace(seed, &Shape::medium())));
    }
    traces
}

/// Small partial traces of all families, consistent and not.
fn partial_traces() -> Vec<(String, Trace)> {
    let of = |shape: &partial::Shape| {
        let shape = *shape;
        (1..4).map(move |seed| {
            (format!("{} {seed}", shape.name), partial::random_partial(seed, &shape))
        })
    };
    partial::Shape::ALL.iter().flat_map(of).collect()
}

/// The input as the front end makes it: under the control of the job.
fn input(name: &str, trace: &Trace, control: &Control<'_>) -> Result<TraceInput, Failure> {
    TraceInput::new(name, trace.clone(), &Problems::default(), control)
}

#[test]
fn a_check_stops_at_each_poll() {
    for (name, trace) in &traces() {
        for rules in [RuleSet::Android, RuleSet::Mailbox, RuleSet::Threads] {
            let options = CheckTraceOptions {
                rules: Some(rules),
                max_pairs: ALL_PAIRS,
                ..CheckTraceOptions::default()
            };
            let job = |control: &Control<'_>| {
                check_trace(&input(name, trace, control)?, &options, &control.into())
            };
            at_every_poll(&format!("check {name} {}", rules.word()), job, |all, part| {
                or_stopped(part, |part| honest(whole(all), part))
            });
        }
    }
}

/// A confirmed finding has a witness that replays; other candidates are those of the whole job.
fn true_prediction(trace: &Trace, all: &Prediction, part: &Prediction) -> Result<(), String> {
    cut_or_whole(&all.result, &part.result)?;
    if part.result.findings.len() != part.witnesses.len() {
        return Err("findings and witnesses differ in number".to_owned());
    }
    let control = Control::default();
    for (found, witness) in part.result.findings.iter().zip(&part.witnesses) {
        let finding = &found.finding;
        match witness {
            None if finding.confirmed == Some(true) => {
                return Err(format!("`{}` is confirmed without a witness", finding.title));
            }
            None => {}
            Some(witness) => {
                let mut stored = Vec::new();
                witness.write(trace, finding, &mut stored).expect("a witness is written");
                let stored = String::from_utf8(stored).expect("a witness is text");
                let stored = StoredWitness::read("w.json", &stored, None).map_err(|e| lines(&e))?;
                let input = whole(&input("trace", trace, &control)).clone();
                let replayed = replay_witness(&input, &stored, None, &control);
                for one in whole(&replayed) {
                    if let Err(reason) = &one.checked {
                        return Err(format!("the witness of `{}` fails: {reason}", finding.title));
                    }
                }
            }
        }
        // A pair that the whole job lists elsewhere needs no witness of its own here.
        if witness.is_none() {
            is_known(&all.result, finding)?;
        }
    }
    Ok(())
}

#[test]
fn a_prediction_stops_at_each_poll() {
    let analyses = [
        None,
        Some(Analysis::Hb),
        Some(Analysis::Wdc),
        Some(Analysis::Edc),
        Some(Analysis::EventDriven),
    ];
    // Larger traces have a thousand polls, and searches that take long.
    let small = traces().into_iter().filter(|(_, trace)| trace.len() <= PREDICTED_EVENTS_MAX);
    for (name, trace) in &small.collect::<Vec<_>>() {
        for analysis in analyses {
            for pairs in [Pairs::Candidates, Pairs::All] {
                let options = PredictOptions {
                    analysis,
                    pairs,
                    max_pairs: ALL_PAIRS,
                    ..PredictOptions::default()
                };
                let job = |control: &Control<'_>| {
                    predict(&input(name, trace, control)?, &options, &control.into())
                };
                // An analysis that does not fit the trace is refused.
                let control = Control::default();
                if job(&control).is_err() {
                    continue;
                }
                at_every_poll(
                    &format!("predict {name} {analysis:?} {pairs:?}"),
                    job,
                    |all, part| or_stopped(part, |part| true_prediction(trace, whole(all), part)),
                );
            }
        }
    }
}

#[test]
fn a_prediction_over_a_stream_stops_at_each_poll() {
    for (name, trace) in &traces() {
        let mut text = Vec::new();
        let mut writer = StdWriter::new(&mut text);
        if trace.write(&mut writer).is_err() {
            continue;
        }
        drop(writer);
        let open = || -> Box<dyn TraceSource> { Box::new(StdReader::new(text.as_slice())) };
        for analysis in [Analysis::Hb, Analysis::Wdc, Analysis::Edc] {
            let options = PredictOptions {
                confirm: false,
                analysis: Some(analysis),
                max_pairs: ALL_PAIRS,
                ..PredictOptions::default()
            };
            let job = |control: &Control<'_>| {
                predict_stream(name, &mut *open(), &mut || Ok(open()), &options, control)
            };
            let control = Control::default();
            if job(&control).is_err() {
                continue;
            }
            at_every_poll(&format!("stream {name} {analysis:?}"), job, |all, part| {
                or_stopped(part, |part| honest(&whole(all).result, &part.result))
            });
        }
    }
}

/// The answer to a question that no limit cuts, as a word.
fn word(answer: &Consistent) -> &'static str {
    match answer {
        Consistent::Yes(_) => "yes",
        Consistent::No(_) => "no",
        Consistent::Unknown(limit) => limit.word(),
    }
}

#[test]
fn a_decision_of_consistency_stops_at_each_poll() {
    let procedures = [Procedure::Solver, Procedure::Enumerate, Procedure::Flat];
    let mut decided = [0; 2];
    for (name, trace) in traces().iter().chain(&partial_traces()) {
        for procedure in procedures {
            for mailbox in [None, Some(MailboxRule::Fifo), Some(MailboxRule::Bag)] {
                let options = ConsistencyOptions {
                    mailbox,
                    procedure,
                    infer_coherence: true,
                    ..ConsistencyOptions::default()
                };
                let job = |control: &Control<'_>| {
                    consistency(&input(name, trace, control)?, &options, control)
                };
                let Ok(answer) = job(&Control::default()) else { continue };
                match answer.verdict {
                    Consistent::Yes(_) => decided[0] += 1,
                    Consistent::No(_) => decided[1] += 1,
                    Consistent::Unknown(_) => continue,
                }
                at_every_poll(
                    &format!("consistency {name} {procedure:?} {mailbox:?}"),
                    job,
                    |all, part| {
                        or_stopped(part, |part| {
                            let (all, word_part) = (word(&whole(all).verdict), word(&part.verdict));
                            if word_part == all {
                                return Ok(());
                            }
                            if word_part != "interrupt" {
                                return Err(format!("it answers {word_part} and not {all}"));
                            }
                            cut_or_whole(&anyorder_drive::JobResult::default(), &part.result)
                        })
                    },
                );
            }
        }
    }
    println!("consistent: {}, inconsistent: {}", decided[0], decided[1]);
    assert!(decided[0] > 50 && decided[1] > 20, "too few traces of one kind");
}

#[test]
fn a_check_of_a_partial_trace_stops_at_each_poll() {
    let options = CheckTraceOptions { infer_coherence: true, ..CheckTraceOptions::default() };
    for (name, trace) in &partial_traces() {
        let job = |control: &Control<'_>| {
            check_trace(&input(name, trace, control)?, &options, &control.into())
        };
        at_every_poll(&format!("check {name}"), job, |all, part| {
            or_stopped(part, |part| honest(whole(all), part))
        });
    }
}

#[test]
fn a_check_of_robustness_stops_at_each_poll() {
    for (name, trace) in &traces() {
        let options = RobustTraceOptions { max_pairs: ALL_PAIRS, ..RobustTraceOptions::default() };
        let job =
            |control: &Control<'_>| robust_trace(&input(name, trace, control)?, &options, control);
        at_every_poll(&format!("robustness of {name}"), job, |all, part| {
            or_stopped(part, |part| true_robustness(whole(all), part))
        });
    }
}

/// A stopped check may lack cycles, and then lists conflicts that a whole one shows on the cycle of
/// another finding. But it never finds a violation that the whole one does not have.
fn true_robustness(all: &JobResult, part: &JobResult) -> Result<(), String> {
    if !part.limits.iter().any(|limit| limit == INTERRUPT) {
        return honest(all, part);
    }
    let cyclic = |result: &JobResult| {
        result.findings.iter().any(|found| found.finding.kind == Kind::NotSerializable)
    };
    if cyclic(part) && !cyclic(all) {
        return Err("a serializable trace has a cycle".to_owned());
    }
    let tasks = part.findings.iter().filter(|found| found.finding.kind == Kind::Nondeterminism);
    tasks.into_iter().try_for_each(|found| is_known(all, &found.finding))
}

#[test]
fn an_explanation_stops_at_each_poll() {
    for (name, trace) in &traces() {
        let control = Control::default();
        let prepared = whole(&input(name, trace, &control)).clone();
        let label = |at: usize| trace.label(anyorder_trace::EventId::from_index(at));
        let last = trace.len() - 1;
        for (a, b) in [(0, last), (last / 2, last), (last / 3, last / 2)] {
            let (a, b) = (label(a), label(b));
            let job = |control: &Control<'_>| why(&prepared, [&a, &b], None, None, control);
            at_every_poll(&format!("why {name} {a} {b}"), job, |all, part| {
                or_stopped(part, |part| match (whole(all), part) {
                    (Some(_), None) => Ok(()),
                    (all, part) if all == part => Ok(()),
                    (_, part) => Err(format!("it explains something else: {part:?}")),
                })
            });
        }
    }
}

#[test]
fn a_replay_of_witnesses_stops_at_each_poll() {
    let mut replayed = 0;
    for (name, trace) in &traces() {
        let control = Control::default();
        let prepared = whole(&input(name, trace, &control)).clone();
        let Ok(found) = predict(&prepared, &PredictOptions::default(), &(&control).into()) else {
            continue;
        };
        for (one, witness) in found.result.findings.iter().zip(&found.witnesses) {
            let Some(witness) = witness else { continue };
            let mut stored = Vec::new();
            witness.write(trace, &one.finding, &mut stored).expect("a witness is written");
            let stored = String::from_utf8(stored).expect("a witness is text");
            let stored = StoredWitness::read("w.json", &stored, None).expect("a witness");
            let job = |control: &Control<'_>| replay_witness(&prepared, &stored, None, control);
            at_every_poll(&format!("replay of a witness of {name}"), job, |all, part| {
                or_stopped(part, |part| {
                    if part == whole(all) {
                        Ok(())
                    } else {
                        Err(format!("another answer: {part:?}"))
                    }
                })
            });
            replayed += 1;
        }
    }
    assert!(replayed > 3, "only {replayed} witnesses");
}
