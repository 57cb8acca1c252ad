//! Writes definitions, each once, in an order that gives names the same ids when read back.

use super::cursor::quote;
use super::parts::{Entry, Part, Parts};
use super::words::{
    INLINE_NAME_BYTES_MAX, LETTERS, LIST_ITEMS_MAX, STRING_BYTES_MAX, keyword, length,
};
use crate::decimal::{push_decimal, push_hexadecimal};
use anyorder_trace::{Handler, HandlerId, Location, Meta, NameId, Position, Tables, TextIndex};
use std::io;

/// The definitions written so far.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The handlers as the reader knows them.
    pub(super) handlers: Vec<Handler>,
    /// By letter of a table: how many entries the reader knows, without those that every table has.
    counts: [usize; 26],
    coherence: usize,
    /// For each string that the reader knows, its id there.
    index: TextIndex,
    /// The current definition. Its dependencies are written before it.
    line: Vec<u8>,
}

/// Makes the error for inconsistent tables.
pub(super) fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message.into())
}

impl Written {
    /// Starts with the entries that every table has: the empty name and the unknown site.
    pub(super) fn new() -> Written {
        let mut written = Written::default();
        *written.count(b'n') = 1;
        *written.count(b's') = 1;
        written
    }

    #[inline]
    fn count(&mut self, letter: u8) -> &mut usize {
        &mut self.counts[usize::from(letter - b'a')]
    }

    /// Defines the entries of a table up to and including an id, unless they are written.
    #[inline]
    pub(super) fn define(
        &mut self,
        tables: &Tables,
        letter: u8,
        id: u32,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        if (id as usize) < *self.count(letter) {
            return Ok(());
        }
        self.define_up_to(tables, letter, id as usize, out)
    }

    fn define_up_to(
        &mut self,
        tables: &Tables,
        letter: u8,
        last: usize,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let length = length(tables, letter);
        if last >= length {
            let letter = char::from(letter);
            return Err(invalid(format!("`{letter}{last}` is in no table: there are {length}")));
        }
        while *self.count(letter) <= last {
            let id = *self.count(letter);
            self.begin(keyword(letter), letter, id);
            match letter {
                b'h' => {
                    self.entry(tables, tables.handlers[id], out)?;
                    self.handlers.push(tables.handlers[id]);
                }
                b't' => self.entry(tables, tables.tasks[id], out)?,
                b'x' => {
                    let location = tables.locations[id];
                    if !matches!(location, Location::Named(_)) {
                        self.text(" ");
                    }
                    self.text(Location::SORTS[usize::from(location.sort())]);
                    self.entry(tables, location, out)?;
                }
                b'l' => self.entry(tables, tables.locks[id], out)?,
                b'c' => self.entry(tables, tables.conditions[id], out)?,
                b'i' => self.entry(tables, tables.inputs[id], out)?,
                b's' => self.entry(tables, tables.sites[id], out)?,
                b'k' => self.stack(tables, id, out)?,
                _ => self.invocation(tables, id, out)?,
            }
            self.end(out);
            *self.count(letter) += 1;
        }
        Ok(())
    }

    /// Writes the handlers that changed since their definition.
    pub(super) fn changes(&mut self, tables: &Tables, out: &mut Vec<u8>) -> io::Result<()> {
        for id in 0..self.handlers.len().min(tables.handlers.len()) {
            let handler = tables.handlers[id];
            if self.handlers[id] != handler {
                self.begin("change", b'h', id);
                self.entry(tables, handler, out)?;
                self.end(out);
                self.handlers[id] = handler;
            }
        }
        Ok(())
    }

    /// Writes the entries that no event refers to.
    pub(super) fn rest(&mut self, tables: &Tables, out: &mut Vec<u8>) -> io::Result<()> {
        for letter in LETTERS {
            if let Some(last) = length(tables, letter).checked_sub(1) {
                self.define(tables, letter, last as u32, out)?;
            }
        }
        self.coherence(tables, out)?;
        while *self.count(b'n') < tables.names.len() {
            self.next_name(tables, out);
        }
        Ok(())
    }

