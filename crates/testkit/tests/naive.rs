//! The oracle on traces made by hand, one rule at a time.
//!
//! Expectations: `a<b` means that `a` happens before `b`, `a|b` that it does not; `m<<n` that task
//! `m` ends before task `n` begins, `m||n` that no such order exists.

use anyorder_testkit::worked::{R4_RACING, R4_UNCOVERED, r4_slides};
use anyorder_testkit::{Naive, RuleSet, Rules, Script, script, show};
use std::collections::BTreeSet;

fn check_in(set: RuleSet, text: &str, expected: &str) {
    let script = script(text);
    let naive = Naive::new(&script.trace, Rules::all(set));
    for fact in expected.split_whitespace() {
        let found = if let Some((m, n)) = fact.split_once("<<") {
            naive.task_order(script.task(m), script.task(n))
        } else if let Some((m, n)) = fact.split_once("||") {
            !naive.task_order(script.task(m), script.task(n))
        } else if let Some((a, b)) = fact.split_once('<') {
            naive.happens_before(script.event(a), script.event(b))
        } else if let Some((a, b)) = fact.split_once('|') {
            !naive.happens_before(script.event(a), script.event(b))
        } else {
            panic!("cannot understand `{fact}`")
        };
        assert!(found, "{set:?}: `{fact}` does not hold in\n{}", show(&script.trace));
    }
}

fn check(text: &str, expected: &str) {
    check_in(RuleSet::Mailbox, text, expected);
    check_in(RuleSet::Android, text, expected);
}

fn check_all(text: &str, expected: &str) {
    check(text, expected);
    check_in(RuleSet::Threads, text, expected);
}

const TWO: &str = "handler ui fifo\nhandler w none\nhandler v none\nhandler q fifo\n";

fn two(text: &str) -> String {
    format!("{TWO}{text}")
}

#[test]
fn program_order_without_tasks() {
    check_all(&two("a: w write x\nb: v write x\nc: w read x"), "a<c a|b b|c");
}

