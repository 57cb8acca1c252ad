//! `knot`: rings of pairs of messages whose orders depend on one another.
//!
//! A *pair* is two messages of one handler, posted by different handlers, so that nothing orders
//! them at first. Pairs form rings. A *link* between a pair and the next makes the order of one
//! follow from the order of the other. A link by posting: each message of the first posts one of
//! the second, and FIFO keeps the order. A link by reading: messages write early what messages of
//! the other pair read late, so that only some combinations of orders are free of cycles. Some
//! links hold both ways, some one way; each keeps the order or reverses it.
//!
//! A ring with an odd number of reversals has no solution if its links hold both ways: either order
//! of its first pair is refuted, but only after it was chosen. If a link holds one way only, one of
//! the two orders works. Rings with an even number of reversals have solutions for both orders.
//! Depending on the seed, every second trace has one ring without solution among the others, and is
//! inconsistent.
//!
//! Nothing is forced before the first choice: every ring has two links by reading, and a path
//! through posts and one such link ends at another handler than it began.
//!
//! **Correctness.** Within a message, no path leads from reads (late) to posts and writes (early).
//! So a cycle alternates between links and orders of pairs, and refutes two orders that one link
//! forbids. A ring with a solution can be run: all messages that come first in their pairs
//! together, then all others. Rings share only the posters, whose posts follow the pairs' numbers.

use crate::draft::{Draft, NONE, Name};
use crate::error::GenerateError;
use crate::generate::checked_size;
use crate::request::Request;
use anyorder_common::random::{Random, Rng};

/// The default range of ring lengths.
const RING: (u64, u64) = (3, 8);

/// Returns whether the trace of a knot request is consistent, by its construction.
///
/// # Errors
///
/// Fails if `generate` does.
pub fn knot_is_consistent(request: &Request) -> Result<bool, GenerateError> {
    request.check_fields()?;
    plan(request).map(|rings| rings.iter().all(|ring| ring.kind != Kind::Unsolvable))
}

/// Makes the draft of a request.
pub(crate) fn draft_of(request: &Request) -> Result<Draft, GenerateError> {
    let rings = plan(request)?;
    let mut rng = Rng::for_purpose(request.seed, *b"link");
    let mut builder = Builder::new(request.size);
    for (number, ring) in (1..).zip(&rings) {
        builder.ring(number, *ring, &mut rng);
    }
    Ok(builder.into_draft())
}

/// The number of solutions of a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Either order of its first pair can be completed.
    Free,
    /// One order of its first pair can.
    OneWay,
    /// None can.
    Unsolvable,
}

#[derive(Clone, Copy, Debug)]
struct Ring {
    pairs: u32,
    kind: Kind,
}

/// Divides the pairs into rings and chooses their kinds.
fn plan(request: &Request) -> Result<Vec<Ring>, GenerateError> {
    // Per pair: two posts, two gets, and for its link at most eight accesses.
    let size = u64::from(checked_size(request, 2, |size| 12 * size)?);
    if let Some(ring) = request.ring
        && !(2..=size).contains(&ring)
    {
        let expected = format!("from 2 to {size}");
        return Err(GenerateError::out_of_range("the number of pairs in a ring", expected, ring));
    }
    let mut rng = Rng::for_purpose(request.seed, *b"ring");
    let mut rings = Vec::new();
    let mut left = size;
    while left > 0 {
        let length = request.ring.unwrap_or_else(|| rng.within(RING.0, RING.1));
        // A ring needs two pairs, so no smaller rest may remain.
        let length = if left < length + 2 { left } else { length };
        let kind = if rng.chance(0.5) { Kind::Free } else { Kind::OneWay };
        rings.push(Ring { pairs: length as u32, kind });
        left -= length;
    }
    if rng.chance(0.5) {
        let place = rng.index(rings.len());
        rings[place].kind = Kind::Unsolvable;
    }
    Ok(rings)
}

/// Two messages of a handler.
type Pair = [u32; 2];

/// The actions of a message: all posts, then all writes, then all reads.
#[derive(Clone, Default)]
struct Message {
    posts: Vec<u32>,
    writes: Vec<u32>,
    reads: Vec<u32>,
}

struct Builder {
    draft: Draft,
    /// Initial messages.
    posters: Vec<u32>,
    /// By message of the draft.
    messages: Vec<Message>,
}

