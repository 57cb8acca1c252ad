// Programs that are written once: `main.rs` includes this file in a module for each library, in
// which `Arc`, `Mutex`, `RwLock`, `AtomicUsize` and `thread` are those of the library.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::SeqCst;

/// A program of some size.
pub type Body = fn(usize);

pub const ALL: &[(&str, Body)] = &[
    ("counter", counter),
    ("ainc", ainc),
    ("set", set),
    ("mxread", mxread),
    ("rwread", rwread),
    ("atread", atread),
    ("disjoint", disjoint),
    ("readers", readers),
    ("mxreaders", mxreaders),
    ("samewrite", samewrite),
    ("lastzero", lastzero),
    ("indexer", indexer),
    ("fkp", fkp),
    ("demo", demo),
];

fn all<T: 'static>(threads: Vec<thread::JoinHandle<T>>) -> Vec<T> {
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

fn many<S, T>(n: usize, shared: &Arc<S>, body: fn(&S, usize) -> T) -> Vec<thread::JoinHandle<T>>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let one = |number| {
        let shared = Arc::clone(shared);
        thread::spawn(move || body(&shared, number))
    };
    (0..n).map(one).collect()
}

/// n threads: lock, add, unlock.
fn counter(n: usize) {
    let shared = Arc::new(Mutex::new(0));
    all(many(n, &shared, |count, _| *count.lock().unwrap() += 1));
    assert_eq!(*shared.lock().unwrap(), n);
}

/// n threads: an atomic addition.
fn ainc(n: usize) {
    let shared = Arc::new(AtomicUsize::new(0));
    all(many(n, &shared, |count, _| {
        count.fetch_add(1, SeqCst);
    }));
    assert_eq!(shared.load(SeqCst), n);
}

/// n threads insert different keys in a locked set.
fn set(n: usize) {
    let shared = Arc::new(Mutex::new(BTreeSet::new()));
    all(many(n, &shared, |set, key| {
        set.lock().unwrap().insert(key);
    }));
    assert_eq!(shared.lock().unwrap().len(), n);
}

/// n threads read behind one lock.
fn mxread(n: usize) {
    let shared = Arc::new(Mutex::new(7));
    assert!(all(many(n, &shared, |value, _| *value.lock().unwrap())).iter().all(|seen| *seen == 7));
}

/// n threads read behind a lock for readers.
fn rwread(n: usize) {
    let shared = Arc::new(RwLock::new(7));
    assert!(all(many(n, &shared, |value, _| *value.read().unwrap())).iter().all(|seen| *seen == 7));
}

/// n threads load an atomic.
fn atread(n: usize) {
    let shared = Arc::new(AtomicUsize::new(7));
    assert!(all(many(n, &shared, |value, _| value.load(SeqCst))).iter().all(|seen| *seen == 7));
}

/// n threads lock what nobody else has, three times.
fn disjoint(n: usize) {
    let locks: Vec<Mutex<usize>> = (0..n).map(|_| Mutex::new(0)).collect();
    let shared = Arc::new(locks);
    all(many(n, &shared, |locks, own| {
        for _ in 0..3 {
            *locks[own].lock().unwrap() += 1;
        }
    }));
}

/// n threads load, one stores.
fn readers(n: usize) {
    let shared = Arc::new(AtomicUsize::new(0));
    let threads = many(n, &shared, |value, _| value.load(SeqCst));
    shared.store(1, SeqCst);
    all(threads);
}

/// n threads read behind a lock, one writes.
fn mxreaders(n: usize) {
    let shared = Arc::new(Mutex::new(0));
    let threads = many(n, &shared, |value, _| *value.lock().unwrap());
    *shared.lock().unwrap() = 1;
    all(threads);
}

/// n threads store the same value, one loads.
fn samewrite(n: usize) {
    let shared = Arc::new(AtomicUsize::new(0));
    let threads = many(n, &shared, |value, _| value.store(1, SeqCst));
    assert!(shared.load(SeqCst) <= 1);
    all(threads);
}

/// n threads add one to the cell after the one that they read, one looks for the last zero.
fn lastzero(n: usize) {
    let cells: Vec<AtomicUsize> = (0..=n).map(|_| AtomicUsize::new(0)).collect();
    let shared = Arc::new(cells);
    let threads = many(n, &shared, |cells, own| {
        let before = cells[own].load(SeqCst);
        cells[own + 1].store(before + 1, SeqCst);
    });
    let mut at = n;
    while shared[at].load(SeqCst) != 0 {
        at -= 1;
    }
    all(threads);
}

/// n threads put four messages each in a hash table of 128 places.
fn indexer(n: usize) {
    let table: Vec<AtomicUsize> = (0..128).map(|_| AtomicUsize::new(0)).collect();
    let shared = Arc::new(table);
    all(many(n, &shared, |table, own| {
        for message in 0..4 {
            let key = message * 11 + own + 1;
            let mut at = key * 7 % 128;
            while table[at].compare_exchange(0, key, SeqCst, SeqCst).is_err() {
                at = (at + 1) % 128;
            }
        }
    }));
}

/// n threads: load, and store one more. One looks.
fn fkp(n: usize) {
    let shared = Arc::new(AtomicUsize::new(0));
    let threads = many(n, &shared, |value, _| {
        let before = value.load(SeqCst);
        value.store(before + 1, SeqCst);
    });
    assert!(shared.load(SeqCst) <= n);
    all(threads);
}

/// Two threads: n locked additions each.
fn demo(n: usize) {
    let shared = Arc::new((Mutex::new(0), AtomicUsize::new(n)));
    all(many(2, &shared, |shared, _| {
        for _ in 0..shared.1.load(SeqCst) {
            *shared.0.lock().unwrap() += 1;
        }
    }));
    assert_eq!(*shared.0.lock().unwrap(), 2 * n);
}
