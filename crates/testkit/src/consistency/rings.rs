//! Rings of posts and reads across handlers.
//!
//! A *site* is a handler with two or three messages of different posters, so that each pair of them
//! can come in either order. A ring takes two to four pairs `(first, second)`, and connects each
//! `second` to the next pair's `first`: one writes what the other reads. If `first` comes before
//! `second` in all its pairs, the ring is a cycle. So at least one pair must come in the other
//! order. Several rings over few sites are hard: no single edge decides them.

use super::sketch::{Act, Sketch};
use anyorder_common::random::{Random, Rng};

/// Options of the rings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rings {
    /// Some connections go between posters instead of messages.
    pub(super) through_posts: bool,
    /// Some posters are posted messages, on handlers with several of them.
    pub(super) nested: bool,
    /// Reads may come before writes in a message, so that one ring can continue in another.
    pub(super) shared_bodies: bool,
    /// Some messages have delays, or go to the front.
    pub(super) timed: bool,
    /// Some connections are writes of one variable whose order is not given.
    pub(super) unordered: bool,
}

/// A message of a site, and its poster.
#[derive(Clone, Copy)]
struct Member {
    message: usize,
    poster: usize,
}

/// Makes a trace with random rings.
pub(super) fn with_rings(rng: &mut Rng, rings: &Rings) -> Sketch {
    let sites_count = rng.within(2, 4) as usize;
    // Connections between few posters would mostly follow from program order.
    let posters = match rings.through_posts {
        true => 2 * sites_count,
        false => rng.within(2, 3) as usize,
    };
    let mut sketch = Sketch::new(sites_count + posters, 0);
    let sites: Vec<Vec<Member>> =
        (0..sites_count).map(|site| add_site(rng, rings, &mut sketch, site, sites_count)).collect();
    let most = match rings {
        Rings { unordered: true, .. } => 2 * sites_count,
        Rings { through_posts: true, .. } => 3 * sites_count,
        _ => 4 * sites_count,
    };
    let rings_count = rng.within(1, most as u64);
    for _ in 0..rings_count {
        add_ring(rng, rings, &mut sketch, &sites);
    }
    sketch
}

/// Adds messages to the handler of a site. Their posters come after the `sites_count` handlers of
/// sites.
fn add_site(
    rng: &mut Rng,
    rings: &Rings,
    sketch: &mut Sketch,
    site: usize,
    sites_count: usize,
) -> Vec<Member> {
    let handlers = sketch.bodies.iter().filter(|body| body.initial).count();
    let members = if rng.percent(15) { 3 } else { 2 };
    let posters = handlers - sites_count;
    let first = if posters < 2 * sites_count { rng.index(posters) } else { 2 * site };
    let member = |at: usize| {
        // Uses different posters, if there are enough.
        let mut poster = sites_count + (first + at) % posters;
        let message = sketch.add_message(site);
        if rings.timed && rng.percent(30) {
            let body = &mut sketch.bodies[message];
            match rng.below(4) {
                0 => body.front = true,
                1 => body.idle = true,
                _ => body.delay = rng.within(1, 2),
            }
        }
        if rings.nested && rng.percent(40) {
            let between = sketch.add_message(poster);
            sketch.post(poster, between);
            poster = between;
        }
        sketch.post(poster, message);
        Member { message, poster }
    };
    (0..members).map(member).collect()
}

/// Adds one ring over random pairs.
fn add_ring(rng: &mut Rng, rings: &Rings, sketch: &mut Sketch, sites: &[Vec<Member>]) {
    let length = if rng.percent(65) { 2 } else { rng.within(3, 4) as usize };
    let mut pairs = Vec::new();
    // Uses each site once, if there are enough.
    let start = rng.index(sites.len());
    for at in 0..length.min(sites.len()) {
        let site = &sites[(start + at) % sites.len()];
        let first = rng.index(site.len());
        let second = (first + 1 + rng.index(site.len() - 1)) % site.len();
        pairs.push((site[first], site[second]));
    }
    // A ring that enters a pair at its messages cannot leave it at its posts.
    let mut by_posts = rings.through_posts && rng.percent(20);
    let entered_by_posts = by_posts;
    for at in 0..pairs.len() {
        let (from, to) = (pairs[at].1, pairs[(at + 1) % pairs.len()].0);
        let leaves_by_posts = by_posts;
        let last = at + 1 == pairs.len();
        by_posts = if last { entered_by_posts } else { rings.through_posts && rng.percent(20) };
        connect(rng, rings, sketch, (from, leaves_by_posts), (to, by_posts));
    }
}

/// Orders something in or after `from` before something in `to`, by a write and a read. Each flag
/// chooses the post of the message instead of the message.
fn connect(
    rng: &mut Rng,
    rings: &Rings,
    sketch: &mut Sketch,
    (from, from_post): (Member, bool),
    (to, to_post): (Member, bool),
) {
    let variable = sketch.add_variable();
    let unordered = rings.unordered && rng.percent(30);
    let write = sketch.new_write(variable);
    let source = if from_post { from.poster } else { from.message };
    let target = if to_post { to.poster } else { to.message };
    let acts = &mut sketch.bodies[source].acts;
    let place = match acts.iter().position(|act| from_post && *act == Act::Post(from.message)) {
        Some(post) => post + 1,
        None if rings.shared_bodies && rng.percent(25) => rng.index(acts.len() + 1),
        None => 0,
    };
    acts.insert(place, Act::Write(variable, write));
    let acts = &mut sketch.bodies[target].acts;
    let place = match acts.iter().position(|act| to_post && *act == Act::Post(to.message)) {
        Some(post) => post,
        None if rings.shared_bodies && rng.percent(25) => rng.index(acts.len() + 1),
        None => acts.len(),
    };
    acts.insert(place, Act::Read(variable, Some(write)));
    if unordered {
        // Another write of the same variable, which must not come in between.
        let other = rng.index(sketch.bodies.len());
        let write = sketch.new_write(variable);
        let place = rng.index(sketch.bodies[other].acts.len() + 1);
        sketch.bodies[other].acts.insert(place, Act::Write(variable, write));
        sketch.unordered[variable] = true;
    }
}