impl Builder {
    fn new(size: u64) -> Builder {
        let mut draft = Draft::default();
        let posters = (0..(2 + size / 16).min(6) as u32)
            .map(|number| {
                let handler = draft.handler(Name::one("poster", number));
                draft.initial(handler)
            })
            .collect();
        Builder { draft, posters, messages: Vec::new() }
    }

    fn ring(&mut self, number: u32, ring: Ring, rng: &mut Rng) {
        let pairs: Vec<Pair> = (1..=ring.pairs)
            .map(|pair| {
                let handler = self.draft.handler(Name::two("ring", number, pair));
                ["a", "b"].map(|stem| self.draft.message(Name::two(stem, number, pair), handler))
            })
            .collect();
        self.post_from_outside(pairs[0], rng);
        // The closing link reverses the order or not, so that the whole ring has its kind.
        let mut turned = false;
        // If all other links were posts, the closing one would order the first pair without any
        // choice.
        let surely_reads = rng.index(pairs.len() - 1);
        for (number, (pair, next)) in pairs.iter().zip(&pairs[1..]).enumerate() {
            let turn = rng.chance(0.5);
            turned ^= turn;
            let next_as_seen = if turn { [next[1], next[0]] } else { *next };
            if number != surely_reads && rng.chance(0.5) {
                self.link_by_posts(*pair, next_as_seen);
            } else {
                self.post_from_outside(*next, rng);
                let both_ways = ring.kind == Kind::Unsolvable || rng.chance(0.5);
                self.link_by_reads(*pair, next_as_seen, both_ways);
            }
        }
        let turn = turned != (ring.kind != Kind::Free);
        let (first, last) = (pairs[0], pairs[pairs.len() - 1]);
        let first_as_seen = if turn { [first[1], first[0]] } else { first };
        let both_ways = match ring.kind {
            Kind::Free => rng.chance(0.5),
            Kind::OneWay => false,
            Kind::Unsolvable => true,
        };
        self.link_by_reads(last, first_as_seen, both_ways);
    }

    /// Lets two different posters post the two messages.
    fn post_from_outside(&mut self, pair: Pair, rng: &mut Rng) {
        let first = rng.index(self.posters.len());
        let second = (first + 1 + rng.index(self.posters.len() - 1)) % self.posters.len();
        self.draft.post(self.posters[first], pair[0]);
        self.draft.post(self.posters[second], pair[1]);
    }

    /// Makes the second pair run in the order of the first.
    fn link_by_posts(&mut self, pair: Pair, next: Pair) {
        for (message, posted) in pair.into_iter().zip(next) {
            self.message(message).posts.push(posted);
        }
    }

    /// If the second message of `pair` runs first, so does that of `next`; with `both_ways`, also
    /// conversely.
    fn link_by_reads(&mut self, pair: Pair, next: Pair, both_ways: bool) {
        self.flow(pair[0], next[0]);
        self.flow(next[1], pair[1]);
        if both_ways {
            self.flow(pair[1], next[1]);
            self.flow(next[0], pair[0]);
        }
    }

    /// Makes one message read what another one writes.
    fn flow(&mut self, from: u32, to: u32) {
        let variable = self.draft.variable(Name::AUTO);
        self.message(from).writes.push(variable);
        self.message(to).reads.push(variable);
    }

    fn message(&mut self, message: u32) -> &mut Message {
        if self.messages.len() <= message as usize {
            self.messages.resize(message as usize + 1, Message::default());
        }
        &mut self.messages[message as usize]
    }

    fn into_draft(self) -> Draft {
        let Builder { mut draft, messages, .. } = self;
        let mut write_of = vec![NONE; draft.variables.len()];
        let mut reads = Vec::new();
        for (number, message) in messages.iter().enumerate() {
            let number = number as u32;
            if draft.messages[number as usize].initial {
                continue;
            }
            draft.get(number);
            for posted in &message.posts {
                draft.post(number, *posted);
            }
            for variable in &message.writes {
                write_of[*variable as usize] = draft.write(number, *variable);
            }
            for variable in &message.reads {
                reads.push((draft.read(number, *variable, NONE), *variable));
            }
        }
        for (read, variable) in reads {
            draft.read_from(read, write_of[variable as usize]);
        }
        draft
    }
}
