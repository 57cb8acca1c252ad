//! The methods of the table: what a command does, step by step.

use std::iter::Peekable;
use std::str::Split;

/// A field: of the object itself, or of the item of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FieldRef {
    pub(super) is_of_item: bool,
    pub(super) name: String,
}

/// A value in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    Null,
    Int(i32),
    Text(String),
    /// An argument, from 0, or an entry of one.
    Argument(usize, Option<String>),
    /// The value of the simulated event.
    Simulated,
    /// The same as a number.
    SimulatedNumber,
    Field(FieldRef),
    /// The name of a colour by its digits.
    Colour(Box<Operand>),
    /// The whole number that a text shows.
    Number(Box<Operand>),
    /// What a text of JSON says.
    Json(Box<Operand>),
    /// What `currentState` gives, where it has only a date.
    Reading,
}

/// A step of a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Unless(Vec<(FieldRef, Operand)>),
    Set(Vec<FieldRef>, Operand),
    Change(FieldRef, Operand, String),
    Send(String, Operand),
    Forward,
    Item(String, Vec<Operand>),
    Own(String, Vec<Operand>),
    Given(Operand, String),
    Flip(FieldRef),
    Add(FieldRef, i32),
    Back(FieldRef),
    Delay(Operand),
    History(String, Operand, Operand),
    Recent(String, FieldRef),
    Return(Operand),
    Fail,
}

/// A method: the types of its parameters, and its steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Method {
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    pub(super) steps: Vec<Step>,
}

/// Reads `name(types): steps`.
pub(super) fn method(text: &str) -> Result<Method, String> {
    let bad = || format!("the method `{text}` is not of the form `name(types): steps`");
    let (head, body) = text.split_once("):").ok_or_else(bad)?;
    let (name, types) = head.split_once('(').ok_or_else(bad)?;
    let parameters = types.split(',').map(|one| one.trim().to_owned());
    Ok(Method {
        name: name.to_owned(),
        parameters: parameters.filter(|one| !one.is_empty()).collect(),
        steps: steps(body)?,
    })
}

/// Reads steps with semicolons between them.
pub(super) fn steps(text: &str) -> Result<Vec<Step>, String> {
    text.split(';').map(str::trim).filter(|one| !one.is_empty()).map(step).collect()
}

type Words<'t> = Peekable<std::vec::IntoIter<&'t str>>;

fn step(text: &str) -> Result<Step, String> {
    let bad = || format!("the step `{text}` is not known");
    if let Some((targets, value)) = text.split_once(" = ") {
        let targets = targets.split(' ').map(field).collect();
        return Ok(Step::Set(targets, operand(&mut words(value)).ok_or_else(bad)?));
    }
    let mut rest = words(text);
    let first = rest.next().ok_or_else(bad)?;
    one(first, &mut rest).filter(|_| rest.next().is_none()).ok_or_else(bad)
}

fn one(first: &str, rest: &mut Words<'_>) -> Option<Step> {
    Some(match first {
        "unless" => {
            let mut all = vec![];
            loop {
                let name = field(rest.next()?);
                let is = rest.next()? == "is";
                all.push((name, is.then(|| operand(rest))??));
                if rest.next_if_eq(&"and").is_none() {
                    break Step::Unless(all);
                }
            }
        }
        "change" => Step::Change(field(rest.next()?), operand(rest)?, rest.next()?.to_owned()),
        "send" => Step::Send(rest.next()?.to_owned(), operand(rest)?),
        "event" => Step::Forward,
        "item" => Step::Item(rest.next()?.to_owned(), operands(rest)?),
        "own" => Step::Own(rest.next()?.to_owned(), operands(rest)?),
        "given" => Step::Given(operand(rest)?, rest.next()?.to_owned()),
        "flip" => Step::Flip(field(rest.next()?)),
        "add" => Step::Add(field(rest.next()?), rest.next()?.parse().ok()?),
        "back" => Step::Back(field(rest.next()?)),
        "delay" => Step::Delay(operand(rest)?),
        "history" => Step::History(rest.next()?.to_owned(), operand(rest)?, operand(rest)?),
        "recent" => Step::Recent(rest.next()?.to_owned(), field(rest.next()?)),
        "return" => Step::Return(operand(rest)?),
        "fail" => Step::Fail,
        _ => return None,
    })
}

fn field(text: &str) -> FieldRef {
    match text.strip_prefix("item.") {
        Some(name) => FieldRef { is_of_item: true, name: name.to_owned() },
        None => FieldRef { is_of_item: false, name: text.to_owned() },
    }
}

/// Returns the words of a step; a text in quotes is one.
fn words(text: &str) -> Words<'_> {
    let mut all = vec![];
    for (index, part) in split(text).enumerate() {
        if index % 2 == 1 {
            // With the quote before it, so that it is no other word.
            let start = part.as_ptr() as usize - text.as_ptr() as usize - 1;
            all.push(&text[start..start + 1 + part.len()]);
        } else {
            all.extend(part.split(' ').filter(|one| !one.is_empty()));
        }
    }
    all.into_iter().peekable()
}

fn split(text: &str) -> Split<'_, char> {
    text.split('\'')
}

fn operands(rest: &mut Words<'_>) -> Option<Vec<Operand>> {
    let mut all = vec![];
    while rest.peek().is_some() {
        all.push(operand(rest)?);
    }
    Some(all)
}

fn operand(rest: &mut Words<'_>) -> Option<Operand> {
    let word = rest.next()?;
    if let Some(text) = word.strip_prefix('\'') {
        return Some(Operand::Text(text.to_owned()));
    }
    if let Ok(number) = word.parse() {
        return Some(Operand::Int(number));
    }
    if let Some(argument) = word.strip_prefix('$').filter(|one| !matches!(*one, "v" | "n")) {
        let (number, key) = match argument.split_once('.') {
            Some((number, key)) => (number, Some(key.to_owned())),
            None => (argument, None),
        };
        let number: usize = number.parse().ok()?;
        return Some(Operand::Argument(number.checked_sub(1)?, key));
    }
    Some(match word {
        "null" => Operand::Null,
        "$v" => Operand::Simulated,
        "$n" => Operand::SimulatedNumber,
        "colour" => Operand::Colour(Box::new(operand(rest)?)),
        "int" => Operand::Number(Box::new(operand(rest)?)),
        "json" => Operand::Json(Box::new(operand(rest)?)),
        "reading" => Operand::Reading,
        name => Operand::Field(field(name)),
    })
}

#[cfg(test)]
mod tests {
    use super::{FieldRef, Operand, Step, method, step};

    fn own(name: &str) -> FieldRef {
        FieldRef { is_of_item: false, name: name.to_owned() }
    }

    #[test]
    fn methods_are_read() {
        let read = method("open(Map, int): unless a is 'not open' and b is 3; delay $1; a = $2");
        let read = read.expect("a method");
        assert_eq!((&*read.name, read.parameters.len()), ("open", 2));
        let all =
            vec![(own("a"), Operand::Text("not open".to_owned())), (own("b"), Operand::Int(3))];
        assert_eq!(read.steps[0], Step::Unless(all));
        assert_eq!(read.steps[1], Step::Delay(Operand::Argument(0, None)));
        assert_eq!(read.steps[2], Step::Set(vec![own("a")], Operand::Argument(1, None)));
    }

    #[test]
    fn what_is_no_step_is_refused() {
        for text in ["unless a", "unless a was 'x'", "send x", "jump", "fail now", "a = $0"] {
            assert!(step(text).is_err(), "{text}");
        }
        assert!(method("open: fail").is_err());
    }
}
