//! Lines that hold an event: `t3 write x0 @s4 value=5 #12`.

use super::cursor::Cursor;
use super::known::Known;
use super::words::{letter, mode};
use crate::fault::{Fault, LineError};
use anyorder_trace::{
    Columns, EventKind, LabelScheme, Mode, NameId, Op, OperandKind, SiteId, StackId, TaskId,
};

/// The parts of an event that may be absent.
#[derive(Default)]
struct Parts {
    site: Option<SiteId>,
    label: Option<u32>,
    value: Option<u64>,
    time: Option<u64>,
    stack: Option<StackId>,
    refers: Option<u64>,
    operand: Option<u32>,
}

/// Parses an event, starting at its task, and appends it.
#[inline]
pub(super) fn event(
    known: &mut Known,
    cursor: &mut Cursor,
    columns: &mut Columns,
) -> Result<(), LineError> {
    known.close()?;
    let task = TaskId(known.reference(cursor, b't')?);
    let op = op(cursor)?;
    let kind = op.kind();
    let operand = match kind.operand() {
        OperandKind::Nothing => 0,
        OperandKind::Number => {
            let number = cursor.number_32()?;
            cursor.end_token()?;
            number
        }
        OperandKind::Name => known.name(cursor)?.0,
        table => known.reference(cursor, letter(table))?,
    };
    let mut parts = Parts::default();
    while !cursor.at_end() {
        part(known, cursor, &mut parts, kind)?;
    }
    if *known.labelled.get_or_insert(parts.label.is_some()) != parts.label.is_some() {
        let expected = match parts.label {
            None => "expected a label such as `#12`, as the first event has one",
            Some(_) => "expected no label, as the first event has none",
        };
        return Err(cursor.fault(expected).into());
    }
    let row = columns.len() as u32;
    let operand = parts.operand.unwrap_or(operand);
    columns.push(op, task, operand, parts.site.unwrap_or(SiteId::UNKNOWN));
    columns.numbers.extend(parts.label);
    columns.values.extend(row, parts.value);
    columns.times.extend(row, parts.time);
    columns.stacks.extend(row, parts.stack);
    columns.refers.extend(row, parts.refers);
    Ok(())
}

/// Takes a kind and a mode: `read`, `read.acquire`.
#[inline]
fn op(cursor: &mut Cursor) -> Result<Op, Fault> {
    let column = cursor.column();
    let word = cursor.word();
    let kind = EventKind::ALL.into_iter().find(|kind| kind.word().as_bytes() == word);
    let Some(kind) = kind else {
        let words: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.word()).collect();
        let message = format!("expected the kind of an event: {}", words.join(", "));
        return Err(Fault::new(column, message));
    };
    let mut found = Mode::PLAIN;
    if cursor.take(b'.') {
        let column = cursor.column();
        let known = mode(kind, cursor.word());
        let known = known.filter(|known| Op::new(kind, *known).mode() == *known);
        found = known.ok_or_else(|| {
            Fault::new(
                column,
                "expected a mode: relaxed, acquire, release, acq_rel, seq_cst for accesses; shared, try, \
                 try_shared for acquire and release; else mode1 to mode7 (mode3 for other and request)",
            )
        })?;
    }
    cursor.end_token()?;
    Ok(Op::new(kind, found))
}

/// Takes one of the optional parts.
fn part(
    known: &mut Known,
    cursor: &mut Cursor,
    parts: &mut Parts,
    kind: EventKind,
) -> Result<(), LineError> {
    let column = cursor.column();
    if cursor.take(b'@') {
        let site = SiteId(known.reference(cursor, b's')?);
        return once(&mut parts.site, site, column);
    }
    if cursor.take(b'#') {
        let label = label(known, cursor)?;
        return once(&mut parts.label, label, column);
    }
    let key = cursor.word();
    if !cursor.take(b'=') {
        return Err(Fault::new(column, EXPECTED).into());
    }
    match key {
        b"value" => number(&mut parts.value, cursor, column),
        b"time" => number(&mut parts.time, cursor, column),
        b"refers" if cursor.peek() == b'i' => {
            let column = cursor.column();
            if cursor.word() != b"initial" {
                return Err(Fault::new(column, "expected a number or `initial`").into());
            }
            cursor.end_token()?;
            once(&mut parts.refers, Columns::INITIAL, column)
        }
        b"refers" => number(&mut parts.refers, cursor, column),
        b"stack" => {
            let stack = StackId(known.reference(cursor, b'k')?);
            once(&mut parts.stack, stack, column)
        }
        b"operand" if kind.operand() == OperandKind::Nothing => {
            let operand = cursor.number_32()?;
            cursor.end_token()?;
            once(&mut parts.operand, operand, column)
        }
        _ => Err(Fault::new(column, EXPECTED).into()),
    }
}

const EXPECTED: &str = "expected a site such as `@s1`, a label such as `#12`, or one of `value=`, `time=`, \
                        `stack=`, `refers=`";

/// Sets a part that may occur only once.
fn once<T>(slot: &mut Option<T>, value: T, column: usize) -> Result<(), LineError> {
    if slot.replace(value).is_some() {
        return Err(Fault::new(column, "this stands here twice").into());
    }
    Ok(())
}

fn number(slot: &mut Option<u64>, cursor: &mut Cursor, column: usize) -> Result<(), LineError> {
    let value = cursor.number()?;
    cursor.end_token()?;
    once(slot, value, column)
}

/// Takes a label after its `#`: a number, or a name in traces labelled by name; `-` for none.
fn label(known: &mut Known, cursor: &mut Cursor) -> Result<u32, LineError> {
    if known.tables.meta.labels == LabelScheme::Name {
        if cursor.take(b'-') {
            cursor.end_token()?;
            return Ok(NameId::NONE.0);
        }
        return Ok(known.name(cursor)?.0);
    }
    let number = cursor.number_32()?;
    cursor.end_token()?;
    Ok(number)
}
