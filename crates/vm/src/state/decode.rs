//! Decodes states from untrusted bytes.

use super::bytes::Reader;
use super::encode::encode;
use super::message::{Body, Message};
use super::object::Object;
use super::parts::State;
use super::thread::{Frame, Origin, Status, Thread, ThreadBody};
use crate::machine::{DEPTH_MAX, FRAMES_MAX, Machine};
use crate::program::Op;
use crate::value::Value;
use std::sync::Arc;

/// Decodes a state. Returns `None` unless the bytes are those of a state in canonical form.
pub(crate) fn decode(machine: &Machine, bytes: &[u8]) -> Option<State> {
    let mut reader = Reader::new(&machine.program, bytes);
    let mut state = read(machine, &mut reader)?;
    if !reader.is_at_end() {
        return None;
    }
    state.recompute_sum();
    // A state that is not sorted, not minimal or not canonical encodes to other bytes.
    let mut encoded = Vec::with_capacity(bytes.len());
    if machine.needs_numbering {
        super::canonical::canonicalize(machine, &mut state);
    }
    encode(machine, &state, &mut encoded);
    if encoded == bytes { Some(state) } else { None }
}

fn read(machine: &Machine, reader: &mut Reader<'_>) -> Option<State> {
    let globals = machine.program.globals.len();
    let mut state = State::new(reader.items(globals, |reader| reader.value(DEPTH_MAX))?);
    let words = reader.list(Reader::number)?;
    if words.len() > machine.layout.flags().div_ceil(64) {
        return None;
    }
    state.replace_flags(&words);
    let layout = &machine.layout;
    let past = |(member, (event, _)): (u32, &(u16, i64))| {
        machine.program.events[usize::from(*event)].once
            && state.flag(layout.started_flag(member))
            && state.flag(layout.toggled_flag(member))
    };
    if (0..).zip(&layout.members).any(past) {
        return None;
    }
    let locks = reader.list(Reader::number32)?;
    if locks.len() > machine.layout.locks as usize {
        return None;
    }
    state.replace_locks(locks);
    state.replace_heap(reader.list(|reader| object(machine, reader))?);
    state.replace_messages(queues(machine, reader)?);
    // These numbers identify messages and threads before and after a step.
    state.next_uid = state.messages().len() as u64 + 1;
    let threads = reader.list(|reader| {
        state.next_uid += 1;
        thread(machine, state.next_uid - 1, reader)
    })?;
    let sorted = threads.windows(2).all(|pair| {
        pair[0].origin < pair[1].origin
            || (pair[0].origin, pair[1].origin) == (Origin::Dynamic, Origin::Dynamic)
    });
    state.replace_threads(threads);
    (sorted && refers_inside(&state)).then_some(state)
}

fn object(machine: &Machine, reader: &mut Reader<'_>) -> Option<Arc<Object>> {
    let class = reader.number16()?;
    let count = machine.program.classes.get(usize::from(class))?.fields.len();
    let fields = reader.items(count, |reader| reader.value(DEPTH_MAX))?;
    let mut object = Object { class, fields, uid: 0, hash: 0 };
    object.rehash();
    Some(Arc::new(object))
}

fn queues(machine: &Machine, reader: &mut Reader<'_>) -> Option<Vec<Message>> {
    let mut messages: Vec<Message> = Vec::new();
    for _ in 0..reader.count()? {
        let index = usize::try_from(reader.number()?).ok()?;
        let last = messages.last().map(|message| message.queue as usize);
        if index > machine.layout.pool() || last.is_some_and(|last| index <= last) {
            return None;
        }
        let count = reader.count()?;
        if count == 0 {
            return None;
        }
        for _ in 0..count {
            let uid = messages.len() as u64 + 1;
            messages.push(message(machine, (index, uid), reader)?);
        }
    }
    Some(messages)
}

