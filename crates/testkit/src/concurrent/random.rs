//! Random multithreaded programs: small, and of every operation.

use super::{Concurrent, Do, Hold, Stmt, Thing, Waits};
use anyorder_common::random::{Random, SplitMix64};

/// Objects of each kind, by position in every random program.
const NUMBERS: [usize; 2] = [0, 1];
/// A lock and the content that it protects.
const LOCKS: [(usize, usize); 2] = [(2, 3), (4, 5)];
const CONDITION: usize = 6;
const QUEUE: usize = 7;
const BARRIER: usize = 8;
const PERMITS: usize = 9;
const OWNERS: usize = 10;

struct Maker {
    rng: SplitMix64,
    threads: usize,
    /// The operations that may still be made.
    room: usize,
    fails: u32,
    /// The pieces that the program is made of. Some programs have few: they meet more often.
    pieces: Vec<u64>,
}

/// Makes a random program of two to four threads with about `size` operations.
///
/// The main thread spawns the others, and joins some of them. Locks are given back by who took them
/// and contents are used under their locks; all else is free, so many programs get stuck.
#[must_use]
pub fn random_program(seed: u64, size: usize) -> Concurrent {
    let mut rng = SplitMix64(seed);
    let threads = 2 + rng.index(3);
    let mut pieces: Vec<u64> = (0..34).collect();
    if rng.percent(50) {
        rng.shuffle(&mut pieces);
        pieces.truncate(1 + rng.index(3));
    }
    let mut maker = Maker { rng, threads, room: size, fails: 0, pieces };
    let things = vec![
        Thing::Number(0),
        Thing::Number(0),
        Thing::Lock,
        Thing::Content(0),
        Thing::Lock,
        Thing::Content(0),
        Thing::Condition,
        Thing::Queue(1 + maker.rng.below(2) as u32),
        Thing::Barrier(1 + maker.rng.below(2) as u32),
        Thing::Permits(maker.rng.below(2)),
        Thing::Owners(1 + maker.rng.below(2)),
    ];
    let shares: Vec<usize> = (0..threads).map(|_| size.div_ceil(threads)).collect();
    let mut bodies: Vec<Vec<Stmt>> = shares.iter().map(|share| maker.body(*share)).collect();
    maker.add_spawns(&mut bodies);
    Concurrent { things, threads: bodies }
}

impl Maker {
    /// Puts the spawns and some joins into the main thread, or a spawn into another one.
    fn add_spawns(&mut self, bodies: &mut [Vec<Stmt>]) {
        for child in (1..bodies.len()).rev() {
            let parent = if child > 1 && self.rng.percent(20) { child - 1 } else { 0 };
            bodies[parent].insert(0, Stmt::Do(Do::Spawn(child)));
            if parent == 0 && self.rng.percent(40) {
                let op = if self.rng.percent(80) { Do::Join(child) } else { Do::IsFinished(child) };
                bodies[0].push(Stmt::Do(op));
                if self.rng.percent(40) {
                    bodies[0].push(Stmt::Do(Do::Load(NUMBERS[0])));
                }
            }
        }
    }