#[test]
fn thread_code_is_cut_by_the_tasks_between() {
    let text = two("task m ui\ntask n ui\nv post m\nw post n
         a: ui write x\nl: ui loop\nb: ui write x\nm get\nm end
         c: ui write x\nd: ui write x\nn get\nn end\ne: ui write x");
    check(&text, "a<l l<b a<b b|c l<c c<d d|e l<e");
    check_in(RuleSet::Threads, &text, "a<b b<c c<d d<e");
}

#[test]
fn without_a_loop_event_the_last_initial_event_before_the_first_get_is_the_loop_point() {
    let text = two("task m ui\ntask n ui\nv post m\nw post n\na: ui write x\nb: ui write x
         g: m get\nm end\nc: ui write x\nh: n get\nn end");
    check(&text, "a<b b<g b<h a<g b<c c|h");
}

#[test]
fn bursts_are_sequences_of_their_own() {
    let text = "handler b none untracked\nburst p b\nburst q b
         a: p begin\nb: p write x\nc: p exit\nd: q begin\ne: q write x";
    check_all(text, "a<b b<c d<e a|d b|e c|d");
}

#[test]
fn attach_is_before_posts_by_others() {
    let text =
        two("task m ui\na: ui write x\nt: ui attach\np: w post m\ng: m get\nm end\nl: ui write y");
    check(&text, "a<p t<p t<g");
    check_in(RuleSet::Threads, &text, "t|p");
}

#[test]
fn a_post_is_before_its_get() {
    check_all(&two("task m ui\na: w write x\np: w post m\ng: m get\nm end"), "a<g p<g");
}

#[test]
fn fork_and_join() {
    let text =
        two("a: w write x\nf: w fork v\nb: v write x\nc: v write x\nj: w join v\nd: w read x");
    check_all(&text, "a<b f<b c<j b<d");
}

#[test]
fn a_join_waits_for_every_task() {
    let text = two(
        "task m ui\ntask n ui\nw post m\nw post n\nm get\na: m write x\nm end\nn get\nb: n write x\nc: v join ui",
    );
    check_all(&text, "a<c b<c");
}

#[test]
fn locks_order_other_handlers_unless_shared() {
    let text = two(
        "w acquire l\na: w write x\nw release l\nv acquire l\nb: v write x\nv release l
         w acquire r shared\nc: w read y\nw release r shared\nv acquire r shared\nd: v read y\nv release r shared
         q acquire r\ne: q write y\nq release r",
    );
    check_all(&text, "a<b c|d c<e d<e");
}

#[test]
fn a_lock_handed_over_between_tasks_of_one_loop_orders_nothing() {
    let text = two("task m ui\ntask n ui\nw post m\nv post n
         m get\nm acquire l\na: m write x\nm release l\nm end
         n get\nn acquire l\nb: n write x\nn release l\nn end");
    check(&text, "a|b m||n");
    check_in(RuleSet::Threads, &text, "a<b");
}

#[test]
fn nor_does_a_hand_over_through_another_handler() {
    let text = two("task m ui\ntask n ui\nw post m\nv post n
         m get\nm acquire l\na: m write x\nm release l\nm end
         v acquire l\nc: v write x\nv release l
         n get\nn acquire l\nb: n write x\nn release l\nn end");
    check(&text, "a<c c<b a|b m||n");
}

#[test]
fn wakes_follow_what_they_refer_to_or_the_first_that_fits() {
    let refers = two("a: w signal c\nb: v signal c\nk: q wake c refers=b");
    check_all(&refers, "b<k a|k");
    let first = two("a: w signal c\nb: v signal c\nk: q wake c");
    check_all(&first, "a<k b|k");
    let behind_wait = two("a: w signal c\nq wait c\nb: v signal c\nk: q wake c");
    check_all(&behind_wait, "b<k a|k");
    let used_up = two("a: w signal c\nk: q wake c\nl: v wake c");
    check_all(&used_up, "a<k a|l");
    let referred = two("a: w signal c\nb: v signal c\nk: q wake c refers=a\nl: ui wake c");
    check_all(&referred, "a<k b<l a|l");
    let broadcast = two("a: w broadcast c\nk: q wake c\nl: v wake c");
    check_all(&broadcast, "a<k a<l");
}

#[test]
fn barriers_and_atomics() {
    check_all(&two("a: w barrier c\nb: v barrier c\nd: q barrier e"), "a<b a|d");
    let text = two("a: w write x\nf: w write flag release\nr: v read flag acquire\nb: v read x
         s: q read flag relaxed\nc: q read x");
    check_all(&text, "a<b f<r f|s a|c");
    let overwritten = two("f: w write flag release\nv write flag relaxed\nr: q read flag acquire");
    check_all(&overwritten, "f|r");
    let update = two("f: w rmw flag acq_rel\nr: v rmw flag acq_rel");
    check_all(&update, "f<r");
}

#[test]
fn enables_are_before_what_they_trigger() {
    let late = two("task m ui\np: w post m\ne: v enable i\ng: m get\nt: m trigger i\nm end");
    check(&late, "e<t e<g e|p");
    check_in(RuleSet::Threads, &late, "e|t");
    let early = two("task m ui\ne: v enable i\np: w post m\ng: m get\nt: m trigger i\nm end");
    check(&early, "e<p e<g");
    let disabled = two("e: v enable i\nw disable i\nt: q trigger i");
    check(&disabled, "e|t");
    let again = two("e: v enable i\nf: w enable i\nt: q trigger i");
    check(&again, "f<t e|t");
}

#[test]
fn fifo() {
    let tail = "m get\na: m write x\nm end\nn get\nb: n write x\nn end";
    check(&two(&format!("task m ui\ntask n ui\nw post m\nw post n\n{tail}")), "m<<n a<b");
    check(&two(&format!("task m ui\ntask n ui\nw post m\nv post n\n{tail}")), "m||n a|b");
    let front = format!("task m ui\ntask n ui front\nw post m\nw post n\n{tail}");
    check(&two(&front), "m||n a|b");
    let bag = "handler ui bag\nhandler w none\ntask m ui\ntask n ui\nw post m\nw post n\n";
    check(&format!("{bag}{tail}"), "m||n a|b");
}

#[test]
fn delays_decide_in_both_directions() {
    let with = |d1: u32, d2: u32| {
        format!(
            "handler ui delayed\nhandler w none\ntask m ui delay={d1}\ntask n ui delay={d2}
             w post m\nw post n\nm get\na: m write x\nm end\nn get\nb: n write x\nn end"
        )
    };
    check(&with(0, 5), "m<<n a<b");
    check(&with(5, 5), "m<<n");
    check(&with(3, 5), "m<<n");
    check(&with(5, 3), "m||n a|b");
    check(&with(5, 0), "m||n");
}

#[test]
fn a_delayed_task_is_before_what_a_later_task_posts() {
    let text = "handler ui delayed\nhandler w none\ntask m ui delay=5\ntask k ui delay=7\ntask n ui
         w post m\nw post k\nm get\nm end\nk get\nk post n\nk end\nn get\nn end";
    check(text, "m<<k k<<n m<<n");
}

#[test]
fn tasks_are_not_interrupted_through_a_post_of_another_thread() {
    // m wakes a thread that posts n. So n runs after all of m, including the events after the wake.
    let text = two(
        "task m ui\ntask n ui\nw post m\nm get\nm signal c\nv wake c\nv post n\na: m write x\nm end
         n get\nb: n write x\nn end",
    );
    check(&text, "m<<n a<b");
    let own = two(
        "task m ui\ntask n ui\nw post m\nm get\nm post n\na: m write x\nm end\nn get\nb: n write x\nn end",
    );
    check(&own, "m<<n a<b");
}

#[test]
fn orders_between_handlers_are_transitive() {
    let text = two(
        "task m ui\ntask n q\na: w write x\nw post m\nm get\nm post n\nm end\nn get\nn signal c\nb: n write x\nn end
         v wake c\nd: v read x",
    );
    check(&text, "a<b a<d b|d");
}

#[test]
fn fifo_is_read_backwards() {
    // n can only run after m, so its post came after that of m. So the earlier events of w come
    // before the later ones of v.
    let text = two("task m ui\ntask n ui\na: w write x\np: w post m\nr: v post n\nb: v write x
         m get\nm enable i\nm end\nn get\nn trigger i\nn end");
    check(&text, "m<<n p<r a<b");
    check_in(RuleSet::Threads, &text, "p|r a|b");
    let delayed = text.replace("task n ui", "task n ui delay=1");
    check(&delayed, "m<<n p|r a|b");
    let front = text.replace("task m ui", "task m ui front");
    check(&front, "m<<n p|r");
}

#[test]
fn read_backwards_does_not_order_two_posting_tasks_of_one_loop() {
    let text = two("task m ui\ntask n ui\ntask pm q\ntask pn q\nw post pm\nv post pn
         pm get\na: pm write x\np: pm post m\npm end\npn get\nr: pn post n\nb: pn write x\npn end
         m get\nm enable i\nm end\nn get\nn trigger i\nn end");
    check(&text, "m<<n pm||pn p|r a|b");
}

#[test]
fn read_backwards_orders_two_pieces_of_thread_code() {
    let text = |trigger: &str| {
        two(&format!(
            "task k q\ntask m ui\ntask n ui\nw post k\nq loop\np: q post m\nk get\nk end\nr: q post n
             m get\nm enable i\nm end\nn get\nn trigger {trigger}\nn end"
        ))
    };
    check(&text("i"), "m<<n p<r");
    check(&text("j"), "m||n p|r");
}

#[test]
fn a_join_waits_for_every_piece_of_thread_code() {
    let text =
        two("task k q\nw post k\nq loop\na: q write x\nk get\nk end\nb: q write x\nc: v join q");
    check_all(&text, "a<c b<c");
    check(&text, "a|b");
}

#[test]
fn in_threads_coverage_is_between_handlers() {
    // The race on x is between two tasks of one loop on one side; their handler counts as a whole.
    let text = two(
        "task m ui\nw post m\nm get\na: m write y\nm end\nb: ui write x\nc: v read y\nd: v write z
         e: q read z\nf: q read x",
    );
    let script = script(&text);
    let race = (script.event("b"), script.event("f"));
    let covered = |set| Naive::new(&script.trace, Rules::all(set)).covered_task(race);
    assert!(covered(RuleSet::Threads));
    assert!(!covered(RuleSet::Mailbox));
}

#[test]
fn conflicts_and_races() {
    let pairs = |text: &str| {
        let script = script(&two(text));
        Naive::new(&script.trace, Rules::all(RuleSet::Threads)).races().len()
    };
    assert_eq!(pairs("w write x\nv write x"), 1);
    assert_eq!(pairs("w read x\nv read x"), 0);
    assert_eq!(pairs("w write x\nv write y"), 0);
    assert_eq!(pairs("w write x relaxed\nv read x relaxed"), 0);
    assert_eq!(pairs("w write x relaxed\nv read x"), 1);
    assert_eq!(pairs("w write 16+8\nv read 20+2"), 1);
    assert_eq!(pairs("w write 16+8\nv read 24+2"), 0);
    assert_eq!(pairs("w write 16+8\nv read 20+2.1"), 0);
    assert_eq!(pairs("w free 16+8\nv read 23+4"), 1);
    assert_eq!(pairs("w alloc 16+8\nv read 20+2"), 0);
}

#[test]
fn coverage_at_both_levels() {
    // The race on x is between tasks before and after a third one that races with both.
    let text =
        two("a: w write x\nb: w write y\nc: v read y\nd: v write z\ne: q read z\nf: q read x");
    let script = script(&text);
    let naive = Naive::new(&script.trace, Rules::all(RuleSet::Mailbox));
    let race = |a: &str, b: &str| (script.event(a), script.event(b));
    assert_eq!(naive.races(), [race("a", "f"), race("b", "c"), race("d", "e")]);
    assert!(naive.covered_access(race("a", "f")));
    assert!(naive.covered_task(race("a", "f")));
    assert!(!naive.covered_access(race("b", "c")));
    assert!(!naive.covered_task(race("b", "c")));
}

/// The pairs of tasks that race, or only those whose races pass a test.
fn task_races(script: &Script, keep: impl Fn((&str, &str)) -> bool) -> BTreeSet<(String, String)> {
    R4_RACING
        .iter()
        .copied()
        .filter(|pair| keep(*pair))
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .inspect(|(a, b)| _ = (script.task(a), script.task(b)))
        .collect()
}

#[test]
fn the_slides_of_r4() {
    let script = r4_slides();
    let naive = Naive::new(&script.trace, Rules::all(RuleSet::Mailbox));
    let name = |event| script.trace.task_name(script.trace.event(event).task).to_owned();
    let pairs = |keep: &dyn Fn((anyorder_trace::EventId, anyorder_trace::EventId)) -> bool| {
        let races = naive.races().into_iter().filter(|race| keep(*race));
        races.map(|(a, b)| (name(a), name(b))).collect::<BTreeSet<_>>()
    };
    assert_eq!(pairs(&|_| true), task_races(&script, |_| true));
    let relevant = task_races(&script, |pair| R4_UNCOVERED.contains(&pair));
    assert_eq!(pairs(&|race| !naive.covered_task(race)), relevant);
    // The definition with a single covering race misses the chain e0, e1, e2, e3.
    let single = task_races(&script, |pair| R4_UNCOVERED.contains(&pair) || pair == ("e0", "e3"));
    assert_eq!(pairs(&|race| !naive.covered_single(race)), single);
}
