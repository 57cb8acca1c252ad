//! Random programs about objects with specifications.

use super::{Call, Concurrent, Do, Hold, Order, Stmt, Thing, Waits};
use anyorder_common::random::{Random, SplitMix64};

/// Numbers that are used inside and outside of calls.
const SHARED: [usize; 2] = [0, 1];
const COUNT: usize = 2;
const COUNT_LOCK: usize = 3;
const KEYS: [usize; 2] = [4, 5];
const LOG_LOCK: usize = 6;
const LOG: usize = 7;
const LOG_LENGTH: usize = 8;
const PERMITS: usize = 9;
/// Plain data outside of all objects.
const CELLS: [usize; 2] = [10, 11];
/// Plain data of the counter.
const COUNT_CELL: usize = 12;

const COUNTER: usize = 0;
const SET: usize = 1;
const RECORD: usize = 2;
const POOL: usize = 3;

/// Makes a random program of two to four threads that invoke objects with specifications, right
/// ones: a counter, a set of two keys, a log of which only the length can be seen, a pool of
/// permits. They also use some of what is inside directly. With `races` they access plain data, and
/// do nothing else outside.
#[must_use]
pub fn random_specified_program(seed: u64, size: usize, races: bool) -> Concurrent {
    let mut rng = SplitMix64(seed);
    let count = 2 + rng.index(if races { 2 } else { 3 });
    let things = vec![
        Thing::Number(0),
        Thing::Number(0),
        Thing::Number(0),
        Thing::Lock,
        Thing::Number(0),
        Thing::Number(0),
        Thing::Lock,
        Thing::Content(0),
        Thing::Number(0),
        Thing::Permits(rng.below(2)),
        Thing::Content(0),
        Thing::Content(0),
        Thing::Content(0),
    ];
    let mut pieces: Vec<u64> = (0..20).collect();
    if rng.percent(60) {
        rng.shuffle(&mut pieces);
        pieces.truncate(2 + rng.index(4));
    }
    let mut threads: Vec<Vec<Stmt>> = Vec::new();
    for _ in 0..count {
        let mut stmts = Vec::new();
        for _ in 0..size.div_ceil(count) {
            let piece = rng.pick(&pieces);
            match races {
                true => racy_piece(&mut rng, piece, &mut stmts),
                false => stmts.push(any_piece(&mut rng, piece)),
            }
            if rng.percent(15) && !races {
                let value = rng.below(2);
                let then = any_piece(&mut rng, piece);
                stmts.push(Stmt::If(value, vec![then], Vec::new()));
            }
        }
        threads.push(stmts);
    }
    for child in (1..count).rev() {
        threads[0].insert(0, Stmt::Do(Do::Spawn(child)));
        if rng.percent(30) {
            threads[0].push(Stmt::Do(Do::Join(child)));
            let piece = rng.pick(&pieces);
            match races {
                true => racy_piece(&mut rng, piece, &mut threads[0]),
                false => threads[0].push(any_piece(&mut rng, piece)),
            }
        }
    }
    Concurrent { things, threads }
}

fn call(object: usize, call: u64, clashes: &[u64], returns: bool, body: Vec<Stmt>) -> Stmt {
    Stmt::Call(Box::new(Call { object, call, clashes: clashes.to_vec(), body, returns }))
}

fn ops(ops: &[Do]) -> Vec<Stmt> {
    ops.iter().copied().map(Stmt::Do).collect()
}

fn any_piece(rng: &mut SplitMix64, piece: u64) -> Stmt {
    let shared = rng.pick(&SHARED);
    match piece {
        0 => Stmt::Do(Do::Load(shared)),
        1 => Stmt::Do(Do::Store(shared, rng.below(2))),
        2 => Stmt::Do(Do::Load(rng.pick(&[COUNT, KEYS[0], LOG_LENGTH]))),
        3 => Stmt::Do(Do::Store(rng.pick(&[COUNT, KEYS[0], LOG_LENGTH]), 1)),
        4..8 => counter(rng),
        8..12 => set(rng),
        12..16 => record(rng),
        16..19 => pool(rng),
        _ => {
            let inner = if rng.percent(50) { counter(rng) } else { record(rng) };
            let value = rng.below(2);
            let branch = Stmt::If(value, vec![set(rng)], vec![Stmt::Do(Do::Load(shared))]);
            // A call of the record that makes calls of other objects; it clashes with all.
            call(RECORD, 2, &[0, 1, 2, 3], true, vec![inner, branch])
        }
    }
}

fn counter(rng: &mut SplitMix64) -> Stmt {
    let write = Hold::Write;
    match rng.below(5) {
        0 | 1 => {
            let increment = [
                Do::Lock(COUNT_LOCK, write, Waits::Ever),
                Do::Load(COUNT),
                Do::StoreNext(COUNT),
                Do::Unlock(COUNT_LOCK, write),
            ];
            call(COUNTER, 0, &[1, 2], false, ops(&increment))
        }
        2 => call(COUNTER, 1, &[0, 2], true, ops(&[Do::Load(COUNT)])),
        3 => call(COUNTER, 2, &[0, 1, 2], true, ops(&[Do::Add(COUNT, 1)])),
        // Marks something that another object looks at.
        _ => call(COUNTER, 3, &[], false, ops(&[Do::Store(SHARED[1], 1)])),
    }
}

