//! The check around a fake search: the pairs tried, their order, their results, and the sums of the
//! counts.

use crate::common::script::script;
use anyorder_predict::Together;
use anyorder_predict::check::Cut;
use anyorder_predict::check::{
    Category, CheckOptions, Checked, Confirms, Evidence, Facts, Found, Loss, Order, PairResult,
    Pairs, Statistics, Subject, check, check_unconfirmed, common_locks,
};
use anyorder_predict::{
    Analysis, CandidateOptions, Conditions, EdcAnalysis, Form, GaveUp, Report, Witness, run,
};
use anyorder_system::{Cancel, Control, StopReason};
use anyorder_trace::{EventId, Mailbox, Trace, TraceBlocks, TraceBuilder};
use std::sync::Arc;

/// A search that answers by a rule and records its questions.
struct Fake<'f> {
    answer: &'f mut dyn FnMut(u32, u32) -> PairResult,
    questions: Vec<(u32, u32)>,
}

impl Confirms for Fake<'_> {
    fn confirm(&mut self, first: EventId, second: EventId, _: &Cancel) -> PairResult {
        assert!(first < second);
        self.questions.push((first.0, second.0));
        (self.answer)(first.0, second.0)
    }

    fn work(&self) -> u64 {
        self.questions.len() as u64 * 100
    }
}

fn witness(form: Form, events: u32) -> PairResult {
    let order = (0..events).map(EventId).collect();
    PairResult::Confirmed(Witness {
        form,
        order,
        prefix: 0,
        shortest: true,
        waits: false,
        together: Together::Yes,
    })
}

fn report(trace: &Trace, options: CandidateOptions) -> Report {
    let mut engine = EdcAnalysis::new(Conditions, options);
    run(&mut TraceBlocks::new(trace), &mut [&mut engine], |_| {}).unwrap();
    engine.finish()
}

struct CheckRun {
    checked: Checked,
    questions: Vec<(u32, u32)>,
}

fn checked_with(
    trace: &Trace,
    options: &CheckOptions,
    control: &Control<'_>,
    answer: &mut dyn FnMut(u32, u32) -> PairResult,
) -> CheckRun {
    let report = report(trace, CandidateOptions::default());
    let mut fake = Fake { answer, questions: Vec::new() };
    let mut engine = EdcAnalysis::new(Conditions, CandidateOptions::default());
    let subject = Subject {
        trace,
        report: &report,
        spec: Conditions,
        order: Some(Order::Engine(&mut engine)),
        why: None,
        extra: &[],
        is_known: &|_| false,
        so_far: &|_| (),
    };
    let checked = check(subject, &mut fake, options, control).unwrap();
    balanced(&checked.statistics);
    CheckRun { checked, questions: fake.questions }
}

fn checked(text: &str, pairs: Pairs, answer: &mut dyn FnMut(u32, u32) -> PairResult) -> CheckRun {
    let options = CheckOptions { pairs, ..CheckOptions::default() };
    checked_with(&script(text), &options, &Control::default(), answer)
}

/// Equations that always hold.
fn balanced(s: &Statistics) {
    assert_eq!(s.candidates, s.racy + s.non_racy, "{s:?}");
    assert_eq!(s.candidates, s.confirmed + s.dropped + s.unconfirmed, "{s:?}");
    assert!(s.missed_by_order <= s.confirmed && s.rejected <= s.unconfirmed, "{s:?}");
}

/// Two racing variables, one pair under a lock, one pair that a fork orders.
const MIXED: &str = "S w before; S fork T; S w x; S w y; S acq m; S w z; S rel m;
    T r before; T w x; T w y; T acq m; T w z; T rel m";

