//! Without nested posting, and with a fixed number of handlers, consistency under FIFO is still as
//! hard as 3-SAT: the image of a formula is consistent exactly if the formula is satisfiable. So no
//! polynomial procedure can be right for the problem of Theorem 4.1 of the paper, unless P = NP.
//! The argument is in `procedure/flat`.

use crate::tests::procedures::support::{REFUTE, control, partial, read, verdict};
use anyorder_common::random::{Random, Rng};
use anyorder_consistency::{Effort, MailboxRule, Procedure};
use std::fmt::Write;

/// A literal: the number of a variable, and the value that makes it true.
type Literal = (usize, bool);

/// The image of a formula: seven handlers; only the initial messages of `P` and `Q` post.
#[derive(Default)]
struct Image {
    /// The lines of each message, by handler and name; the posters come first.
    messages: Vec<(String, String, Vec<String>)>,
    events: usize,
    variables: usize,
}

/// Two messages of one handler, the first posted by P and the second by Q. The pair is *true* when
/// the first comes first.
#[derive(Clone, Copy)]
struct Pair {
    first: usize,
    second: usize,
}

const P: usize = 0;
const Q: usize = 1;

impl Image {
    fn new() -> Image {
        let poster = |name: &str| (name.to_owned(), "-".to_owned(), Vec::new());
        Image { messages: vec![poster("P"), poster("Q")], ..Image::default() }
    }

    fn line(&mut self, message: usize, op: &str) -> usize {
        let (handler, name, lines) = &mut self.messages[message];
        lines.push(format!("e{} {handler} {name} {op}", self.events));
        self.events += 1;
        self.events - 1
    }

    /// Posts a pair to a handler, without any order between the two.
    fn pair(&mut self, handler: &str) -> Pair {
        let first = self.post(P, handler);
        let second = self.post(Q, handler);
        Pair { first, second }
    }

    fn post(&mut self, poster: usize, handler: &str) -> usize {
        let name = format!("m{}", self.messages.len());
        self.line(poster, &format!("post {name}"));
        self.messages.push((handler.to_owned(), name, Vec::new()));
        let message = self.messages.len() - 1;
        self.line(message, "get");
        message
    }

    /// The events of the first message so far come before the later events of the second.
    fn order(&mut self, from: usize, to: usize) {
        let variable = self.variables;
        self.variables += 1;
        let write = self.line(from, &format!("w v{variable}"));
        self.line(to, &format!("r v{variable} e{write}"));
    }

    /// Both posters wait for each other.
    fn barrier(&mut self) {
        let (p, q) = (self.variables, self.variables + 1);
        self.variables += 2;
        let one = self.line(P, &format!("w v{p}"));
        let two = self.line(Q, &format!("w v{q}"));
        self.line(P, &format!("r v{q} e{two}"));
        self.line(Q, &format!("r v{p} e{one}"));
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for line in self.messages.iter().flat_map(|(_, _, lines)| lines) {
            writeln!(text, "{line}").expect("a string takes everything");
        }
        text
    }
}

/// Makes the image of a formula.
fn image(variables: usize, clauses: &[Vec<Literal>]) -> String {
    let mut image = Image::new();
    // Two copies of each variable: if the pair on X is true, so is the one on Y.
    let mut values = Vec::new();
    for _ in 0..variables {
        let y_first = image.post(P, "Y");
        let x = image.pair("X");
        let y = Pair { first: y_first, second: image.post(Q, "Y") };
        image.barrier();
        values.push((x, y));
    }
    // The tape: one pair for each literal, which may be true only if the literal is.
    let mut tape = Vec::new();
    for &(x, y) in &values {
        image.order(x.first, P);
        let cell = image.pair("H");
        image.order(Q, x.second);
        image.barrier();
        tape.push(cell);
        image.order(y.second, P);
        let cell = image.pair("H");
        image.order(Q, y.first);
        image.barrier();
        tape.push(cell);
    }
    for clause in clauses {
        tape = pass(&mut image, clause, &tape);
    }
    image.text()
}

