//! Threads: their creation, stack, end and join, and the locks that they leave.

use super::{Maker, OWNER};
use crate::recording::{Event, kind};
use crate::to_trace::stacks::Where;
use anyorder_trace::{EventKind, HandlerId, Mode, Op, Site, TableFull};

impl Maker<'_> {
    pub(super) fn thread(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let child = self.recording.position(event.address as u32);
        match (event.kind, child) {
            (kind::THREAD_BEGIN, _) => {
                self.push(lane, event, EventKind::Begin, 0)?;
                if event.third == 0 {
                    return Ok(());
                }
                self.threads[lane].stack = Some((event.address, event.third));
                let room = self.shared.begin(event.address, event.third).unwrap_or(event.third);
                self.memory.allocate_with_room(event.address, event.third, room);
                let location = self.range(event.address, event.third)?;
                // No place in the code allocates it.
                let label = format!("the stack of T{}", self.recording.threads[lane].number);
                let label = self.interner.name(&label)?;
                let site = self.interner.site(Site { label, ..Site::default() })?;
                let place = Where { site, stack: None };
                self.push_at(lane, EventKind::Alloc.into(), location, place);
                Ok(())
            }
            (kind::THREAD_END, _) => {
                if let Some((low, size)) = self.threads[lane].stack.take() {
                    self.free(lane, event, low, size)?;
                }
                self.push(lane, event, EventKind::Exit, 0)
            }
            (kind::THREAD_CREATE, Some(child)) if !self.threads[child].has_begun => {
                let handler = HandlerId::from_index(child);
                let row = self.len();
                self.push(lane, event, EventKind::Fork, handler.0)?;
                if self.len() > row {
                    self.is_forked(child);
                    self.was_created(child);
                }
                Ok(())
            }
            (kind::THREAD_JOIN, Some(child)) if child != lane => {
                if self.threads[child].taken < self.survey.threads[child].events {
                    self.stats.odd += 1;
                    return Ok(());
                }
                self.leave_to_heirs(child)?;
                self.threads[child].is_over = true;
                let handler = HandlerId::from_index(child);
                self.push(lane, event, EventKind::Join, handler.0)
            }
            (kind::THREAD_CREATE | kind::THREAD_JOIN, _) => {
                // A thread that did nothing, or came to nothing, orders nothing.
                self.stats.odd += u64::from(child.is_some());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Gives back what a thread held at its end and others take later: nothing can come after its
    /// join.
    fn leave_to_heirs(&mut self, lane: usize) -> Result<(), TableFull> {
        let survey = self.survey;
        let held = |lock: &&u64| self.locks.held(**lock, lane).is_some();
        let mut left: Vec<u64> = survey.inherited.iter().filter(held).copied().collect();
        left.sort_unstable();
        left.into_iter().try_for_each(|lock| self.bequeath(lane, lock))
    }

    /// Releases a lock whose owner ended while holding it. The next owner of a robust lock gets
    /// `EOWNERDEAD`, so in every order it locks after that end: earlier, it would get 0.
    pub(super) fn bequeath(&mut self, owner: usize, lock: u64) -> Result<(), TableFull> {
        if self.survey.inherited.contains(&lock) {
            let location = self.object(lock, OWNER)?;
            self.push_at(owner, Op::new(EventKind::Rmw, Mode::RELEASE), location, Where::NOWHERE);
        }
        self.release(owner, &Event::default(), lock)
    }
}