#[test]
fn one_pair_of_each_group_is_tried_in_turn() {
    let text = "S w x; S w y; T w x; T w y; U w x; U w y";
    let came = checked(text, Pairs::Candidates, &mut |_, _| PairResult::Impossible);
    let all = came.questions.len();
    assert!(all >= 4, "{:?}", came.questions);
    // S-T on x, S-T on y, then the second turn.
    assert_eq!(came.questions[..2], [(0, 2), (1, 3)]);
    assert_eq!(came.checked.statistics.dropped, all as u64);
    assert!(came.checked.found.is_empty(), "what is impossible is no finding");
}

#[test]
fn fates_are_told_apart_and_add_up() {
    let came = checked(MIXED, Pairs::Candidates, &mut |first, _| match first {
        2 => witness(Form::Last, 5),
        3 => PairResult::GaveUp(GaveUp::Window),
        _ => PairResult::Rejected("event 3 comes too early".to_owned()),
    });
    let s = came.checked.statistics;
    assert_eq!((s.candidates, s.racy, s.non_racy), (3, 2, 1));
    assert_eq!((s.confirmed, s.dropped, s.unconfirmed, s.rejected), (1, 0, 2, 1));
    assert_eq!(s.race_pairs, 1);
    assert_eq!(came.checked.cuts, [Cut::Window]);
    let found = &came.checked.found;
    assert_eq!(found.len(), 3);
    let (shown, open): (Vec<&Found>, Vec<_>) = found.iter().partition(|one| one.is_confirmed());
    assert_eq!((shown.len(), shown[0].category), (1, Category::MultiThreaded));
    assert!(shown[0].is_race() && shown[0].form() == Some(Form::Last));
    assert!(open.iter().all(|one| one.confirmed == Some(false) && one.form().is_none()));
    let why: Vec<&Evidence> = open.iter().map(|one| &one.evidence).collect();
    assert!(why.contains(&&Evidence::GaveUp(GaveUp::Window)), "{why:?}");
    let rejected = Evidence::Rejected("event 3 comes too early".to_owned());
    assert!(why.contains(&&rejected), "{why:?}");
}

#[test]
fn notes_take_a_small_part_of_the_searches() {
    // Eight variables under a lock, and two that race.
    let variables = |of: &dyn Fn(usize) -> String| (0..8).map(of).collect::<String>();
    let half = |thread: char| {
        let guarded = |i| format!("{thread} acq m; {thread} w g{i}; {thread} rel m; ");
        format!("{}{thread} w x; {thread} w y; ", variables(&guarded))
    };
    let text = half('S') + half('T').as_str();
    let trace = script(text.trim_end_matches("; "));
    let run = |strict, pairs, one_by_one_max| {
        let options = CheckOptions { pairs, one_by_one_max, strict, ..CheckOptions::default() };
        let control = Control::default();
        let answer = &mut |_, _| PairResult::GaveUp(GaveUp::Window);
        let came = checked_with(&trace, &options, &control, answer);
        let counting = came.questions.iter().filter(|(first, _)| (24..26).contains(first)).count();
        (came.questions.len(), counting, came.checked.statistics.notes_open, came.checked.cuts)
    };
    let window = vec![Cut::Window];
    // 100 events for each search, a quarter of the events for notes: two searches, and that which
    // goes beyond.
    assert_eq!(run(false, Pairs::Candidates, 1_000), (5, 2, 8, window.clone()));
    assert_eq!(run(false, Pairs::Candidates, 10_000), (10, 2, 8, window.clone()));
    // Where notes count, or all pairs were asked for, they are searched like others.
    assert_eq!(run(true, Pairs::Candidates, 1_000), (10, 2, 8, window.clone()));
    assert_eq!(run(false, Pairs::All, 1_000).0, 10);
}

