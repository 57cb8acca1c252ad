//! Bodies that pause are threads of the next state; threads that have ended are not.

use super::executor::StepExecutor;
use crate::state::{Frame, Message, Origin, Status, Thread, ThreadBody};
use crate::step::{End, Stop};
use std::sync::Arc;

impl StepExecutor<'_> {
    /// Runs the body of an event or task that has just begun, to its end or to its first visible
    /// instruction.
    pub(super) fn body(
        &mut self,
        origin: Origin,
        body: ThreadBody,
        message: Option<&Message>,
    ) -> Result<(), Stop> {
        // The start is the visible part of the step.
        self.interpreter.visible_done = true;
        let end = self.interpreter.run()?;
        if end == End::Returned {
            return Ok(());
        }
        let uid = match message {
            Some(message) => message.uid,
            None => self.interpreter.next_uid(),
        };
        let handle = message.map_or(0, |message| message.handle);
        let thread = self.save(origin, body, end, handle, uid);
        self.interpreter.state_mut().change_threads(|threads| {
            let place = threads.partition_point(|t| t.origin <= thread.origin);
            threads.insert(place, Arc::new(thread));
        });
        Ok(())
    }

    /// Saves the paused interpreter as a thread.
    pub(super) fn save(
        &mut self,
        origin: Origin,
        body: ThreadBody,
        end: End,
        handle: u32,
        uid: u64,
    ) -> Thread {
        let interpreter = &mut self.interpreter;
        let mut frames = std::mem::take(&mut interpreter.frames);
        frames.push(Frame { func: interpreter.func, pc: interpreter.pc as u32, dst: 0 });
        let registers = self.machine.code[usize::from(interpreter.func)].registers;
        interpreter.regs.truncate(interpreter.low + usize::from(registers));
        let mut regs = std::mem::take(&mut interpreter.regs);
        self.machine.clear_dead(&frames, &mut regs);
        let status = match end {
            End::Waiting { cond, lock } => Status::Waiting { cond, lock },
            _ => Status::Ready,
        };
        let mut thread = Thread { origin, body, status, handle, frames, regs, uid, hash: 0 };
        thread.rehash();
        thread
    }

    pub(super) fn end_thread(&mut self, index: usize, thread: &Thread) {
        let layout = &self.machine.layout;
        let state = self.interpreter.state_mut();
        state.change_threads(|threads| threads.remove(index));
        if thread.origin == Origin::Dynamic {
            let owner = layout.owner_dynamic(thread.handle);
            for lock in 0..layout.locks as usize {
                if state.lock(lock) == owner {
                    state.set_lock(lock, layout.owner_dynamic(0));
                }
            }
        }
    }
}