fn message(
    machine: &Machine,
    (queue, uid): (usize, u64),
    reader: &mut Reader<'_>,
) -> Option<Message> {
    let task = reader.number16()?;
    let declared = machine.program.tasks.get(usize::from(task))?;
    let params = machine.program.functions[declared.body.index()].params;
    let head = reader.number()?;
    let handle = u32::try_from(head >> 1).ok()?;
    let due = reader.number()?;
    let args = reader.value(DEPTH_MAX)?;
    let fits = match params {
        0 => args == Value::Null,
        1 => true,
        n => matches!(&args, Value::List(list) if list.items().len() == usize::from(n)),
    };
    let front = head & 1 == 1;
    let kind = machine.layout.mailbox(queue);
    let body = Body { task, front, handle, due, args };
    fits.then(|| Message::new(queue as u32, kind, uid, body))
}

fn pair(reader: &mut Reader<'_>) -> Option<(u64, u32)> {
    let number = reader.number()?;
    Some((number % 4, u32::try_from(number / 4).ok()?))
}

fn thread(machine: &Machine, uid: u64, reader: &mut Reader<'_>) -> Option<Arc<Thread>> {
    let layout = &machine.layout;
    let origin = match pair(reader)? {
        (0, n) if (n as usize) < layout.thread_members.len() => Origin::Declared(n),
        (1, slot) if slot < layout.slots => Origin::Slot(slot),
        (2, 0) => Origin::Dynamic,
        _ => return None,
    };
    let body = match pair(reader)? {
        (0, 0) => ThreadBody::Thread,
        (1, n) if (n as usize) < layout.members.len() => ThreadBody::Event(n),
        (2, n) if (n as usize) < machine.program.tasks.len() => ThreadBody::Task(n as u16),
        (3, n) if (n as usize) < machine.program.functions.len() => ThreadBody::Func(n as u16),
        _ => return None,
    };
    let status = match pair(reader)? {
        (0, 0) => Status::Ready,
        (1, lock) => match pair(reader)? {
            (0, cond) => Status::Waiting { cond, lock },
            _ => return None,
        },
        (2, lock) => Status::Woken { lock },
        _ => return None,
    };
    if let Status::Waiting { lock, .. } | Status::Woken { lock } = status
        && lock >= layout.locks
    {
        return None;
    }
    let handle = reader.number32()?;
    let frames = frames(machine, reader, status)?;
    let registers = frames
        .iter()
        .map(|f| usize::from(machine.program.functions[usize::from(f.func)].registers));
    let regs = reader.items(registers.sum(), |reader| reader.value(DEPTH_MAX))?;
    let uid = if let Origin::Declared(_) = origin { 0 } else { uid };
    let mut thread = Thread { origin, body, status, handle, frames, regs, uid, hash: 0 };
    thread.rehash();
    Some(Arc::new(thread))
}

fn frames(machine: &Machine, reader: &mut Reader<'_>, status: Status) -> Option<Vec<Frame>> {
    let count = reader.count()?;
    if count == 0 || count > FRAMES_MAX + 1 {
        return None;
    }
    let mut frames = Vec::new();
    for i in 0..count {
        let frame =
            Frame { func: reader.number16()?, pc: reader.number32()?, dst: reader.number16()? };
        let function = machine.program.functions.get(usize::from(frame.func))?;
        let op = function.code.get(frame.pc as usize)?;
        let outer = i + 1 < count;
        if (outer && frame.dst >= function.registers) || (!outer && frame.dst != 0) {
            return None;
        }
        let waits = matches!(op, Op::Wait { .. });
        if !outer && status != Status::Ready && !waits {
            return None;
        }
        frames.push(frame);
    }
    Some(frames)
}

/// Returns whether every referenced object exists.
fn refers_inside(state: &State) -> bool {
    fn inside(value: &Value, objects: usize) -> bool {
        !value.has_refs()
            || match value {
                Value::Obj(number) => *number >= 1 && *number as usize <= objects,
                _ => value.children().all(|child| inside(child, objects)),
            }
    }
    let objects = state.heap().len();
    let fields = state.heap().iter().flat_map(|object| &object.fields);
    state.roots().chain(fields).all(|value| inside(value, objects))
}