fn set(rng: &mut SplitMix64) -> Stmt {
    let key = rng.below(2);
    let number = KEYS[key as usize];
    let [add, remove, has, insert] = [key, 2 + key, 4 + key, 6 + key];
    match rng.below(6) {
        0 => call(SET, add, &[remove, has, insert, 9], false, ops(&[Do::Store(number, 1)])),
        1 => call(SET, remove, &[add, has, insert, 9], false, ops(&[Do::Store(number, 0)])),
        2 => call(SET, has, &[add, remove, insert], true, ops(&[Do::Load(number)])),
        3 => {
            let clashes = [add, remove, has, insert, 9];
            call(SET, insert, &clashes, true, ops(&[Do::Swap(number, 0, 1)]))
        }
        4 => call(SET, 8, &[], true, ops(&[Do::Load(SHARED[1])])),
        // Both keys: it looks first, and waits for nobody.
        _ => {
            let body = vec![
                Stmt::Do(Do::Load(KEYS[0])),
                Stmt::If(0, ops(&[Do::Load(KEYS[1])]), Vec::new()),
            ];
            call(SET, 9, &[0, 1, 2, 3, 6, 7], true, body)
        }
    }
}

fn record(rng: &mut SplitMix64) -> Stmt {
    match rng.below(4) {
        0 | 1 => {
            let append = [
                Do::Lock(LOG_LOCK, Hold::Write, Waits::Ever),
                Do::Use(LOG),
                Do::AlterOwn(LOG, 0),
                Do::Unlock(LOG_LOCK, Hold::Write),
                Do::Add(LOG_LENGTH, 1),
            ];
            let mut append = append;
            append[2] = Do::AlterOwn(LOG, rng.below(3));
            call(RECORD, 0, &[1, 2], false, ops(&append))
        }
        2 => call(RECORD, 1, &[0, 2, 3], true, ops(&[Do::Load(LOG_LENGTH)])),
        // Does something if it sees something outside.
        _ => {
            let body = vec![
                Stmt::Do(Do::Load(SHARED[0])),
                Stmt::If(1, ops(&[Do::Add(LOG_LENGTH, 1)]), Vec::new()),
            ];
            call(RECORD, 3, &[1, 2], false, body)
        }
    }
}

/// Calls that wait.
fn pool(rng: &mut SplitMix64) -> Stmt {
    match rng.below(5) {
        0 => call(POOL, 0, &[0, 1, 2, 3], false, ops(&[Do::Acquire(PERMITS, 1, Waits::Ever)])),
        1 | 2 => call(POOL, 1, &[0, 2, 3], false, ops(&[Do::Release(PERMITS, 1)])),
        3 => call(POOL, 2, &[0, 1, 2, 3], true, ops(&[Do::Acquire(PERMITS, 1, Waits::Never)])),
        // Does something, waits, and looks.
        _ => {
            let body = ops(&[
                Do::Add(SHARED[0], 1),
                Do::Acquire(PERMITS, 1, Waits::Ever),
                Do::Load(SHARED[0]),
            ]);
            call(POOL, 3, &[0, 1, 2, 3], true, body)
        }
    }
}

fn racy_piece(rng: &mut SplitMix64, piece: u64, stmts: &mut Vec<Stmt>) {
    let cell = rng.pick(&CELLS);
    let order = rng.pick(&[Order::Relaxed, Order::Both]);
    let access = if rng.percent(50) { Do::Peek(cell) } else { Do::Poke(cell) };
    match piece {
        0..6 => stmts.push(Stmt::Do(access)),
        6..9 => {
            let body = [
                Do::Lock(COUNT_LOCK, Hold::Write, Waits::Ever),
                Do::Peek(COUNT_CELL),
                Do::Poke(COUNT_CELL),
                Do::AddAs(COUNT, 1, Order::Both),
                Do::Unlock(COUNT_LOCK, Hold::Write),
            ];
            stmts.push(call(COUNTER, 0, &[1], false, ops(&body)));
        }
        9..12 => {
            stmts.push(call(COUNTER, 1, &[0], true, ops(&[Do::LoadAs(COUNT, order)])));
            if rng.percent(50) {
                stmts.push(Stmt::If(1, ops(&[access]), Vec::new()));
            }
        }
        12..14 => stmts.push(call(SET, 0, &[1], false, ops(&[Do::StoreAs(SHARED[0], 1, order)]))),
        14..16 => {
            stmts.push(call(SET, 1, &[0], true, ops(&[Do::LoadAs(SHARED[0], order)])));
            stmts.push(Stmt::If(1, ops(&[access]), Vec::new()));
        }
        // The set's number is not its own then.
        16 => {
            stmts.push(Stmt::Do(Do::LoadAs(SHARED[0], order)));
            stmts.push(Stmt::If(1, ops(&[access]), Vec::new()));
        }
        _ => {
            let body = ops(&[access, Do::AddAs(LOG_LENGTH, 1, order)]);
            stmts.push(call(RECORD, 0, &[], false, body));
        }
    }
}