    fn body(&mut self, share: usize) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        self.room = share;
        while self.room > 0 {
            self.piece(&mut stmts);
        }
        stmts
    }

    fn op(&mut self, stmts: &mut Vec<Stmt>, op: Do) {
        self.room = self.room.saturating_sub(1);
        stmts.push(Stmt::Do(op));
    }

    fn waits(&mut self) -> Waits {
        self.rng.pick(&[Waits::Ever, Waits::Ever, Waits::Never, Waits::Some])
    }

    fn piece(&mut self, stmts: &mut Vec<Stmt>) {
        let number = self.rng.pick(&NUMBERS);
        let value = self.rng.below(3);
        match self.rng.pick(&self.pieces) {
            0..6 => self.op(stmts, Do::Load(number)),
            6..10 => self.op(stmts, Do::Store(number, value)),
            10 => {
                self.op(stmts, Do::Load(number));
                self.op(stmts, Do::StoreNext(number));
            }
            11 => self.op(stmts, Do::Add(number, 1)),
            12 => self.op(stmts, Do::Swap(number, value, 2)),
            13..18 => self.section(stmts),
            18 => self.wait(stmts),
            19 => {
                let (all, counted) = (self.rng.percent(50), self.rng.percent(30));
                self.op(stmts, Do::Notify(CONDITION, all, counted));
            }
            20 => {
                let waits = self.waits();
                self.op(stmts, Do::Park(waits));
            }
            21 => {
                let thread = self.rng.index(self.threads);
                self.op(stmts, Do::Unpark(thread));
            }
            22 => {
                let waits = self.waits();
                self.op(stmts, Do::Send(QUEUE, 2 + value, waits));
            }
            23 => {
                let waits = self.waits();
                self.op(stmts, Do::Receive(QUEUE, waits));
            }
            24 => {
                let more = self.rng.percent(30);
                let senders = self.rng.percent(50);
                let op =
                    if senders { Do::Senders(QUEUE, more) } else { Do::Receivers(QUEUE, more) };
                self.op(stmts, op);
            }
            25 => {
                self.op(stmts, Do::Arrive(BARRIER));
                stmts.push(Stmt::Do(Do::Pass(BARRIER, 0)));
            }
            26 => {
                let waits = self.waits();
                self.op(stmts, Do::Acquire(PERMITS, 1, waits));
            }
            27 => {
                let op =
                    if self.rng.percent(85) { Do::Release(PERMITS, 1) } else { Do::Close(PERMITS) };
                self.op(stmts, op);
            }
            28 => {
                let op = self.rng.pick(&[
                    Do::Retain(OWNERS),
                    Do::Disown(OWNERS),
                    Do::CountOwners(OWNERS),
                    Do::Revive(OWNERS),
                    Do::TakeSole(OWNERS),
                ]);
                self.op(stmts, op);
            }
            29 => self.op(stmts, Do::Choose(2)),
            30 => self.spin(stmts, number),
            _ => self.branch(stmts),
        }
    }

    /// A section of a lock.
    fn section(&mut self, stmts: &mut Vec<Stmt>) {
        let (lock, content) = self.rng.pick(&LOCKS);
        let hold = self.rng.pick(&[Hold::Write, Hold::Write, Hold::Read, Hold::Upgradable]);
        let waits_of_lock =
            self.rng.pick(&[Waits::Ever, Waits::Ever, Waits::Ever, Waits::Never, Waits::Some]);
        if self.rng.percent(15) {
            let asked = self.rng.pick(&[Hold::Write, Hold::Read, Hold::Upgradable]);
            self.op(stmts, Do::IsFree(lock, asked));
        }
        let mut inner = Vec::new();
        self.op(&mut inner, Do::Use(content));
        let mut held = hold;
        match hold {
            Hold::Write => {
                if self.rng.percent(60) {
                    let value = self.rng.below(5);
                    let op = match value {
                        4 => Do::AlterOwn(content, self.rng.below(4)),
                        3 => Do::AlterNext(content),
                        value => Do::Alter(content, value),
                    };
                    inner.push(Stmt::Do(op));
                }
                if self.rng.percent(15) {
                    inner.push(Stmt::Do(Do::Downgrade(lock)));
                    held = Hold::Read;
                }
            }
            Hold::Upgradable if self.rng.percent(60) => {
                let waits = self.rng.pick(&[Waits::Ever, Waits::Never, Waits::Some]);
                inner.push(Stmt::Do(Do::Upgrade(lock, waits)));
                if waits == Waits::Ever {
                    inner.push(Stmt::Do(Do::Alter(content, 1)));
                    held = Hold::Write;
                } else {
                    // What did not become a sole hold is given back as it was.
                    let alter = Stmt::Do(Do::Alter(content, 1));
                    let back = |held| Stmt::Do(Do::Unlock(lock, held));
                    let then = vec![alter, back(Hold::Write)];
                    inner.push(Stmt::If(1, then, vec![back(Hold::Upgradable)]));
                    self.enter(stmts, (lock, hold, waits_of_lock), inner);
                    return;
                }
            }
            _ => {}
        }
        while self.room > 0 && self.rng.percent(25) {
            self.piece(&mut inner);
        }
        inner.push(Stmt::Do(Do::Unlock(lock, held)));
        self.enter(stmts, (lock, hold, waits_of_lock), inner);
    }

    /// Takes a lock, and what follows if that succeeded.
    fn enter(
        &mut self,
        stmts: &mut Vec<Stmt>,
        (lock, hold, waits): (usize, Hold, Waits),
        inner: Vec<Stmt>,
    ) {
        self.op(stmts, Do::Lock(lock, hold, waits));
        match waits {
            Waits::Ever => stmts.extend(inner),
            _ => stmts.push(Stmt::If(1, inner, Vec::new())),
        }
    }

    /// A wait at the condition.
    fn wait(&mut self, stmts: &mut Vec<Stmt>) {
        let (lock, content) = LOCKS[0];
        let waits = self.rng.pick(&[Waits::Ever, Waits::Ever, Waits::Some]);
        self.op(stmts, Do::Lock(lock, Hold::Write, Waits::Ever));
        self.op(stmts, Do::Use(content));
        let mut wait = Vec::new();
        for op in [
            Do::Wait(CONDITION, lock),
            Do::Wake(CONDITION, waits),
            Do::Lock(lock, Hold::Write, Waits::Ever),
        ] {
            self.op(&mut wait, op);
        }
        match self.rng.percent(50) {
            true => stmts.push(Stmt::If(0, wait, Vec::new())),
            false => stmts.extend(wait),
        }
        stmts.push(Stmt::Do(Do::Unlock(lock, Hold::Write)));
    }

    fn spin(&mut self, stmts: &mut Vec<Stmt>, number: usize) {
        self.room = self.room.saturating_sub(2);
        match self.rng.percent(70) {
            true => stmts.push(Stmt::SpinUntil(Do::Load(number), 1)),
            false => {
                let (lock, _) = LOCKS[1];
                let attempt = Do::Lock(lock, Hold::Write, Waits::Never);
                stmts.push(Stmt::SpinUntil(attempt, 1));
                stmts.push(Stmt::Do(Do::Unlock(lock, Hold::Write)));
            }
        }
    }

    fn branch(&mut self, stmts: &mut Vec<Stmt>) {
        self.room = self.room.saturating_sub(1);
        let value = self.rng.below(2);
        let mut then = Vec::new();
        if self.rng.percent(40) {
            self.fails += 1;
            then.push(Stmt::Fail(self.fails));
        }
        if self.room > 0 {
            self.piece(&mut then);
        }
        stmts.push(Stmt::If(value, then, Vec::new()));
    }
}