    /// Writes the data about the trace as a whole, if any.
    pub(super) fn meta(&mut self, tables: &Tables, out: &mut Vec<u8>) {
        if tables.meta == Meta::default() {
            return;
        }
        self.line.clear();
        self.text("meta");
        self.parts(tables, tables.meta.clone().parts());
        out.extend_from_slice(&self.line);
    }

    /// Prepares a line with these names, in this order. Names that would get a wrong id inside the
    /// line are written on lines of their own first.
    ///
    /// Definitions that the line depends on must be written before, since they may add names too.
    pub(super) fn ready(
        &mut self,
        tables: &Tables,
        ids: &[NameId],
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        for id in ids {
            if id.index() >= tables.names.len() {
                let length = tables.names.len();
                return Err(invalid(format!("`n{}` is in no table: there are {length}", id.0)));
            }
        }
        let known = *self.count(b'n');
        let first_new = ids.iter().map(|id| id.index()).find(|id| *id >= known);
        while first_new.is_some_and(|id| id > *self.count(b'n')) {
            self.next_name(tables, out);
        }
        let known = *self.count(b'n');
        let mut next = known;
        let mut simple = true;
        for (position, id) in ids.iter().enumerate() {
            if id.index() < next {
                continue;
            }
            let text = tables.names.get(*id);
            let news = || ids[..position].iter().filter(|id| id.index() >= known);
            simple &= id.index() == next
                && !text.is_empty()
                && text.len() <= INLINE_NAME_BYTES_MAX
                && self.index.find(&tables.names, text.as_bytes()).is_none()
                && news().all(|id| tables.names.get(*id) != text);
            next = id.index() + 1;
        }
        while !simple && *self.count(b'n') < next {
            self.next_name(tables, out);
        }
        Ok(())
    }

    /// Appends a name after a call of [`ready`](Self::ready): its string where the reader gives
    /// that the same id, otherwise its id.
    pub(super) fn name(&mut self, tables: &Tables, id: NameId, line: &mut Vec<u8>) {
        let text = tables.names.get(id);
        if *self.count(b'n') == id.index() {
            self.index.insert(&tables.names, id, id.0);
            *self.count(b'n') += 1;
        }
        let same = match text.is_empty() {
            true => id == NameId::EMPTY,
            false => self.index.find(&tables.names, text.as_bytes()) == Some(id.0),
        };
        if same && text.len() <= INLINE_NAME_BYTES_MAX {
            quote(text, line);
        } else {
            line.push(b'n');
            push_decimal(u64::from(id.0), line);
        }
    }

    /// Writes the next name on its own line.
    fn next_name(&mut self, tables: &Tables, out: &mut Vec<u8>) {
        let id = NameId::from_index(*self.count(b'n'));
        let text = tables.names.get(id);
        out.extend_from_slice(b"name n");
        push_decimal(u64::from(id.0), out);
        out.push(b' ');
        long_string(text, out);
        if !text.is_empty() && self.index.find(&tables.names, text.as_bytes()).is_none() {
            self.index.insert(&tables.names, id, id.0);
        }
        *self.count(b'n') += 1;
    }

