//! Which small traces to make, each named, and how many of them by kind.

use super::problem::Mailbox;
use super::recorded::Program;
use super::{formulas, knots, perturb, recorded, tiny};
use anyorder_common::random::{Random, Rng};
use anyorder_trace::Trace;

/// What makes a trace interesting. Tests count how often each kind had which answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Recorded from a run with mailboxes as checked: consistent.
    Recorded,
    /// Recorded from a run with bags: consistent only if its messages happened to come in order.
    FromBags,
    /// Recorded, and then changed in a few places.
    Perturbed,
    /// Rings of posts and reads across handlers: each pair of messages can come either way, but not
    /// all of them as they like.
    Knot,
    /// The image of a Boolean formula: consistent if and only if it can be satisfied.
    Formula,
    /// With delays, posts to the front, and idle handlers; for the delayed mailbox.
    Delayed,
    /// Only initial messages post.
    Flat,
    /// One to six events: messages that post themselves, reads of later writes, nothing at all.
    Tiny,
    /// Some orders of writes are left out, and to be found.
    Unordered,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 9] = {
        use Kind::*;
        [Recorded, FromBags, Perturbed, Knot, Formula, Delayed, Flat, Tiny, Unordered]
    };

    /// Returns whether such traces can have this answer at all, under the mailbox of their shape.
    #[must_use]
    pub const fn can_be(self, consistent: bool) -> bool {
        consistent || !matches!(self, Kind::Recorded)
    }
}

/// A family of small traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub kind: Kind,
    /// The mailboxes it is made for; it can be checked under the others too.
    pub mailbox: Mailbox,
    make: Make,
}

/// How to make one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Make {
    Recorded(Program),
    Perturbed(Program),
    Knot(knots::Rings),
    Formula,
    Tiny,
    Unordered(Program),
}

const PROGRAM: Program = Program {
    handlers_max: 3,
    messages_max: 7,
    variables: 3,
    nested: true,
    timed: false,
    mailbox: Mailbox::Fifo,
};
const BAGS: Program = Program { mailbox: Mailbox::Bag, ..PROGRAM };
const TIMED: Program = Program { timed: true, mailbox: Mailbox::Delayed, ..PROGRAM };
const FLAT: Program = Program { nested: false, ..PROGRAM };
const RINGS: knots::Rings = knots::Rings {
    through_posts: false,
    nested: false,
    shared_bodies: false,
    timed: false,
    unordered: false,
};

impl Shape {
    /// All shapes. Taking each in turn gives every kind its share.
    pub const ALL: [Shape; 17] = {
        use Kind::*;
        use Mailbox::{Bag, Delayed as Timer, Fifo};
        [
            Shape::new("recorded", Recorded, Fifo, Make::Recorded(PROGRAM)),
            Shape::new("recorded-bag", Recorded, Bag, Make::Recorded(BAGS)),
            Shape::new("recorded-delayed", Recorded, Timer, Make::Recorded(TIMED)),
            Shape::new("bags-as-fifo", FromBags, Fifo, Make::Recorded(BAGS)),
            Shape::new("perturbed", Perturbed, Fifo, Make::Perturbed(PROGRAM)),
            Shape::new("perturbed-delayed", Delayed, Timer, Make::Perturbed(TIMED)),
            Shape::new("flat-perturbed", Flat, Fifo, Make::Perturbed(FLAT)),
            Shape::new("flat-bags", Flat, Fifo, Make::Recorded(Program { mailbox: Bag, ..FLAT })),
            Shape::new("knot", Knot, Fifo, Make::Knot(RINGS)),
            Shape::new(
                "knot-posts",
                Knot,
                Fifo,
                Make::Knot(knots::Rings { through_posts: true, ..RINGS }),
            ),
            Shape::new(
                "knot-nested",
                Knot,
                Fifo,
                Make::Knot(knots::Rings { nested: true, ..RINGS }),
            ),
            Shape::new(
                "knot-mixed",
                Knot,
                Fifo,
                Make::Knot(knots::Rings { through_posts: true, shared_bodies: true, ..RINGS }),
            ),
            Shape::new(
                "knot-delayed",
                Delayed,
                Timer,
                Make::Knot(knots::Rings { timed: true, ..RINGS }),
            ),
            Shape::new("formula", Formula, Fifo, Make::Formula),
            Shape::new("tiny", Tiny, Fifo, Make::Tiny),
            Shape::new("unordered", Unordered, Fifo, Make::Unordered(PROGRAM)),
            Shape::new(
                "unordered-knot",
                Unordered,
                Fifo,
                Make::Knot(knots::Rings { unordered: true, ..RINGS }),
            ),
        ]
    };

    /// Returns the shape of a name.
    ///
    /// # Panics
    ///
    /// Panics when there is none: a mistake in a test.
    #[must_use]
    pub fn named(name: &str) -> Shape {
        let found = Shape::ALL.into_iter().find(|shape| shape.name == name);
        found.unwrap_or_else(|| panic!("no shape is called `{name}`"))
    }

    const fn new(name: &'static str, kind: Kind, mailbox: Mailbox, make: Make) -> Shape {
        Shape { name, kind, mailbox, make }
    }
}

/// Makes a random small trace; the same seed and shape give the same trace for ever.
#[must_use]
pub fn random_partial(seed: u64, shape: &Shape) -> Trace {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    let sketch = match shape.make {
        Make::Recorded(program) => recorded::record(rng, &program),
        Make::Perturbed(program) => {
            let mut sketch = recorded::record(rng, &program);
            perturb::perturb(rng, &mut sketch, program.nested);
            sketch
        }
        Make::Knot(rings) => knots::knot(rng, &rings),
        Make::Formula => formulas::formula(rng),
        Make::Tiny => tiny::tiny(rng),
        Make::Unordered(program) => {
            let mut sketch = recorded::record(rng, &program);
            perturb::perturb(rng, &mut sketch, program.nested);
            sketch.unordered.fill_with(|| rng.percent(70));
            sketch
        }
    };
    sketch.trace(rng)
}
