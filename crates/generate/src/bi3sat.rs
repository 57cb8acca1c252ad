//! `bi3sat`: a formula as a trace with at most 12 handlers, consistent iff the formula is
//! satisfiable.
//!
//! **Problem.** Consistency stays NP-complete with a bounded number of handlers. Given clauses of
//! two or three literals of different variables, each variable in at most three clauses
//! (3-BI-3SAT), make a partial trace on 12 handlers whose consistent extensions are the satisfying
//! assignments.
//!
//! **Source.** Theorem 3.1 and appendix C of the paper on consistency checking of event-driven
//! traces (our copy lacks its formulas; this is rebuilt from the argument, and tested against brute
//! force).
//!
//! **Choosing values.** Handlers `queue`, `pass1..3`, `detour1..3` and `copies`. Variable `v` has
//! two rows, chains of messages that post one another, `true_v` and `false_v`. A row visits the
//! clauses one by one. At a clause without `v` its message in `queue` posts the next one to
//! `queue`. At a clause with `v` as its `j`-th variable it visits `pass_j`, which posts a *copy* to
//! `copies`, and returns to `queue`. FIFO keeps both rows in the same order wherever they take the
//! same path, so all pairs of copies of a variable are in one order. That order is free: row
//! `true_v`, which comes first until then, visits `detour_j` before `pass_j` at its first clause.
//! The variable is true iff the copies of `true_v` run first.
//!
//! **Checking clauses.** Handlers `check1..4`, whose initial messages have a *box* for each copy: a
//! read of what the copy writes at its beginning and a write of what it reads at its end, so that
//! the box happens while the copy runs. Of the two copies of literal `j`, let `yes_j` be the one
//! that runs first when the literal is true, and `no_j` the other. `check1` has the box of `no_1`;
//! `check2` those of `yes_1` and `no_2`; `check3` those of `yes_2` and `no_3`; `check4` that of
//! `yes_3`, after which it writes what `check1` reads before its own. If all literals are false,
//! this is a cycle through `no_1 < yes_1`, `no_2 < yes_2`, `no_3 < yes_3`. With two literals,
//! `check3` closes the cycle.
//!
//! **Correctness.** Copies run one at a time, so an assignment that falsifies a clause always
//! causes a cycle. If none is falsified, go clause by clause: let `queue` run until all rows are at
//! the clause, run `detour_j` and `pass_j` so that copies are posted in an order that the boxes
//! allow (different `j` are independent), and run the copies with their boxes.
//!
//! **Deviations.** (1) Only one row of a pair takes a detour. This is enough, as the other one
//! cannot overtake before. (2) Rows end at the last clause of their variable.
//!
//! **Cost.** With `L_v` the number of the last clause of variable `v`, `l` literals and `m`
//! clauses: `sum of (4 L_v + 2)` over the variables that occur, and `16 l + 2 m` events: quadratic.

use crate::draft::{Draft, NONE, Name};
use crate::error::GenerateError;
use crate::finish::{EVENTS_MAX, finish_in_order};
use crate::formula::{Copies, check_literals, clauses_count, literal, variable};
use crate::generate::checked_size;
use crate::request::Request;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::Trace;

/// The default number of clauses per variable.
const RATIO: f64 = 1.4;

/// The largest ratio: each clause has two literals, and each variable three occurrences.
const RATIO_MAX: f64 = 1.5;

/// The most clauses with one variable.
const OCCURRENCES_MAX: u64 = 3;

/// Returns the formula that `generate` encodes for a request: random clauses, of three literals as
/// far as three occurrences of each variable allow, and of two.
///
/// # Errors
///
/// Fails when there are fewer than 3 variables, more than 1.5 clauses per variable, or the image
/// would be too large.
pub fn bi3sat_formula(request: &Request) -> Result<Vec<Vec<i32>>, GenerateError> {
    let ratio = request.ratio.unwrap_or(RATIO);
    let clauses = clauses_count(request.size, ratio)?;
    if ratio > RATIO_MAX {
        let (what, expected) = ("the number of clauses a variable", format!("at most {RATIO_MAX}"));
        return Err(GenerateError::out_of_range(what, expected, ratio));
    }
    let slots = OCCURRENCES_MAX * request.size.min(EVENTS_MAX);
    let clauses = clauses.min(slots / 2);
    let variables = checked_size(request, 3, |size| events_bound(size, clauses))?;
    let mut rng = Rng::for_purpose(request.seed, *b"bi3s");
    let of_three = (slots - 2 * clauses).min(clauses);
    let mut widths: Vec<usize> =
        (0..clauses).map(|clause| 2 + usize::from(clause < of_three)).collect();
    rng.shuffle(&mut widths);
    // Each third of the occurrences contains every variable once, so a clause can contain a
    // variable twice only where thirds meet.
    let mut occurrences: Vec<u32> = Vec::with_capacity(slots as usize);
    for _ in 0..OCCURRENCES_MAX {
        let from = occurrences.len();
        occurrences.extend(0..variables);
        rng.shuffle(&mut occurrences[from..]);
    }
    let mut signs = Signs::new(variables, &mut rng);
    let mut next = 0;
    let mut formula: Vec<Vec<i32>> = Vec::with_capacity(clauses as usize);
    for width in widths {
        for place in next..next + width {
            let fresh = (place..occurrences.len())
                .find(|other| !occurrences[next..place].contains(&occurrences[*other]));
            occurrences.swap(place, fresh.unwrap_or(place));
        }
        let chosen = &occurrences[next..next + width];
        formula.push(chosen.iter().map(|variable| signs.next(*variable)).collect());
        next += width;
    }
    rng.shuffle(&mut formula);
    Ok(formula)
}