    fn begin(&mut self, word: &str, letter: u8, id: usize) {
        self.line.clear();
        self.line.extend_from_slice(word.as_bytes());
        self.line.extend_from_slice(&[b' ', letter]);
        push_decimal(id as u64, &mut self.line);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.line);
        out.push(b'\n');
    }

    fn text(&mut self, text: &str) {
        self.line.extend_from_slice(text.as_bytes());
    }

    /// Appends the parts of an entry to the line, after writing what they refer to.
    fn entry(
        &mut self,
        tables: &Tables,
        mut entry: impl Entry,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let parts = entry.parts();
        let mut names = Vec::new();
        for part in parts.0.iter().chain(parts.1.iter().map(|(_, part)| part)) {
            match part {
                Part::Name(name) | Part::NameIfAny(name) => names.push(**name),
                Part::HandlerIfAny(handler) if !handler.is_none() => {
                    self.define_before(tables, b'h', &[handler.0], out)?;
                }
                _ => {}
            }
        }
        self.ready(tables, &names, out)?;
        self.parts(tables, parts);
        Ok(())
    }

    fn parts(&mut self, tables: &Tables, (fixed, options): Parts<'_>) {
        fixed.into_iter().for_each(|part| self.part(tables, "", part));
        options.into_iter().for_each(|(key, part)| self.part(tables, key, part));
    }

    /// Defines entries that the current line refers to.
    fn define_before(
        &mut self,
        tables: &Tables,
        letter: u8,
        ids: &[u32],
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        ids.iter().try_for_each(|id| self.define(tables, letter, *id, out))?;
        self.line = line;
        Ok(())
    }

    /// Appends a part to the line, unless it has a default that is not written.
    fn part(&mut self, tables: &Tables, key: &str, part: Part<'_>) {
        match part {
            Part::NameIfAny(&mut NameId::EMPTY)
            | Part::HandlerIfAny(&mut HandlerId::NONE)
            | Part::Number(0)
            | Part::Number32(0)
            | Part::Untracked(false)
            | Part::Front(Position::Back) => return,
            _ => {
                self.text(" ");
                self.text(key);
            }
        }
        match part {
            Part::Name(name) | Part::NameIfAny(name) => {
                let mut line = std::mem::take(&mut self.line);
                self.name(tables, *name, &mut line);
                self.line = line;
            }
            Part::Word(word) | Part::WordOrEnd(word) => self.text(word.text()),
            Part::HandlerIfAny(handler) => {
                self.text("h");
                push_decimal(u64::from(handler.0), &mut self.line);
            }
            Part::Range(address, size) => {
                push_hexadecimal(*address, &mut self.line);
                self.text("+");
                push_decimal(u64::from(*size), &mut self.line);
            }
            Part::Number(number) => push_decimal(*number, &mut self.line),
            Part::Number32(number) => push_decimal(u64::from(*number), &mut self.line),
            Part::Address(address) => push_hexadecimal(*address, &mut self.line),
            Part::Untracked(_) | Part::Front(_) => {}
            Part::Text(text) => long_string(text, &mut self.line),
        }
    }

    fn stack(&mut self, tables: &Tables, id: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let sites: Vec<u32> = tables.stacks[id].iter().map(|site| site.0).collect();
        self.define_before(tables, b's', &sites, out)?;
        self.items(sites.into_iter().map(u64::from), "s", out);
        Ok(())
    }

    fn invocation(&mut self, tables: &Tables, id: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let invocation = &tables.invocations[id];
        self.entry(tables, invocation.clone(), out)?;
        self.items(invocation.arguments.iter().copied(), "", out);
        if let Some(result) = invocation.result {
            self.text(" -> ");
            push_decimal(result, &mut self.line);
        }
        Ok(())
    }

    /// Writes the orders of writes that are new.
    fn coherence(&mut self, tables: &Tables, out: &mut Vec<u8>) -> io::Result<()> {
        for id in self.coherence..tables.coherence.len() {
            let coherence = &tables.coherence[id];
            self.define(tables, b'x', coherence.location.0, out)?;
            self.begin("coherence", b'x', coherence.location.index());
            self.items(coherence.writes.iter().copied(), "", out);
            self.end(out);
            self.coherence += 1;
        }
        Ok(())
    }

    /// Appends a list to the line. A long list continues in further lines.
    fn items(&mut self, items: impl Iterator<Item = u64>, before: &str, out: &mut Vec<u8>) {
        for (count, item) in items.enumerate() {
            if count > 0 && count % LIST_ITEMS_MAX == 0 {
                self.end(out);
                self.line.clear();
                self.text("more");
            }
            self.text(" ");
            self.text(before);
            push_decimal(item, &mut self.line);
        }
    }
}

/// Appends a string and a line end. A long string continues in further lines.
fn long_string(text: &str, out: &mut Vec<u8>) {
    let mut rest = text;
    loop {
        let mut length = rest.len().min(STRING_BYTES_MAX);
        while !rest.is_char_boundary(length) {
            length -= 1;
        }
        quote(&rest[..length], out);
        out.push(b'\n');
        rest = &rest[length..];
        if rest.is_empty() {
            return;
        }
        out.extend_from_slice(b"more ");
    }
}
