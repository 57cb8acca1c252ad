//! One rule: which calls wait, and for which condition.

use crate::spec::{Invocation, MethodId};
use crate::value::Value;

/// An argument of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    /// Anything.
    Any,
    /// This value.
    Is(Value),
    /// The argument of the waiting call at this position.
    Same(usize),
}

/// Calls of a method, with some arguments, and optionally one result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pattern {
    pub(crate) method: MethodId,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) result: Option<Value>,
}

impl Pattern {
    /// Returns whether a call has this method, these values and this result.
    pub(crate) fn matches(&self, call: &Invocation) -> bool {
        self.matches_but_result(call) && self.has_result(&call.result)
    }

    fn has_result(&self, result: &Value) -> bool {
        self.result.as_ref().is_none_or(|wanted| wanted == result)
    }

    fn matches_but_result(&self, call: &Invocation) -> bool {
        let agrees = |(pattern, value): (&Argument, &Value)| match pattern {
            Argument::Is(wanted) => wanted == value,
            Argument::Any | Argument::Same(_) => true,
        };
        self.method == call.method
            && self.arguments.len() == call.arguments.len()
            && self.arguments.iter().zip(&call.arguments).all(agrees)
    }
}

/// Calls that a condition counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    pub(crate) pattern: Pattern,
    /// Whether more of them can make the condition true.
    pub helps: bool,
    /// Whether more of them can make the condition false.
    pub hurts: bool,
}

impl Counted {
    /// Returns whether the result of a call decides whether it counts.
    #[must_use]
    pub const fn uses_result(&self) -> bool {
        self.pattern.result.is_some()
    }

    /// Returns the key under which an earlier call is counted; `None` if it is not.
    #[must_use]
    pub fn key_of(&self, earlier: &Invocation) -> Option<Vec<Value>> {
        self.key_of_any(earlier).filter(|_| self.pattern.has_result(&earlier.result))
    }

    /// Returns the key under which an earlier call could be counted, whatever its result.
    #[must_use]
    pub fn key_of_any(&self, earlier: &Invocation) -> Option<Vec<Value>> {
        self.pattern.matches_but_result(earlier).then(|| {
            let arguments = self.pattern.arguments.iter().zip(&earlier.arguments);
            let is_key = |(pattern, _): &(&Argument, &Value)| matches!(pattern, Argument::Same(_));
            arguments.filter(is_key).map(|(_, value)| value.clone()).collect()
        })
    }

    /// Returns the key of the calls that count for a waiting call.
    #[must_use]
    pub fn key_for(&self, waiting: &Invocation) -> Vec<Value> {
        let of = |argument: &Argument| match argument {
            Argument::Same(at) => waiting.arguments.get(*at).cloned(),
            Argument::Any | Argument::Is(_) => None,
        };
        self.pattern.arguments.iter().filter_map(of).collect()
    }
}

/// A sum of counts of calls, of the open number, and of a constant; it holds if it is greater than
/// 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Linear {
    /// Factor, and position among the counted calls.
    pub(crate) counts: Vec<(i64, usize)>,
    pub(crate) unknown: i64,
    pub(crate) constant: i64,
}

/// A condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Holds {
    All(Vec<Holds>),
    Any(Vec<Holds>),
    More(Linear),
    /// The call has its recorded observations.
    Observed,
}

impl Holds {
    fn has_unknown(&self) -> bool {
        match self {
            Holds::All(parts) | Holds::Any(parts) => parts.iter().any(Holds::has_unknown),
            Holds::More(sum) => sum.unknown != 0,
            Holds::Observed => false,
        }
    }