/// The signs of the occurrences of variables: of three, one differs from the other two. A variable
/// with one sign only could be removed together with its clauses, and most formulas would be
/// trivial.
struct Signs {
    /// By variable: the occurrence, from 0, that differs, and the sign of the others.
    odd_one: Vec<(u8, bool)>,
    /// By variable: its occurrences so far.
    seen: Vec<u8>,
}

impl Signs {
    fn new(variables: u32, rng: &mut Rng) -> Signs {
        let odd_one = (0..variables).map(|_| (rng.below(OCCURRENCES_MAX) as u8, rng.chance(0.5)));
        Signs { odd_one: odd_one.collect(), seen: vec![0; variables as usize] }
    }

    fn next(&mut self, variable: u32) -> i32 {
        let (odd_one, sign) = self.odd_one[variable as usize];
        let seen = &mut self.seen[variable as usize];
        let positive = sign != (*seen == odd_one);
        *seen += 1;
        literal(variable, positive)
    }
}

/// Makes the trace of a formula, with messages in the order of the construction.
///
/// Literals are variables from 1 to `variables`, negative where negated.
///
/// # Errors
///
/// Fails when a clause does not have two or three literals of different variables, when a variable
/// occurs in more than three clauses, or when the trace would be too large.
pub fn bi3sat_image<C: AsRef<[i32]>>(
    variables: usize,
    clauses: &[C],
) -> Result<Trace, GenerateError> {
    finish_in_order(&image(variables, clauses)?)
}

/// Makes the draft of a request.
pub(crate) fn draft_of(request: &Request) -> Result<Draft, GenerateError> {
    let formula = bi3sat_formula(request)?;
    image(request.size as usize, &formula)
}

/// Returns an upper bound on the number of events of an image.
fn events_bound(variables: u64, clauses: u64) -> u64 {
    variables.saturating_mul(4 * clauses + 2).saturating_add(50 * clauses)
}

fn check<C: AsRef<[i32]>>(variables: usize, clauses: &[C]) -> Result<(), GenerateError> {
    let size = variables as u64;
    GenerateError::check_events("bi3sat", size, events_bound(size, clauses.len() as u64))?;
    check_literals(variables, clauses)?;
    let mut occurrences = vec![0; variables];
    for (number, clause) in clauses.iter().enumerate() {
        let literals = clause.as_ref();
        let wrong = |wrong: String| GenerateError::Clause { number: number + 1, wrong };
        if !(2..=3).contains(&literals.len()) {
            return Err(wrong(format!("has {} literals; 2 or 3 are allowed here", literals.len())));
        }
        for (place, literal) in literals.iter().enumerate() {
            let variable = variable(*literal);
            if literals[..place].iter().any(|other| self::variable(*other) == variable) {
                return Err(wrong(format!("has variable {} twice", variable + 1)));
            }
            occurrences[variable as usize] += 1;
        }
    }
    let often = occurrences.iter().position(|times| *times as u64 > OCCURRENCES_MAX);
    often.map_or(Ok(()), |place| {
        let (variable, occurrences) = (place + 1, occurrences[place]);
        Err(GenerateError::TooManyOccurrences { variable, occurrences })
    })
}

fn image<C: AsRef<[i32]>>(variables: usize, clauses: &[C]) -> Result<Draft, GenerateError> {
    check(variables, clauses)?;
    let mut draft = Draft::default();
    let handlers = Handlers::new(&mut draft);
    let copies = add_copies(&mut draft, &handlers, clauses);
    let mut cells: Vec<Vec<Cell>> = vec![Vec::new(); variables];
    for (clause, literals) in clauses.iter().enumerate() {
        for (place, literal) in literals.as_ref().iter().enumerate() {
            let copies = copies[clause][place];
            cells[variable(*literal) as usize].push(Cell { clause: clause as u32, place, copies });
        }
    }
    for (variable, cells) in (1..).zip(&cells) {
        for value in [true, false] {
            add_row(&mut draft, &handlers, variable, value, cells);
        }
    }
    for (clause, literals) in clauses.iter().enumerate() {
        add_checks(&mut draft, &handlers, clause as u32 + 1, literals.as_ref(), &copies[clause]);
    }
    Ok(draft)
}

