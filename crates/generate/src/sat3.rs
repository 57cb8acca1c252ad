//! `sat3`: a formula as a trace with many handlers, consistent iff the formula is satisfiable.
//!
//! **Problem.** Given clauses over variables, make a partial trace whose consistent extensions are
//! the satisfying assignments.
//!
//! **Construction.** The initial message of handler `trues` posts a message `true_v` to the handler
//! of each variable `v`, that of `falses` posts `false_v` to it. The variable is true iff `true_v`
//! runs first. Literal `j` of clause `i` has its own handler, with a copy of both messages:
//! `true_v` posts one and `false_v` the other, so that FIFO makes the copies run in the order of
//! `true_v` and `false_v`. Of the two copies, let `yes_j` be the one that runs first when the
//! literal is true, and `no_j` the other. `yes_j` writes a variable that `no_(j+1)` reads,
//! cyclically.
//!
//! **Correctness.** If all literals of a clause are false, `no_j` ends before `yes_j` begins, and
//! there is the cycle `yes_1 -> no_2 < yes_2 -> no_3 < yes_3 -> no_1 < yes_1`. If literal `j` is
//! true, `no_j` is the last message of its handler and nothing reads from it, so no cycle passes
//! through it; every cycle of the clause would. For a satisfying assignment: post the messages of
//! one variable after those of another, in the order of its value (`trues` and `falses` post in the
//! same order of variables, so both orders of each pair are possible), run them, then the copies.
//!
//! **Size.** With `n` variables and `m` clauses of three literals: `4n + 18m` events, `2n + 6m + 2`
//! messages, `n + 3m + 2` handlers. In general, with `l` literals in all, `4n + 6l` events.

use crate::draft::{Draft, NONE, Name};
use crate::error::GenerateError;
use crate::finish::finish_in_order;
use crate::formula::{Copies, check_literals, clauses_count, literal, variable};
use crate::generate::checked_size;
use crate::request::Request;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::Trace;

/// The clauses per variable where random 3-SAT is hardest.
const RATIO: f64 = 4.26;

/// Returns the formula that `generate` encodes for a request: random clauses of three distinct
/// variables.
///
/// # Errors
///
/// Fails when there are fewer than 3 variables or too many clauses.
pub fn sat3_formula(request: &Request) -> Result<Vec<[i32; 3]>, GenerateError> {
    let clauses = clauses_count(request.size, request.ratio.unwrap_or(RATIO))?;
    let variables = checked_size(request, 3, |size| 4 * size + 18 * clauses)?;
    let mut rng = Rng::for_purpose(request.seed, *b"sat3");
    let clause = |_| {
        let mut chosen = [0u32; 3];
        for place in 0..3 {
            chosen[place] = loop {
                let variable = rng.index(variables as usize) as u32;
                if !chosen[..place].contains(&variable) {
                    break variable;
                }
            };
        }
        chosen.map(|variable| literal(variable, rng.chance(0.5)))
    };
    Ok((0..clauses).map(clause).collect())
}

/// Makes the trace of a formula, with messages in the order of the construction.
///
/// Clauses may have any number of literals except none, and the same variable more than once.
/// Literals are variables from 1 to `variables`, negative where negated.
///
/// ```
/// use anyorder_generate::{Counts, sat3_image};
///
/// let trace = sat3_image(3, &[[1, -2, 3]])?;
/// assert_eq!(Counts::of(&trace), Counts::new(4 * 3 + 18, 2 * 3 + 6 + 2, 3 + 3 + 2));
/// # Ok::<(), anyorder_generate::GenerateError>(())
/// ```
///
/// # Errors
///
/// Fails when a clause is empty, when a literal has no variable, or when the trace would be too
/// large.
pub fn sat3_image<C: AsRef<[i32]>>(
    variables: usize,
    clauses: &[C],
) -> Result<Trace, GenerateError> {
    finish_in_order(&image(variables, clauses)?)
}

