//! Writes definitions, each once, in an order that gives names the same ids when read back.

use super::cursor::quote;
use super::words::{
    INLINE_NAME_BYTES_MAX, LABELS, LIST_ITEMS_MAX, ORDERS, STRING_BYTES_MAX, TASK_KINDS,
};
use crate::format::decimal::{push_decimal, push_hexadecimal};
use crate::format::text_index::TextIndex;
use crate::ids::NameId;
use crate::tables::{Handler, Location, Meta, Position, Tables};
use std::io;

/// The definitions written so far.
#[derive(Debug)]
pub(super) struct Written {
    /// The handlers as the reader knows them.
    pub(super) handlers: Vec<Handler>,
    tasks: usize,
    locations: usize,
    locks: usize,
    conditions: usize,
    inputs: usize,
    sites: usize,
    stacks: usize,
    invocations: usize,
    coherence: usize,
    /// The number of names that the reader knows.
    names: usize,
    /// For each string that the reader knows, its id there.
    index: TextIndex,
    /// The current definition. Its dependencies are written before it.
    line: Vec<u8>,
}

impl Default for Written {
    fn default() -> Written {
        Written {
            handlers: Vec::new(),
            tasks: 0,
            locations: 0,
            locks: 0,
            conditions: 0,
            inputs: 0,
            // Every table starts with the unknown site and the empty name.
            sites: 1,
            stacks: 0,
            invocations: 0,
            coherence: 0,
            names: 1,
            index: TextIndex::default(),
            line: Vec::new(),
        }
    }
}

/// Makes the error for inconsistent tables.
pub(super) fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message.into())
}