    fn holds(&self, counts: &[i64], unknown: i64) -> bool {
        match self {
            Holds::All(parts) => parts.iter().all(|part| part.holds(counts, unknown)),
            Holds::Any(parts) => parts.iter().any(|part| part.holds(counts, unknown)),
            Holds::More(sum) => {
                let count = |at: usize| i128::from(counts.get(at).copied().unwrap_or(0));
                let counted =
                    sum.counts.iter().map(|(factor, at)| i128::from(*factor) * count(*at));
                let open = i128::from(sum.unknown) * i128::from(unknown);
                counted.sum::<i128>() + open + i128::from(sum.constant) > 0
            }
            Holds::Observed => true,
        }
    }
}

/// Which calls wait, and for which condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitRule {
    pub(crate) head: Pattern,
    pub(crate) condition: Holds,
    pub(crate) counted: Vec<Counted>,
}

/// The greatest open number.
const OPEN_MAX: i64 = 1 << 40;

impl WaitRule {
    /// Returns whether this rule applies to a call.
    #[must_use]
    pub fn applies(&self, call: &Invocation) -> bool {
        self.head.matches(call)
    }

    /// Returns whether the rule is about one result. Then it states the condition of that result,
    /// and the method itself does not wait.
    #[must_use]
    pub const fn is_of_result(&self) -> bool {
        self.head.result.is_some()
    }

    /// Returns whether the call returns only with its recorded observations, by the `comm` rules of
    /// its type. Then there is no other condition.
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.condition == Holds::Observed
    }

    /// Returns whether the condition leaves a number open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.condition.has_unknown()
    }

    /// Returns which calls the condition counts.
    #[must_use]
    pub fn counted(&self) -> &[Counted] {
        &self.counted
    }

    /// Returns whether the condition holds for the counts of earlier calls, in the order of
    /// [`counted`](Self::counted), and for the open number.
    #[must_use]
    pub fn holds(&self, counts: &[i64], open: i64) -> bool {
        self.condition.holds(counts, open)
    }

    /// Returns a sum of counts that the condition compares with 0: a factor for each count, in the
    /// order of [`counted`](Self::counted), and what is added to them for the open number. The
    /// condition holds if the sum is greater than 0. Of several alternatives, the first one: then
    /// the condition may hold although the sum is not.
    #[must_use]
    pub fn sum(&self, open: i64) -> Option<(Vec<i64>, i64)> {
        let sum = match &self.condition {
            Holds::More(sum) => sum,
            Holds::Any(parts) => match parts.first() {
                Some(Holds::More(sum)) => sum,
                _ => return None,
            },
            Holds::All(_) | Holds::Observed => return None,
        };
        let mut factors = vec![0_i64; self.counted.len()];
        for (factor, at) in &sum.counts {
            let known = factors.get_mut(*at)?;
            *known = known.checked_add(*factor)?;
        }
        let added = sum.unknown.checked_mul(open)?.checked_add(sum.constant)?;
        Some((factors, added))
    }

    /// Returns for each comparison of the condition which calls it counts: their places in
    /// [`counted`](Self::counted).
    #[must_use]
    pub fn comparisons(&self) -> Vec<Vec<usize>> {
        let (mut found, mut todo) = (Vec::new(), vec![&self.condition]);
        while let Some(next) = todo.pop() {
            match next {
                Holds::All(parts) | Holds::Any(parts) => todo.extend(parts),
                Holds::More(sum) => found.push(sum.counts.iter().map(|(_, at)| *at).collect()),
                Holds::Observed => {}
            }
        }
        found
    }

    /// Returns whether another rule has the same condition. The calls that wait may be others.
    #[must_use]
    pub fn has_condition_of(&self, other: &WaitRule) -> bool {
        self.condition == other.condition && self.counted == other.counted
    }

    /// Returns the least open number for which the condition holds; 0 if none is open. `None`: it
    /// never holds.
    #[must_use]
    pub fn least(&self, counts: &[i64]) -> Option<i64> {
        // A larger number can only help.
        if !self.holds(counts, OPEN_MAX) {
            return None;
        }
        let (mut low, mut high) = (0, OPEN_MAX);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.holds(counts, middle) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Some(low)
    }
}