/// Copies the tape, and requires one true literal of a clause on the way.
fn pass(image: &mut Image, clause: &[Literal], tape: &[Pair]) -> Vec<Pair> {
    // The carry says whether a true literal was found. It starts false: the second is posted first.
    let second = image.post(Q, "C");
    image.order(Q, P);
    let mut carry = Pair { first: image.post(P, "C"), second };
    image.barrier();
    let mut left = clause
        .iter()
        .map(|&(v, value)| 2 * v + usize::from(!value))
        .collect::<std::collections::BTreeSet<_>>();
    let mut copied = Vec::new();
    for (at, &old) in tape.iter().enumerate() {
        let asked = left.remove(&at);
        // A copy is true only if the original is.
        image.order(old.first, P);
        copied.push(image.pair("H"));
        let met = asked.then(|| image.pair("E"));
        image.order(Q, old.second);
        image.barrier();
        if let Some(met) = met {
            // The new carry is true only if the old one is, or the literal.
            image.order(met.first, P);
            let first = image.post(P, "C");
            if left.is_empty() {
                // The last carry of the clause has to be true.
                image.order(P, Q);
            }
            let second = image.post(Q, "C");
            image.order(Q, carry.second);
            image.order(carry.first, met.second);
            image.barrier();
            carry = Pair { first, second };
        }
    }
    copied
}

fn satisfiable(variables: usize, clauses: &[Vec<Literal>]) -> bool {
    (0..1_u32 << variables).any(|values| {
        let holds = |&(variable, value): &Literal| (values >> variable & 1 == 1) == value;
        clauses.iter().all(|clause| clause.iter().any(holds))
    })
}

/// Decides the image of a formula by enumeration, and on request by the search; answers are
/// checked.
fn check(variables: usize, clauses: &[Vec<Literal>], search: bool, counts: &mut Counts) {
    let trace = read(&image(variables, clauses));
    let question = partial(&trace, MailboxRule::Fifo);
    assert!(question.nested().is_none());
    assert_eq!(question.handlers, 7);
    let expected = satisfiable(variables, clauses);
    let effort = Effort { conflicts: Some(50_000), ..REFUTE };
    let outcome =
        Procedure::Enumerate.decide(&question, effort, &control()).expect("coherence is given");
    assert_eq!(verdict(&trace, &question, &outcome, false), expected, "{clauses:?}");
    counts.answers[usize::from(expected)] += 1;
    counts.messages = counts.messages.max(outcome.stats.messages);
    counts.conflicts += outcome.stats.conflicts;
    counts.searched += u32::from(!expected && outcome.stats.conflicts > 0);
    let outcome = Procedure::Solver.decide(&question, REFUTE, &control()).expect("for all traces");
    assert_eq!(verdict(&trace, &question, &outcome, false), expected, "{clauses:?}");
    if search {
        let outcome =
            Procedure::Flat.decide(&question, effort, &control()).expect("nothing is nested");
        assert_eq!(verdict(&trace, &question, &outcome, true), expected, "{clauses:?}");
        counts.configurations += outcome.stats.candidates;
    }
}

#[derive(Default, Debug)]
struct Counts {
    answers: [u32; 2],
    messages: u64,
    conflicts: u64,
    searched: u32,
    configurations: u64,
}

#[test]
fn images_of_small_formulas_are_consistent_exactly_if_they_can_be_satisfied() {
    let mut rng = Rng::new(41);
    let mut counts = Counts::default();
    for _ in 0..200 {
        let variables = 1 + rng.index(3);
        let clauses: Vec<Vec<Literal>> = (0..rng.within(1, 1 + 2 * variables as u64))
            .map(|_| {
                (0..rng.within(1, 3)).map(|_| (rng.index(variables), rng.percent(50))).collect()
            })
            .collect();
        check(variables, &clauses, true, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.answers.iter().all(|&count| count >= 40), "{counts:?}");
    assert!(counts.configurations > 0);
}

#[test]
fn images_of_three_literals_a_clause_need_a_search() {
    let mut rng = Rng::new(43);
    let mut counts = Counts::default();
    // All eight clauses over three variables, then without one of them.
    let all: Vec<Vec<Literal>> =
        (0..8).map(|signs| (0..3).map(|v| (v, signs >> v & 1 == 1)).collect()).collect();
    check(3, &all, false, &mut counts);
    assert_eq!(counts.answers, [1, 0]);
    check(3, &all[1..], false, &mut counts);
    assert_eq!(counts.answers, [1, 1]);
    // The images of large formulas take seconds each: the last two wait for the night.
    let counts_of_clauses = [14, 24, 24, 24];
    let tried = if anyorder_testkit::effort::effort() > 1 { 4 } else { 2 };
    for count in &counts_of_clauses[..tried] {
        let clauses: Vec<Vec<Literal>> = (0..*count)
            .map(|_| {
                let mut left = vec![0, 1, 2, 3];
                (0..3).map(|_| (left.swap_remove(rng.index(left.len())), rng.percent(50))).collect()
            })
            .collect();
        check(4, &clauses, false, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.answers.iter().all(|&count| count >= 2), "{counts:?}");
    assert!(counts.searched > 0);
}