/// Defines the entries of one table up to and including an id, unless they are written.
macro_rules! up_to {
    ($(#[$doc:meta])* $name:ident, $table:ident, $word:literal, $letter:literal, $entry:ident) => {
        $(#[$doc])*
        #[inline]
        pub(super) fn $name(
            &mut self,
            tables: &Tables,
            id: u32,
            out: &mut Vec<u8>,
        ) -> io::Result<()> {
            if (id as usize) < self.$table {
                return Ok(());
            }
            if id as usize >= tables.$table.len() {
                let (letter, length) = ($letter as char, tables.$table.len());
                return Err(invalid(format!("`{letter}{id}` is in no table: there are {length}")));
            }
            while self.$table <= id as usize {
                let id = self.$table;
                self.begin($word, $letter, id);
                self.$entry(tables, id, out)?;
                self.end(out);
                self.$table += 1;
            }
            Ok(())
        }
    };
}

impl Written {
    up_to!(task, tasks, "task", b't', task_entry);
    up_to!(location, locations, "location", b'x', location_entry);
    up_to!(lock, locks, "lock", b'l', lock_entry);
    up_to!(condition, conditions, "condition", b'c', condition_entry);
    up_to!(input, inputs, "input", b'i', input_entry);
    up_to!(site, sites, "site", b's', site_entry);
    up_to!(stack, stacks, "stack", b'k', stack_entry);
    up_to!(invocation, invocations, "invocation", b'v', invocation_entry);

    /// Defines a handler and all before it.
    #[inline]
    pub(super) fn handler(
        &mut self,
        tables: &Tables,
        id: u32,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        if (id as usize) < self.handlers.len() {
            return Ok(());
        }
        if id as usize >= tables.handlers.len() {
            let length = tables.handlers.len();
            return Err(invalid(format!("`h{id}` is in no table: there are {length}")));
        }
        while self.handlers.len() <= id as usize {
            let id = self.handlers.len();
            let handler = tables.handlers[id];
            self.begin("handler", b'h', id);
            self.handler_rest(tables, handler, out)?;
            self.handlers.push(handler);
        }
        Ok(())
    }

    /// Writes the handlers that changed since their definition.
    pub(super) fn changes(&mut self, tables: &Tables, out: &mut Vec<u8>) -> io::Result<()> {
        for id in 0..self.handlers.len().min(tables.handlers.len()) {
            let handler = tables.handlers[id];
            if self.handlers[id] != handler {
                self.begin("change", b'h', id);
                self.handler_rest(tables, handler, out)?;
                self.handlers[id] = handler;
            }
        }
        Ok(())
    }

    /// Writes the entries that no event refers to.
    pub(super) fn rest(&mut self, tables: &Tables, out: &mut Vec<u8>) -> io::Result<()> {
        macro_rules! all {
            ($($entry:ident $table:ident,)*) => {
                $(if let Some(last) = tables.$table.len().checked_sub(1) {
                    self.$entry(tables, last as u32, out)?;
                })*
            };
        }
        all! {
            handler handlers, task tasks, location locations, lock locks, condition conditions,
            input inputs, site sites, stack stacks, invocation invocations,
        }
        self.coherence(tables, out)?;
        while self.names < tables.names.len() {
            self.next_name(tables, out);
        }
        Ok(())
    }

    /// Writes the data about the trace as a whole, if any.
    pub(super) fn meta(&mut self, meta: &Meta, out: &mut Vec<u8>) {
        if *meta == Meta::default() {
            return;
        }
        let labels = LABELS.iter().find(|(_, scheme)| *scheme == meta.labels);
        let order = ORDERS.iter().find(|(_, order)| *order == meta.order);
        out.extend_from_slice(b"meta labels=");
        out.extend_from_slice(labels.map_or("position", |(word, _)| word).as_bytes());
        out.extend_from_slice(b" order=");
        out.extend_from_slice(order.map_or("observed", |(word, _)| word).as_bytes());
        out.extend_from_slice(b" origin=");
        long_string(&meta.origin, out);
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
        let first_new = ids.iter().find(|id| id.index() >= self.names);
        while first_new.is_some_and(|id| id.index() > self.names) {
            self.next_name(tables, out);
        }
        let mut next = self.names;
        let mut simple = true;
        for (position, id) in ids.iter().enumerate() {
            if id.index() < next {
                continue;
            }
            let text = tables.names.get(*id);
            let news = || ids[..position].iter().filter(|id| id.index() >= self.names);
            simple &= id.index() == next
                && !text.is_empty()
                && text.len() <= INLINE_NAME_BYTES_MAX
                && self.index.find(&tables.names, text.as_bytes()).is_none()
                && news().all(|id| tables.names.get(*id) != text);
            next = id.index() + 1;
        }
        while !simple && self.names < next {
            self.next_name(tables, out);
        }
        Ok(())
    }

    /// Appends a name after a call of [`ready`](Self::ready): its string where the reader gives
    /// that the same id, otherwise its id.
    pub(super) fn name(&mut self, tables: &Tables, id: NameId, line: &mut Vec<u8>) {
        let text = tables.names.get(id);
        if self.names == id.index() {
            self.index.insert(&tables.names, id, id.0);
            self.names += 1;
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
        let id = NameId::from_index(self.names);
        let text = tables.names.get(id);
        out.extend_from_slice(b"name n");
        push_decimal(u64::from(id.0), out);
        out.push(b' ');
        long_string(text, out);
        if !text.is_empty() && self.index.find(&tables.names, text.as_bytes()).is_none() {
            self.index.insert(&tables.names, id, id.0);
        }
        self.names += 1;
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

    /// Appends a name to the line, after `before`.
    fn add_name(&mut self, tables: &Tables, before: &str, id: NameId) {
        self.text(before);
        let mut line = std::mem::take(&mut self.line);
        self.name(tables, id, &mut line);
        self.line = line;
    }

    /// Appends a name to the line, after `before`, unless it is empty.
    fn add_name_if(&mut self, tables: &Tables, before: &str, id: NameId) {
        if id != NameId::EMPTY {
            self.add_name(tables, before, id);
        }
    }

    /// Appends a number to the line, after `before`, unless it is 0.
    fn add_number_if(&mut self, before: &str, number: u64) {
        if number != 0 {
            self.text(before);
            push_decimal(number, &mut self.line);
        }
    }

    fn handler_rest(
        &mut self,
        tables: &Tables,
        handler: Handler,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        self.ready(tables, &[handler.name], out)?;
        self.add_name(tables, " ", handler.name);
        self.text(" ");
        self.text(handler.mailbox.word());
        self.text(if handler.untracked { " untracked" } else { "" });
        self.end(out);
        Ok(())
    }

    fn task_entry(&mut self, tables: &Tables, id: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let task = tables.tasks[id];
        if let Some(handler) = task.handler.some() {
            let line = std::mem::take(&mut self.line);
            self.handler(tables, handler.0, out)?;
            self.line = line;
        }
        self.ready(tables, &[task.name], out)?;
        self.add_name(tables, " ", task.name);
        let kind = TASK_KINDS.iter().find(|(_, kind)| *kind == task.kind);
        self.text(" ");
        self.text(kind.map_or("initial", |(word, _)| word));
        if let Some(handler) = task.handler.some() {
            self.text(" h");
            push_decimal(u64::from(handler.0), &mut self.line);
        }
        self.add_number_if(" delay=", task.delay);
        self.text(if task.position == Position::Front { " front" } else { "" });
        Ok(())
    }

    fn location_entry(&mut self, tables: &Tables, id: usize, out: &mut Vec<u8>) -> io::Result<()> {
        match tables.locations[id] {
            Location::Named(name) => {
                self.ready(tables, &[name], out)?;
                self.add_name(tables, " ", name);
            }
            Location::Field { object, class, field } => {
                self.ready(tables, &[class, field], out)?;
                self.add_name(tables, " field ", class);
                self.add_name(tables, " ", field);
                self.text(" object=");
                push_hexadecimal(object, &mut self.line);
            }
            Location::Static { class, field } => {
                self.ready(tables, &[class, field], out)?;
                self.add_name(tables, " static ", class);
                self.add_name(tables, " ", field);
            }
            Location::Range { address, size, generation } => {
                self.text(" range ");
                push_hexadecimal(address, &mut self.line);
                self.text("+");
                push_decimal(u64::from(size), &mut self.line);
                self.add_number_if(" generation=", u64::from(generation));
            }
        }
        Ok(())
    }

    fn lock_entry(&mut self, tables: &Tables, id: usize, out: &mut Vec<u8>) -> io::Result<()> {
        self.only_name(tables, tables.locks[id], out)
    }

    fn condition_entry(&mut self, tables: &Tables, id: usize, out: &mut Vec<u8>) -> io::Result<()> {
        self.only_name(tables, tables.conditions[id], out)
    }

    fn only_name(&mut self, tables: &Tables, id: NameId, out: &mut Vec<u8>) -> io::Result<()> {
        self.ready(tables, &[id], out)?;
        self.add_name(tables, " ", id);
        Ok(())
    }

    fn input_entry(&mut self, tables: &Tables, id: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let input = tables.inputs[id];
        self.ready(tables, &[input.name, input.state, input.component], out)?;
        self.text(" ");
        self.text(input.family.word());
        self.add_name(tables, " ", input.name);
        self.add_name_if(tables, " state=", input.state);
        self.add_name_if(tables, " component=", input.component);
        self.add_number_if(" instance=", input.instance);
        self.add_number_if(" argument=", input.argument);
        Ok(())
    }

    fn site_entry(&mut self, tables: &Tables, id: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let site = tables.sites[id];
        self.ready(tables, &[site.label, site.function, site.file], out)?;
        self.add_name_if(tables, " ", site.label);
        self.add_name_if(tables, " function=", site.function);
        self.add_name_if(tables, " file=", site.file);
        self.add_number_if(" line=", u64::from(site.line));
        self.add_number_if(" column=", u64::from(site.column));
        Ok(())
    }

    fn stack_entry(&mut self, tables: &Tables, id: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let stack = &tables.stacks[id];
        let line = std::mem::take(&mut self.line);
        for site in stack {
            self.site(tables, site.0, out)?;
        }
        self.line = line;
        self.items(stack.iter().map(|site| u64::from(site.0)), "s", out);
        Ok(())
    }

    fn invocation_entry(
        &mut self,
        tables: &Tables,
        id: usize,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let invocation = &tables.invocations[id];
        self.ready(tables, &[invocation.object, invocation.method], out)?;
        self.add_name(tables, " ", invocation.object);
        self.add_name(tables, " ", invocation.method);
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
            self.location(tables, coherence.location.0, out)?;
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
