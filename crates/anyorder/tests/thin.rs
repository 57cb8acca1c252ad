//! Atomics of the size of the standard library's: the feature `std-size`.

use anyorder::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use anyorder::sync::{Arc, Mutex};
use anyorder::{Builder, Doubt, thread};
use std::alloc::Layout;
use std::cell::OnceCell;
use std::mem;
use std::sync::atomic as std_atomic;

#[test]
fn sizes_are_those_of_the_standard_library() {
    macro_rules! same {
        ($($name:ident $(<$of:ty>)?),*) => {$(
            let (own, other) =
                (Layout::new::<$name $(<$of>)?>(), Layout::new::<std_atomic::$name $(<$of>)?>());
            assert_eq!(own, other, stringify!($name));
        )*};
    }
    same!(AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, AtomicPtr<u8>);
}

fn ok(f: impl Fn() + Send + Sync + 'static) -> u64 {
    let summary = Builder::new().explore(f);
    assert!(summary.is_ok(), "{summary}");
    summary.executions
}

#[test]
fn a_value_moves_with_its_atomic() {
    ok(|| {
        let first = AtomicU32::new(1);
        first.store(2, Relaxed);
        let moved = Box::new(first);
        assert_eq!(moved.load(Relaxed), 2);
        moved.fetch_add(3, Relaxed);
        let mut all = vec![*moved];
        for number in 0..20 {
            all.push(AtomicU32::new(number));
        }
        assert_eq!(all[0].load(Relaxed), 5);
        assert_eq!(mem::replace(&mut all[0], AtomicU32::new(7)).into_inner(), 5);
        assert_eq!(all[0].swap(8, SeqCst), 7);
        *all[0].get_mut() += 1;
        assert_eq!(all[0].load(Relaxed), 9);
    });
}

#[test]
fn what_outlives_an_execution_is_not_changed_by_one_that_waits_for_ever() {
    std::thread_local! {
        static KEPT: OnceCell<std::sync::Arc<AtomicU32>> = const { OnceCell::new() };
    }
    let summary = Builder::new().explore(|| {
        let of_first = || std::sync::Arc::new(AtomicU32::new(0));
        let kept = KEPT.with(|kept| std::sync::Arc::clone(kept.get_or_init(of_first)));
        assert_eq!(kept.swap(2, SeqCst), 0);
        if anyorder::choose(3) > 0 {
            thread::park();
        }
        kept.store(0, SeqCst);
    });
    assert_eq!(summary.incomplete, None, "{summary}");
    let classes: Vec<&str> = summary.failures.iter().map(|failure| failure.class()).collect();
    assert_eq!((classes, summary.executions), (vec!["deadlock"], 3), "{summary}");
}

/// What is consumed was moved to where that is, and is what threads left where it was.
#[test]
fn an_atomic_that_is_consumed_is_the_one_that_threads_changed() {
    let count_of = |count: AtomicU32| {
        let summary = Builder::new().explore(move || {
            let count = AtomicU32::new(count.load(SeqCst));
            let add = || count.store(count.load(SeqCst) + 1, SeqCst);
            thread::scope(|scope| {
                scope.spawn(add);
                scope.spawn(add);
            });
            assert_eq!(Box::new(count).into_inner(), 2);
        });
        (summary.failures.len(), summary.doubts, summary.incomplete)
    };
    assert_eq!(count_of(AtomicU32::new(0)), (1, Vec::new(), None));
    // Where several have its value, it may be any of them.
    let summary = Builder::new().explore(|| {
        let both = Box::new([AtomicU32::new(0), AtomicU32::new(0)]);
        thread::scope(|scope| _ = scope.spawn(|| both.iter().for_each(|one| one.store(1, SeqCst))));
        let [first, second] = *both;
        assert_eq!((first.into_inner(), second.into_inner()), (1, 1));
    });
    assert_eq!((summary.failures.len(), &summary.doubts[..]), (0, &[Doubt::Moved][..]));
}

