//! Images of formulas and knots against brute force: consistent iff satisfiable, or as constructed.

use crate::common;

use anyorder_generate::{
    Counts, Family, GenerateError, Request, bi3sat_formula, bi3sat_image, generate,
    knot_is_consistent, sat3_formula, sat3_image,
};
use common::check_sound;
use common::oracle::{is_consistent, open_pairs};

fn satisfiable<C: AsRef<[i32]>>(variables: usize, clauses: &[C]) -> bool {
    (0..1u32 << variables).any(|assignment| {
        let holds =
            |literal: &i32| (assignment >> (literal.unsigned_abs() - 1) & 1 == 1) == (*literal > 0);
        clauses.iter().all(|clause| clause.as_ref().iter().any(holds))
    })
}

/// Prints how many answers were yes and no; both must occur.
#[derive(Default, Debug)]
struct Answers {
    yes: usize,
    no: usize,
}

impl Answers {
    fn add(&mut self, answer: bool) {
        *(if answer { &mut self.yes } else { &mut self.no }) += 1;
    }

    fn both(&self, at_least: usize) {
        assert!(self.yes >= at_least && self.no >= at_least, "{self:?}");
    }
}

#[test]
fn sat3_of_random_formulas_is_consistent_iff_satisfiable() {
    let mut answers = Answers::default();
    for seed in 0..60 {
        let ratio = Some([3.0, 5.0, 7.0][seed as usize % 3]);
        let size = 3 + seed / 3 % 3;
        let request = Request { seed, ratio, ..Request::new(Family::Sat3, size) };
        let formula = sat3_formula(&request).unwrap();
        let trace = generate(&request).unwrap();
        let expected = satisfiable(size as usize, &formula);
        assert_eq!(is_consistent(&trace), expected, "{formula:?}");
        answers.add(expected);
    }
    answers.both(10);
}

/// All sets of clauses of one and two literals over two variables.
#[test]
fn sat3_of_all_small_formulas_is_consistent_iff_satisfiable() {
    let clauses: [&[i32]; 8] = [&[1], &[-1], &[2], &[-2], &[1, 2], &[1, -2], &[-1, 2], &[-1, -2]];
    let mut answers = Answers::default();
    for chosen in 0..256u32 {
        let formula: Vec<&[i32]> =
            (0..8).filter(|bit| chosen >> bit & 1 == 1).map(|bit| clauses[bit]).collect();
        let trace = sat3_image(2, &formula).unwrap();
        let expected = satisfiable(2, &formula);
        assert_eq!(is_consistent(&trace), expected, "{formula:?}");
        answers.add(expected);
    }
    answers.both(10);
}

#[test]
fn sat3_has_the_stated_size() {
    for (size, clauses) in [(5, 21), (10, 43), (20, 85), (40, 170), (80, 341)] {
        let trace = generate(&Request::new(Family::Sat3, size)).unwrap();
        let (n, m) = (size, clauses);
        let expected = Counts::new(4 * n + 18 * m, 2 * n + 6 * m + 2, n + 3 * m + 2);
        assert_eq!(Counts::of(&trace), expected);
        check_sound(&trace);
    }
}

#[test]
fn bi3sat_of_random_formulas_is_consistent_iff_satisfiable() {
    let mut answers = Answers::default();
    for seed in 0..100 {
        let size = 4 + seed % 6;
        let request = Request { seed, ratio: Some(1.5), ..Request::new(Family::Bi3Sat, size) };
        let formula = bi3sat_formula(&request).unwrap();
        let trace = generate(&request).unwrap();
        let expected = satisfiable(size as usize, &formula);
        assert_eq!(is_consistent(&trace), expected, "{formula:?}");
        answers.add(expected);
    }
    answers.both(5);
}

/// Formulas that need reasoning: unsatisfiable ones, and their satisfiable parts without one
/// clause.
#[test]
fn bi3sat_of_minimal_unsatisfiable_formulas() {
    let formulas: [&[&[i32]]; 3] = [
        &[&[1, 2], &[1, -2], &[-1, 3], &[-3, 4], &[-3, -4]],
        &[&[-3, -4], &[1, -2], &[-3, 4], &[1, 2], &[-1, 3]],
        &[&[1, 2, 3], &[1, -2], &[-3, 4], &[-3, -4], &[-1, 5], &[-5, 6], &[-5, -6]],
    ];
    for formula in formulas {
        let variables = 6;
        assert!(!satisfiable(variables, formula));
        assert!(!is_consistent(&bi3sat_image(variables, formula).unwrap()), "{formula:?}");
        for left_out in 0..formula.len() {
            let mut rest = formula.to_vec();
            rest.remove(left_out);
            assert!(satisfiable(variables, &rest));
            assert!(is_consistent(&bi3sat_image(variables, &rest).unwrap()), "{rest:?}");
        }
    }
}

