//! Functions that the machine calls: numbers and strings as the evaluator computes them.
//!
//! They take and return values without objects: lists of the machine stand for lists, records of
//! `Kinds::frozen_map` for maps.

use super::kinds::{GAP, Kinds, THROWN};
use crate::ast::{BinaryOp, TypeName, UnaryOp};
use crate::eval::{Decimal, Stop, Value, compare, equal, pure, show};
use anyorder_common::source::Span;
use anyorder_program::{Literal, NativeCode, NativeId, ProgramBuilder};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// What a native function computes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Task {
    /// A method of the first argument, with so many more.
    Method(String, u16),
    /// A property of the argument.
    Property(String),
    /// An operator.
    Binary(&'static str),
    /// An operator before its operand.
    Unary(&'static str),
    /// A conversion to a type: by `as`, or else by a declaration.
    Cast(String, bool),
    /// Whether a parameter of a type takes the value.
    Takes(String),
    /// The integer part as an int.
    AsInt,
    /// `a instanceof b`, with the name of the class.
    Instance,
    /// What the value counts as in a condition.
    Truth,
    /// The text of a value.
    Show,
    /// `a == b`
    Equal,
    /// Whether two values are the same key.
    SameKey,
    /// The order of two values: -1, 0 or 1.
    Compare,
    /// `a[b]`
    Index,
    /// The characters of a text, as a list.
    Characters,
}

/// The native functions of a program so far.
#[derive(Default)]
pub(super) struct Natives {
    known: HashMap<Task, NativeId>,
}

impl Natives {
    /// Returns the native function for a task.
    pub(super) fn get(&mut self, b: &mut ProgramBuilder, kinds: Kinds, task: Task) -> NativeId {
        if let Some(id) = self.known.get(&task) {
            return *id;
        }
        let own = task.clone();
        let code: Arc<NativeCode> = Arc::new(move |arguments| Ok(run(&own, &kinds, arguments)));
        let id = b.native(&format!("{task:?}"), task.parameters(), code);
        self.known.insert(task, id);
        id
    }
}

impl Task {
    fn parameters(&self) -> u16 {
        match self {
            Task::Method(_, more) => more.saturating_add(1),
            Task::Property(_)
            | Task::Unary(_)
            | Task::Cast(..)
            | Task::Takes(_)
            | Task::AsInt
            | Task::Truth
            | Task::Show
            | Task::Characters => 1,
            Task::Binary(_)
            | Task::Equal
            | Task::SameKey
            | Task::Compare
            | Task::Index
            | Task::Instance => 2,
        }
    }
}

fn run(task: &Task, kinds: &Kinds, arguments: &[Literal]) -> Literal {
    let values: Option<Vec<Value>> = arguments.iter().map(|one| to_value(kinds, one)).collect();
    let result = match values {
        Some(values) => compute(task, &values),
        None => Err(Stop::Unsupported(format!("{task:?} of this value"))),
    };
    let gap = |text: String| Literal::Enum(kinds.outcome, GAP, vec![Literal::Str(text)]);
    match result {
        Ok(value) => match to_literal(kinds, &value) {
            Some(literal) => literal,
            None => gap(format!("the result of {task:?}")),
        },
        Err(Stop::Throw(value)) => match to_literal(kinds, &value) {
            Some(literal) => Literal::Enum(kinds.outcome, THROWN, vec![literal]),
            None => gap("an exception".to_owned()),
        },
        Err(Stop::Unsupported(what)) => gap(what),
        Err(stop) => gap(format!("{stop:?}")),
    }
}

fn compute(task: &Task, values: &[Value]) -> Result<Value, Stop> {
    match (task, values) {
        (Task::Method(name, _), [object, rest @ ..]) => pure::method(object, name, rest),
        (Task::Property(name), [object]) => pure::property(object, name),
        (Task::Binary(op), [a, b]) => match BinaryOp::from_text(op) {
            Some(op) => pure::binary(op, a, b),
            None => Err(Stop::Unsupported((*op).to_owned())),
        },
        (Task::Unary(op), [a]) => {
            let op = match *op {
                "-" => UnaryOp::Minus,
                "+" => UnaryOp::Plus,
                _ => UnaryOp::Complement,
            };
            pure::unary(op, a)
        }
        (Task::Cast(name, explicit), [value]) => {
            let typed = TypeName {
                span: Span::default(),
                name: name.clone(),
                arguments: None,
                bound: None,
                dimensions: 0,
            };
            pure::cast(value, &typed, *explicit)
        }
        (Task::Instance, [value, name]) => Ok(Value::Bool(pure::is_instance(value, &show(name)))),
        (Task::Takes(name), [value]) => Ok(Value::Bool(pure::takes(name, value))),
        (Task::AsInt, [value]) => pure::method(value, "toInteger", &[]),
        (Task::Truth, [value]) => Ok(Value::Bool(value.is_true())),
        (Task::Show, [value]) => Ok(Value::text(show(value))),
        (Task::Equal, [a, b]) => Ok(Value::Bool(equal(a, b))),
        (Task::SameKey, [a, b]) => Ok(Value::Bool(pure::same_key(a, b))),
        (Task::Compare, [a, b]) => match compare(a, b) {
            Some(order) => Ok(Value::Int(order as i32)),
            None => pure::binary(BinaryOp::Compare, a, b),
        },
        (Task::Index, [a, b]) => pure::index(a, b),
        (Task::Characters, [value]) => {
            let chars = show(value);
            Ok(Value::list(chars.chars().map(|c| Value::text(c.to_string())).collect()))
        }
        _ => Err(Stop::Unsupported(format!("{task:?}"))),
    }
}

/// The halves of 128 bits.
fn halves(value: i128) -> [Literal; 2] {
    [Literal::Int((value >> 64) as i64), Literal::Int(value as i64)]
}

fn whole(high: i64, low: i64) -> i128 {
    (i128::from(high) << 64) | i128::from(low as u64)
}

/// Returns the literal of a value; `None` for closures and objects.
pub(super) fn to_literal(kinds: &Kinds, value: &Value) -> Option<Literal> {
    let number =
        |variant: u16, parts: Vec<Literal>| Some(Literal::Enum(kinds.number, variant, parts));
    let all = |items: &[Value]| {
        items.iter().map(|one| to_literal(kinds, one)).collect::<Option<Vec<Literal>>>()
    };
    match value {
        Value::Null => Some(Literal::Null),
        Value::Bool(value) => Some(Literal::Bool(*value)),
        Value::Int(value) => Some(Literal::Int(i64::from(*value))),
        Value::Long(value) => number(0, vec![Literal::Int(*value)]),
        Value::BigInt(value) => number(1, halves(*value).to_vec()),
        Value::Decimal(value) => {
            let [high, low] = halves(value.unscaled);
            number(2, vec![high, low, Literal::Int(i64::from(value.scale))])
        }
        Value::Double(value) => number(3, vec![Literal::Int(value.to_bits() as i64)]),
        Value::Float(value) => number(4, vec![Literal::Int(i64::from(value.to_bits()))]),
        Value::Text(text) => Some(Literal::Str(text.to_string())),
        Value::List(items) => Some(Literal::List(all(&items.borrow())?)),
        Value::Range(from, to) => {
            let ends = [*from, *to].map(|end| Literal::Int(i64::from(end)));
            Some(Literal::Record(kinds.range, ends.to_vec()))
        }
        Value::Map(entries) => {
            let entries = entries.borrow();
            let (mut keys, mut table) = (Vec::new(), Vec::new());
            for (key, value) in entries.iter() {
                let key = to_literal(kinds, key)?;
                keys.push(key.clone());
                table.push((key, to_literal(kinds, value)?));
            }
            let fields = vec![Literal::List(keys), Literal::Map(table)];
            Some(Literal::Record(kinds.frozen_map, fields))
        }
        Value::Entry(entry) => {
            let parts = vec![to_literal(kinds, &entry.0)?, to_literal(kinds, &entry.1)?];
            Some(Literal::Record(kinds.entry, parts))
        }
        Value::Exception(one) => {
            let message = one.1.clone().map_or(Literal::Null, Literal::Str);
            Some(Literal::Record(kinds.exception, vec![Literal::Str(one.0.clone()), message]))
        }
        Value::Class(name) => {
            Some(Literal::Record(kinds.class, vec![Literal::Str(name.to_string())]))
        }
        Value::Matcher(one) => {
            let parts = [&one.0, &one.1].map(|text| Literal::Str(text.clone()));
            Some(Literal::Record(kinds.matcher, parts.to_vec()))
        }
        Value::Closure(_) | Value::Object(_) => None,
    }
}

/// Returns the value of a literal; `None` for what the platform made.
fn to_value(kinds: &Kinds, literal: &Literal) -> Option<Value> {
    let all = |items: &[Literal]| {
        items.iter().map(|one| to_value(kinds, one)).collect::<Option<Vec<Value>>>()
    };
    Some(match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(i32::try_from(*value).ok()?),
        Literal::Str(text) => Value::text(text),
        Literal::List(items) => Value::list(all(items)?),
        Literal::Enum(ty, variant, parts) if *ty == kinds.number => match (variant, &parts[..]) {
            (0, [Literal::Int(value)]) => Value::Long(*value),
            (1, [Literal::Int(high), Literal::Int(low)]) => Value::BigInt(whole(*high, *low)),
            (2, [Literal::Int(high), Literal::Int(low), Literal::Int(scale)]) => {
                let scale = i32::try_from(*scale).ok()?;
                Value::Decimal(Decimal { unscaled: whole(*high, *low), scale })
            }
            (3, [Literal::Int(bits)]) => Value::Double(f64::from_bits(*bits as u64)),
            (4, [Literal::Int(bits)]) => Value::Float(f32::from_bits(*bits as u32)),
            _ => return None,
        },
        Literal::Record(ty, fields) => match &fields[..] {
            [Literal::Int(from), Literal::Int(to)] if *ty == kinds.range => {
                Value::Range(i32::try_from(*from).ok()?, i32::try_from(*to).ok()?)
            }
            [Literal::List(keys), Literal::Map(table)] if *ty == kinds.frozen_map => {
                let mut entries = Vec::new();
                for key in keys {
                    let (_, value) = table.iter().find(|(own, _)| own == key)?;
                    entries.push((to_value(kinds, key)?, to_value(kinds, value)?));
                }
                Value::map(entries)
            }
            [key, value] if *ty == kinds.entry => {
                Value::Entry(Rc::new((to_value(kinds, key)?, to_value(kinds, value)?)))
            }
            [Literal::Str(text), Literal::Str(pattern)] if *ty == kinds.matcher => {
                Value::Matcher(Rc::new((text.clone(), pattern.clone())))
            }
            [Literal::Str(class), message] if *ty == kinds.exception => {
                let message = match message {
                    Literal::Str(text) => Some(text.clone()),
                    _ => None,
                };
                Value::Exception(Rc::new((class.clone(), message)))
            }
            [Literal::Str(name)] if *ty == kinds.class => Value::Class(Rc::from(name.as_str())),
            _ => return None,
        },
        _ => return None,
    })
}
