//! Specifications against the types that have them.

use super::{Commutes, Validated};
use crate::check::Builder;
use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, PoisonError};

/// An object whose calls can be made one by one. [`macro@crate::object`] implements it where all
/// parameters are arguments of the calls.
pub trait Callable: Commutes {
    /// Makes a call. Returns the result in words; `None` if it has none.
    fn make(&self, call: &Self::Call) -> Option<String>;
}

/// A result, for [`macro@crate::object`].
#[doc(hidden)]
pub struct Answered<'a, T>(pub &'a T);

/// A result with words.
#[doc(hidden)]
pub trait AnswerInWords {
    /// Returns them.
    fn words(&self) -> Option<String>;
}

impl<T: Debug> AnswerInWords for Answered<'_, T> {
    fn words(&self) -> Option<String> {
        Some(format!("{:?}", self.0))
    }
}

/// A result without words.
#[doc(hidden)]
pub trait AnswerWithoutWords {
    /// Returns `None`.
    fn words(&self) -> Option<String>;
}

impl<T> AnswerWithoutWords for &Answered<'_, T> {
    fn words(&self) -> Option<String> {
        None
    }
}

/// Two calls that do not commute, and the specification says so: an object tells their orders
/// apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Apart<C> {
    /// The calls before.
    pub before: Vec<C>,
    /// The two calls.
    pub calls: (C, C),
    /// The calls after, which tell the orders apart.
    pub after: Vec<C>,
    /// What the two calls and those after return; shorter where a call did not return.
    pub one_way: Vec<Option<String>>,
    /// The same if the second one comes first. The answers of the two are in the order of `calls`.
    pub other_way: Vec<Option<String>>,
}