/// The 12 handlers.
struct Handlers {
    queue: u32,
    pass: [u32; 3],
    detour: [u32; 3],
    copies: u32,
    check: [u32; 4],
}

impl Handlers {
    fn new(draft: &mut Draft) -> Handlers {
        let mut numbered = |stem, number| draft.handler(Name::one(stem, number));
        let pass = [1, 2, 3].map(|number| numbered("pass", number));
        let detour = [1, 2, 3].map(|number| numbered("detour", number));
        let check = [1, 2, 3, 4].map(|number| numbered("check", number));
        let queue = draft.handler(Name::plain("queue"));
        let copies = draft.handler(Name::plain("copies"));
        Handlers { queue, pass, detour, copies, check }
    }
}

/// A copy: its message, the variable and the write at its beginning, the variable and the read at
/// its end.
#[derive(Clone, Copy)]
struct Copy {
    message: u32,
    begins: (u32, u32),
    ends: (u32, u32),
}

/// An occurrence of a variable: the number of the clause from 0, and its position there.
#[derive(Clone, Copy)]
struct Cell {
    clause: u32,
    place: usize,
    copies: Copies<Copy>,
}

fn add_copies<C: AsRef<[i32]>>(
    draft: &mut Draft,
    handlers: &Handlers,
    clauses: &[C],
) -> Vec<Vec<Copies<Copy>>> {
    let mut add = |stems: [&'static str; 3], clause: u32, place: u32| {
        let message = draft.message(Name::two(stems[0], clause, place), handlers.copies);
        let begin = draft.variable(Name::two(stems[1], clause, place));
        let end = draft.variable(Name::two(stems[2], clause, place));
        draft.get(message);
        let write = draft.write(message, begin);
        let read = draft.read(message, end, NONE);
        Copy { message, begins: (begin, write), ends: (end, read) }
    };
    let mut pairs = |clause: u32, width: usize| -> Vec<Copies<Copy>> {
        (1..=width as u32)
            .map(|place| Copies {
                of_true: add(["copy_true", "begin_true", "end_true"], clause, place),
                of_false: add(["copy_false", "begin_false", "end_false"], clause, place),
            })
            .collect()
    };
    (1..).zip(clauses).map(|(clause, literals)| pairs(clause, literals.as_ref().len())).collect()
}

/// Adds one of the two rows of a variable, up to the last clause it occurs in.
fn add_row(draft: &mut Draft, handlers: &Handlers, variable: u32, value: bool, cells: &[Cell]) {
    let stem = |ofs: [&'static str; 2]| if value { ofs[0] } else { ofs[1] };
    let mut poster = draft.initial(handlers.queue);
    let mut next_clause = 0;
    for (occurrence, cell) in cells.iter().enumerate() {
        for clause in next_clause..=cell.clause {
            let name = Name::two(stem(["true", "false"]), variable, clause + 1);
            poster = post_and_begin(draft, poster, name, handlers.queue);
        }
        next_clause = cell.clause + 1;
        if occurrence == 0 && value {
            let name = Name::one("detour_true", variable);
            poster = post_and_begin(draft, poster, name, handlers.detour[cell.place]);
        }
        let name = Name::two(stem(["pass_true", "pass_false"]), variable, next_clause);
        poster = post_and_begin(draft, poster, name, handlers.pass[cell.place]);
        draft.post(poster, cell.copies.of(value).message);
    }
}

/// Posts a message, begins it, and returns it.
fn post_and_begin(draft: &mut Draft, poster: u32, name: Name, handler: u32) -> u32 {
    let message = draft.message(name, handler);
    draft.post(poster, message);
    draft.get(message);
    message
}

/// Adds the boxes of a clause to the initial messages of the checkers.
fn add_checks(
    draft: &mut Draft,
    handlers: &Handlers,
    clause: u32,
    literals: &[i32],
    copies: &[Copies<Copy>],
) {
    let messages = handlers.check.map(|handler| draft.initial(handler));
    let last = literals.len();
    let back = draft.variable(Name::one("back", clause));
    let read_back = draft.read(messages[0], back, NONE);
    for (place, (literal, pair)) in literals.iter().zip(copies).enumerate() {
        let (yes, no) = pair.of_literal(*literal);
        add_box(draft, messages[place], no);
        add_box(draft, messages[place + 1], yes);
    }
    let write_back = draft.write(messages[last], back);
    draft.read_from(read_back, write_back);
}

/// Makes two events happen while a copy runs.
fn add_box(draft: &mut Draft, message: u32, copy: Copy) {
    draft.read(message, copy.begins.0, copy.begins.1);
    let end = draft.write(message, copy.ends.0);
    draft.read_from(copy.ends.1, end);
}
