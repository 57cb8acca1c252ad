//! States with one change.

use crate::machine::Machine;
use crate::state::{Body, Message, Object, Origin, State, canonical};
use crate::step::Log;
use crate::transitions::ghosts;
use crate::value::Value;
use std::sync::Arc;

/// A change of one thing. It names the thing by what lasts from step to step, so it also applies to
/// later states.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// A global gets a value without objects and handles.
    Global(usize, Value),
    /// A global gets what another one holds.
    Copy(usize, usize),
    /// An element of the list in a global gets a value without objects and handles.
    Element(usize, i64, Value),
    /// A field of an object gets such a value.
    Field(u64, u16, Value),
    /// An element of the list in a field gets such a value.
    FieldElement(u64, u16, i64, Value),
    /// An event member has begun, or has not. The enabled flag of a `once` member that has begun
    /// has no meaning.
    Started(u32),
    /// An event member is enabled or disabled.
    Toggled(u32),
    /// A held lock is free, or a free lock is held by an ended thread.
    Lock(u32),
    /// A message is gone.
    Drop(u64),
    /// A message has a copy, posted like the original.
    Duplicate(u64),
    /// A thread is gone.
    End(u64),
    /// A declared thread is gone.
    EndDeclared(u32),
}

impl Machine {
    /// Makes the change; `None` if there is nothing to change.
    pub(crate) fn edited(&self, before: &State, edit: &Edit) -> Option<State> {
        let mut state = before.clone();
        match edit {
            Edit::Global(global, value) => state.set_global(*global, value.clone()),
            Edit::Copy(from, to) => {
                let value = state.global(*from).clone();
                state.set_global(*to, value);
            }
            Edit::Element(global, at, value) => {
                let changed = element(state.global(*global), *at, value)?;
                state.set_global(*global, changed);
            }
            Edit::Field(uid, field, value) => {
                let (number, _) = object(&state, *uid)?;
                state.change_field(number, usize::from(*field), |slot| *slot = value.clone())?;
            }
            Edit::FieldElement(uid, field, at, value) => {
                let (number, object) = object(&state, *uid)?;
                let changed = element(object.fields.get(usize::from(*field))?, *at, value)?;
                state.change_field(number, usize::from(*field), |slot| *slot = changed)?;
            }
            Edit::Started(member) => {
                let flag = self.layout.started_flag(*member);
                let on = state.flag(flag);
                state.set_flag(flag, !on);
                let event = self.layout.members.get(*member as usize)?.0;
                if !on && self.program.events[usize::from(event)].once {
                    state.set_flag(self.layout.toggled_flag(*member), false);
                }
            }
            Edit::Toggled(member) => {
                let event = self.layout.members.get(*member as usize)?.0;
                if self.program.events[usize::from(event)].once
                    && state.flag(self.layout.started_flag(*member))
                {
                    return None;
                }
                let flag = self.layout.toggled_flag(*member);
                let on = state.flag(flag);
                state.set_flag(flag, !on);
            }
            Edit::Lock(lock) => {
                let held = state.lock(*lock as usize) != 0;
                let owner = if held { 0 } else { self.layout.owner_dynamic(0) };
                state.set_lock(*lock as usize, owner);
            }
            Edit::Drop(uid) => {
                let (queue, at) = message(&state, *uid)?;
                state.change_queue(queue, |queue| queue.remove(at));
            }
            Edit::Duplicate(uid) => {
                let (queue, at) = message(&state, *uid)?;
                let kind = self.layout.mailbox(queue);
                let one = &state.queue(queue)[at];
                let (task, args) = (one.task, one.args.clone());
                let due = one.due;
                let front = one.front;
                let body = Body { task, front, handle: 0, due, args };
                let copy = Message::new(queue as u32, kind, state.next_uid, body);
                state.next_uid += 1;
                state.change_queue(queue, |queue| {
                    crate::step::insert(self, kind, front, queue, copy);
                });
            }
            Edit::End(uid) => {
                let all = state.threads();
                let at = all.iter().position(|thread| thread.uid == *uid && *uid != 0)?;
                self.end(&mut state, at);
            }
            Edit::EndDeclared(member) => {
                let all = state.threads();
                let at = all.iter().position(|t| t.origin == Origin::Declared(*member))?;
                self.end(&mut state, at);
            }
        }
        if self.needs_numbering {
            // Like a step that keeps a log.
            let ghosts = ghosts(before, &Log::default());
            canonical::canonicalize_with_ghosts(self, &mut state, ghosts);
        }
        Some(state)
    }

    fn end(&self, state: &mut State, at: usize) {
        let thread = state.change_threads(|threads| threads.remove(at));
        if thread.origin != Origin::Dynamic {
            return;
        }
        let owner = self.layout.owner_dynamic(thread.handle);
        for lock in 0..self.layout.locks as usize {
            if state.lock(lock) == owner {
                state.set_lock(lock, self.layout.owner_dynamic(0));
            }
        }
    }
}

fn element(container: &Value, at: i64, value: &Value) -> Option<Value> {
    let Value::List(list) = container else { return None };
    let mut items = list.items().to_vec();
    *items.get_mut(usize::try_from(at).ok()?)? = value.clone();
    Some(Value::list(items))
}

fn object(state: &State, uid: u64) -> Option<(u32, Arc<Object>)> {
    let mut all = (1..).zip(state.heap());
    all.find(|(_, object)| object.uid == uid).map(|(number, object)| (number, object.clone()))
}

fn message(state: &State, uid: u64) -> Option<(usize, usize)> {
    state.queues().find_map(|(queue, list)| {
        let at = list.iter().position(|message| message.uid == uid)?;
        Some((queue, at))
    })
}
