//! What takes the transitions of the machine: docs/semantics.md, T14.

use super::words::body_name;
use crate::machine::Machine;
use crate::program::{FuncId, SiteId, TaskId};
use crate::state::{State, StepId, Thread, ThreadBody};
use crate::transitions::Action;
use anyorder_system::{Actor, FailureSite, PlaceOfStep, Role};

impl Machine {
    /// Returns what takes an action, and where it stands.
    pub(super) fn actor(&self, state: &State, action: &Action) -> Actor {
        let program = &self.program;
        let start = |kind, part: &str, body: FuncId| PlaceOfStep {
            kind,
            part: part.to_owned(),
            site: self.start_of(body),
        };
        let nowhere = |part: &str| PlaceOfStep { kind: "", part: part.to_owned(), site: None };
        match action.step {
            StepId::Init => worker(nowhere("init")),
            StepId::Event(member) => {
                let event = &program.events[usize::from(self.layout.members[member as usize].0)];
                let place = start("event", &event.name, event.body);
                Actor { place, role: Role::Input }
            }
            StepId::Message { queue, task, .. } => {
                let declared = &program.tasks[usize::from(task)];
                let place = start("task", &declared.name, declared.body);
                let daemon = self.is_daemon_handler(queue as usize)
                    || program.daemons.tasks.contains(&TaskId(task));
                Actor { place, role: if daemon { Role::Daemon } else { Role::Worker } }
            }
            StepId::Thread { .. } => match action.step.thread(state) {
                Some(thread) => self.thread_actor(thread),
                None => worker(nowhere("")),
            },
        }
    }

    fn thread_actor(&self, thread: &Thread) -> Actor {
        let kind = match thread.body {
            ThreadBody::Event(_) => "event",
            ThreadBody::Task(_) => "task",
            ThreadBody::Func(_) => "fn",
            ThreadBody::Thread => "thread",
        };
        let name = match thread.body {
            ThreadBody::Thread => self.who(thread),
            _ => body_name(self, thread),
        };
        let frame = thread.frames.last();
        let function = frame.and_then(|frame| self.program.functions.get(usize::from(frame.func)));
        let site = function.zip(frame).and_then(|(f, frame)| f.sites.get(frame.pc as usize));
        let place = PlaceOfStep {
            kind,
            part: name.declared,
            site: site.and_then(|site| self.position(*site)),
        };
        Actor { place, role: if self.is_daemon(thread) { Role::Daemon } else { Role::Worker } }
    }

    /// Returns the first position of a function.
    fn start_of(&self, function: FuncId) -> Option<FailureSite> {
        let sites = &self.program.functions.get(function.index())?.sites;
        let known = sites.iter().filter_map(|site| self.position(*site));
        known.min_by_key(|site| (site.line, site.column))
    }

    fn position(&self, site: SiteId) -> Option<FailureSite> {
        let site = self.program.sites.get(site.index()).filter(|site| site.line > 0)?;
        let file = self.program.files.get(usize::from(site.file)).cloned().unwrap_or_default();
        Some(FailureSite { file, line: site.line, column: site.column })
    }
}

fn worker(place: PlaceOfStep) -> Actor {
    Actor { place, role: Role::Worker }
}