impl<C: Debug> fmt::Display for Apart<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Apart { before, calls: (a, b), after, one_way, other_way } = self;
        writeln!(f, "{a:?} and {b:?} do not commute after {before:?}")?;
        let calls: Vec<&C> = [a, b].into_iter().chain(after).collect();
        for (first, answers) in [(a, one_way), (b, other_way)] {
            write!(f, "{first:?} first:")?;
            for (at, call) in calls.iter().enumerate() {
                match answers.get(at) {
                    Some(answer) => write!(f, " {call:?} -> {}", answer.as_deref().unwrap_or("?"))?,
                    None => write!(f, " {call:?} does not return")?,
                }
                f.write_str(if at + 1 < calls.len() { "," } else { "" })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl<C: Debug> std::error::Error for Apart<C> {}

/// Compares a specification with the type that has it: after each sequence of up to `calls_max` of
/// the calls, both orders of each two that the specification says commute. The results must be the
/// same, and so those of up to `calls_max` calls after them. Results without words
/// ([`Callable::make`]) are not compared. Must not be called in a check.
///
/// This needs no model, but two states are the same to it that only longer sequences tell apart;
/// [`validate`](super::validate()) has no such bound. Takes time in the number of calls to the
/// power of `2 * calls_max + 2`.
///
/// # Errors
///
/// Fails with two calls that do not commute, after as few calls as possible.
///
/// ```
/// use anyorder::object::{self, Object};
/// use anyorder::sync::Mutex;
///
/// struct Last {
///     object: Object<Last>,
///     value: Mutex<u32>,
/// }
///
/// #[anyorder::object]
/// impl Last {
///     #[commutes(set)] // Wrong: the last one wins.
///     fn set(&self, value: u32) {
///         *self.value.lock().unwrap() = value;
///     }
///     #[commutes(get)]
///     fn get(&self) -> u32 {
///         *self.value.lock().unwrap()
///     }
/// }
///
/// let new = || Last { object: Object::new(), value: Mutex::new(0) };
/// let calls = [LastCall::Set(1), LastCall::Set(2), LastCall::Get];
/// let why = object::validate_type(new, &calls, 2).unwrap_err();
/// assert_eq!(why.calls, (LastCall::Set(1), LastCall::Set(2)));
/// assert_eq!(why.after, [LastCall::Get]);
/// ```
pub fn validate_type<T>(
    new: impl Fn() -> T + Send + Sync + 'static,
    calls: &[T::Call],
    calls_max: usize,
) -> Result<Validated, Box<Apart<T::Call>>>
where
    T: Callable,
    T::Call: Send + Sync,
{
    let mut runs = Runs { new: Arc::new(new), known: HashMap::new() };
    let sequences = sequences(calls, calls_max);
    let mut validated = Validated { states: 0, is_whole: false, pairs: 0 };
    for before in &sequences {
        let after: Vec<Vec<T::Call>> =
            calls.iter().map(|call| [&**before, std::slice::from_ref(call)].concat()).collect();
        runs.run(&after);
        let returns: Vec<bool> =
            after.iter().map(|one| runs.known[one].len() == one.len()).collect();
        validated.states += 1;
        let should_commute = |&(first, second): &(usize, usize)| {
            let (a, b) = (&calls[first], &calls[second]);
            T::commute(a, b) && T::commute(b, a) && returns[first] && returns[second]
        };
        let pairs: Vec<(usize, usize)> = pairs(calls.len()).filter(should_commute).collect();
        let orders = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        let all: Vec<Vec<T::Call>> = orders
            .flat_map(|(first, second)| {
                let two = [calls[first].clone(), calls[second].clone()];
                sequences.iter().map(move |after| [&**before, &two, &**after].concat())
            })
            .collect();
        all.chunks(BATCH).for_each(|some| runs.run(some));
        for (first, second) in pairs {
            for after in &sequences {
                if let Some(apart) = runs.compare(before, (&calls[first], &calls[second]), after) {
                    return Err(Box::new(apart));
                }
            }
            validated.pairs += 1;
        }
        runs.known.clear();
    }
    Ok(validated)
}

/// So many sequences run in one execution.
const BATCH: usize = 64;

/// The sequences of up to so many calls, the shorter ones first.
fn sequences<C: Clone>(calls: &[C], calls_max: usize) -> Vec<Vec<C>> {
    let (mut all, mut last) = (vec![Vec::new()], vec![Vec::new()]);
    for _ in 0..calls_max {
        let longer = |one: &Vec<C>| {
            let one = one.clone();
            calls.iter().map(move |call| [&*one, std::slice::from_ref(call)].concat())
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.iter().cloned());
    }
    all
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |first| (first..count).map(move |second| (first, second)))
}

/// What sequences of calls of a new object return.
struct Runs<T: Callable, F> {
    new: Arc<F>,
    /// Shorter than the sequence where a call did not return.
    known: HashMap<Vec<T::Call>, Vec<Option<String>>>,
}

impl<T, F> Runs<T, F>
where
    T: Callable,
    T::Call: Send + Sync,
    F: Fn() -> T + Send + Sync + 'static,
{
    fn compare(
        &self,
        before: &[T::Call],
        (a, b): (&T::Call, &T::Call),
        after: &[T::Call],
    ) -> Option<Apart<T::Call>> {
        let with = |first: &T::Call, second: &T::Call| {
            [before, &[first.clone(), second.clone()], after].concat()
        };
        let (one, other) = (with(a, b), with(b, a));
        let of = |sequence: &Vec<T::Call>| {
            self.known[sequence].get(before.len()..).unwrap_or_default().to_vec()
        };
        let (one_way, mut other_way) = (of(&one), of(&other));
        if other_way.len() >= 2 {
            other_way.swap(0, 1);
        }
        (one_way != other_way).then(|| Apart {
            before: before.to_vec(),
            calls: (a.clone(), b.clone()),
            after: after.to_vec(),
            one_way,
            other_way,
        })
    }

    /// Runs the sequences that are not known: all in one execution, or, if a call of one does not
    /// return, each in its own.
    fn run(&mut self, sequences: &[Vec<T::Call>]) {
        let unknown: Vec<Vec<T::Call>> =
            sequences.iter().filter(|one| !self.known.contains_key(*one)).cloned().collect();
        if unknown.is_empty() {
            return;
        }
        let all = self.execute(unknown.clone());
        let is_whole = |(answers, calls): (&Vec<_>, &Vec<_>)| answers.len() == calls.len();
        if all.len() == unknown.len() && all.iter().zip(&unknown).all(is_whole) {
            self.known.extend(unknown.into_iter().zip(all));
            return;
        }
        for sequence in unknown {
            let mut all = self.execute(vec![sequence.clone()]);
            self.known.insert(sequence, all.pop().unwrap_or_default());
        }
    }

    fn execute(&self, sequences: Vec<Vec<T::Call>>) -> Vec<Vec<Option<String>>> {
        let answers = Arc::new(Mutex::new(Vec::<Vec<Option<String>>>::new()));
        let (noted, new) = (Arc::clone(&answers), Arc::clone(&self.new));
        // All executions are the same, but not all run to the end.
        let note = move |number: usize, at: usize, answer: Option<String>| {
            let mut all = noted.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() <= number {
                all.resize_with(number + 1, Vec::new);
            }
            if all[number].len() == at {
                all[number].push(answer);
            }
        };
        let _ = Builder::new().executions_max(1).explore(move || {
            for (number, sequence) in sequences.iter().enumerate() {
                let object = new();
                for (at, call) in sequence.iter().enumerate() {
                    note(number, at, object.make(call));
                }
            }
        });
        std::mem::take(&mut *answers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
