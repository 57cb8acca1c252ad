//! Random programs with loops that spin and give up after some turns.

use super::{Concurrent, Do, Hold, Order, Spin, Stmt, Thing, Waits};
use anyorder_common::random::{Random, SplitMix64};

const NUMBERS: [usize; 2] = [0, 1];
const LOCK: usize = 2;
/// Under the lock.
const CONTENT: usize = 3;
/// Plain data that nothing protects.
const CELL: usize = 4;

struct Maker {
    rng: SplitMix64,
    /// The most turns of a loop.
    turns: u64,
    is_racy: bool,
}

/// Makes a random program of two or three threads with loops that give up after up to six turns:
/// they read one or two numbers, try a lock or an exchange in vain, or look at content under a
/// lock, and at a number. Some make more turns if a number is greater. With `is_racy`, threads
/// access plain data, and numbers have orderings.
#[must_use]
pub fn random_spinning_program(seed: u64, is_racy: bool) -> Concurrent {
    let mut rng = SplitMix64(seed);
    let turns = if is_racy { 2 } else { 1 + rng.below(6) };
    let threads = 2 + usize::from(!is_racy && rng.percent(30));
    let mut maker = Maker { rng, turns, is_racy };
    let mut bodies: Vec<Vec<Stmt>> = (0..threads).map(|_| maker.body()).collect();
    // At least one.
    let at = maker.rng.index(threads);
    maker.bounded(&mut bodies[at]);
    if maker.rng.percent(60) {
        maker.piece(&mut bodies[at]);
    }
    maker.spawn_all(bodies)
}

/// As [`random_spinning_program`], with one thread that soon spins until a number is 1, for ever if
/// need be: first of all, after a look at the other number, or after a loop that gives up. No
/// thread has more than one loop of the other kind.
#[must_use]
pub fn random_waiting_program(seed: u64) -> Concurrent {
    let rng = SplitMix64(seed);
    let mut maker = Maker { rng, turns: 3, is_racy: false };
    let threads = 2 + usize::from(maker.rng.percent(40));
    let mut bodies: Vec<Vec<Stmt>> = Vec::new();
    for _ in 1..threads {
        let mut body = Vec::new();
        let (at, count) = (maker.rng.below(3), 1 + maker.rng.below(3));
        for piece in 0..count {
            if piece == at {
                maker.bounded(&mut body);
            }
            maker.piece(&mut body);
        }
        bodies.push(body);
    }
    let number = maker.rng.pick(&NUMBERS);
    if maker.rng.percent(40) {
        // What the loop waits for comes and goes.
        let stores = [2, 1, 2].map(|value| Stmt::Do(Do::Store(number, value)));
        bodies[0].splice(0..0, stores);
    }
    let mut spinner = Vec::new();
    let before = maker.rng.below(8);
    if before < 2 {
        maker.bounded(&mut spinner);
    }
    if before < 4 {
        // Between two loops, so that the last turn of the first one is none of the second one.
        spinner.push(Stmt::Do(maker.load(NUMBERS[0] + NUMBERS[1] - number)));
    }
    spinner.push(Stmt::SpinUntil(Do::Load(number), 1));
    if maker.rng.percent(40) {
        maker.bounded(&mut spinner);
    }
    maker.piece(&mut spinner);
    let at = maker.rng.index(threads);
    bodies.insert(at, spinner);
    maker.spawn_all(bodies)
}

