//! The footprint of a remembered step. Its reads and writes are known. Only whether a write changes
//! anything depends on the state.

use super::super::accesses::Sink;
use crate::machine::{INIT_FLAG, Kind, Machine, Places, Tables};
use crate::program::MailboxKind;
use crate::state::{Effect, State};
use crate::step::memo::{FlagWrite, Footprint, Leaf, MemoryWrite, ReadPlace, StepResult};
use crate::value::Value;
use anyorder_system::{Place, TouchKind, Touched};

/// Adds what a remembered step or property touches in a state. Returns whether it posts to delayed
/// mailboxes: the first message there depends on the state.
pub(super) fn report(
    machine: &Machine,
    tables: &Tables,
    state: &State,
    leaf: &mut Leaf,
    out: &mut Vec<Touched>,
) -> bool {
    if leaf.footprint.is_none() {
        leaf.footprint = Some(Box::new(footprint(machine, tables, leaf)));
    }
    let Some(footprint) = &leaf.footprint else { return false };
    out.extend_from_slice(&footprint.fixed);
    let mut sink = Sink { machine, out };
    if !footprint.writes.is_empty()
        && let StepResult::Effects(delta) = &leaf.result
    {
        for written in &footprint.writes {
            memory_write(state, &delta.effects[written.effect], written, &mut sink);
        }
    }
    for FlagWrite { flag, value, place } in &footprint.flags {
        if state.flag(*flag) != *value {
            sink.push(write(*place));
        }
    }
    footprint.delayed
}

fn read(place: Place) -> Touched {
    Touched { place, kind: TouchKind::Read }
}

fn write(place: Place) -> Touched {
    Touched { place, kind: TouchKind::Write }
}

fn memory_write(
    state: &State,
    effect: &Effect,
    written: &MemoryWrite,
    out: &mut Sink<'_, Touched>,
) {
    let (global, value) = match effect {
        Effect::Set { global, value, .. } | Effect::SetAt { global, value, .. } => (*global, value),
        _ => return,
    };
    let container = state.global(usize::from(global));
    let old = match effect {
        Effect::SetAt { index, .. } => container.element(index),
        _ => Some(container),
    };
    let same = old.is_some_and(|old| old.is_identical(value) || old == value);
    let kind = if same { TouchKind::SilentWrite } else { TouchKind::Write };
    match written.element {
        Some(element) if old.is_some() => {
            out.push(read(written.container));
            out.push(Touched { place: element, kind });
        }
        // A new key changes the map as a whole.
        _ => out.push(Touched { place: written.container, kind }),
    }
    if same {
        written.silent.iter().for_each(|touched| out.push(*touched));
    }
}

fn footprint(machine: &Machine, tables: &Tables, leaf: &Leaf) -> Footprint {
    let mut footprint = Footprint::default();
    let places = &tables.places;
    let mut fixed = Sink { machine, out: &mut footprint.fixed };
    for (place, value) in &leaf.reads {
        match place {
            ReadPlace::Args => {}
            ReadPlace::Global(global) => {
                fixed.push(read(places.at(Kind::Global, u64::from(*global))));
                elements(tables, *global, value, &mut fixed);
            }
            ReadPlace::Element(global, index) => {
                let container = places.at(Kind::Global, u64::from(*global));
                fixed.push(read(container));
                fixed.push(read(Places::element(container, index)));
            }
        }
    }
    if let StepResult::Effects(delta) = &leaf.result {
        for (i, effect) in delta.effects.iter().enumerate() {
            footprint.effect(machine, tables, i, effect);
        }
    }
    footprint
}

impl Footprint {
    fn effect(&mut self, machine: &Machine, tables: &Tables, number: usize, effect: &Effect) {
        let places = &tables.places;
        let mut fixed = Sink { machine, out: &mut self.fixed };
        match effect {
            Effect::Set { global, value, .. } => {
                let container = places.at(Kind::Global, u64::from(*global));
                let mut silent = Vec::new();
                elements(tables, *global, value, &mut Sink { machine, out: &mut silent });
                self.writes.push(MemoryWrite { effect: number, container, element: None, silent });
            }
            Effect::SetAt { global, index, .. } => {
                let container = places.at(Kind::Global, u64::from(*global));
                let element = Some(Places::element(container, index));
                let silent = Vec::new();
                self.writes.push(MemoryWrite { effect: number, container, element, silent });
            }
            Effect::Flag { flag: INIT_FLAG, .. } => {}
            Effect::Flag { flag, value } => {
                let members = machine.layout.members.len();
                let toggled = *flag > members;
                let member = (if toggled { flag - 1 - members } else { flag - 1 }) as u64;
                fixed.push(read(places.at(Kind::Started, member)));
                fixed.push(read(places.at(Kind::Toggled, member)));
                let kind = if toggled { Kind::Toggled } else { Kind::Started };
                let place = places.at(kind, member);
                self.flags.push(FlagWrite { flag: *flag, value: *value, place });
            }
            Effect::Post { kind, first, message } => {
                self.delayed |= *kind == MailboxKind::Delayed;
                fixed.push(write(Places::standing(super::keys::message(machine, message))));
                let write = |kind| write(places.at(kind, u64::from(message.queue)));
                match kind {
                    _ if *first => fixed.push(write(Kind::Head)),
                    MailboxKind::Bag => {}
                    MailboxKind::Fifo => fixed.push(write(Kind::Tail)),
                    MailboxKind::Delayed => {
                        fixed.push(read(Places::NOW));
                        fixed.push(write(Kind::Tail));
                    }
                }
            }
        }
    }
}

/// Adds the elements of a container that is read, if code writes them one by one.
fn elements(tables: &Tables, global: u16, value: &Value, out: &mut Sink<'_, Touched>) {
    let container = tables.places.at(Kind::Global, u64::from(global));
    if !tables.elements.has_global(global) {
        return;
    }
    for (index, _) in value.elements() {
        out.push(read(Places::element(container, &index)));
    }
}
