//! Places as numbers that mean the same in every state.
//!
//! The numbers of objects, handles and threads depend on the state. So places leave them out: a
//! field is one place for all objects of its class.

use super::lifecycles::Lifecycles;
use crate::machine::Machine;
use crate::value::{Value, lasting, mix};
use anyorder_system::{Place, TaskKey};

/// The kinds of places that are numbered by the program, in the order of their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Global,
    Lock,
    Cond,
    /// Whether an event member has begun (and, for those after it, does not run).
    Started,
    /// Whether an event member was enabled or disabled.
    Toggled,
    /// Whether something runs in a slot.
    Busy,
    /// The next message of a mailbox.
    Head,
    /// The last message of a mailbox.
    Tail,
    /// The lifecycle of the tasks of one post, or the threads of one fork: see
    /// [`Lifecycles`](super::Lifecycles).
    Lifecycle,
}

impl Kind {
    pub(crate) const ALL: [Kind; 9] = [
        Kind::Global,
        Kind::Lock,
        Kind::Cond,
        Kind::Started,
        Kind::Toggled,
        Kind::Busy,
        Kind::Head,
        Kind::Tail,
        Kind::Lifecycle,
    ];
}

/// Where the numbers of each kind begin.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    first: [u64; 10],
    /// Whether `init` is a step.
    pub(crate) init: bool,
    /// Whether something posts in front of all others.
    pub(crate) fronts: bool,
}

impl Places {
    /// Whether `init` has run.
    pub(crate) const INIT: Place = Place(0);
    /// The virtual time.
    pub(crate) const NOW: Place = Place(1);
    /// The first place of the program's own.
    const FIRST: u64 = 2;

    pub(crate) fn of(machine: &Machine, init: bool, lifecycles: &Lifecycles) -> Places {
        let layout = &machine.layout;
        let (members, slots) = (layout.members.len() as u64, u64::from(layout.slots));
        let queues = layout.mailboxes.len() as u64 + 1;
        let counts = [
            machine.program.globals.len() as u64,
            u64::from(layout.locks),
            u64::from(layout.conds),
            members,
            members,
            slots + 1,
            queues,
            queues,
            lifecycles.count(),
        ];
        let mut first = [Places::FIRST; 10];
        for (i, count) in counts.iter().enumerate() {
            first[i + 1] = first[i] + count;
        }
        let fronts = machine.program.posts.iter().any(|post| post.front);
        Places { first, init, fronts }
    }

    pub(crate) fn at(&self, kind: Kind, index: u64) -> Place {
        Place(self.first[kind as usize] + index)
    }

    /// Returns the meaning of a number; `None` for hashed and fixed ones.
    pub(crate) fn meaning(&self, place: Place) -> Option<(Kind, usize)> {
        let kind = Kind::ALL.into_iter().find(|kind| {
            (self.first[*kind as usize]..self.first[*kind as usize + 1]).contains(&place.0)
        })?;
        Some((kind, (place.0 - self.first[kind as usize]) as usize))
    }

    /// The positions of the threads and messages of a key.
    pub(crate) fn standing(key: TaskKey) -> Place {
        hashed(7, u128::from(key.0))
    }

    /// An element of a container.
    pub(crate) fn element(container: Place, element: &Value) -> Place {
        hashed(container.0, lasting(element))
    }

    /// A field, of all objects of a class.
    pub(crate) fn field(class: u16, field: u16) -> Place {
        hashed(9, u128::from(class) << 16 | u128::from(field))
    }
}

fn hashed(tag: u64, rest: u128) -> Place {
    Place(mix::mix(tag, rest) as u64 | (1 << 63))
}
