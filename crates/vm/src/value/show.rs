//! Values as text.

use super::kinds::{Value, live_handle};
use crate::program::Program;
use std::fmt::Write;

/// The text would be longer than the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLong;

struct Writer<'a> {
    program: &'a Program,
    text: String,
    limit: usize,
    /// Whether the text has the numbers of objects and handles.
    numbers: bool,
}

/// Writes a value for the program itself, up to `limit` bytes. Leaves out the numbers of objects
/// and handles, which belong to the state, not to the program.
pub(crate) fn show(program: &Program, value: &Value, limit: usize) -> Result<String, TooLong> {
    let mut writer = Writer { program, text: String::new(), limit, numbers: false };
    writer.value(value)?;
    Ok(writer.text)
}

/// Writes a value of a state for a report. Cuts a long text.
pub(crate) fn short(program: &Program, value: &Value) -> String {
    cut(program, value, true)
}

/// Writes a value for the message of a failure. Cuts a long text. Leaves out the numbers of objects
/// and handles, so that the message is the same in all states that have the failure.
pub(crate) fn plain(program: &Program, value: &Value) -> String {
    cut(program, value, false)
}

fn cut(program: &Program, value: &Value, numbers: bool) -> String {
    let mut writer = Writer { program, text: String::new(), limit: 4_096, numbers };
    if writer.value(value).is_err() {
        writer.text.push_str("...");
    }
    writer.text
}

impl Writer<'_> {
    fn put(&mut self, text: &str) -> Result<(), TooLong> {
        if self.text.len() + text.len() > self.limit {
            return Err(TooLong);
        }
        self.text.push_str(text);
        Ok(())
    }

    fn list<T>(
        &mut self,
        (open, close): (&str, &str),
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> Result<(), TooLong>,
    ) -> Result<(), TooLong> {
        self.put(open)?;
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.put(", ")?;
            }
            write(self, item)?;
        }
        self.put(close)
    }

    fn variant(&mut self, ty: u16, variant: u16) -> Result<(), TooLong> {
        let enumeration = self.program.enums.get(usize::from(ty));
        let variant = enumeration.and_then(|e| e.variants.get(usize::from(variant)));
        self.put(enumeration.map_or("?", |e| e.name.as_str()))?;
        self.put(".")?;
        self.put(variant.map_or("?", |v| v.name.as_str()))
    }

    fn number(&mut self, before: &str, number: impl std::fmt::Display) -> Result<(), TooLong> {
        self.put(before)?;
        let start = self.text.len();
        // Writing to a string does not fail.
        let _ = write!(self.text, "{number}");
        if self.text.len() > self.limit {
            self.text.truncate(start);
            return Err(TooLong);
        }
        Ok(())
    }

    fn quoted(&mut self, text: &str) -> Result<(), TooLong> {
        self.put("\"")?;
        for c in text.chars() {
            let mut buffer = [0; 4];
            match c {
                '"' | '\\' | '\n' | '\r' | '\t' => self.put(&c.escape_default().to_string())?,
                c => self.put(c.encode_utf8(&mut buffer))?,
            }
        }
        self.put("\"")
    }

    fn value(&mut self, value: &Value) -> Result<(), TooLong> {
        let program = self.program;
        match value {
            Value::Null => self.put("null"),
            Value::Bool(value) => self.put(if *value { "true" } else { "false" }),
            Value::Int(value) => self.number("", value),
            Value::Index { member, .. } if self.numbers => self.number("", member),
            Value::Index { of, .. } => {
                let index = program.symmetries.get(usize::from(*of));
                self.put(index.map_or("?", |index| index.name.as_str()))
            }
            Value::Variant { ty, variant } => self.variant(*ty, *variant),
            Value::VariantInt { ty, variant, value } => {
                self.variant(*ty, *variant)?;
                self.number("(", value)?;
                self.put(")")
            }
            Value::VariantOf(seq) => {
                self.variant(seq.ty, seq.variant)?;
                self.list(("(", ")"), seq.items(), Self::value)
            }
            Value::Obj(_) if !self.numbers => self.put("obj"),
            Value::Handle(_) if !self.numbers => self.put("task"),
            Value::Obj(object) => self.number("obj#", object),
            Value::Handle(handle) if live_handle(*handle) == 0 => self.put("task#ended"),
            Value::Handle(handle) => self.number("task#", handle),
            Value::Str(text) => self.quoted(text.as_str()),
            // The order of elements would tell indices apart.
            Value::List(seq) if !self.numbers && seq.ty != 0 => self.put("[..]"),
            Value::Set(_) if !self.numbers && value.has_indices() => self.put("set[..]"),
            Value::Map(_) if !self.numbers && value.has_indices() => self.put("map[..]"),
            Value::List(seq) => self.list(("[", "]"), seq.items(), Self::value),
            Value::Set(set) => self.list(("set[", "]"), set.items(), Self::value),
            Value::Map(map) => self.list(("map[", "]"), map.entries(), |writer, (key, value)| {
                writer.value(key)?;
                writer.put(": ")?;
                writer.value(value)
            }),
            Value::Record(seq) => {
                let record = program.records.get(usize::from(seq.ty));
                self.put(record.map_or("?", |r| r.name.as_str()))?;
                self.list((" { ", " }"), seq.items().iter().enumerate(), |writer, (i, item)| {
                    let name = record.and_then(|r| r.fields.get(i));
                    let name = name.and_then(|n| program.names.get(n.index()));
                    writer.put(name.map_or("?", String::as_str))?;
                    writer.put(": ")?;
                    writer.value(item)
                })
            }
            Value::Func(seq) => {
                let function = program.functions.get(usize::from(seq.ty));
                self.put("fn ")?;
                self.put(function.map_or("?", |f| f.name.as_str()))
            }
        }
    }
}
