//! The layout of states: arrays and families, one after another.

use crate::program::{Event, Family, Granularity, MailboxKind, Op, Program};

/// The numbers of members, slots, mailboxes and flags.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// The first lock of each declaration.
    pub(crate) lock_first: Vec<u32>,
    /// The number of locks.
    pub(crate) locks: u32,
    /// The first condition of each declaration.
    pub(crate) cond_first: Vec<u32>,
    /// The number of conditions.
    pub(crate) conds: u32,
    /// The first handler instance of each declaration. Instances are slots and mailboxes.
    pub(crate) handler_first: Vec<u32>,
    /// For each handler instance its declaration.
    pub(crate) handler_of: Vec<u16>,
    /// For each handler instance its kind.
    pub(crate) mailboxes: Vec<MailboxKind>,
    /// The first member of each event.
    pub(crate) event_first: Vec<u32>,
    /// For each event member its event and index value.
    pub(crate) members: Vec<(u16, i64)>,
    /// For each event member the slot that it runs in: a handler instance, or one of its own.
    pub(crate) member_slot: Vec<u32>,
    /// For each event: whether states must record that it has started.
    pub(crate) keep_started: Vec<bool>,
    /// For each event whether it may be enabled or disabled.
    pub(crate) toggled: Vec<bool>,
    /// For each event: whether nothing but its guard ever keeps it from starting.
    pub(crate) guard_only: Vec<bool>,
    /// The number of slots.
    pub(crate) slots: u32,
    /// The first member of each thread.
    pub(crate) thread_first: Vec<u32>,
    /// For each thread member its thread and index value.
    pub(crate) thread_members: Vec<(u16, i64)>,
}

/// The flag that says that `init` has not run yet.
pub(crate) const INIT_FLAG: usize = 0;

impl Layout {
    pub(crate) fn new(program: &Program) -> Layout {
        let mut layout = Layout::default();
        (layout.lock_first, layout.locks) = placed(program.locks.iter().map(|lock| lock.array));
        (layout.cond_first, layout.conds) = placed(program.conds.iter().map(|cond| cond.array));
        (layout.handler_first, layout.slots) = placed(program.handlers.iter().map(|h| h.array));
        for (i, handler) in (0..).zip(&program.handlers) {
            for _ in 0..handler.array.unwrap_or(1) {
                layout.handler_of.push(i);
                layout.mailboxes.push(handler.mailbox);
            }
        }
        layout.events(program);
        layout.toggled = toggled(program);
        layout.guard_only = guard_only(program, &layout.toggled);
        for (i, thread) in (0..).zip(&program.threads) {
            layout.thread_first.push(layout.thread_members.len() as u32);
            layout.thread_members.extend(indices(thread.family).map(|index| (i, index)));
        }
        layout
    }

    fn events(&mut self, program: &Program) {
        for (i, event) in (0..).zip(&program.events) {
            self.event_first.push(self.members.len() as u32);
            for index in indices(event.family) {
                self.members.push((i, index));
                let own = self.slots;
                self.member_slot.push(match event.handler {
                    Some((handler, instance)) => {
                        self.handler_first[handler.index()] + u32::from(instance)
                    }
                    None => own,
                });
                self.slots += u32::from(event.handler.is_none());
            }
        }
        self.keep_started = program.events.iter().map(|event| event.once).collect();
        for event in &program.events {
            for other in event.after.iter().chain(&event.started) {
                self.keep_started[other.index()] = true;
            }
        }
    }

    /// Returns the mailbox of posts to `any`.
    pub(crate) fn pool(&self) -> usize {
        self.mailboxes.len()
    }

    /// Returns the kind of a mailbox. That of posts to `any` is a bag.
    pub(crate) fn mailbox(&self, queue: usize) -> MailboxKind {
        self.mailboxes.get(queue).copied().unwrap_or(MailboxKind::Bag)
    }

    /// Returns whether a mailbox is a bag.
    pub(crate) fn is_bag(&self, queue: usize) -> bool {
        self.mailbox(queue) == MailboxKind::Bag
    }

    /// Returns the flag that says that an event member has started.
    pub(crate) fn started_flag(&self, member: u32) -> usize {
        1 + member as usize
    }