#[test]
fn races_of_variables_that_are_only_numbered_are_one_finding_of_two_places() {
    let found = |names: [&str; 2], with_places: bool| {
        let mut b = TraceBuilder::new();
        for thread in ["S", "T"] {
            let handler = b.handler(thread, Mailbox::None).expect("few");
            let task = b.initial(handler);
            for name in names {
                b.write(task, name).expect("few");
                if with_places {
                    b.at("a.c", if thread == "S" { 1 } else { 2 }).expect("few");
                }
            }
        }
        let control = Control::default();
        let options = CheckOptions::default();
        let answer = &mut |_, _| witness(Form::Reversed, 2);
        let came = checked_with(&b.finish(), &options, &control, answer);
        came.checked.found.iter().map(|one| one.total).collect::<Vec<u64>>()
    };
    assert_eq!(found(["V1", "V234.23[0]"], true), [2]);
    assert_eq!(found(["7", "8"], true), [2]);
    assert_eq!(found(["x1", "x2"], true), [1, 1], "names that somebody gave");
    assert_eq!(found(["V1", "V2"], false), [1, 1], "nothing else tells them apart");
}

#[test]
fn a_group_lists_its_confirmed_pairs_and_counts_the_others() {
    let text = "S fork T; S w x; T w x; S fork U; S w x; U w x";
    let came = checked(text, Pairs::All, &mut |first, second| match (first, second) {
        (1, 2) => witness(Form::CoEnabled, 3),
        (2, 4) => witness(Form::Reversed, 9),
        (2, 5) => PairResult::GaveUp(GaveUp::Conflicts),
        _ => PairResult::Impossible,
    });
    let s = came.checked.statistics;
    assert_eq!((s.confirmed, s.unconfirmed), (2, 1), "{s:?}");
    assert_eq!(came.checked.cuts, [Cut::Conflicts]);
    // Without source positions each pair of threads is a group.
    let found = &came.checked.found;
    let of_two: Vec<&Found> = found.iter().filter(|one| one.members.len() == 2).collect();
    assert_eq!(of_two.len(), 1, "{found:?}");
    assert_eq!(of_two[0].form(), Some(Form::Reversed), "the strongest of the group");
    assert_eq!(of_two[0].members, [(1, 2), (2, 4)]);
    let pairs: Vec<(u64, u64)> = of_two[0].pairs().collect();
    assert_eq!(pairs, [(2, 4), (1, 2)], "the pair that represents the group comes first");
}

#[test]
fn all_pairs_are_tried_and_what_was_ordered_is_counted_when_confirmed() {
    let mut tried = Vec::new();
    let came = checked(MIXED, Pairs::All, &mut |first, second| {
        tried.push((first, second));
        if first == 0 { witness(Form::Reversed, 4) } else { PairResult::Impossible }
    });
    assert!(came.checked.all_pairs && tried.contains(&(0, 7)), "{tried:?}");
    let s = came.checked.statistics;
    assert_eq!((s.candidates, s.confirmed, s.dropped, s.missed_by_order), (4, 1, 3, 1));
    assert!(came.checked.found[0].shown.ordered);
    // Only candidates: the pair that the fork orders is not tried.
    let came = checked(MIXED, Pairs::Candidates, &mut |_, _| PairResult::Impossible);
    assert!(!came.questions.contains(&(0, 7)) && came.questions.len() == 3, "{:?}", came.questions);
}

#[test]
fn pairs_that_the_analysis_left_open_and_did_not_list_are_not_missed() {
    // Of the two writes of one lane, the engine keeps one for each later action.
    let text = "S w x; S w x; T w x; T w x";
    let came = checked(text, Pairs::All, &mut |_, _| witness(Form::Reversed, 2));
    let s = came.checked.statistics;
    assert_eq!((s.candidates, s.confirmed, s.missed_by_order), (4, 4, 0));
    // The same under a lock.
    let text = "S acq m; S w x; S w x; S rel m; T acq m; T w x; T w x; T rel m";
    let came = checked(text, Pairs::All, &mut |_, _| witness(Form::Reversed, 2));
    let s = came.checked.statistics;
    assert_eq!((s.non_racy, s.confirmed, s.missed_by_order), (4, 4, 0), "{s:?}");
}

