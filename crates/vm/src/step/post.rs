//! Posting and cancelling.

use super::fault::{FailureKind, Stop};
use super::interpreter::Interpreter;
use super::log::Created;
use crate::machine::Machine;
use crate::program::{MailboxKind, PostId, PostTarget, Reg};
use crate::sabotage::Sabotage;
use crate::state::{Body, Message};
use crate::value::Value;

/// Packs arguments: none, one, or a list.
pub(crate) fn pack(args: &[Value]) -> Value {
    match args {
        [] => Value::Null,
        [one] => one.clone(),
        many => Value::list(many.to_vec()),
    }
}

/// Unpacks `count` arguments into the first registers.
pub(crate) fn unpack(args: &Value, count: u16, regs: &mut [Value]) {
    match (count, args) {
        (1, one) => regs[0] = one.clone(),
        (2.., Value::List(list)) => {
            for (reg, value) in regs.iter_mut().zip(list.items()) {
                *reg = value.clone();
            }
        }
        _ => {}
    }
}

/// Inserts a message at its position in its mailbox, or in front of all others.
pub(crate) fn insert(
    machine: &Machine,
    kind: MailboxKind,
    front: bool,
    messages: &mut Vec<Message>,
    message: Message,
) {
    if front {
        return messages.insert(0, message);
    }
    let at = match kind {
        MailboxKind::Bag if machine.sabotage == Sabotage::KeepBagOrder => messages.len(),
        _ => message.place_in(messages, kind),
    };
    messages.insert(at, message);
    if machine.sabotage == Sabotage::SortFifo && kind == MailboxKind::Fifo {
        messages.sort_by(|a, b| a.bag_key().cmp(&b.bag_key()));
    }
}

impl Interpreter<'_> {
    pub(crate) fn post(&mut self, dst: Reg, post: PostId, args: Reg) -> Result<(), Stop> {
        let machine = self.machine;
        let declared = &machine.program.posts[post.index()];
        let number = self.task_for(declared.task.0);
        let task = &machine.program.tasks[usize::from(number)];
        let home = self.target(declared.target, task.handler)?;
        let delay = self.delay(declared.delay)?;
        let queue = if machine.is_unbound() { machine.layout.pool() } else { home };
        let kind = machine.layout.mailbox(queue);
        let params = machine.program.functions[task.body.index()].params;
        let args = pack(self.slice(args, params));
        self.check_size(&args)?;
        self.count_created()?;
        let handle = if dst.some().is_some() { self.next_handle() } else { 0 };
        let uid = self.next_uid();
        let first = declared.front && !machine.is_unbound();
        let front = first && kind == MailboxKind::Bag;
        let due = if kind == MailboxKind::Delayed && !declared.front { delay } else { 0 };
        let body = Body { task: number, front, handle, due, args };
        let message = Message::new(queue as u32, kind, uid, body);
        self.record_post(kind, first, &message);
        let state = self.own.get_or_insert_with(|| self.base.clone());
        state.change_queue(queue, |queue| insert(machine, kind, first, queue, message));
        self.log_post(kind, queue as u32, first);
        if let Some(log) = &mut self.log {
            let (queue, front) = (home as u32, declared.front);
            let delay = if machine.is_unbound() { delay } else { due };
            log.created.push(Created { uid, fork: false, number, queue, front, delay });
        }
        if let Some(dst) = dst.some() {
            self.set(dst, Value::Handle(handle));
        }
        Ok(())
    }

    fn target(
        &self,
        target: PostTarget,
        own: Option<(crate::program::HandlerId, u16)>,
    ) -> Result<usize, Stop> {
        let layout = &self.machine.layout;
        match (target, own) {
            (PostTarget::Own, Some((handler, instance))) => {
                Ok((layout.handler_first[handler.index()] + u32::from(instance)) as usize)
            }
            (PostTarget::Handler(handler, index), _) => {
                let array = self.machine.program.handlers[handler.index()].array;
                let member = self.member(index, array)?;
                Ok((layout.handler_first[handler.index()] + member) as usize)
            }
            (PostTarget::Any | PostTarget::Own, _) => Ok(layout.pool()),
        }
    }

    fn delay(&self, delay: Reg) -> Result<u64, Stop> {
        let Some(delay) = delay.some() else { return Ok(0) };
        match self.get(delay) {
            Value::Int(delay) => match u64::try_from(*delay) {
                Ok(delay) => Ok(delay),
                Err(_) => Err(self.fault(FailureKind::Index, format!("a delay of {delay}"))),
            },
            other => Err(self.bad_type("a delay is an int, not", other)),
        }
    }

    pub(crate) fn cancel(&mut self, src: Reg) -> Result<(), Stop> {
        let handle = match self.get(src) {
            Value::Null => return Ok(()),
            Value::Handle(handle) => *handle,
            other => return Err(self.lacks("nothing to cancel", other)),
        };
        self.log_lifecycle();
        if handle == 0 {
            return Ok(());
        }
        self.log_cancel(handle);
        if let Some((queue, at)) = self.state().message_with(handle) {
            let message = self.state_mut().change_queue(queue, |queue| queue.remove(at));
            if let Some(log) = &mut self.log {
                log.cancelled.push((message.uid, handle));
            }
        }
        Ok(())
    }
}
