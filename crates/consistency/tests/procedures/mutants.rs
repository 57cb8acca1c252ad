//! Each rule of saturation saves work, and each edge of a decided order is needed for the right
//! answer.

use crate::tests::procedures::support::{REFUTE, all_orders, control, mailboxes, partial, verdict};
use anyorder_consistency::testing::{NotFull, Rules, check_full, check_full_by, enumerate_by};
use anyorder_consistency::{Answer, ConsistencyStats, Effort, PartialTrace};
use anyorder_testkit::consistency::{Shape, random_partial};
use anyorder_trace::Trace;

fn knots() -> impl Iterator<Item = (Trace, PartialTrace)> {
    let shapes =
        ["knot", "knot-posts", "knot-nested", "knot-mixed", "knot-delayed", "formula", "perturbed"];
    shapes.map(Shape::named).into_iter().flat_map(|shape| {
        (0..300).map(move |seed| {
            let trace = random_partial(seed, &shape);
            let question = partial(&trace, mailboxes(shape.mailbox));
            (trace, question)
        })
    })
}

/// Decisions and conflicts over all knots, with some rules. All answers and their reasons must be
/// right.
fn work(rules: Rules) -> ConsistencyStats {
    let mut sum = ConsistencyStats::default();
    for (trace, question) in knots() {
        let all =
            enumerate_by(&question, Rules::ALL, REFUTE, &control()).expect("coherence is given");
        let some = enumerate_by(&question, rules, REFUTE, &control()).expect("coherence is given");
        let expected = matches!(all.answer, Answer::Consistent(_));
        assert_eq!(verdict(&trace, &question, &some, false), expected, "{rules:?}");
        sum.decisions += some.stats.decisions;
        sum.conflicts += some.stats.conflicts;
    }
    sum
}

#[test]
fn each_rule_of_saturation_saves_conflicts() {
    let all = work(Rules::ALL);
    let without_ends = work(Rules { first_last: false, ..Rules::ALL });
    let without_posts = work(Rules { posts: false, ..Rules::ALL });
    println!(
        "conflicts: {} with all rules, {} without the rule of ends, {} without the rule of posts",
        all.conflicts, without_ends.conflicts, without_posts.conflicts
    );
    for less in [without_ends, without_posts] {
        assert!(less.conflicts > all.conflicts, "{less:?} {all:?}");
        assert!(less.decisions > all.decisions, "{less:?} {all:?}");
    }
}

#[test]
fn an_edge_left_out_changes_answers() {
    let mutants =
        [Rules { runs_edges: false, ..Rules::ALL }, Rules { post_edges: false, ..Rules::ALL }];
    for rules in mutants {
        let (mut wrong, mut wrong_full) = (0, 0);
        for (_, question) in knots() {
            let answer = |rules| {
                let outcome = enumerate_by(&question, rules, Effort::default(), &control());
                matches!(outcome.expect("coherence is given").answer, Answer::Consistent(_))
            };
            wrong += u32::from(answer(rules) != answer(Rules::ALL));
            // The full problem, for the first order only.
            all_orders(&question, &mut |orders| {
                let right = check_full(&question, orders).is_ok();
                let mutant = check_full_by(&question, orders, rules).is_ok();
                assert!(mutant || !right, "fewer edges never make a cycle");
                wrong_full += u32::from(mutant != right);
                true
            });
        }
        println!("{rules:?}: {wrong} wrong answers, {wrong_full} of the full problem");
        assert!(wrong > 0);
        assert!(wrong_full > 0);
    }
}

#[test]
fn a_cycle_of_the_full_problem_holds_link_by_link() {
    let mut cycles = 0;
    for (trace, question) in knots() {
        all_orders(&question, &mut |orders| {
            if let Err(NotFull::Cycle(cycle)) = check_full(&question, orders) {
                crate::tests::procedures::support::check_links(&trace, &question, &cycle);
                cycles += 1;
            }
            true
        });
    }
    assert!(cycles > 100, "{cycles}");
}
