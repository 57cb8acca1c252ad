//! Random litmus programs. Each is made of a few features only, so that these meet more often.

use super::{Code, Litmus, Modify, Strength, Written};
use anyorder_common::random::{Random, SplitMix64};

/// How large a random litmus program is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LitmusShape {
    /// The most threads beside the first one, at least 2.
    pub threads: usize,
    /// The accesses; a read-modify-write counts as two.
    pub accesses: usize,
    /// The most locations.
    pub locations: usize,
    /// Whether there is plain data, too.
    pub plain: bool,
}

/// Where plain data is.
const PLAIN: [usize; 2] = [10, 11];

struct Maker {
    rng: SplitMix64,
    locations: usize,
    loads: Vec<Strength>,
    stores: Vec<Strength>,
    changes: Vec<Strength>,
    fences: Vec<Strength>,
    /// In percent: loads among accesses, read-modify-writes among accesses, fences between,
    /// branches, values that depend on the last result.
    shares: [u32; 5],
    /// Plain accesses among accesses, in percent.
    plain: u32,
}

/// Makes a random litmus program. The first thread spawns all others, in most cases before all
/// else, may run code of its own, joins some, and looks at what they left.
#[must_use]
pub fn random_litmus(seed: u64, shape: &LitmusShape) -> Litmus {
    use Strength::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let mut rng = SplitMix64(seed);
    let mut some = |all: &[Strength]| {
        let mut all = all.to_vec();
        rng.shuffle(&mut all);
        let count = 1 + rng.index(all.len());
        all.truncate(count);
        all
    };
    let loads = some(&[Relaxed, Acquire, SeqCst]);
    let stores = some(&[Relaxed, Release, SeqCst]);
    let changes = some(&[Relaxed, Acquire, Release, AcqRel, SeqCst]);
    let fences = some(&[Acquire, Release, AcqRel, SeqCst, SeqCst]);
    let mut shares = [
        rng.pick(&[35, 50, 65]),
        rng.pick(&[0, 0, 10, 40]),
        rng.pick(&[0, 0, 15, 50]),
        rng.pick(&[0, 10, 25]),
        rng.pick(&[0, 20]),
    ];
    let (mut loads, mut stores, mut changes, mut fences) = (loads, stores, changes, fences);
    match rng.below(6) {
        // Total orders of accesses, or of fences, have circles where little else is there.
        0 => (loads, stores, shares) = (vec![SeqCst], vec![SeqCst], [50, shares[1], 0, 0, 0]),
        1 => (loads, stores, shares) = (vec![Relaxed], vec![Relaxed], [50, 0, 70, 0, 0]),
        3 => {
            (loads, stores, fences) =
                (vec![Relaxed], vec![Relaxed], vec![Acquire, Release, AcqRel]);
            shares = [50, shares[1], 60, 0, 0];
        }
        // Release sequences, which read-modify-writes continue.
        2 => {
            (loads, stores, changes) = (vec![Acquire], vec![Release, Relaxed], vec![Relaxed]);
            shares = [50, 40, 0, 0, 0];
        }
        _ => {}
    }
    let plain = if shape.plain { rng.pick(&[20, 40, 60]) } else { 0 };
    let locations = 1 + rng.index(shape.locations);
    let count = 2 + rng.index(shape.threads - 1);
    let mut maker = Maker { rng, locations, loads, stores, changes, fences, shares, plain };
    let mut bodies = vec![Vec::new(); count];
    let mut room = shape.accesses;
    let least = room / count;
    for (at, body) in bodies.iter_mut().enumerate() {
        let own = if at + 1 == count { room } else { (least + maker.rng.index(2)).min(room) };
        room -= own;
        *body = maker.body(own);
    }
    maker.with_main(bodies)
}

impl Maker {
    fn body(&mut self, mut room: usize) -> Vec<Code> {
        let mut body = Vec::new();
        while room > 0 {
            if !body.is_empty() && self.rng.percent(self.shares[2]) {
                body.push(Code::Fence(self.rng.pick(&self.fences)));
            }
            if self.plain > 0 && self.rng.percent(self.plain) {
                let written = if self.rng.percent(50) { Some(1 + self.rng.below(2)) } else { None };
                body.push(Code::Plain(self.rng.pick(&PLAIN), written));
                room -= 1;
                continue;
            }
            let location = self.rng.index(self.locations);
            if room > 1 && self.rng.percent(self.shares[1]) {
                body.push(self.change(location));
                room -= 2;
            } else if self.rng.percent(self.shares[0]) {
                body.push(Code::Load(location, self.rng.pick(&self.loads)));
                room -= 1;
                if room > 0 && self.rng.percent(self.shares[3]) {
                    let then = self.body(room);
                    let otherwise = if self.rng.percent(50) { Vec::new() } else { self.body(1) };
                    let value = self.rng.below(2);
                    body.push(Code::If(value, then, otherwise));
                    return body;
                }
            } else {
                let written = match self.rng.percent(self.shares[4]) {
                    true => Written::LastAnd(1),
                    false => Written::Is(1 + self.rng.below(2)),
                };
                body.push(Code::Store(location, written, self.rng.pick(&self.stores)));
                room -= 1;
            }
        }
        body
    }

    fn change(&mut self, location: usize) -> Code {
        let failure = self.rng.pick(&self.loads);
        let success = self.rng.pick(&self.changes);
        let modify = match self.rng.below(3) {
            0 => Modify::Add(1),
            1 => Modify::Swap(1 + self.rng.below(2)),
            _ => Modify::Exchange(self.rng.below(2), 1 + self.rng.below(2)),
        };
        Code::Modify(location, modify, success, failure)
    }

    fn with_main(mut self, bodies: Vec<Vec<Code>>) -> Litmus {
        let count = bodies.len();
        let mut main: Vec<Code> = (1..=count).map(Code::Spawn).collect();
        let mut threads = bodies;
        match self.rng.below(5) {
            0 => {
                // One thread is spawned by another one.
                main.pop();
                let at = self.rng.index(threads[0].len() + 1);
                threads[0].insert(at, Code::Spawn(count));
            }
            1 => {
                // The first thread runs one body itself.
                main.pop();
                main.extend(threads.pop().unwrap_or_default());
            }
            2 => {
                let location = self.rng.index(self.locations);
                let store = Code::Store(location, Written::Is(2), self.rng.pick(&self.stores));
                main.insert(self.rng.index(2), store);
            }
            _ => {}
        }
        for child in 1..=count {
            if main.contains(&Code::Spawn(child)) && self.rng.percent(20) {
                main.push(Code::Join(child));
                if self.rng.percent(30) {
                    let location = self.rng.index(self.locations);
                    main.push(Code::Load(location, self.rng.pick(&self.loads)));
                }
            }
        }
        Litmus { threads: std::iter::once(main).chain(threads).collect() }
    }
}
