//! `waits` items: resolves names and builds rules.

use super::error::SpecError;
use super::kinds::Kind;
use super::resolve::Methods;
use super::tree::{Item, PatternArgument, PatternCall, SumNode, TermNode, WaitNode, WaitsClause};
use crate::expr::{Operator, Slot};
use crate::spec::{MethodId, Spec};
use crate::value::Value;
use crate::waits::{Argument, Counted, Holds, Linear, Pattern, WaitRule, Waits};
use std::ops::Range;
use std::sync::Arc;

type Resolved<T> = Result<T, SpecError>;

struct Reader<'a> {
    methods: Methods<'a>,
    /// The name of the number left open.
    open: Option<String>,
}

/// The current clause.
struct Clause<'a> {
    head: &'a PatternCall,
    counted: Vec<Counted>,
}

/// Reads a `waits` item; infers from it which results and arguments are truth values.
pub(super) fn waits(
    source: &str,
    item: &Item,
    spec: &mut Spec,
    errors: &mut Vec<SpecError>,
) -> Waits {
    let type_name = item.name.text.as_str();
    let methods = Methods { source, type_name, list: spec.methods().to_vec(), may_grow: false };
    let mut reader = Reader { methods, open: None };
    let mut waits = Waits::new(type_name);
    for clause in &item.waits {
        let read = match clause {
            WaitsClause::Until(head, until) => {
                reader.rule(head, until).map(|rule| waits.rules.push(Arc::new(rule)))
            }
            WaitsClause::Settled(one, other) => reader
                .settled(one)
                .and_then(|one| Ok((one, reader.settled(other)?)))
                .map(|pair| waits.settled.push(pair)),
        };
        errors.extend(read.err());
    }
    spec.set_kinds(&reader.methods.list);
    waits
}

