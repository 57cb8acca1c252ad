//! Rules that define which earlier invocations one observes.

use crate::expr::{Expr, Operator, Side};
use crate::formula::Formula;
use crate::spec::{Invocation, MethodId};
use crate::value::Value;
use std::sync::Arc;

/// The most clauses of a rule's condition.
const CLAUSES_MAX: usize = 64;

/// Which of the matching earlier invocations are observed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// The last one: it hides those before it.
    Last,
    /// All of them.
    All,
    /// The first that was not taken.
    First,
    /// The last that was not taken.
    Top,
    /// The first that was not taken; this invocation takes it.
    TakeFirst,
    /// The last that was not taken; this invocation takes it.
    TakeTop,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 6] =
        [Mode::Last, Mode::All, Mode::First, Mode::Top, Mode::TakeFirst, Mode::TakeTop];

    /// The words for the modes, in the order of [`Mode::ALL`].
    const WORDS: [&str; 6] = ["last", "all", "first", "top", "take_first", "take_top"];

    /// Returns the word for the mode in a text.
    #[must_use]
    pub const fn word(self) -> &'static str {
        Mode::WORDS[self as usize]
    }
}

/// A kind of earlier invocations: those of a method that satisfy conditions, distinguished by a
/// key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Source {
    pub(super) method: MethodId,
    pub(super) guard: Formula,
    pub(super) key: Vec<Expr>,
    /// Whether a rule observes all of them, so that all must be kept.
    pub(super) is_counted: bool,
    /// Whether a rule uses which ones are not taken.
    pub(super) is_taken: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Rule {
    pub(super) mode: Mode,
    /// Its position in [`Comm::sources`].
    pub(super) source: usize,
    pub(super) observer: MethodId,
    pub(super) guard: Formula,
    pub(super) key: Vec<Expr>,
}

/// Which earlier invocations of the same object an invocation of a type observes: the COMM relation
/// of a run, as rules.
///
/// In each mode, an invocation observes the choice of that mode among all earlier invocations that
/// match one of its rules of the mode. For a register this is reads-from. Two related invocations
/// must not commute. An order of the invocations of a run in which each has the same observations
/// must be a run. Tests prove both for the built-in types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comm {
    name: Arc<str>,
    pub(super) sources: Vec<Source>,
    pub(super) rules: Vec<Rule>,
}

impl Comm {
    pub(crate) fn new(name: &str) -> Comm {
        Comm { name: name.into(), sources: Vec::new(), rules: Vec::new() }
    }

    /// Returns the name of the type.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn add(
        &mut self,
        mode: Mode,
        earlier: MethodId,
        later: MethodId,
        condition: &Formula,
    ) -> Result<(), String> {
        let clauses = condition.clauses(CLAUSES_MAX);
        let clauses = clauses.ok_or_else(|| "the condition is too large".to_owned())?;
        let mut guards = [Vec::new(), Vec::new()];
        let mut keys = [Vec::new(), Vec::new()];
        let own = |expr: &Expr| expr.with_sides(&|_| Side::Left);
        for clause in clauses {
            let (left, right) = (
                clause.iter().any(|literal| literal.sides().left),
                clause.iter().any(|literal| literal.sides().right),
            );
            if left && right {
                let key = match clause.as_slice() {
                    [literal] => literal.sides_of(Operator::Equal),
                    _ => None,
                };
                let (a, b) = key.ok_or_else(|| "a rule cannot say this of two calls".to_owned())?;
                keys[0].push(own(a));
                keys[1].push(own(b));
            } else {
                let literals = clause.iter().map(|literal| Formula::Literal(own(literal)));
                guards[usize::from(!left)].push(Formula::Any(literals.collect()));
            }
        }
        let [earlier_guard, later_guard] = guards.map(Formula::All);
        let [earlier_key, later_key] = keys;
        let known = self.sources.iter().position(|other| {
            other.method == earlier && other.guard == earlier_guard && other.key == earlier_key
        });
        let source = known.unwrap_or_else(|| {
            self.sources.push(Source {
                method: earlier,
                guard: earlier_guard,
                key: earlier_key,
                is_counted: false,
                is_taken: false,
            });
            self.sources.len() - 1
        });
        self.sources[source].is_counted |= mode == Mode::All;
        self.sources[source].is_taken |= !matches!(mode, Mode::All | Mode::Last);
        let rule = Rule { mode, source, observer: later, guard: later_guard, key: later_key };
        self.rules.push(rule);
        Ok(())
    }

    /// Returns whether one invocation matches a rule of this mode as the observed one and another
    /// as the observer, whatever else happened: the mode chooses among such invocations.
    #[must_use]
    pub fn matches(&self, mode: Mode, earlier: &Invocation, later: &Invocation) -> bool {
        self.rules.iter().filter(|rule| rule.mode == mode).any(|rule| {
            let key = rule.observed_key(later);
            key.is_some() && key == self.sources[rule.source].key_of(earlier)
        })
    }

    /// Returns the modes in which an invocation observes others.
    pub fn modes(&self, later: &Invocation) -> impl Iterator<Item = Mode> {
        let of = |mode: &Mode| {
            let mut rules = self.rules.iter().filter(|rule| rule.mode == *mode);
            rules.any(|rule| rule.observed_key(later).is_some())
        };
        Mode::ALL.into_iter().filter(of)
    }
}

impl Source {
    /// The key of an invocation of this kind.
    pub(super) fn key_of(&self, call: &Invocation) -> Option<Vec<Value>> {
        (call.method == self.method).then(|| key(&self.guard, &self.key, call)).flatten()
    }
}

impl Rule {
    /// The key of the invocations that an invocation observes by this rule.
    pub(super) fn observed_key(&self, call: &Invocation) -> Option<Vec<Value>> {
        (call.method == self.observer).then(|| key(&self.guard, &self.key, call)).flatten()
    }
}

fn key(guard: &Formula, key: &[Expr], call: &Invocation) -> Option<Vec<Value>> {
    let view = call.view();
    if !guard.holds(view, view) {
        return None;
    }
    key.iter().map(|part| part.value(view, view)).collect()
}
