//! Checks that search only some pairs of each group, against checks that search every pair: they
//! find the same races at the same places, and claim nothing else.

use crate::common;

use anyorder_common::random::{Random, Rng};
use anyorder_predict::check::{
    CheckOptions, Checked, Confirms, Cut, Order, PairResult, Pairs, Subject, check,
};
use anyorder_predict::{
    Analysis, Answer, CandidateOptions, ConfirmOptions, Confirmer, EdcAnalysis, InOrderAnswer,
    MemoryOnly, NoCommunication, Together, run,
};
use anyorder_system::{Cancel, Control};
use anyorder_testkit::effort::sampled;
use anyorder_trace::{EventId, Trace, TraceBlocks};
use common::generate::{Shape, trace};
use common::script::script;
use common::show;
use std::collections::{BTreeMap, BTreeSet};

/// A search, and how often it searched and decided.
struct Search<'t> {
    confirmer: Confirmer<'t>,
    searched: u64,
    decided: u64,
}

impl Confirms for Search<'_> {
    fn confirm(&mut self, first: EventId, second: EventId, cancel: &Cancel) -> PairResult {
        self.searched += 1;
        match self.confirmer.confirm(first, second, cancel) {
            Answer::Confirmed(witness) => PairResult::Confirmed(witness),
            Answer::Impossible => PairResult::Impossible,
            Answer::Unconfirmed(why) => PairResult::GaveUp(why),
        }
    }

    fn work(&self) -> u64 {
        // A limit of one event is over after the first search, and the shares that are multiples of
        // it are not.
        self.searched.min(2)
    }

    fn decide(&mut self, first: EventId, second: EventId, cancel: &Cancel) -> Option<PairResult> {
        let answer = match self.confirmer.decide_in_order(first, second, cancel) {
            InOrderAnswer::Confirmed(form) => PairResult::Shown(form, Together::Yes),
            InOrderAnswer::Impossible => PairResult::Impossible,
            InOrderAnswer::Open => return None,
        };
        self.decided += 1;
        Some(answer)
    }

    fn begin_group(&mut self) {
        self.confirmer.begin_in_order();
    }
}

fn checked(trace: &Trace, pairs: Pairs, one_by_one_max: u64) -> (Checked, [u64; 2]) {
    let engine = || EdcAnalysis::new(MemoryOnly, CandidateOptions::default());
    let mut edc = engine();
    run(&mut TraceBlocks::new(trace), &mut [&mut edc], |_| {}).expect("right");
    let report = edc.finish();
    let mut nothing = NoCommunication;
    let confirmer = Confirmer::new(trace, &mut nothing, ConfirmOptions::default());
    let mut search = Search { confirmer, searched: 0, decided: 0 };
    let subject = Subject {
        trace,
        report: &report,
        spec: MemoryOnly,
        order: Some(Order::Engine(&mut engine())),
        why: None,
        extra: &[],
        is_known: &|_| false,
        so_far: &|_| (),
    };
    let options = CheckOptions { pairs, one_by_one_max, strict: true, ..CheckOptions::default() };
    let checked = check(subject, &mut search, &options, &Control::default()).expect("right");
    (checked, [search.searched, search.decided])
}

/// The places of two accesses: their threads, kinds and object, and whether they are a race.
type Places = (bool, BTreeSet<(u32, u16)>, u32);

/// Returns the places of the confirmed findings, with their numbers of pairs.
fn places(trace: &Trace, checked: &Checked) -> BTreeMap<Places, u64> {
    let mut all = BTreeMap::new();
    for found in checked.found.iter().filter(|found| found.is_confirmed()) {
        let (a, b) = (EventId(found.shown.first as u32), EventId(found.shown.second as u32));
        let of = |event| (trace.handler_of(event).0, trace.event(event).kind() as u16);
        let places = BTreeSet::from([of(a), of(b)]);
        *all.entry((found.is_race(), places, trace.event(b).operand)).or_default() += found.total;
    }
    all
}

/// The pairs with a witness, and those that are proved to have none.
fn pairs(checked: &Checked) -> [BTreeSet<(u64, u64)>; 2] {
    let of = |is_wanted: &dyn Fn(&PairResult) -> bool| {
        let found = checked.pair_results.iter().filter(|(_, result)| is_wanted(result));
        found.map(|(pair, _)| (pair.first, pair.second)).collect()
    };
    [of(&|result| result.form().is_some()), of(&|result| *result == PairResult::Impossible)]
}

#[test]
fn a_race_that_only_a_search_finds_is_found_behind_pairs_without_a_witness() {
    // The first writes are ordered by what is read. The last ones are a race if the sections change
    // places, which no closure in recorded order finds.
    let t = script(
        "T w x; T w z; S r z; S w x; S w u; T r u;
        T acq m; T w x; T rel m; S acq m; S rel m; S w x",
    );
    let (some, [searched, decided]) = checked(&t, Pairs::Candidates, 1);
    let confirmed: Vec<(u64, u64)> = pairs(&some)[0].iter().copied().collect();
    // Both variables that order them are races, too.
    assert_eq!(confirmed, [(1, 2), (4, 5), (7, 11)]);
    assert!(searched >= 2 && decided > 0, "{searched} {decided}");
}

#[test]
fn grouped_checks_find_the_races_of_all_places() {
    let (mut tally, mut saved) = ([0_u64; 4], [0_u64; 3]);
    for seed in sampled(200, 4_000) {
        let mut rng = Rng::new(9_400_000 + seed);
        let shape = Shape {
            events: 30 + rng.index(90),
            variables: 1 + rng.index(3),
            threads: 2 + rng.index(2),
            other: 0,
            ranges: false,
            ..Shape::small(&mut rng)
        };
        let t = trace(&mut rng, shape);
        let pairs_of = [Pairs::Candidates, Pairs::All][(seed % 2) as usize];
        let (full, [all_searched, _]) = checked(&t, pairs_of, u64::MAX);
        let (some, [searched, decided]) = checked(&t, pairs_of, 1);
        let what = || format!("seed {seed}\n{}", show(&t));
        let ([confirmed, impossible], [sure, none]) = (pairs(&full), pairs(&some));
        assert!(sure.is_subset(&confirmed) && none.is_subset(&impossible), "{}", what());
        let (all, found) = (places(&t, &full), places(&t, &some));
        let races = |of: &BTreeMap<Places, u64>| -> BTreeSet<Places> {
            of.keys().filter(|place| place.0).cloned().collect()
        };
        assert_eq!(races(&found), races(&all), "{}", what());
        let is_whole = all.keys().all(|place| found.contains_key(place));
        let is_said = some.cuts.contains(&Cut::Work) && some.statistics.notes_open > 0;
        assert!(is_whole || is_said, "{}", what());
        let s = &some.statistics;
        assert_eq!(s.candidates, s.confirmed + s.dropped + s.unconfirmed, "{}", what());
        tally[0] += races(&all).len() as u64;
        tally[1] += (all.len() - races(&all).len()) as u64;
        tally[2] += u64::from(!is_whole);
        tally[3] += s.unconfirmed;
        saved[0] += all_searched;
        saved[1] += searched;
        saved[2] += decided;
    }
    println!(
        "races, others, traces cut, pairs left open {tally:?}; searches and decided {saved:?}"
    );
    assert!(tally[0] > 500 && tally[1] > 50 && tally[3] > 30, "{tally:?}");
    assert!(saved[1] < saved[0] && saved[2] > 1_000, "{saved:?}");
}
