//! Lines with definitions: one function for each word.

use super::cursor::Cursor;
use super::known::{Known, Open};
use super::parts::{Entry, Part, Parts};
use crate::fault::{Fault, LineError};
use anyorder_common::coded::Worded;
use anyorder_trace::{Coherence, HandlerId, Location, LocationId, Position, SiteId, Tables};

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
        b"handler" => entry(known, cursor, b'h', whole_line, |tables| &mut tables.handlers),
        b"change" => {
            let id = known.reference(cursor, b'h')?;
            known.tables.handlers[id as usize] = whole_line(known, cursor)?;
            Ok(())
        }
        b"task" => entry(known, cursor, b't', whole_line, |tables| &mut tables.tasks),
        b"location" => entry(known, cursor, b'x', location, |tables| &mut tables.locations),
        b"lock" => entry(known, cursor, b'l', whole_line, |tables| &mut tables.locks),
        b"condition" => entry(known, cursor, b'c', whole_line, |tables| &mut tables.conditions),
        b"input" => entry(known, cursor, b'i', whole_line, |tables| &mut tables.inputs),
        b"site" => entry(known, cursor, b's', whole_line, |tables| &mut tables.sites),
        b"stack" => {
            known.next_id(cursor, b'k')?;
            known.tables.stacks.push(Vec::new());
            known.open = Open::Stack;
            stack_items(known, cursor)
        }
        b"invocation" => {
            entry(known, cursor, b'v', read, |tables| &mut tables.invocations)?;
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

/// Adds the next entry of a table, or an empty one in its place if `read` fails.
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

/// Takes the parts of an entry up to the end of the line.
fn whole_line<T: Entry + Default>(known: &mut Known, cursor: &mut Cursor) -> Result<T, LineError> {
    let entry = read(known, cursor)?;
    cursor.end_line()?;
    Ok(entry)
}

/// Takes the parts of an entry.
fn read<T: Entry + Default>(known: &mut Known, cursor: &mut Cursor) -> Result<T, LineError> {
    let mut entry = T::default();
    parts(known, cursor, entry.parts())?;
    Ok(entry)
}

fn parts(
    known: &mut Known,
    cursor: &mut Cursor,
    (fixed, options): Parts<'_>,
) -> Result<(), LineError> {
    for part in fixed {
        let absent = match part {
            Part::NameIfAny(_) => !at_name(cursor),
            Part::HandlerIfAny(_) => !at_id(cursor, b'h'),
            Part::WordOrEnd(_) => cursor.at_end(),
            _ => false,
        };
        if !absent {
            take(known, cursor, part)?;
        }
    }
    if options.is_empty() { Ok(()) } else { take_options(known, cursor, options) }
}

/// Takes a part with the spaces behind it.
fn take(known: &mut Known, cursor: &mut Cursor, part: Part<'_>) -> Result<(), LineError> {
    match part {
        Part::Name(name) | Part::NameIfAny(name) => {
            *name = known.name(cursor)?;
            return Ok(());
        }
        Part::Word(word) | Part::WordOrEnd(word) => return Ok(one_of(cursor, word)?),
        Part::HandlerIfAny(handler) => {
            *handler = HandlerId(known.reference(cursor, b'h')?);
            return Ok(());
        }
        Part::Range(address, size) => {
            *address = cursor.number()?;
            if !cursor.take(b'+') {
                return Err(cursor.fault("expected `+` and the size in bytes").into());
            }
            *size = cursor.number_32()?;
        }
        Part::Number(number) | Part::Address(number) => *number = cursor.number()?,
        Part::Number32(number) => *number = cursor.number_32()?,
        Part::Untracked(untracked) => *untracked = true,
        Part::Front(position) => *position = Position::Front,
        Part::Text(text) => {
            cursor.string(text)?;
            known.open = Open::Origin;
        }
    }
    Ok(cursor.end_token()?)
}

fn at_name(cursor: &Cursor) -> bool {
    cursor.peek() == b'"' || at_id(cursor, b'n')
}

fn at_id(cursor: &Cursor, letter: u8) -> bool {
    cursor.peek() == letter && cursor.peek_second().is_ascii_digit()
}

/// Takes options up to the end of the line, each once at the most.
fn take_options(
    known: &mut Known,
    cursor: &mut Cursor,
    options: Vec<(&'static str, Part<'_>)>,
) -> Result<(), LineError> {
    let keys: Vec<&str> = options.iter().map(|(key, _)| *key).collect();
    let mut parts: Vec<Option<Part<'_>>> =
        options.into_iter().map(|(_, part)| Some(part)).collect();
    while !cursor.at_end() {
        let column = cursor.column();
        let word = cursor.word();
        let same = |key: &&str| key.strip_suffix('=').unwrap_or(key).as_bytes() == word;
        let Some(found) = keys.iter().position(same) else {
            let message = format!("expected one of `{}`", keys.join("`, `"));
            return Err(Fault::new(column, message).into());
        };
        if keys[found].ends_with('=') && !cursor.take(b'=') {
            return Err(cursor.fault("expected `=`").into());
        }
        let Some(part) = parts[found].take() else {
            return Err(Fault::new(column, format!("`{}` stands here twice", keys[found])).into());
        };
        take(known, cursor, part)?;
    }
    Ok(())
}

/// Takes one of the words of a value.
fn one_of(cursor: &mut Cursor, value: &mut dyn Worded) -> Result<(), Fault> {
    let column = cursor.column();
    let word = cursor.word();
    let words = value.choices();
    let Some(choice) = words.iter().position(|known| known.as_bytes() == word) else {
        return Err(Fault::new(column, format!("expected one of `{}`", words.join("`, `"))));
    };
    cursor.end_token()?;
    value.choose(choice);
    Ok(())
}

fn location(known: &mut Known, cursor: &mut Cursor) -> Result<Location, LineError> {
    let mut sort = 0;
    if !at_name(cursor) {
        let column = cursor.column();
        let word = cursor.word();
        let found = Location::SORTS.iter().position(|sort| sort.as_bytes() == word);
        sort = found.filter(|sort| *sort > 0 && cursor.end_token().is_ok()).ok_or_else(|| {
            Fault::new(column, "expected a name, or one of `field`, `static`, `range`")
        })?;
    }
    let mut location = Location::of_sort(sort as u8).unwrap_or_default();
    parts(known, cursor, location.parts())?;
    cursor.end_line()?;
    Ok(location)
}

fn meta(known: &mut Known, column: usize, cursor: &mut Cursor) -> Result<(), LineError> {
    if known.has_meta || known.labelled.is_some() {
        return Err(Fault::new(column, "`meta` may stand once, in front of all events").into());
    }
    known.has_meta = true;
    let mut meta = std::mem::take(&mut known.tables.meta);
    let result = parts(known, cursor, meta.parts());
    known.tables.meta = meta;
    result
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
