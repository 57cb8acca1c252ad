//! The families of small traces, each with a name, and their numbers by kind.

use super::problem::Mailbox;
use super::recorded::Program;
use super::{formulas, perturb, recorded, rings, tiny};
use anyorder_common::random::{Random, Rng};
use anyorder_trace::Trace;

/// The interesting property of a trace. Tests count the answers for each kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Recorded from a run with the same mailboxes as in the check: consistent.
    Recorded,
    /// Recorded from a run with bags: consistent only if its messages happened to come in order.
    FromBags,
    /// Recorded, then changed in a few places.
    Perturbed,
    /// Rings of posts and reads across handlers: each pair of messages can come in either order,
    /// but not all combinations are possible.
    Knot,
    /// The image of a Boolean formula: consistent if and only if it can be satisfied.
    Formula,
    /// With delays, posts to the front, and idle handlers, for the delayed mailbox.
    Delayed,
    /// Only initial messages post.
    Flat,
    /// One to six events: messages that post themselves, reads of later writes, nothing at all.
    Tiny,
    /// Some orders of writes are omitted, and must be found.
    Unordered,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 9] = {
        use Kind::*;
        [Recorded, FromBags, Perturbed, Knot, Formula, Delayed, Flat, Tiny, Unordered]
    };

    /// Returns whether such traces can have this answer, under the mailbox of their shape.
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
    /// Its purpose.
    pub kind: Kind,
    /// The mailboxes it is made for. It can be checked under the others too.
    pub mailbox: Mailbox,
    recipe: Recipe,
}

/// How to make a trace of the family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Recipe {
    Recorded(Program),
    Perturbed(Program),
    Rings(rings::Rings),
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
const RINGS: rings::Rings = rings::Rings {
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
            Shape::new("recorded", Recorded, Fifo, Recipe::Recorded(PROGRAM)),
            Shape::new("recorded-bag", Recorded, Bag, Recipe::Recorded(BAGS)),
            Shape::new("recorded-delayed", Recorded, Timer, Recipe::Recorded(TIMED)),
            Shape::new("bags-as-fifo", FromBags, Fifo, Recipe::Recorded(BAGS)),
            Shape::new("perturbed", Perturbed, Fifo, Recipe::Perturbed(PROGRAM)),
            Shape::new("perturbed-delayed", Delayed, Timer, Recipe::Perturbed(TIMED)),
            Shape::new("flat-perturbed", Flat, Fifo, Recipe::Perturbed(FLAT)),
            Shape::new("flat-bags", Flat, Fifo, Recipe::Recorded(Program { mailbox: Bag, ..FLAT })),
            Shape::new("knot", Knot, Fifo, Recipe::Rings(RINGS)),
            Shape::new(
                "knot-posts",
                Knot,
                Fifo,
                Recipe::Rings(rings::Rings { through_posts: true, ..RINGS }),
            ),
            Shape::new(
                "knot-nested",
                Knot,
                Fifo,
                Recipe::Rings(rings::Rings { nested: true, ..RINGS }),
            ),
            Shape::new(
                "knot-mixed",
                Knot,
                Fifo,
                Recipe::Rings(rings::Rings { through_posts: true, shared_bodies: true, ..RINGS }),
            ),
            Shape::new(
                "knot-delayed",
                Delayed,
                Timer,
                Recipe::Rings(rings::Rings { timed: true, ..RINGS }),
            ),
            Shape::new("formula", Formula, Fifo, Recipe::Formula),
            Shape::new("tiny", Tiny, Fifo, Recipe::Tiny),
            Shape::new("unordered", Unordered, Fifo, Recipe::Unordered(PROGRAM)),
            Shape::new(
                "unordered-knot",
                Unordered,
                Fifo,
                Recipe::Rings(rings::Rings { unordered: true, ..RINGS }),
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

    const fn new(name: &'static str, kind: Kind, mailbox: Mailbox, recipe: Recipe) -> Shape {
        Shape { name, kind, mailbox, recipe }
    }
}

/// Makes a random small trace; the same seed and shape give the same trace for ever.
#[must_use]
pub fn random_partial(seed: u64, shape: &Shape) -> Trace {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    let sketch = match shape.recipe {
        Recipe::Recorded(program) => recorded::record(rng, &program),
        Recipe::Perturbed(program) => {
            let mut sketch = recorded::record(rng, &program);
            perturb::perturb(rng, &mut sketch, program.nested);
            sketch
        }
        Recipe::Rings(rings) => rings::with_rings(rng, &rings),
        Recipe::Formula => formulas::formula(rng),
        Recipe::Tiny => tiny::tiny(rng),
        Recipe::Unordered(program) => {
            let mut sketch = recorded::record(rng, &program);
            perturb::perturb(rng, &mut sketch, program.nested);
            sketch.unordered.fill_with(|| rng.percent(70));
            sketch
        }
    };
    sketch.trace(rng)
}
