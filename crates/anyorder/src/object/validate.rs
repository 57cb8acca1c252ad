//! Specifications against models.

use super::{Commutes, Sequential};
use std::collections::{HashSet, VecDeque};
use std::fmt;

/// How much was compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Validated {
    /// The states of the model that were reached.
    pub states: usize,
    /// Whether these are all, with the calls that the model offers.
    pub is_whole: bool,
    /// How many pairs of calls were compared, in some state, of those that the specification says
    /// commute.
    pub pairs: u64,
}

/// Two calls that do not commute, and the specification says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement<M: Sequential> {
    /// The calls that lead to a state where it shows.
    pub before: Vec<M::Call>,
    /// The two calls.
    pub calls: (M::Call, M::Call),
    /// What they return in this order and where that leads: all possibilities.
    pub one_way: Vec<(M::Answer, M::Answer, M)>,
    /// The same for the other order, the answers in the order of `calls`.
    pub other_way: Vec<(M::Answer, M::Answer, M)>,
}

impl<M: Sequential> fmt::Display for Disagreement<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Disagreement { before, calls: (a, b), one_way, other_way } = self;
        writeln!(f, "{a:?} and {b:?} do not commute after {before:?}")?;
        for (first, outcomes) in [(a, one_way), (b, other_way)] {
            write!(f, "{first:?} first:")?;
            if outcomes.is_empty() {
                write!(f, " the other one waits")?;
            }
            for (of_a, of_b, state) in outcomes {
                write!(f, " {a:?} -> {of_a:?}, {b:?} -> {of_b:?}, then {state:?};")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl<M: Sequential> std::error::Error for Disagreement<M> {}

/// Compares a specification with a model: in each state that calls of the model lead to, up to
/// `states_max`, both orders of each two calls that the specification says commute. Takes time
/// linear in the states, times the pairs of calls.
///
/// # Errors
///
/// Fails with two calls that do not commute, after as few calls as possible.
///
/// ```
/// use anyorder::object::{ready, validate};
/// assert!(validate::<ready::Set, ready::Set>(1_000).is_ok());
/// ```
pub fn validate<S, M>(states_max: usize) -> Result<Validated, Box<Disagreement<M>>>
where
    M: Sequential,
    S: Commutes<Call = M::Call>,
{
    let calls = M::calls();
    let mut known: HashSet<M> = M::initial().into_iter().collect();
    let mut todo: VecDeque<(M, Vec<M::Call>)> =
        M::initial().into_iter().map(|state| (state, Vec::new())).collect();
    let mut validated = Validated { states: 0, is_whole: true, pairs: 0 };
    while let Some((state, before)) = todo.pop_front() {
        validated.states += 1;
        for (at, a) in calls.iter().enumerate() {
            for b in &calls[at..] {
                if !S::commute(a, b) || !S::commute(b, a) {
                    continue;
                }
                if let Some((one_way, other_way)) = difference(&state, a, b) {
                    let calls = (a.clone(), b.clone());
                    return Err(Box::new(Disagreement { before, calls, one_way, other_way }));
                }
                validated.pairs += 1;
            }
            for (after, _) in state.call(a) {
                if known.len() >= states_max {
                    validated.is_whole &= known.contains(&after);
                } else if known.insert(after.clone()) {
                    let mut before = before.clone();
                    before.push(a.clone());
                    todo.push_back((after, before));
                }
            }
        }
    }
    Ok(validated)
}

type Outcomes<M> = Vec<(<M as Sequential>::Answer, <M as Sequential>::Answer, M)>;

/// The outcomes of both orders, if both calls can be made and the outcomes differ.
fn difference<M: Sequential>(
    state: &M,
    a: &M::Call,
    b: &M::Call,
) -> Option<(Outcomes<M>, Outcomes<M>)> {
    if state.call(a).is_empty() || state.call(b).is_empty() {
        return None;
    }
    let both = |first: &M::Call, second: &M::Call| -> Outcomes<M> {
        let mut all = Vec::new();
        for (between, one) in state.call(first) {
            let after = between.call(second).into_iter();
            all.extend(after.map(|(after, other)| (one.clone(), other, after)));
        }
        all
    };
    let one_way = both(a, b);
    let other_way: Outcomes<M> =
        both(b, a).into_iter().map(|(of_b, of_a, state)| (of_a, of_b, state)).collect();
    let is_in = |all: &Outcomes<M>, one| all.contains(one);
    let is_same = one_way.iter().all(|one| is_in(&other_way, one))
        && other_way.iter().all(|one| is_in(&one_way, one));
    // One may be impossible after the other: then both ways must be.
    let waits = one_way.is_empty() || other_way.is_empty();
    (!is_same || waits).then_some((one_way, other_way))
}
