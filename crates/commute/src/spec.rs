//! Commutativity specifications.

use crate::expr::{Expr, Side, Slot, StateFunctions, View};
use crate::formula::Formula;
use crate::text::{Document, Kind, SpecError, SpecErrors};
use crate::value::Value;
use std::sync::Arc;

/// A method of a specification.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MethodId(u16);

impl MethodId {
    /// A method that the specification does not name: it commutes with nothing, not even with
    /// itself.
    pub const UNSPECIFIED: MethodId = MethodId(u16::MAX);
    pub(crate) const COUNT_MAX: usize = 1024;

    pub(crate) fn of(index: usize) -> MethodId {
        u16::try_from(index).map_or(MethodId::UNSPECIFIED, MethodId)
    }

    /// Returns the position in [`Spec::methods`]; for an unspecified method, a position beyond all.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A method, and the kinds of its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Method {
    name: Arc<str>,
    arguments: Vec<Kind>,
    result: Kind,
}

impl Method {
    pub(crate) fn new(name: &str, arity: usize) -> Method {
        Method { name: name.into(), arguments: vec![Kind::Any; arity], result: Kind::Any }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of arguments.
    #[must_use]
    pub fn arity(&self) -> usize {
        self.arguments.len()
    }

    /// Returns the kind of an argument or of the result.
    #[must_use]
    pub fn kind(&self, slot: Slot) -> Kind {
        match slot {
            Slot::Argument(at) => self.arguments.get(at).copied().unwrap_or_default(),
            Slot::Result => self.result,
        }
    }

    /// Returns a call of it as text. `text` gives the values that are shown.
    pub(crate) fn call_text(&self, text: impl Fn(Slot) -> Option<String>) -> String {
        let argument = |at| text(Slot::Argument(at)).unwrap_or_else(|| "_".to_owned());
        let arguments: Vec<String> = (0..self.arity()).map(argument).collect();
        let result = text(Slot::Result).map_or_else(String::new, |result| format!("/{result}"));
        format!("{}({}){result}", self.name, arguments.join(", "))
    }

    pub(crate) fn kind_mut(&mut self, slot: Slot) -> &mut Kind {
        match slot {
            Slot::Argument(at) => &mut self.arguments[at],
            Slot::Result => &mut self.result,
        }
    }
}

/// A call that has returned.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Invocation {
    /// The method.
    pub method: MethodId,
    /// The arguments.
    pub arguments: Vec<Value>,
    /// The result; [`Value::Null`] if there is none.
    pub result: Value,
}

impl Invocation {
    /// Returns the view of an expression on it, without the state before it.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        self.view_in(None)
    }

    /// Returns the view of an expression on it.
    #[must_use]
    pub fn view_in<'a>(&'a self, state: Option<&'a dyn StateFunctions>) -> View<'a> {
        View { arguments: &self.arguments, result: &self.result, state }
    }
}

/// What a condition may use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Logic {
    /// Arguments and results.
    L2,
    /// Also functions of the abstract states before the calls.
    L1,
}

/// When two methods commute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The method before the `~`.
    pub left: MethodId,
    /// The method after it.
    pub right: MethodId,
    /// The condition; symmetric if the methods are the same.
    pub formula: Formula,
}

/// A commutativity specification: for pairs of methods of a type, when two calls of them commute.
///
/// **Meaning.** Two invocations with their arguments and results commute if, in every state in
/// which they can happen one directly after the other, they can also happen in the other order,
/// with the same results and the same final state. A pair of methods without a condition does not
/// commute. A condition is *sound* if all pairs that satisfy it commute; it need not cover all
/// commuting pairs.
///
/// Source: Y. Sun, *Commutativity-aware runtime verification for concurrent programs* (thesis,
/// 2021), sections 2.3 and 4.3.4.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    name: Arc<str>,
    methods: Vec<Method>,
    conditions: Vec<Condition>,
    /// For each pair of methods, its condition; the index is the lower number times the number of
    /// methods, plus the higher number.
    pairs: Vec<Option<u32>>,
}

impl Spec {
    pub(crate) fn new(
        name: &str,
        methods: Vec<Method>,
        conditions: Vec<(MethodId, MethodId, Formula)>,
    ) -> Spec {
        let count = methods.len();
        let mut pairs = vec![None; count * count];
        let mut list = Vec::new();
        for (left, right, formula) in conditions {
            let (a, b) = (left.index(), right.index());
            let at = u32::try_from(list.len()).ok();
            pairs[a * count + b] = at;
            pairs[b * count + a] = at;
            let formula = if left == right { symmetric(formula) } else { formula };
            list.push(Condition { left, right, formula });
        }
        Spec { name: name.into(), methods, conditions: list, pairs }
    }

    /// Parses the text of one specification. `comm` items in the same text are checked and dropped
    /// (see [`Document`]).
    ///
    /// # Errors
    /// See [`Document::parse`]; also a text without a specification, or with several.
    pub fn parse(source: &str) -> Result<Spec, SpecErrors> {
        let mut document = Document::parse(source)?;
        match (document.specs.pop(), document.specs.len()) {
            (Some(spec), 0) => Ok(spec),
            (_, more) => {
                let count = if more == 0 { 0 } else { more + 1 };
                let message = format!("expected one specification, found {count}");
                Err(SpecErrors(vec![SpecError::new(source, 0..0, message, None)]))
            }
        }
    }

    /// Sets the kinds of arguments and results; the methods are the same.
    pub(crate) fn set_kinds(&mut self, methods: &[Method]) {
        self.methods = methods.to_vec();
    }

