//! Objects on stacks, and their addresses in atomics.

use anyorder::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use anyorder::sync::{Arc, Mutex};
use anyorder::{Builder, thread};
use std::ptr;

fn executions_of(program: fn()) -> u64 {
    let summary = Builder::new().explore(program);
    assert!(summary.is_ok(), "{summary}");
    summary.executions
}

/// A flag that others find by its address.
struct Node {
    flag: AtomicBool,
    lock: Mutex<u32>,
}

/// The nodes of threads that wait.
#[derive(Default)]
struct List(Mutex<Vec<usize>>);

impl List {
    /// Calls `f` with a node that is in the list meanwhile.
    fn with(&self, f: impl FnOnce(&Node)) {
        let node = Node { flag: AtomicBool::new(false), lock: Mutex::new(0) };
        let address = ptr::from_ref(&node) as usize;
        self.0.lock().unwrap().push(address);
        f(&node);
        self.0.lock().unwrap().retain(|other| *other != address);
    }

    /// Looks at all nodes.
    fn look(&self) -> u32 {
        let nodes = self.0.lock().unwrap();
        let of = |address: &usize| {
            // SAFETY: what is in the list lives.
            let node = unsafe { &*(*address as *const Node) };
            u32::from(node.flag.load(SeqCst)) + *node.lock.lock().unwrap()
        };
        nodes.iter().map(of).sum()
    }
}

#[test]
fn what_others_look_at_is_no_name() {
    // Whether the other thread looked at the first node, the second one does not know, whose name
    // must be the same.
    let count = executions_of(|| {
        let list = Arc::new(List::default());
        let other = {
            let list = Arc::clone(&list);
            thread::spawn(move || list.look())
        };
        list.with(|_| {});
        list.with(|node| {
            assert!(!node.flag.swap(true, SeqCst));
            *node.lock.lock().unwrap() += 1;
        });
        assert!(other.join().unwrap() <= 2);
    });
    assert!(count > 3, "{count}");
}

#[test]
fn nodes_that_were_moved_and_dropped_elsewhere() {
    executions_of(|| {
        let list = Arc::new(List::default());
        let other = {
            let list = Arc::clone(&list);
            thread::spawn(move || list.look())
        };
        for round in 0..2 {
            let node = Node { flag: AtomicBool::new(round == 1), lock: Mutex::new(round) };
            if round == 0 {
                assert!(!node.flag.load(SeqCst));
            }
            let moved = Box::new(node);
            assert_eq!(moved.flag.load(SeqCst), round == 1);
            list.with(|node| node.flag.store(moved.flag.load(SeqCst), SeqCst));
        }
        assert!(other.join().unwrap() <= 1);
    });
}

#[test]
fn addresses_on_stacks_in_numbers() {
    // The lowest bit is a lock; the rest is what waits, or nothing.
    let count = executions_of(|| {
        let waiting = Arc::new(AtomicUsize::new(0));
        let pointer = Arc::new(AtomicPtr::new(ptr::null_mut()));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (waiting, pointer) = (Arc::clone(&waiting), Arc::clone(&pointer));
                thread::spawn(move || {
                    let own = AtomicUsize::new(7);
                    let address = ptr::from_ref(&own) as usize;
                    let before = waiting.swap(address | 1, SeqCst);
                    assert!(before == 0 || before & 1 == 1 && before & !1 != address);
                    pointer.store(ptr::from_ref(&own).cast_mut(), SeqCst);
                    assert_eq!(own.load(SeqCst), 7);
                    // Unless the other one came.
                    let still = waiting.compare_exchange(address | 1, 0, SeqCst, SeqCst);
                    let is_there = pointer.load(SeqCst).cast_const() == ptr::from_ref(&own);
                    (still.is_ok(), is_there)
                })
            })
            .collect();
        let ends: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(ends.iter().any(|end| end.0));
        assert!(ends.iter().any(|end| end.1));
    });
    assert!(count > 3, "{count}");
}