#[test]
fn bi3sat_has_twelve_handlers_and_the_stated_size() {
    for (size, seed) in [(3, 1), (5, 2), (10, 3), (30, 4), (100, 5)] {
        let request = Request { seed, ..Request::new(Family::Bi3Sat, size) };
        let formula = bi3sat_formula(&request).unwrap();
        let trace = generate(&request).unwrap();
        check_sound(&trace);
        let counts = Counts::of(&trace);
        assert!(counts.handlers <= 12 && (counts.handlers == 12 || size < 30), "{counts:?}");
        let mut rows = 0;
        for variable in 1..=size as i32 {
            let last = formula
                .iter()
                .rposition(|clause| clause.iter().any(|literal| literal.abs() == variable));
            rows += last.map_or(0, |last| 4 * (last as u64 + 1) + 2);
        }
        let literals = formula.iter().map(Vec::len).sum::<usize>() as u64;
        assert_eq!(counts.events, rows + 16 * literals + 2 * formula.len() as u64);
        let mut occurrences = vec![0; size as usize];
        for clause in &formula {
            assert!((2..=3).contains(&clause.len()));
            clause.iter().for_each(|literal| occurrences[literal.unsigned_abs() as usize - 1] += 1);
        }
        assert!(occurrences.iter().all(|times| *times <= 3));
    }
}

#[test]
fn bad_formulas_are_refused() {
    let wrong =
        |error: Result<_, GenerateError>| error.map(|_: anyorder_trace::Trace| ()).unwrap_err();
    let empty: [&[i32]; 1] = [&[]];
    for (error, expected) in [
        (wrong(sat3_image(2, &empty)), "clause 1 has no literals"),
        (wrong(sat3_image(2, &[[1, 3]])), "clause 1 has literal 3, which is none of 2 variables"),
        (wrong(sat3_image(2, &[[1, 0]])), "clause 1 has literal 0, which is none of 2 variables"),
        (
            wrong(sat3_image(2, &[[i32::MIN]])),
            "clause 1 has literal -2147483648, which is none of 2 variables",
        ),
        (wrong(sat3_image(usize::MAX, &[[1]])), "may have 50000000"),
        (wrong(bi3sat_image(2, &[[1]])), "clause 1 has 1 literals; 2 or 3 are allowed here"),
        (wrong(bi3sat_image(2, &[[1, -1]])), "clause 1 has variable 1 twice"),
        (
            wrong(bi3sat_image(3, &[[1, 2], [1, 3], [1, 2], [1, 3]])),
            "variable 1 occurs in 4 clauses",
        ),
        (wrong(bi3sat_image(usize::MAX, &[[1, 2]])), "may have 50000000"),
    ] {
        let error = error.to_string();
        assert!(error.contains(expected), "{error}");
    }
    let ratio = |family, ratio| {
        generate(&Request { ratio: Some(ratio), ..Request::new(family, 10) })
            .unwrap_err()
            .to_string()
    };
    assert!(ratio(Family::Sat3, -1.0).contains("from 0 to 1000, not -1"));
    assert!(ratio(Family::Sat3, f64::NAN).contains("NaN"));
    assert!(ratio(Family::Bi3Sat, 1.6).contains("at most 1.5, not 1.6"));
    assert!(ratio(Family::Knot, 1.0).contains("family `knot` has no"));
}

#[test]
fn knots_are_consistent_as_constructed() {
    let mut answers = Answers::default();
    for seed in 0..80 {
        let size = 2 + seed % 9;
        let ring = (seed % 4 == 0).then_some(2);
        let request = Request { seed, ring, ..Request::new(Family::Knot, size) };
        let trace = generate(&request).unwrap();
        check_sound(&trace);
        let counts = Counts::of(&trace);
        assert_eq!((counts.messages, counts.handlers), (2 * size + 2, size + 2), "{request:?}");
        // Every decision is a choice: nothing is forced before the first one.
        assert_eq!(open_pairs(&trace), Some((size as usize, size as usize)), "{request:?}");
        let expected = knot_is_consistent(&request).unwrap();
        assert_eq!(is_consistent(&trace), expected, "{request:?}");
        answers.add(expected);
    }
    answers.both(20);
}

#[test]
fn large_knots_have_the_stated_size() {
    for size in [100, 1_000] {
        let request = Request::new(Family::Knot, size);
        let trace = generate(&request).unwrap();
        check_sound(&trace);
        let counts = Counts::of(&trace);
        assert_eq!((counts.messages, counts.handlers), (2 * size + 6, size + 6));
        assert!(counts.events <= 12 * size);
    }
}
