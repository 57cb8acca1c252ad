//! Candidates of the recorded runs of `data`. Each witness is re-checked.

use anyorder_certify::{
    ClaimedWitness, Lanes, NoCalls, ReorderingChecker, WitnessForm, check_reordering,
};
use anyorder_formats::std::StdReader;
use anyorder_predict::{
    Analysis, Answer, CandidateOptions, Conditions, ConfirmOptions, Confirmer, EdcAnalysis, Form,
    GaveUp, NoCommunication, run,
};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, Trace, TraceBlocks};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

fn native(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/native").join(name)
}

/// The number of pairs tried for each pair of sites; `PAIRS` overrides it.
fn pairs_a_group() -> usize {
    std::env::var("PAIRS").map_or(10, |pairs| pairs.parse().expect("a number"))
}

fn claimed(form: Form) -> WitnessForm {
    match form {
        Form::Reversed => WitnessForm::Reversed,
        Form::Last => WitnessForm::Last,
        Form::CoEnabled => WitnessForm::CoEnabled,
        Form::Overtakes => WitnessForm::Overtakes,
        Form::Deadlock => unreachable!("no pair of actions"),
    }
}

#[test]
fn candidates_of_recorded_runs() {
    for name in ["pbzip2/trace.std", "memcached/trace.std"] {
        let file = File::open(native(name)).expect("the trace is there");
        let mut source = StdReader::new(BufReader::new(file));
        let trace = Trace::read(&mut source).expect("the trace is right");
        let mut edc = EdcAnalysis::new(Conditions, CandidateOptions::default());
        run(&mut TraceBlocks::new(&trace), &mut [&mut edc], |_| {}).expect("the trace is right");
        let report = edc.finish();
        let mut groups: BTreeMap<(u32, u32), Vec<(EventId, EventId)>> = BTreeMap::new();
        for v in &report.violations {
            let group = groups.entry((v.first.site.0, v.second.site.0)).or_default();
            group.push((EventId(v.first.event as u32), EventId(v.second.event as u32)));
        }
        let start = std::time::Instant::now();
        let mut nothing = NoCommunication;
        let mut confirmer = Confirmer::new(&trace, &mut nothing, ConfirmOptions::default());
        let mut answers: BTreeMap<String, usize> = BTreeMap::new();
        let mut witnesses = Vec::new();
        for (first, second) in groups.values().flat_map(|pairs| pairs.iter().take(pairs_a_group()))
        {
            let text = match confirmer.confirm(*first, *second, &Cancel::new()) {
                Answer::Confirmed(witness) => {
                    let text = format!("{}, shortest: {}", witness.form.word(), witness.shortest);
                    witnesses.push((*first, *second, witness));
                    text
                }
                other => format!("{other:?}"),
            };
            *answers.entry(text).or_default() += 1;
        }
        println!(
            "{name}: {} groups of {} pairs: {answers:?}, {:?}, {:?}",
            groups.len(),
            report.violations.len(),
            confirmer.stats(),
            start.elapsed()
        );
        let mut lengths: Vec<usize> = witnesses.iter().map(|w| w.2.order.len()).collect();
        lengths.sort_unstable();
        println!("lengths of witnesses: {lengths:?}");
        assert!(!witnesses.is_empty(), "both runs have known races");
        assert_eq!(answers.keys().filter(|key| key.contains("Unconfirmed")).count(), 0);
        let mut checker = ReorderingChecker::new(&trace, &NoCalls, Lanes::Handlers);
        for (first, second, witness) in &witnesses {
            let claim = ClaimedWitness {
                form: claimed(witness.form),
                first: *first,
                second: *second,
                prefix: witness.prefix,
                order: &witness.order,
            };
            checker.check(claim).expect("it is a witness");
        }
        // The check notices a witness without its first events.
        let (first, second, witness) = &witnesses[0];
        let cut = ClaimedWitness {
            form: claimed(witness.form),
            first: *first,
            second: *second,
            prefix: witness.prefix,
            order: &witness.order[1..],
        };
        assert!(check_reordering(&trace, &NoCalls, cut).is_err());
    }
}

/// A bound on conflicts causes no wrong answer.
#[test]
fn without_conflicts_nothing_is_invented() {
    let file = File::open(native("pbzip2/trace.std")).expect("the trace is there");
    let trace = Trace::read(&mut StdReader::new(BufReader::new(file))).expect("it is right");
    let mut edc = EdcAnalysis::new(Conditions, CandidateOptions::default());
    run(&mut TraceBlocks::new(&trace), &mut [&mut edc], |_| {}).expect("the trace is right");
    let answers = |conflicts| {
        let mut nothing = NoCommunication;
        let options = ConfirmOptions { conflicts, ..ConfirmOptions::default() };
        let mut confirmer = Confirmer::new(&trace, &mut nothing, options);
        let mut list = Vec::new();
        for v in &edc.clone().finish().violations {
            let (a, b) = (EventId(v.first.event as u32), EventId(v.second.event as u32));
            list.push(confirmer.confirm(a, b, &Cancel::new()));
        }
        list
    };
    let mut gave_up = 0;
    for (few, many) in answers(0).iter().zip(answers(20_000)) {
        match (few, &many) {
            (Answer::Unconfirmed(GaveUp::Conflicts), _) => gave_up += 1,
            (Answer::Confirmed(few), Answer::Confirmed(many)) => assert!(few.form >= many.form),
            (Answer::Impossible, Answer::Impossible) => {}
            _ => panic!("{few:?}, {many:?}"),
        }
    }
    println!("{gave_up} given up");
}
