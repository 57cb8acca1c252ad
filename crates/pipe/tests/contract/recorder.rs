//! The accesses of a step, for systems written in Rust.

use anyorder_pipe::value_of_text;
use anyorder_system::{Access, AccessKind, Accesses, Posted, Step, TaskName};
use anyorder_trace::{Interner, Location, LocationId, SiteId, Tables};

/// Collects steps one after another; its tables only grow.
#[derive(Default)]
pub(crate) struct Recorder {
    interner: Interner,
    step: Option<Step>,
}

impl Recorder {
    pub(crate) fn tables(&self) -> &Tables {
        &self.interner.tables
    }

    /// Whether the tasks of a task's handler run in the order of their posts: all but the replies
    /// of the network.
    fn is_ordered(task: &TaskName) -> bool {
        task.segment().kind != "reply"
    }

    /// Records an access to the order of the only ordered mailbox.
    fn order(&mut self, what: &str, kind: AccessKind) {
        let location = self.shadow(&TaskName::root("mailbox").with_label("ui").child(what));
        self.push(location, kind, None, None);
    }

    /// Begins the step of a task: it reads the task's status, and whether others were taken out of
    /// its mailbox.
    pub(crate) fn begin(&mut self, task: &TaskName) {
        self.step = Some(Step { accesses: Accesses::List(Vec::new()), ..Step::of(task.clone()) });
        let own = self.shadow(task);
        self.push(own, AccessKind::Read, None, None);
        let is_input = ["click", "help"].contains(&task.segment().kind.as_str());
        if Self::is_ordered(task) && !is_input {
            self.order("cancels", AccessKind::Read);
        }
    }

    /// Ends the step: it writes the status of what it posted.
    pub(crate) fn end(&mut self) -> Step {
        let posted = self.step.iter().flat_map(|step| &step.posted);
        let posted: Vec<TaskName> = posted.map(|posted| posted.task.clone()).collect();
        posted.iter().for_each(|task| self.switch(task));
        self.step.take().expect("a step has begun")
    }

    pub(crate) fn read(&mut self, name: &str, value: u64) {
        let location = self.variable(name);
        self.push(location, AccessKind::Read, Some(value), None);
    }

    pub(crate) fn write_text(&mut self, name: &str, value: &str) {
        let location = self.variable(name);
        self.push(location, AccessKind::Write, None, Some(value_of_text(value)));
    }

    pub(crate) fn rmw(&mut self, name: &str, before: u64, after: u64) {
        let location = self.variable(name);
        self.push(location, AccessKind::Rmw, Some(before), Some(after));
    }

    pub(crate) fn rmw_text(&mut self, name: &str, before: &str, after: &str) {
        self.rmw(name, value_of_text(before), value_of_text(after));
    }

    /// Records a write to a task's status.
    pub(crate) fn switch(&mut self, task: &TaskName) {
        let location = self.shadow(task);
        self.push(location, AccessKind::Write, None, None);
    }

    pub(crate) fn posted(&mut self, task: &TaskName, handler: &str, delay: u64) {
        if Self::is_ordered(task) {
            self.order("posts", AccessKind::Write);
        }
        let posted = Posted { task: task.clone(), handler: handler.to_owned(), delay, queue: None };
        self.in_step(|step| step.posted.push(posted));
    }

    /// Records that a task is asked for, to be cancelled.
    pub(crate) fn cancels(&mut self, task: &TaskName) {
        self.switch(task);
        if Self::is_ordered(task) {
            self.order("cancels", AccessKind::Write);
        }
    }

    pub(crate) fn cancelled(&mut self, task: &TaskName) {
        self.in_step(|step| step.cancelled.push(task.clone()));
    }

    pub(crate) fn failed(&mut self, text: &str) {
        self.in_step(|step| step.failures.push(text.into()));
    }

    fn in_step(&mut self, change: impl FnOnce(&mut Step)) {
        change(self.step.as_mut().expect("a step has begun"));
    }

    fn push(
        &mut self,
        location: LocationId,
        kind: AccessKind,
        read: Option<u64>,
        written: Option<u64>,
    ) {
        let access = Access { location, kind, site: SiteId::UNKNOWN, read, written };
        self.in_step(|step| match &mut step.accesses {
            Accesses::List(list) => list.push(access),
            other => panic!("a list was begun, not {other:?}"),
        });
    }

    fn variable(&mut self, name: &str) -> LocationId {
        let name = self.interner.name(name).expect("names fit");
        self.interner.location(Location::Named(name)).expect("locations fit")
    }

    fn shadow(&mut self, task: &TaskName) -> LocationId {
        let class = self.interner.name("task").expect("names fit");
        let field = self.interner.name(&task.to_string()).expect("names fit");
        self.interner.location(Location::Static { class, field }).expect("locations fit")
    }
}