/// The last owner takes a value apart that others changed.
#[test]
fn atomics_in_a_value_that_leaves_its_arc_were_seen() {
    for take in [|all| Arc::try_unwrap(all).ok(), Arc::into_inner] {
        let summary = Builder::new().explore(move || {
            let all = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let others = [0, 1].map(|_| {
                let all = Arc::clone(&all);
                thread::spawn(move || {
                    all.0.store(all.0.load(SeqCst) + 1, SeqCst);
                    all.1.fetch_add(1, SeqCst);
                })
            });
            others.into_iter().for_each(|other| other.join().unwrap());
            let (first, second) = take(all).unwrap();
            assert_eq!((first.load(SeqCst), second.load(SeqCst)), (2, 2));
        });
        assert_eq!((summary.failures.len(), summary.incomplete), (1, None));
    }
}

#[test]
fn a_place_on_the_stack_is_used_again() {
    let count = ok(|| {
        for number in 0..4 {
            let own = AtomicU32::new(number);
            let shared = &own;
            thread::scope(|scope| {
                scope.spawn(|| shared.fetch_add(1, SeqCst));
                scope.spawn(|| shared.fetch_add(1, SeqCst));
            });
            assert_eq!(own.into_inner(), number + 2);
        }
    });
    assert!(count > 1, "the threads are seen");
}

#[test]
fn atomics_are_made_of_plain_data_and_read_as_such() {
    ok(|| {
        let pointer = Box::into_raw(Box::new(5_u8));
        // SAFETY: an atomic pointer has the layout of a pointer.
        let all: [AtomicPtr<u8>; 2] = unsafe { mem::transmute([pointer, std::ptr::null_mut()]) };
        let all = Arc::new(all);
        let theirs = Arc::clone(&all);
        let other = thread::spawn(move || {
            let taken = theirs[0].swap(std::ptr::null_mut(), SeqCst);
            theirs[1].store(taken, SeqCst);
        });
        other.join().unwrap();
        // SAFETY: the other thread has ended, and one of the two has the pointer.
        unsafe {
            assert!((*(&raw const all[0]).cast::<*mut u8>()).is_null());
            assert_eq!(*Box::from_raw(all[1].load(SeqCst)), 5);
        }
        // SAFETY: all zeros are a lock-free list without elements.
        let zeroed: [AtomicUsize; 4] = unsafe { mem::zeroed() };
        assert_eq!(zeroed[3].fetch_or(2, SeqCst), 0);
        assert_eq!(zeroed[3].load(SeqCst), 2);
    });
}

#[test]
fn statics_begin_anew_in_each_execution() {
    static COUNT: AtomicU64 = AtomicU64::new(40);
    static FLAGS: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
    let count = ok(|| {
        assert_eq!(COUNT.load(SeqCst), 40);
        let other = thread::spawn(|| {
            COUNT.fetch_add(1, SeqCst);
            FLAGS[1].store(true, SeqCst);
        });
        COUNT.fetch_add(1, SeqCst);
        let seen = FLAGS[1].load(SeqCst);
        other.join().unwrap();
        assert!(!FLAGS[0].load(SeqCst) && (!seen || FLAGS[1].load(SeqCst)));
        assert_eq!(COUNT.load(SeqCst), 42);
    });
    assert!(count > 1);
}

#[test]
fn they_lie_behind_locks_of_statics() {
    static ALL: Mutex<[AtomicU32; 2]> = Mutex::new([const { AtomicU32::new(3) }; 2]);
    ok(|| {
        let other = thread::spawn(|| ALL.lock().unwrap()[0].fetch_add(1, SeqCst));
        ALL.lock().unwrap()[0].fetch_add(1, SeqCst);
        other.join().unwrap();
        assert_eq!(ALL.lock().unwrap()[0].load(SeqCst), 5);
    });
}

#[test]
fn reports_name_them_by_their_use() {
    let summary = Builder::new().explore(|| {
        let shared = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
        let theirs = Arc::clone(&shared);
        let counter = &shared.0;
        let other = thread::spawn(move || {
            let mine = &theirs.0;
            let before = mine.load(SeqCst);
            mine.store(before + 1, SeqCst);
        });
        let before = counter.load(SeqCst);
        counter.store(before + 1, SeqCst);
        other.join().unwrap();
        assert_eq!(counter.load(SeqCst), 2, "an update is lost");
    });
    assert_eq!(summary.failures.len(), 1, "{summary}");
    let text = summary.to_string();
    assert!(text.contains("counter.store(1, SeqCst)"), "{text}");
}
