//! The results of `docs/prediction-real-traces.md` on the recorded runs: the search confirms the
//! bug of pbzip2 at each of its places, drops the pairs that the program's own protocol orders, and
//! confirms memcached's two races.

use anyorder_certify::{Call, Calls, ClaimedWitness, Lanes, ReorderingChecker, WitnessForm};
use anyorder_formats::std::StdReader;
use anyorder_predict::{
    Analysis, Answer, CandidateOptions, ConfirmOptions, Confirmer, EdcAnalysis, Form, Internals,
    NoCommunication, Specified, Types, Violation, ViolationKind, run,
};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, Trace, TraceBlocks};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The lines of two sites.
type Lines = (String, String);

/// Reads a run with its source positions.
fn native(name: &str) -> Trace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/native").join(name);
    let file = File::open(folder.join("trace.std")).expect("the trace is there");
    let sites = std::fs::read_to_string(folder.join("sites.tsv")).expect("the table is there");
    let reader = StdReader::new(BufReader::new(file)).with_sites(&sites).expect("a right table");
    Trace::read(&mut { reader }).expect("the trace is right")
}

fn candidates(trace: &Trace) -> Vec<Violation> {
    let types = Types::built_in().expect("the built-in types are right");
    let specified = Specified::for_trace(types, Internals::Auto, trace);
    let mut edc = EdcAnalysis::new(specified, CandidateOptions::default());
    run(&mut TraceBlocks::new(trace), &mut [&mut edc], |_| {}).expect("the trace is right");
    edc.finish().violations
}

/// The runs have no invocations.
struct NoCalls;

impl Calls for NoCalls {
    fn call(&self, _: &Trace, _: EventId) -> Option<Call<'_>> {
        None
    }
}

/// Counts for each pair of lines the candidates that are confirmed, and those that are impossible.
fn pair_results(trace: &Trace, candidates: &[Violation]) -> BTreeMap<Lines, (usize, usize)> {
    let mut nothing = NoCommunication;
    let mut confirmer = Confirmer::new(trace, &mut nothing, ConfirmOptions::default());
    let mut checker = ReorderingChecker::new(trace, &NoCalls, Lanes::Handlers);
    let mut pair_results = BTreeMap::new();
    for candidate in candidates {
        let (a, b) =
            (EventId(candidate.first.event as u32), EventId(candidate.second.event as u32));
        let line = |side: anyorder_predict::Side| trace.tables().site_text(side.site);
        let lines = (line(candidate.first), line(candidate.second));
        let pair_result: &mut (usize, usize) = pair_results.entry(lines).or_default();
        match confirmer.confirm(a, b, &Cancel::new()) {
            Answer::Confirmed(witness) => {
                pair_result.0 += 1;
                let form = match witness.form {
                    Form::Reversed => WitnessForm::Reversed,
                    Form::Last => WitnessForm::Last,
                    Form::CoEnabled => WitnessForm::CoEnabled,
                    Form::Overtakes => WitnessForm::Overtakes,
                    Form::Deadlock => unreachable!("no pair of actions"),
                };
                let (prefix, order) = (witness.prefix, &witness.order[..]);
                let claimed = ClaimedWitness { form, first: a, second: b, prefix, order };
                assert_eq!(checker.check(claimed), Ok(()), "{candidate:?}");
            }
            Answer::Impossible => pair_result.1 += 1,
            Answer::Unconfirmed(why) => panic!("{candidate:?} is not decided: {why:?}"),
        }
    }
    pair_results
}

#[test]
fn the_queue_of_pbzip2_is_used_after_its_end() {
    let trace = native("pbzip2");
    let pair_results = pair_results(&trace, &candidates(&trace));
    let at = |first: &str, second: &str| {
        let lines = (format!("pbzip2.cpp:{first}"), format!("pbzip2.cpp:{second}"));
        pair_results.get(&lines).copied().unwrap_or_default()
    };
    // Each of three consumers may be late: at the queue's lock, its flag, its memory, and the two
    // mutexes of `main`.
    for (consumer, main) in [
        ("889", "1046"),
        ("890", "1065"),
        ("897", "1065"),
        ("897", "1048"),
        ("971", "1922"),
        ("967", "1918"),
        ("974", "1924"),
    ] {
        assert_eq!(at(consumer, main), (3, 0), "{consumer} and {main}: {pair_results:#?}");
    }
    // The thread that took a block has handed it over before the writer ends, and `main` waits for
    // the writer.
    for (consumer, main) in [("1105", "1065"), ("1104", "1902"), ("934", "1055"), ("965", "704")] {
        let (confirmed, impossible) = at(consumer, main);
        assert!(confirmed == 0 && impossible > 0, "{consumer} and {main}: {pair_results:#?}");
    }
}

#[test]
fn the_races_of_memcached_are_confirmed() {
    let trace = native("memcached");
    let mut racy = candidates(&trace);
    assert!(racy.len() > 100, "most candidates are under a lock");
    racy.retain(|candidate| candidate.kind == ViolationKind::Racy);
    let pair_results = pair_results(&trace, &racy);
    let expected = [
        (("items.c:282".to_owned(), "memcached.c:4021".to_owned()), (1, 0)),
        (("memcached.c:2608".to_owned(), "items.c:302".to_owned()), (1, 0)),
    ];
    assert_eq!(pair_results, expected.into());
}