#[test]
fn limits_leave_the_rest_open_and_say_so() {
    let trace = script("S w x; S w y; S w z; T w x; T w y; T w z");
    let control = Control::default();
    let mut yes = |_, _| witness(Form::Reversed, 2);
    let options = CheckOptions { tries_max: 2, ..CheckOptions::default() };
    let came = checked_with(&trace, &options, &control, &mut yes);
    assert_eq!((came.questions.len(), came.checked.cuts.as_slice()), (2, &[Cut::Tries][..]));
    assert_eq!((came.checked.statistics.confirmed, came.checked.statistics.unconfirmed), (2, 1));
    let untried = came.checked.found.iter().filter(|one| one.confirmed.is_none());
    assert_eq!(untried.count(), 1);
    let options = CheckOptions { work_max: 150, ..CheckOptions::default() };
    let came = checked_with(&trace, &options, &control, &mut yes);
    assert_eq!((came.questions.len(), came.checked.cuts.as_slice()), (2, &[Cut::Work][..]));
    let stopped = Control::default();
    stopped.cancel.stop(StopReason::TimeLimit);
    let came = checked_with(&trace, &CheckOptions::default(), &stopped, &mut yes);
    assert_eq!((came.questions.len(), came.checked.stopped), (0, Some(StopReason::TimeLimit)));
    assert_eq!(came.checked.statistics.unconfirmed, 3);
}

#[test]
fn pairs_under_a_lock_that_a_limit_leaves_open_cut_a_strict_check_only() {
    let control = Control::default();
    let guarded = "S acq m; S w x; S w y; S rel m; T acq m; T w x; T w y; T rel m";
    let cuts = |text: &str, options: CheckOptions, answer: PairResult| {
        let mut answers = |_, _| answer.clone();
        let came = checked_with(&script(text), &options, &control, &mut answers);
        (came.checked.cuts, came.checked.statistics.notes_open)
    };
    let few = |strict| CheckOptions { tries_max: 1, strict, ..CheckOptions::default() };
    assert_eq!(cuts(guarded, few(false), PairResult::Impossible), (vec![], 1));
    assert_eq!(cuts(guarded, few(true), PairResult::Impossible), (vec![Cut::Tries], 1));
    let whole = |strict| CheckOptions { strict, ..CheckOptions::default() };
    let gave_up = PairResult::GaveUp(GaveUp::Window);
    assert_eq!(cuts(guarded, whole(false), gave_up.clone()), (vec![], 2));
    assert_eq!(cuts(guarded, whole(true), gave_up.clone()), (vec![Cut::Window], 2));
    // What is no note counts: a race, and a use after free under the lock.
    let race = "S w x; S w y; T w x; T w y";
    assert_eq!(cuts(race, few(false), PairResult::Impossible), (vec![Cut::Tries], 0));
    assert_eq!(cuts(race, whole(false), gave_up.clone()), (vec![Cut::Window], 0));
    let freed = "S acq m; S w x; S w y; S rel m; T acq m; T free x; T free y; T rel m";
    assert_eq!(cuts(freed, few(false), PairResult::Impossible), (vec![Cut::Tries], 0));
    assert_eq!(cuts(freed, whole(false), gave_up), (vec![Cut::Window], 0));
}