impl Reader<'_> {
    fn rule(&mut self, head: &PatternCall, until: &WaitNode) -> Resolved<WaitRule> {
        let mut seen: Vec<&str> = Vec::new();
        for argument in &head.arguments {
            if let PatternArgument::Name(name) = argument {
                if seen.contains(&name.text.as_str()) {
                    let message = format!("`{}` names two values", name.text);
                    return Err(self.methods.error(&name.span, message, None));
                }
                seen.push(&name.text);
            }
        }
        let pattern = self.pattern(head, None)?;
        let mut clause = Clause { head, counted: Vec::new() };
        let condition = self.condition(&mut clause, until, true)?;
        Ok(WaitRule { head: pattern, condition, counted: clause.counted })
    }

    fn settled(&mut self, call: &PatternCall) -> Resolved<Pattern> {
        for argument in &call.arguments {
            if let PatternArgument::Name(name) = argument {
                let hint = "such a clause says it of all arguments: use `_`";
                let message = format!("`{}` is not known", name.text);
                return Err(self.methods.error(&name.span, message, Some(hint)));
            }
        }
        self.pattern(call, None)
    }

    /// Reads a pattern. In a counted pattern, names are those of the head.
    fn pattern(&mut self, call: &PatternCall, head: Option<&PatternCall>) -> Resolved<Pattern> {
        let method = self.methods.method(&call.method, call.arguments.len())?;
        let mut arguments = Vec::new();
        for (place, argument) in call.arguments.iter().enumerate() {
            arguments.push(match argument {
                PatternArgument::Any => Argument::Any,
                PatternArgument::Value(value, span) => {
                    self.learn(method, Slot::Argument(place), value, span)?;
                    Argument::Is(value.clone())
                }
                PatternArgument::Name(name) => match head {
                    None => Argument::Any,
                    Some(head) => {
                        let is_it = |argument: &PatternArgument| {
                            matches!(argument, PatternArgument::Name(other) if other.text == name.text)
                        };
                        let Some(place) = head.arguments.iter().position(is_it) else {
                            let message = format!("`{}` is not known", name.text);
                            let hint = "names stand for the arguments of the call that waits";
                            return Err(self.methods.error(&name.span, message, Some(hint)));
                        };
                        Argument::Same(place)
                    }
                },
            });
        }
        if let Some((value, span)) = &call.result {
            self.learn(method, Slot::Result, value, span)?;
        }
        let result = call.result.as_ref().map(|(value, _)| value.clone());
        Ok(Pattern { method, arguments, result })
    }

    fn learn(
        &mut self,
        method: MethodId,
        slot: Slot,
        value: &Value,
        span: &Range<usize>,
    ) -> Resolved<()> {
        let is = match value {
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::Null | Value::Text(_) => return Ok(()),
        };
        let kind = self.methods.list[method.index()].kind_mut(slot);
        if *kind == Kind::Any {
            *kind = is;
        }
        let known = *kind;
        if known == is {
            return Ok(());
        }
        Err(self.methods.error(
            span,
            format!("this is {}, not {}", is.words(), known.words()),
            None,
        ))
    }

    fn condition(
        &mut self,
        clause: &mut Clause<'_>,
        node: &WaitNode,
        alone: bool,
    ) -> Resolved<Holds> {
        match node {
            WaitNode::All(parts) => Ok(Holds::All(self.parts(clause, parts)?)),
            WaitNode::Any(parts) => Ok(Holds::Any(self.parts(clause, parts)?)),
            WaitNode::Observed(_) if alone && clause.head.result.is_none() => Ok(Holds::Observed),
            WaitNode::Observed(span) => {
                let hint = "the clause is `CALL until observed;`, for a call without a result";
                Err(self.methods.error(span, "`observed` stands alone".to_owned(), Some(hint)))
            }
            WaitNode::Compare(op, left, right, span) => {
                let mut sum = Linear::default();
                let (more, less) = match op {
                    Operator::Greater | Operator::GreaterEqual => (left, right),
                    Operator::Less | Operator::LessEqual => (right, left),
                    _ => {
                        let message = format!("a call cannot wait for `{}`", op.sign());
                        let hint = "known are `<`, `<=`, `>` and `>=`";
                        return Err(self.methods.error(span, message, Some(hint)));
                    }
                };
                sum.constant =
                    i64::from(matches!(op, Operator::GreaterEqual | Operator::LessEqual));
                self.add(clause, &mut sum, more, 1)?;
                self.add(clause, &mut sum, less, -1)?;
                if sum.unknown < 0 {
                    let name = self.open.as_deref().unwrap_or_default();
                    let message = format!("a larger `{name}` must make waiting shorter");
                    return Err(self.methods.error(span, message, None));
                }
                for (factor, at) in &sum.counts {
                    clause.counted[*at].helps |= *factor > 0;
                    clause.counted[*at].hurts |= *factor < 0;
                }
                Ok(Holds::More(sum))
            }
        }
    }

    fn parts(&mut self, clause: &mut Clause<'_>, parts: &[WaitNode]) -> Resolved<Vec<Holds>> {
        parts.iter().map(|part| self.condition(clause, part, false)).collect()
    }

    fn add(
        &mut self,
        clause: &mut Clause<'_>,
        sum: &mut Linear,
        terms: &SumNode,
        side: i64,
    ) -> Resolved<()> {
        for (sign, term) in terms {
            let factor = sign * side;
            match term {
                TermNode::Int(value) => {
                    sum.constant = sum.constant.saturating_add(value.saturating_mul(factor));
                }
                TermNode::Open(name) => {
                    let known = self.open.get_or_insert_with(|| name.text.clone());
                    if *known != name.text {
                        let message = format!("`{}` is not known", name.text);
                        let hint = format!(
                            "one number may be left open, and it is `{known}`; calls are counted as in `{}()`",
                            name.text
                        );
                        return Err(self.methods.error(&name.span, message, Some(&hint)));
                    }
                    sum.unknown += factor;
                }
                TermNode::Count(call) => {
                    let pattern = self.pattern(call, Some(clause.head))?;
                    let known = clause.counted.iter().position(|other| other.pattern == pattern);
                    let at = known.unwrap_or_else(|| {
                        clause.counted.push(Counted { pattern, helps: false, hurts: false });
                        clause.counted.len() - 1
                    });
                    match sum.counts.iter_mut().find(|(_, other)| *other == at) {
                        Some((known, _)) => *known += factor,
                        None => sum.counts.push((factor, at)),
                    }
                }
            }
        }
        Ok(())
    }
}
