//! Lines with definitions: one function for each word.

use super::cursor::Cursor;
use super::known::{Known, Open};
use super::words::{FAMILIES, LABELS, MAILBOXES, ORDERS, TASK_KINDS};
use crate::format::fault::{Fault, LineError};
use crate::ids::{HandlerId, LocationId, SiteId};
use crate::tables::{
    Coherence, Handler, Input, Invocation, Location, Mailbox, Position, Site, Tables, TaskDef,
};

/// Parses a definition that starts with `word` at `column`.
///
/// A definition with a valid id but an invalid rest adds an empty entry, so that lines that refer
/// to it are not reported too.
pub(super) fn definition(
    known: &mut Known,
    word: &[u8],
    column: usize,
    cursor: &mut Cursor,
) -> Result<(), LineError> {
    if word == b"more" {
        return more(known, column, cursor);
    }
    known.close()?;
    match word {
        b"handler" => entry(known, cursor, b'h', handler, |tables| &mut tables.handlers),
        b"change" => {
            let id = known.reference(cursor, b'h')?;
            known.tables.handlers[id as usize] = handler(known, cursor)?;
            Ok(())
        }
        b"task" => entry(known, cursor, b't', task, |tables| &mut tables.tasks),
        b"location" => entry(known, cursor, b'x', location, |tables| &mut tables.locations),
        b"lock" => entry(known, cursor, b'l', only_name, |tables| &mut tables.locks),
        b"condition" => entry(known, cursor, b'c', only_name, |tables| &mut tables.conditions),
        b"input" => entry(known, cursor, b'i', input, |tables| &mut tables.inputs),
        b"site" => entry(known, cursor, b's', site, |tables| &mut tables.sites),
        b"stack" => {
            known.next_id(cursor, b'k')?;
            known.tables.stacks.push(Vec::new());
            known.open = Open::Stack;
            stack_items(known, cursor)
        }
        b"invocation" => {
            entry(known, cursor, b'v', invocation, |tables| &mut tables.invocations)?;
            known.open = Open::Arguments;
            arguments(known, cursor)
        }
        b"coherence" => {
            let location = LocationId(known.reference(cursor, b'x')?);
            known.tables.coherence.push(Coherence { location, writes: Vec::new() });
            known.open = Open::Coherence;
            coherence_items(known, cursor)
        }
        b"name" => {
            known.next_id(cursor, b'n')?;
            known.open = Open::Name;
            cursor.string(&mut known.name)?;
            Ok(cursor.end_line()?)
        }
        b"meta" => meta(known, column, cursor),
        _ => Err(Fault::new(
            column,
            "expected an event such as `t0 write x0`, or one of the words handler, change, task, location, \
             lock, condition, input, site, stack, invocation, coherence, name, meta, more",
        )
        .into()),
    }
}

/// Adds the next entry of a table, or an empty one in its place.
fn entry<T: Default>(
    known: &mut Known,
    cursor: &mut Cursor,
    letter: u8,
    read: fn(&mut Known, &mut Cursor) -> Result<T, LineError>,
    table: fn(&mut Tables) -> &mut Vec<T>,
) -> Result<(), LineError> {
    known.next_id(cursor, letter)?;
    let (entry, error) = match read(known, cursor) {
        Ok(entry) => (entry, Ok(())),
        Err(error) => (T::default(), Err(error)),
    };
    table(&mut known.tables).push(entry);
    error
}

/// The optional parts at the end of a line, in any order, each once at the most.
struct Options {
    keys: &'static [&'static str],
    seen: u32,
}

impl Options {
    fn of(keys: &'static [&'static str]) -> Options {
        Options { keys, seen: 0 }
    }

    /// Takes the next key, with its `=` if it has one; returns its position in the list.
    fn next(&mut self, cursor: &mut Cursor) -> Result<Option<usize>, Fault> {
        if cursor.at_end() {
            return Ok(None);
        }
        let column = cursor.column();
        let word = cursor.word();
        let same = |key: &&str| key.strip_suffix('=').unwrap_or(key).as_bytes() == word;
        let found = self.keys.iter().position(same);
        let expected = || format!("expected one of `{}`", self.keys.join("`, `"));
        let found = found.ok_or_else(|| Fault::new(column, expected()))?;
        if self.keys[found].ends_with('=') && !cursor.take(b'=') {
            return Err(cursor.fault("expected `=`"));
        }
        if self.seen & (1 << found) != 0 {
            return Err(Fault::new(column, format!("`{}` stands here twice", self.keys[found])));
        }
        self.seen |= 1 << found;
        Ok(Some(found))
    }
}