    /// Returns the name of the type.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the methods, in the order in which the text names them.
    #[must_use]
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// Returns the conditions, in the order of the text.
    #[must_use]
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Returns the condition of a pair of methods, if there is one.
    #[must_use]
    pub fn condition(&self, a: MethodId, b: MethodId) -> Option<&Condition> {
        let count = self.methods.len();
        if a.index() >= count || b.index() >= count {
            return None;
        }
        let at = self.pairs[a.index() * count + b.index()]?;
        self.conditions.get(at as usize)
    }

    /// Returns the method with a name, in time linear in their number.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<MethodId> {
        self.methods.iter().position(|method| method.name() == name).map(MethodId::of)
    }

    /// Returns the name of a method; `?` for an unspecified one.
    #[must_use]
    pub fn method_name(&self, id: MethodId) -> &str {
        self.methods.get(id.index()).map_or("?", Method::name)
    }

    /// Returns an invocation. If the specification lacks the name, or has another number of
    /// arguments, it is one of [`MethodId::UNSPECIFIED`].
    #[must_use]
    pub fn invocation(&self, method: &str, arguments: Vec<Value>, result: Value) -> Invocation {
        let known = |id: &MethodId| self.methods[id.index()].arity() == arguments.len();
        let method = self.method(method).filter(known).unwrap_or(MethodId::UNSPECIFIED);
        Invocation { method, arguments, result }
    }

    /// Returns an invocation from a trace, in which values are words of 64 bits. A value that the
    /// specification uses as a truth value is true unless 0; all others are numbers. A missing
    /// result is `null`.
    #[must_use]
    pub fn invocation_of_words(
        &self,
        method: &str,
        arguments: &[u64],
        result: Option<u64>,
    ) -> Invocation {
        let number = |word: u64| Value::Int(word.cast_signed());
        let arguments_of = arguments.iter().map(|&word| number(word)).collect();
        let mut call = self.invocation(method, arguments_of, result.map_or(Value::Null, number));
        if let Some(method) = self.methods.get(call.method.index()) {
            for (at, value) in call.arguments.iter_mut().enumerate() {
                as_kind(value, method.kind(Slot::Argument(at)));
            }
            as_kind(&mut call.result, method.kind(Slot::Result));
        }
        call
    }

    /// Returns whether two invocations commute, by the conditions. Literals on states count as
    /// false.
    #[must_use]
    pub fn commute(&self, a: &Invocation, b: &Invocation) -> bool {
        self.commute_in((a, None), (b, None))
    }

    /// Returns whether two invocations commute, each with the state before it, if known.
    #[must_use]
    pub fn commute_in(
        &self,
        a: (&Invocation, Option<&dyn StateFunctions>),
        b: (&Invocation, Option<&dyn StateFunctions>),
    ) -> bool {
        let Some(condition) = self.condition(a.0.method, b.0.method) else { return false };
        let (left, right) = if condition.left == a.0.method { (a, b) } else { (b, a) };
        condition.formula.holds(left.0.view_in(left.1), right.0.view_in(right.1))
    }

    /// Returns the smallest logic that contains all conditions.
    #[must_use]
    pub fn logic(&self) -> Logic {
        self.conditions.iter().map(Condition::logic).max().unwrap_or(Logic::L2)
    }

    /// Returns the specification with another formula for the condition at a position. The formula
    /// is not made symmetric: for a method with itself it may hold for one order of two invocations
    /// only.
    #[must_use]
    pub fn with_formula(&self, at: usize, formula: Formula) -> Spec {
        let mut spec = self.clone();
        if let Some(condition) = spec.conditions.get_mut(at) {
            condition.formula = formula;
        }
        spec
    }
}

impl Condition {
    /// Returns the smallest logic that contains it.
    #[must_use]
    pub fn logic(&self) -> Logic {
        let mut logic = Logic::L2;
        self.formula.visit(&mut |part| {
            if matches!(part, Expr::State(..)) {
                logic = Logic::L1;
            }
        });
        logic
    }
}

fn as_kind(value: &mut Value, kind: Kind) {
    if let (Value::Int(word), Kind::Bool) = (&*value, kind) {
        *value = Value::Bool(*word != 0);
    }
}

/// Makes the condition of a method with itself hold for both orders or for none.
fn symmetric(formula: Formula) -> Formula {
    let swapped = swapped(&formula);
    if canonical(&formula) == canonical(&swapped) { formula } else { formula.and(swapped) }
}

/// Returns the condition with its two sides exchanged.
pub(crate) fn swapped(formula: &Formula) -> Formula {
    formula.map(&|literal| literal.with_sides(&Side::other))
}

/// Sorts the parts of a formula, so that formulas that differ only in order become equal.
pub(crate) fn canonical(formula: &Formula) -> Formula {
    let sorted = |parts: &[Formula]| {
        let mut parts: Vec<Formula> = parts.iter().map(canonical).collect();
        parts.sort();
        parts.dedup();
        parts
    };
    match formula {
        Formula::Literal(expr) => Formula::Literal(ordered(expr)),
        Formula::All(parts) => Formula::All(sorted(parts)),
        Formula::Any(parts) => Formula::Any(sorted(parts)),
    }
}

/// Sorts the operands of commutative operators, and turns comparisons in one direction.
fn ordered(expr: &Expr) -> Expr {
    use crate::expr::Operator as Op;
    let Expr::Binary(op, a, b) = expr else { return expr.clone() };
    let (a, b) = (ordered(a), ordered(b));
    let (op, a, b) = match op {
        Op::Greater => (Op::Less, b, a),
        Op::GreaterEqual => (Op::LessEqual, b, a),
        Op::Equal | Op::Unequal | Op::Add | Op::Multiply | Op::And | Op::Or if b < a => (*op, b, a),
        op => (*op, a, b),
    };
    Expr::Binary(op, Box::new(a), Box::new(b))
}