#[test]
fn results_so_far_say_that_a_signal_is_not_lost() {
    // The signal comes first, and the wait ends all the same.
    let trace = script(
        "S acq m; S w x; S rel m; S signal c; T acq m; T r x; T wait c; T rel m;
        S acq m; S broadcast c; S rel m; T acq m; T wake c; T rel m",
    );
    let report = report(&trace, CandidateOptions::default());
    let mut answer = |_, _| witness(Form::Reversed, 2);
    let mut fake = Fake { answer: &mut answer, questions: Vec::new() };
    let mut engine = EdcAnalysis::new(Conditions, CandidateOptions::default());
    let so_far = std::cell::RefCell::new(Vec::new());
    let subject = Subject {
        trace: &trace,
        report: &report,
        spec: Conditions,
        order: Some(Order::Engine(&mut engine)),
        why: None,
        extra: &[],
        is_known: &|_| false,
        so_far: &|checked| so_far.borrow_mut().push(checked),
    };
    let options = CheckOptions { pairs: Pairs::All, ..CheckOptions::default() };
    let whole = check(subject, &mut fake, &options, &Control::default()).unwrap();
    let losses = |checked: &Checked| -> Vec<Loss> {
        let signals = checked.found.iter().filter(|one| one.category == Category::LostSignal);
        signals.filter(|one| one.is_confirmed()).map(|one| one.loss).collect()
    };
    // The broadcast comes after the wait, which does not end without it.
    assert_eq!(losses(&whole), [Loss::Woken, Loss::Possible]);
    let so_far = so_far.into_inner();
    let early: Vec<Loss> = so_far.iter().flat_map(losses).collect();
    assert!(early.contains(&Loss::Woken), "{early:?}");
}

#[test]
fn candidates_beyond_the_list_are_counted_as_unconfirmed() {
    let trace = script("S w x; S w y; S w z; T w x; T w y; T w z");
    let report =
        report(&trace, CandidateOptions { violations_max: 1, ..CandidateOptions::default() });
    let facts = Facts::gather(&mut TraceBlocks::new(&trace), Facts::wanted(&report), |_| {});
    let options = CheckOptions::default();
    let checked = check_unconfirmed(
        (trace.tables(), &Arc::new(facts.unwrap())),
        &report,
        &options,
        &Cancel::new(),
    );
    balanced(&checked.statistics);
    assert_eq!((checked.statistics.candidates, checked.statistics.unconfirmed), (3, 3));
    assert_eq!((checked.found.len(), checked.cuts.as_slice()), (1, &[Cut::Candidates][..]));
    assert_eq!(checked.found[0].confirmed, None);
    assert_eq!(checked.found[0].evidence, Evidence::Untried);
}

#[test]
fn what_goes_wrong_is_named() {
    let text = "S w p; T free p;
        S acq m; S w g; S rel m; T acq m; T w g; T rel m;
        S wait c; T signal c; S free q; T free q";
    let came = checked(text, Pairs::All, &mut |_, _| witness(Form::Reversed, 2));
    let found: Vec<Category> = came.checked.found.iter().map(|one| one.category).collect();
    let expected =
        [Category::UseAfterFree, Category::DoubleFree, Category::LostSignal, Category::Guarded];
    assert_eq!(found, expected);
    let guarded = &came.checked.found[3];
    let [first, second] = [guarded.shown.first, guarded.shown.second]
        .map(|event| came.checked.facts.get(event).expect("a fact").clone());
    assert_eq!(common_locks(&first, &second).count(), 1);
    assert!(!guarded.is_race());
}

#[test]
fn known_pairs_are_counted_and_not_reported() {
    let trace = script("S w x; S w y; T w x; T w y");
    let report = report(&trace, CandidateOptions::default());
    let mut yes = |_, _| witness(Form::Reversed, 2);
    let mut fake = Fake { answer: &mut yes, questions: Vec::new() };
    let subject = Subject {
        trace: &trace,
        report: &report,
        spec: Conditions,
        order: None,
        why: None,
        extra: &[(EventId(0), EventId(2))],
        is_known: &|candidate| candidate.first == 0,
        so_far: &|_| (),
    };
    let control = Control::default();
    let checked = check(subject, &mut fake, &CheckOptions::default(), &control).unwrap();
    balanced(&checked.statistics);
    assert_eq!((checked.statistics.confirmed, checked.found.len()), (2, 1));
    assert_eq!(checked.found[0].members, [(1, 3)]);
}