/// Makes a random program with one thread that has two or three loops that give up, each after up
/// to five turns, beside one or two threads that change what the loops read. What it does after a
/// loop depends on the last result, and at times on how many turns in vain the loop took.
#[must_use]
pub fn random_counting_program(seed: u64) -> Concurrent {
    let rng = SplitMix64(seed);
    let mut maker = Maker { rng, turns: 4, is_racy: false };
    let mut waiter = Vec::new();
    for _ in 0..2 + maker.rng.below(2) {
        maker.bounded(&mut waiter);
        let after = waiter.pop();
        if let Some(Stmt::SpinUpTo(mut spin)) = after {
            spin.turns = 2 + maker.rng.below(4);
            spin.counts = maker.rng.percent(20);
            if maker.rng.percent(50) {
                spin.body = vec![Do::Load(maker.rng.pick(&NUMBERS))];
            }
            waiter.push(Stmt::SpinUpTo(spin));
        } else {
            waiter.extend(after);
        }
        let number = maker.rng.pick(&NUMBERS);
        waiter.push(match maker.rng.below(4) {
            0 => Stmt::Do(Do::StoreNext(number)),
            1 => Stmt::Do(Do::Load(number)),
            value => {
                let mut pieces = [Vec::new(), Vec::new()];
                let at = maker.rng.index(2);
                maker.piece(&mut pieces[at]);
                let [then, otherwise] = pieces;
                Stmt::If(value - 1, then, otherwise)
            }
        });
    }
    let mut bodies = vec![waiter];
    for _ in 0..1 + usize::from(maker.rng.percent(30)) {
        let mut body = Vec::new();
        for _ in 0..1 + maker.rng.below(3) {
            let number = maker.rng.pick(&NUMBERS);
            match maker.rng.percent(70) {
                true => body.push(Stmt::Do(Do::Store(number, maker.rng.below(3)))),
                false => maker.piece(&mut body),
            }
        }
        bodies.push(body);
    }
    maker.spawn_all(bodies)
}

/// Makes a random program of two threads: one has a loop that gives up after up to three turns, and
/// takes a lock in each turn, before it or after it; the other one changes what the loop reads
/// while it holds the lock, and may change it back.
#[must_use]
pub fn random_section_program(seed: u64) -> Concurrent {
    let rng = SplitMix64(seed);
    let mut maker = Maker { rng, turns: 3, is_racy: false };
    let (lock, unlock) = (Do::Lock(LOCK, Hold::Write, Waits::Ever), Do::Unlock(LOCK, Hold::Write));
    let mut spinner = Vec::new();
    if maker.rng.percent(50) {
        spinner.extend([lock, unlock].map(Stmt::Do));
    }
    let mut body = maker.loads(2);
    if body.is_empty() || maker.rng.percent(50) {
        body.extend([lock, Do::Use(CONTENT), unlock]);
        body.extend(maker.loads(1));
    }
    let (until, turns) = (7, 1 + maker.rng.below(3));
    let spin = Spin { body, until, turns, is_more: false, counts: maker.rng.percent(20) };
    spinner.push(Stmt::SpinUpTo(Box::new(spin)));
    spinner.extend(maker.loads(1).into_iter().map(Stmt::Do));
    if maker.rng.percent(50) {
        spinner.extend([lock, Do::Use(CONTENT), unlock].map(Stmt::Do));
    }
    let mut other = Vec::new();
    for _ in 0..1 + maker.rng.below(2) {
        other.push(lock);
        for _ in 0..1 + maker.rng.below(4) {
            let (number, value) = (maker.rng.pick(&NUMBERS), maker.rng.below(3));
            other.push(match maker.rng.percent(20) {
                true => Do::Alter(CONTENT, value),
                false => Do::Store(number, value),
            });
        }
        other.push(unlock);
    }
    let mut bodies = vec![spinner, other.into_iter().map(Stmt::Do).collect()];
    if maker.rng.percent(50) {
        bodies.swap(0, 1);
    }
    maker.spawn_all(bodies)
}

impl Maker {
    /// Up to so many loads.
    fn loads(&mut self, most: u64) -> Vec<Do> {
        let count = self.rng.below(most + 1);
        (0..count).map(|_| Do::Load(self.rng.pick(&NUMBERS))).collect()
    }

    fn spawn_all(&mut self, mut bodies: Vec<Vec<Stmt>>) -> Concurrent {
        for child in (1..bodies.len()).rev() {
            bodies[0].insert(0, Stmt::Do(Do::Spawn(child)));
        }
        if self.rng.percent(30) {
            bodies[0].push(Stmt::Do(Do::Join(1)));
            bodies[0].push(Stmt::Do(self.load(NUMBERS[0])));
        }
        let things = vec![
            Thing::Number(0),
            Thing::Number(0),
            Thing::Lock,
            Thing::Content(0),
            Thing::Content(0),
        ];
        Concurrent { things, threads: bodies }
    }

