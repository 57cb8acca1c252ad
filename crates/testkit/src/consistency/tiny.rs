//! Traces of a few events, many of them odd: nothing at all, messages that post themselves, reads
//! of later writes.

use super::sketch::{Act, Sketch};
use anyorder_common::random::{Random, Rng};

/// Makes a random tiny trace.
pub(super) fn tiny(rng: &mut Rng) -> Sketch {
    let handlers = rng.below(3) as usize;
    let mut sketch = Sketch::new(handlers, 2);
    if handlers == 0 {
        return sketch;
    }
    (0..rng.below(4)).for_each(|_| {
        let to = rng.index(handlers);
        sketch.add_message(to);
    });
    let mut writes = Vec::new();
    for _ in 0..rng.below(4) {
        let (body, variable) = (rng.index(sketch.bodies.len()), rng.index(2));
        writes.push((variable, sketch.write(body, variable)));
    }
    for _ in 0..rng.below(4) {
        let body = rng.index(sketch.bodies.len());
        let mut read = Act::Read(rng.index(2), None);
        if !writes.is_empty() && rng.percent(80) {
            let (variable, write) = rng.pick(&writes);
            read = Act::Read(variable, Some(write));
        }
        put(rng, &mut sketch, body, read);
    }
    // Any message may be the poster of any: of itself, or of one that posts it in turn.
    for message in sketch.posted() {
        let poster =
            if rng.percent(70) { rng.index(handlers) } else { rng.index(sketch.bodies.len()) };
        put(rng, &mut sketch, poster, Act::Post(message));
    }
    sketch
}

/// Puts an act into a body, at any place.
fn put(rng: &mut Rng, sketch: &mut Sketch, body: usize, act: Act) {
    let acts = &mut sketch.bodies[body].acts;
    acts.insert(rng.index(acts.len() + 1), act);
}
