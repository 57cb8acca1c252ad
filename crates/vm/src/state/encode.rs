//! Encodes states: their canonical form as bytes.

use super::bytes::{put, put_value};
use super::parts::State;
use super::thread::{Origin, Status, Thread};
use crate::machine::Machine;
use crate::sabotage::Sabotage;

/// Appends a state. Two states of a machine are equal if and only if their bytes are equal.
pub(crate) fn encode(machine: &Machine, state: &State, out: &mut Vec<u8>) {
    for i in 0..machine.program.globals.len() {
        put_value(out, state.global(i));
    }
    let words: Vec<u64> = state.flag_words().collect();
    let words = if words == [0] { &[] } else { &words[..] };
    put(out, words.len() as u64);
    words.iter().for_each(|word| put(out, *word));
    let locks = if machine.sabotage == Sabotage::ForgetLocks { &[] } else { state.locks() };
    put(out, locks.len() as u64);
    locks.iter().for_each(|owner| put(out, u64::from(*owner)));
    put(out, state.heap().len() as u64);
    for object in state.heap() {
        put(out, u64::from(object.class));
        object.fields.iter().for_each(|field| put_value(out, field));
    }
    put_queues(machine, state, out);
    put_threads(machine, state, out);
}

fn put_queues(machine: &Machine, state: &State, out: &mut Vec<u8>) {
    put(out, state.queues().count() as u64);
    for (i, queue) in state.queues() {
        put(out, i as u64);
        put(out, queue.len() as u64);
        for message in queue {
            put(out, u64::from(message.task));
            put(out, (u64::from(message.handle) << 1) | u64::from(message.front));
            put(out, if machine.sabotage == Sabotage::ForgetDue { 0 } else { message.due });
            put_value(out, &message.args);
        }
    }
}

fn put_threads(machine: &Machine, state: &State, out: &mut Vec<u8>) {
    let mut threads: Vec<&Thread> = state.threads().iter().map(|thread| &**thread).collect();
    if machine.sabotage == Sabotage::OneOfEquals {
        threads.dedup_by(|a, b| {
            a.origin == Origin::Dynamic
                && a.position_hash() == b.position_hash()
                && a.regs == b.regs
        });
    }
    put(out, threads.len() as u64);
    for thread in threads {
        let mut pair = |(kind, number): (u64, u32)| put(out, kind + 4 * u64::from(number));
        pair(thread.origin.code());
        pair(thread.body.code());
        match thread.status {
            Status::Ready => pair((0, 0)),
            Status::Waiting { cond, lock } => {
                pair((1, lock));
                pair((0, cond));
            }
            Status::Woken { lock } => pair((2, lock)),
        }
        put(out, u64::from(thread.handle));
        put(out, thread.frames.len() as u64);
        for frame in &thread.frames {
            put(out, u64::from(frame.func));
            put(out, u64::from(frame.pc));
            put(out, u64::from(frame.dst));
        }
        thread.regs.iter().for_each(|reg| put_value(out, reg));
    }
}