/// Takes one of some words.
fn one_of<T: Copy>(
    cursor: &mut Cursor,
    words: impl Iterator<Item = (&'static str, T)> + Clone,
) -> Result<T, Fault> {
    let column = cursor.column();
    let word = cursor.word();
    match words.clone().find(|(known, _)| known.as_bytes() == word) {
        Some((_, meaning)) => {
            cursor.end_token()?;
            Ok(meaning)
        }
        None => {
            let words: Vec<&str> = words.map(|(word, _)| word).collect();
            Err(Fault::new(column, format!("expected one of `{}`", words.join("`, `"))))
        }
    }
}

fn handler(known: &mut Known, cursor: &mut Cursor) -> Result<Handler, LineError> {
    let name = known.name(cursor)?;
    let mailbox = if cursor.at_end() {
        Mailbox::None
    } else {
        one_of(cursor, MAILBOXES.into_iter().map(|mailbox| (mailbox.word(), mailbox)))?
    };
    let mut options = Options::of(&["untracked"]);
    let mut untracked = false;
    while options.next(cursor)?.is_some() {
        untracked = true;
        cursor.end_token()?;
    }
    Ok(Handler { name, mailbox, untracked })
}

fn task(known: &mut Known, cursor: &mut Cursor) -> Result<TaskDef, LineError> {
    let name = known.name(cursor)?;
    let kind = one_of(cursor, TASK_KINDS.into_iter())?;
    let mut handler = HandlerId::NONE;
    if cursor.peek() == b'h' && cursor.peek_second().is_ascii_digit() {
        handler = HandlerId(known.reference(cursor, b'h')?);
    }
    let mut task = TaskDef { name, kind, handler, ..TaskDef::default() };
    let mut options = Options::of(&["delay=", "front"]);
    while let Some(option) = options.next(cursor)? {
        match option {
            0 => task.delay = cursor.number()?,
            _ => task.position = Position::Front,
        }
        cursor.end_token()?;
    }
    Ok(task)
}

fn location(known: &mut Known, cursor: &mut Cursor) -> Result<Location, LineError> {
    #[derive(Clone, Copy)]
    enum Form {
        Field,
        Static,
        Range,
    }
    if cursor.peek() == b'"' || (cursor.peek() == b'n' && cursor.peek_second().is_ascii_digit()) {
        return Ok(Location::Named(only_name(known, cursor)?));
    }
    let column = cursor.column();
    let words = [("field", Form::Field), ("static", Form::Static), ("range", Form::Range)];
    let form = one_of(cursor, words.into_iter())
        .map_err(|_| Fault::new(column, "expected a name, or one of `field`, `static`, `range`"))?;
    match form {
        Form::Field => {
            let (class, field) = (known.name(cursor)?, known.name(cursor)?);
            let mut object = 0;
            let mut options = Options::of(&["object="]);
            while options.next(cursor)?.is_some() {
                object = cursor.number()?;
                cursor.end_token()?;
            }
            Ok(Location::Field { object, class, field })
        }
        Form::Static => {
            let (class, field) = (known.name(cursor)?, known.name(cursor)?);
            cursor.end_line()?;
            Ok(Location::Static { class, field })
        }
        Form::Range => {
            let address = cursor.number()?;
            if !cursor.take(b'+') {
                return Err(cursor.fault("expected `+` and the size in bytes").into());
            }
            let size = cursor.number_32()?;
            cursor.end_token()?;
            let mut generation = 0;
            let mut options = Options::of(&["generation="]);
            while options.next(cursor)?.is_some() {
                generation = cursor.number_32()?;
                cursor.end_token()?;
            }
            Ok(Location::Range { address, size, generation })
        }
    }
}

fn only_name(known: &mut Known, cursor: &mut Cursor) -> Result<crate::ids::NameId, LineError> {
    let name = known.name(cursor)?;
    cursor.end_line()?;
    Ok(name)
}

fn input(known: &mut Known, cursor: &mut Cursor) -> Result<Input, LineError> {
    let family = one_of(cursor, FAMILIES.into_iter().map(|family| (family.word(), family)))?;
    let name = known.name(cursor)?;
    let mut input = Input { family, name, ..Input::default() };
    let mut options = Options::of(&["state=", "component=", "instance=", "argument="]);
    while let Some(option) = options.next(cursor)? {
        match option {
            0 => input.state = known.name(cursor)?,
            1 => input.component = known.name(cursor)?,
            2 => input.instance = cursor.number()?,
            _ => input.argument = cursor.number()?,
        }
        if option >= 2 {
            cursor.end_token()?;
        }
    }
    Ok(input)
}

fn site(known: &mut Known, cursor: &mut Cursor) -> Result<Site, LineError> {
    let mut site = Site::default();
    if cursor.peek() == b'"' || (cursor.peek() == b'n' && cursor.peek_second().is_ascii_digit()) {
        site.label = known.name(cursor)?;
    }
    let mut options = Options::of(&["function=", "file=", "line=", "column="]);
    while let Some(option) = options.next(cursor)? {
        match option {
            0 => site.function = known.name(cursor)?,
            1 => site.file = known.name(cursor)?,
            2 => site.line = cursor.number_32()?,
            _ => site.column = cursor.number_32()?,
        }
        if option >= 2 {
            cursor.end_token()?;
        }
    }
    Ok(site)
}

fn invocation(known: &mut Known, cursor: &mut Cursor) -> Result<Invocation, LineError> {
    let (object, method) = (known.name(cursor)?, known.name(cursor)?);
    Ok(Invocation { object, method, ..Invocation::default() })
}

fn meta(known: &mut Known, column: usize, cursor: &mut Cursor) -> Result<(), LineError> {
    if known.has_meta || known.labelled.is_some() {
        return Err(Fault::new(column, "`meta` may stand once, in front of all events").into());
    }
    known.has_meta = true;
    let mut options = Options::of(&["labels=", "order=", "origin="]);
    while let Some(option) = options.next(cursor)? {
        match option {
            0 => known.tables.meta.labels = one_of(cursor, LABELS.into_iter())?,
            1 => known.tables.meta.order = one_of(cursor, ORDERS.into_iter())?,
            _ => {
                cursor.string(&mut known.tables.meta.origin)?;
                known.open = Open::Origin;
                cursor.end_token()?;
            }
        }
    }
    Ok(())
}

/// Continues the definition of the previous line.
fn more(known: &mut Known, column: usize, cursor: &mut Cursor) -> Result<(), LineError> {
    match known.open {
        Open::Nothing => Err(Fault::new(
            column,
            "`more` must stand behind a name, meta, stack, invocation or coherence",
        )
        .into()),
        Open::Origin => {
            cursor.string(&mut known.tables.meta.origin)?;
            Ok(cursor.end_line()?)
        }
        Open::Name => {
            cursor.string(&mut known.name)?;
            Ok(cursor.end_line()?)
        }
        Open::Stack => stack_items(known, cursor),
        Open::Arguments => arguments(known, cursor),
        Open::Coherence => coherence_items(known, cursor),
    }
}

fn stack_items(known: &mut Known, cursor: &mut Cursor) -> Result<(), LineError> {
    while !cursor.at_end() {
        let site = SiteId(known.reference(cursor, b's')?);
        if let Some(stack) = known.tables.stacks.last_mut() {
            stack.push(site);
        }
    }
    Ok(())
}

fn arguments(known: &mut Known, cursor: &mut Cursor) -> Result<(), LineError> {
    let Some(invocation) = known.tables.invocations.last_mut() else {
        return Ok(());
    };
    while !cursor.at_end() {
        if cursor.take(b'-') {
            if !cursor.take(b'>') {
                return Err(cursor.fault("expected `->` and a result").into());
            }
            cursor.end_token()?;
            invocation.result = Some(cursor.number()?);
            known.open = Open::Nothing;
            cursor.end_token()?;
            return Ok(cursor.end_line()?);
        }
        invocation.arguments.push(cursor.number()?);
        cursor.end_token()?;
    }
    Ok(())
}

fn coherence_items(known: &mut Known, cursor: &mut Cursor) -> Result<(), LineError> {
    while !cursor.at_end() {
        let write = cursor.number()?;
        cursor.end_token()?;
        if let Some(coherence) = known.tables.coherence.last_mut() {
            coherence.writes.push(write);
        }
    }
    Ok(())
}