    fn body(&mut self) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        for _ in 0..1 + self.rng.below(2) {
            match self.rng.percent(25) {
                true => self.bounded(&mut stmts),
                false => self.piece(&mut stmts),
            }
        }
        stmts
    }

    fn order(&mut self) -> Order {
        self.rng.pick(&[Order::Relaxed, Order::Acquire, Order::Release, Order::Both])
    }

    fn load(&mut self, number: usize) -> Do {
        if !self.is_racy {
            return Do::Load(number);
        }
        Do::LoadAs(number, self.rng.pick(&[Order::Relaxed, Order::Acquire]))
    }

    fn piece(&mut self, stmts: &mut Vec<Stmt>) {
        let number = self.rng.pick(&NUMBERS);
        let value = 1 + self.rng.below(2);
        if self.is_racy {
            if self.rng.percent(30) {
                let store = Do::StoreAs(number, value, Order::Release);
                return stmts.extend([Do::Poke(CELL), store].map(Stmt::Do));
            }
            let op = match self.rng.below(6) {
                0 | 1 => Do::Poke(CELL),
                2 => Do::Peek(CELL),
                3 => self.load(number),
                4 => Do::StoreAs(number, value, self.rng.pick(&[Order::Relaxed, Order::Release])),
                _ => Do::AddAs(number, 1, self.order()),
            };
            return stmts.push(Stmt::Do(op));
        }
        match self.rng.below(10) {
            0..3 => stmts.push(Stmt::Do(Do::Load(number))),
            3..6 => stmts.push(Stmt::Do(Do::Store(number, value))),
            6 => stmts.push(Stmt::Do(Do::Add(number, 1))),
            7 => {
                let (load, store) = (Do::Load(number), Do::Store(number, value));
                stmts.extend([Stmt::Do(load), Stmt::If(0, vec![Stmt::Do(store)], Vec::new())]);
            }
            _ => {
                let inner = match self.rng.percent(60) {
                    true => Do::Alter(CONTENT, value),
                    false => Do::Load(number),
                };
                stmts.push(Stmt::Do(Do::Lock(LOCK, Hold::Write, Waits::Ever)));
                stmts.extend([Do::Use(CONTENT), inner].map(Stmt::Do));
                stmts.push(Stmt::Do(Do::Unlock(LOCK, Hold::Write)));
            }
        }
    }

    /// A loop that gives up.
    fn bounded(&mut self, stmts: &mut Vec<Stmt>) {
        let number = self.rng.pick(&NUMBERS);
        let (mut until, mut is_more) = (1 + self.rng.below(2), false);
        let kind = if self.is_racy { self.rng.below(4) } else { self.rng.below(12) };
        let body = match kind {
            0..4 => vec![self.load(number)],
            4 | 5 => NUMBERS.map(Do::Load).to_vec(),
            6 => {
                until = 1;
                vec![Do::Lock(LOCK, Hold::Write, Waits::Never)]
            }
            7 => vec![Do::Swap(number, until, 7)],
            10 | 11 => {
                // It counts its turns for all to see.
                until = 2 + self.rng.below(2);
                let other = NUMBERS[0] + NUMBERS[1] - number;
                let mut body = vec![Do::Load(number), Do::StoreNext(number), Do::Load(other)];
                if kind == 11 {
                    body.rotate_right(1);
                }
                body
            }
            _ => {
                until = 2;
                let (lock, unlock) =
                    (Do::Lock(LOCK, Hold::Write, Waits::Ever), Do::Unlock(LOCK, Hold::Write));
                let mut body = vec![lock, Do::Use(CONTENT), unlock];
                if kind == 9 {
                    body.push(Do::Load(number));
                }
                body
            }
        };
        if self.rng.percent(20) {
            stmts.push(Stmt::Do(self.load(number)));
            is_more = true;
        }
        let turns = 1 + self.rng.below(self.turns);
        stmts.push(Stmt::SpinUpTo(Box::new(Spin { body, until, turns, is_more, counts: false })));
        if self.is_racy && self.rng.percent(50) {
            stmts.push(Stmt::If(0, vec![Stmt::Do(Do::Poke(CELL))], Vec::new()));
        }
        if kind == 6 {
            // The loop ends with the lock, or without.
            stmts.push(Stmt::If(1, vec![Stmt::Do(Do::Unlock(LOCK, Hold::Write))], Vec::new()));
        }
    }
}