    /// Returns the flag that says that the enabled state of an event member differs from its
    /// declaration.
    pub(crate) fn toggled_flag(&self, member: u32) -> usize {
        1 + self.members.len() + member as usize
    }

    /// Returns the number of flags.
    pub(crate) fn flags(&self) -> usize {
        1 + 2 * self.members.len()
    }

    /// Returns the members of an event.
    pub(crate) fn members_of(&self, event: usize) -> std::ops::Range<u32> {
        let end = self.event_first.get(event + 1).copied();
        self.event_first[event]..end.unwrap_or(self.members.len() as u32)
    }

    /// Returns the members of the events that an event comes after.
    pub(crate) fn members_before(&self, event: &Event) -> impl Iterator<Item = u32> {
        let others = event.after.iter().chain(&event.started);
        others.flat_map(|other| self.members_of(other.index()))
    }

    /// Returns the number of a declared thread as owner of locks.
    pub(crate) fn owner_thread(&self, thread: u32) -> u32 {
        1 + thread
    }

    /// Returns the number of a slot as owner of locks.
    pub(crate) fn owner_slot(&self, slot: u32) -> u32 {
        1 + self.thread_members.len() as u32 + slot
    }

    /// Returns the number of a dynamic thread as owner of locks, by its handle; handle 0 is an
    /// ended one.
    pub(crate) fn owner_dynamic(&self, handle: u32) -> u32 {
        1 + self.thread_members.len() as u32 + self.slots + handle
    }

    /// Returns the handle of a dynamic thread that owns a lock.
    pub(crate) fn dynamic_of(&self, owner: u32) -> Option<u32> {
        owner.checked_sub(self.owner_dynamic(0))
    }

    /// Returns who owns a lock, by its number.
    pub(crate) fn owner(&self, owner: u32) -> Owner {
        let threads = self.thread_members.len() as u32;
        match (owner, self.dynamic_of(owner)) {
            (0, _) => Owner::Nobody,
            (_, Some(handle)) => Owner::Dynamic(handle),
            _ if owner <= threads => Owner::Thread(owner - 1),
            _ => Owner::Slot(owner - 1 - threads),
        }
    }
}

/// Who owns a lock.
pub(crate) enum Owner {
    Nobody,
    /// A declared thread.
    Thread(u32),
    /// What runs in a slot.
    Slot(u32),
    /// A dynamic thread, by its handle; 0 for an ended one.
    Dynamic(u32),
}

/// Places arrays one after another. Returns the first number of each, and the number of members.
fn placed(arrays: impl Iterator<Item = Option<u16>>) -> (Vec<u32>, u32) {
    let mut end = 0;
    let firsts = arrays.map(|array| {
        end += u32::from(array.unwrap_or(1));
        end - u32::from(array.unwrap_or(1))
    });
    let firsts = firsts.collect();
    (firsts, end)
}

/// Returns the index values of the members of a family; 0 for what is no family.
fn indices(family: Option<Family>) -> impl Iterator<Item = i64> {
    let (first, count) = family.map_or((0, 1), |family| (family.first, family.count));
    (0..i64::from(count)).map(move |member| first.wrapping_add(member))
}

/// Returns for each event whether some instruction enables or disables it.
fn toggled(program: &Program) -> Vec<bool> {
    let mut toggled = vec![false; program.events.len()];
    for op in program.functions.iter().flat_map(|f| &f.code) {
        if let Op::Enable { event, .. } | Op::Disable { event, .. } = op {
            toggled[event.index()] = true;
        }
    }
    toggled
}

/// Returns for each event whether nothing but its guard ever keeps it from starting. A body that is
/// one step is never busy.
fn guard_only(program: &Program, toggled: &[bool]) -> Vec<bool> {
    let open = |(id, event): (usize, &Event)| {
        atomic(program)
            && !(event.once || event.disabled || toggled[id])
            && event.started.is_empty()
            && event.after.is_empty()
    };
    program.events.iter().enumerate().map(open).collect()
}

/// Returns whether a program's tasks and events are one step each.
pub(crate) fn atomic(program: &Program) -> bool {
    program.settings.granularity == Granularity::Task
}
