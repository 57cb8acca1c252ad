//! Changes a recorded trace in a few places, so that its answer is unknown.

use super::recorded::acts_where;
use super::sketch::{Act, Sketch};
use anyorder_common::random::{Random, Rng};

/// Makes one to three random changes. Without `nested`, only initial messages get new posts.
pub(super) fn perturb(rng: &mut Rng, sketch: &mut Sketch, nested: bool) {
    for _ in 0..rng.within(1, 3) {
        match rng.below(6) {
            0 | 1 => retarget(rng, sketch),
            2 => reorder_writes(rng, sketch),
            3 => swap_acts(rng, sketch),
            4 => move_act(rng, sketch, nested),
            _ => add_message(rng, sketch, nested),
        }
    }
}

/// Lets a read read from another write.
fn retarget(rng: &mut Rng, sketch: &mut Sketch) {
    let reads = acts_where(sketch, |act| matches!(act, Act::Read(..)));
    if reads.is_empty() {
        return;
    }
    let (body, at) = rng.pick(&reads);
    if let Act::Read(variable, from) = &mut sketch.bodies[body].acts[at] {
        let writes = &sketch.writes[*variable];
        *from = if writes.is_empty() || rng.percent(15) { None } else { Some(rng.pick(writes)) };
    }
}

/// Swaps two writes in coherence.
fn reorder_writes(rng: &mut Rng, sketch: &mut Sketch) {
    let variable = rng.index(sketch.writes.len());
    let writes = &mut sketch.writes[variable];
    if writes.len() >= 2 {
        let at = rng.index(writes.len() - 1);
        writes.swap(at, at + 1);
    }
}

/// Swaps two neighbours of a body.
fn swap_acts(rng: &mut Rng, sketch: &mut Sketch) {
    let body = rng.index(sketch.bodies.len());
    let acts = &mut sketch.bodies[body].acts;
    if acts.len() >= 2 {
        let at = rng.index(acts.len() - 1);
        acts.swap(at, at + 1);
    }
}

/// Moves an act to another body. This can move a post into the message that it posts.
fn move_act(rng: &mut Rng, sketch: &mut Sketch, nested: bool) {
    let acts = acts_where(sketch, |_| true);
    if acts.is_empty() {
        return;
    }
    let (from, at) = rng.pick(&acts);
    let act = sketch.bodies[from].acts[at];
    let to = host(rng, sketch, nested || !matches!(act, Act::Post(_)));
    sketch.bodies[from].acts.remove(at);
    let place = rng.index(sketch.bodies[to].acts.len() + 1);
    sketch.bodies[to].acts.insert(place, act);
}

/// Posts one more message, which may read something.
fn add_message(rng: &mut Rng, sketch: &mut Sketch, nested: bool) {
    let handlers = sketch.bodies.iter().filter(|body| body.initial).count();
    let poster = host(rng, sketch, nested);
    let message = sketch.add_message(rng.index(handlers));
    let variable = rng.index(sketch.writes.len());
    if !sketch.writes[variable].is_empty() {
        let from = rng.pick(&sketch.writes[variable]);
        sketch.read(message, variable, Some(from));
    }
    let place = rng.index(sketch.bodies[poster].acts.len() + 1);
    sketch.bodies[poster].acts.insert(place, Act::Post(message));
}

/// Returns a body; an initial one unless `any`.
fn host(rng: &mut Rng, sketch: &Sketch, any: bool) -> usize {
    let handlers = sketch.bodies.iter().filter(|body| body.initial).count();
    rng.index(if any { sketch.bodies.len() } else { handlers })
}