/// Makes the draft of a request.
pub(crate) fn draft_of(request: &Request) -> Result<Draft, GenerateError> {
    let formula = sat3_formula(request)?;
    image(request.size as usize, &formula)
}

fn image<C: AsRef<[i32]>>(variables: usize, clauses: &[C]) -> Result<Draft, GenerateError> {
    check_literals(variables, clauses)?;
    let literals: usize = clauses.iter().map(|clause| clause.as_ref().len()).sum();
    let size = variables as u64;
    let events = size.saturating_mul(4).saturating_add(6 * literals as u64);
    GenerateError::check_events("sat3", size, events)?;
    let mut draft = Draft::default();
    let copies = copies(&mut draft, clauses);
    assignment(&mut draft, variables as u32, clauses, &copies);
    links(&mut draft, clauses, &copies);
    Ok(draft)
}

/// Makes a handler and the two copies for each occurrence, clause by clause.
fn copies<C: AsRef<[i32]>>(draft: &mut Draft, clauses: &[C]) -> Vec<Copies<u32>> {
    let mut all = Vec::new();
    for (clause, literals) in clauses.iter().enumerate() {
        for place in 0..literals.as_ref().len() {
            let (clause, place) = (clause as u32 + 1, place as u32 + 1);
            let handler = draft.handler(Name::two("copy", clause, place));
            all.push(Copies {
                of_true: draft.message(Name::two("copy_true", clause, place), handler),
                of_false: draft.message(Name::two("copy_false", clause, place), handler),
            });
        }
    }
    all
}

/// Posts the two messages of each variable; they post the copies.
fn assignment<C: AsRef<[i32]>>(
    draft: &mut Draft,
    variables: u32,
    clauses: &[C],
    copies: &[Copies<u32>],
) {
    let mut occurrences: Vec<Vec<usize>> = vec![Vec::new(); variables as usize];
    let literals = clauses.iter().flat_map(|clause| clause.as_ref());
    for (occurrence, literal) in literals.enumerate() {
        occurrences[variable(*literal) as usize].push(occurrence);
    }
    let sides = [("trues", "true", true), ("falses", "false", false)];
    let posters = sides.map(|(poster, ..)| draft.handler(Name::plain(poster)));
    let handlers: Vec<u32> =
        (1..=variables).map(|number| draft.handler(Name::one("var", number))).collect();
    for ((_, stem, value), poster) in sides.into_iter().zip(posters) {
        let initial = draft.initial(poster);
        let first = draft.messages.len() as u32;
        for (number, handler) in (1..).zip(&handlers) {
            let message = draft.message(Name::one(stem, number), *handler);
            draft.post(initial, message);
        }
        for (message, occurrences) in (first..).zip(&occurrences) {
            draft.get(message);
            for occurrence in occurrences {
                draft.post(message, copies[*occurrence].of(value));
            }
        }
    }
}

/// Makes the copy of each true literal that runs first write what the second copy of the next
/// literal reads.
fn links<C: AsRef<[i32]>>(draft: &mut Draft, clauses: &[C], copies: &[Copies<u32>]) {
    let mut first = 0;
    for (clause, literals) in clauses.iter().enumerate() {
        let literals = literals.as_ref();
        let copies = &copies[first..first + literals.len()];
        first += literals.len();
        let variable_of = |place: usize| Name::two("link", clause as u32 + 1, place as u32 + 1);
        let base = draft.variables.len() as u32;
        for place in 0..literals.len() {
            draft.variable(variable_of(place));
        }
        let mut writes = Vec::with_capacity(literals.len());
        let mut reads = Vec::with_capacity(literals.len());
        for (place, (literal, copies)) in literals.iter().zip(copies).enumerate() {
            let (yes, no) = copies.of_literal(*literal);
            draft.get(yes);
            writes.push(draft.write(yes, base + place as u32));
            let before = (place + literals.len() - 1) % literals.len();
            draft.get(no);
            reads.push((draft.read(no, base + before as u32, NONE), before));
        }
        for (read, before) in reads {
            draft.read_from(read, writes[before]);
        }
    }
}
