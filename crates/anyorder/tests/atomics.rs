//! Atomics of all types.

use crate::support::{explore, outcomes};
use anyorder::sync::Arc;
use anyorder::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};
use anyorder::{hint, thread};

#[test]
fn operations_are_those_of_the_standard_library() {
    anyorder::check(|| {
        let x = AtomicU8::new(250);
        assert_eq!(x.fetch_add(10, SeqCst), 250);
        assert_eq!(x.load(Acquire), 4);
        assert_eq!(x.fetch_sub(5, AcqRel), 4);
        assert_eq!(x.swap(12, Release), 255);
        assert_eq!(x.fetch_max(20, Relaxed), 12);
        assert_eq!(x.fetch_min(3, Relaxed), 20);
        assert_eq!(x.fetch_nand(1, Relaxed), 3);
        assert_eq!(x.fetch_xor(0xff, Relaxed), 0xfe);
        assert_eq!(x.fetch_or(6, Relaxed), 1);
        assert_eq!(x.fetch_and(5, Relaxed), 7);
        assert_eq!(x.compare_exchange(5, 9, SeqCst, Relaxed), Ok(5));
        assert_eq!(x.compare_exchange_weak(5, 9, SeqCst, Relaxed), Err(9));
        assert_eq!(x.fetch_update(SeqCst, SeqCst, |x| (x < 10).then_some(x * 2)), Ok(9));
        assert_eq!(x.fetch_update(SeqCst, SeqCst, |x| (x < 10).then_some(x * 2)), Err(18));
        assert_eq!(x.into_inner(), 18);
        let x = AtomicI8::new(-1);
        assert_eq!(x.fetch_max(1, SeqCst), -1);
        assert_eq!(x.fetch_min(-128, SeqCst), 1);
        assert_eq!(x.fetch_sub(1, SeqCst), -128);
        assert_eq!(x.load(SeqCst), 127);
        let x = AtomicI64::new(i64::MIN);
        assert_eq!(x.fetch_sub(1, SeqCst), i64::MIN);
        assert_eq!(x.load(SeqCst), i64::MAX);
        let x = AtomicU64::new(u64::MAX);
        assert_eq!(x.fetch_add(1, SeqCst), u64::MAX);
        assert_eq!(x.load(SeqCst), 0);
        let x = AtomicBool::new(true);
        assert!(x.fetch_nand(true, SeqCst) && !x.fetch_not(SeqCst) && x.load(SeqCst));
        assert_eq!(x.compare_exchange(true, false, SeqCst, SeqCst), Ok(true));
        let mut x = AtomicUsize::new(7);
        *x.get_mut() = usize::MAX;
        assert_eq!(x.fetch_add(2, SeqCst), usize::MAX);
        assert_eq!(x.load(SeqCst), 1);
        x.with_mut(|x| *x += 1);
        assert_eq!((x.load(SeqCst), x.into_inner()), (2, 2));
        fence(SeqCst);
    });
}

#[test]
fn impossible_orderings_panic() {
    let seen = explore(|_: &crate::support::Report<()>| {
        let x = AtomicU32::new(0);
        match anyorder::choose(4) {
            0 => drop(x.load(Release)),
            1 => x.store(0, Acquire),
            2 => drop(x.compare_exchange(0, 0, SeqCst, Release)),
            _ => fence(Relaxed),
        }
    });
    assert_eq!(seen.panics.len(), 4, "{:?}", seen.panics);
}

/// The address of a node is not the same in all executions, but its number is.
#[test]
fn pointers_find_what_they_point_at() {
    let seen = outcomes(|report| {
        let head: Arc<AtomicPtr<(u32, usize)>> = Arc::default();
        let push = |number: u32, head: &AtomicPtr<(u32, usize)>| {
            let node = Box::into_raw(Box::new((number, 0)));
            let mut before = head.load(Relaxed);
            loop {
                // SAFETY: the node is not shared yet.
                unsafe { (*node).1 = before as usize };
                match head.compare_exchange(before, node, Release, Relaxed) {
                    Ok(_) => return,
                    Err(other) => before = other,
                }
            }
        };
        let theirs = Arc::clone(&head);
        let thread = thread::spawn(move || push(1, &theirs));
        push(2, &head);
        thread.join().unwrap();
        let mut numbers = Vec::new();
        let mut next = head.load(Acquire);
        while !next.is_null() {
            // SAFETY: nodes are boxes, and only this thread has them now.
            let node = unsafe { Box::from_raw(next) };
            numbers.push(node.0);
            next = node.1 as *mut _;
        }
        report.tell(numbers);
    });
    assert_eq!(seen, [vec![1, 2], vec![2, 1]]);
}

#[test]
fn an_address_in_an_integer() {
    anyorder::check(|| {
        let place = Box::new(AtomicU32::new(5));
        let address = AtomicUsize::new(&raw const *place as usize);
        let thread = thread::spawn(move || {
            let found = address.load(SeqCst) as *const AtomicU32;
            // SAFETY: the box outlives the thread.
            unsafe { (*found).load(SeqCst) }
        });
        assert_eq!(thread.join().unwrap(), 5);
        drop(place);
    });
}

#[test]
fn a_spinning_thread_waits_for_a_change() {
    let seen = outcomes(|report| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&flag);
        let thread = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            hint::spin_loop();
        }
        thread.join().unwrap();
        report.tell(());
    });
    assert_eq!(seen, [()]);
}

#[test]
fn a_spin_lock() {
    let seen = outcomes(|report| {
        let lock = Arc::new(AtomicBool::new(false));
        let count = Arc::new(AtomicU32::new(0));
        let add = |lock: &AtomicBool, count: &AtomicU32| {
            while lock.swap(true, Acquire) {
                thread::yield_now();
            }
            count.store(count.load(Relaxed) + 1, Relaxed);
            lock.store(false, Release);
        };
        let (their_lock, their_count) = (Arc::clone(&lock), Arc::clone(&count));
        let thread = thread::spawn(move || add(&their_lock, &their_count));
        add(&lock, &count);
        thread.join().unwrap();
        report.tell(count.load(Relaxed));
    });
    assert_eq!(seen, [2]);
}

#[test]
fn a_spin_without_end_is_a_livelock() {
    let seen = explore(|_: &crate::support::Report<()>| {
        let flag = AtomicBool::new(false);
        while !flag.load(Acquire) {
            hint::spin_loop();
        }
    });
    assert_eq!((seen.livelocks, seen.executions), (1, 1));
}

/// What lies behind a pointer depends on what its writer saw: whoever loads the pointer knows it.
#[test]
fn contents_behind_a_pointer() {
    let seen = outcomes(|report| {
        let x = Arc::new(AtomicU32::new(0));
        let shared: Arc<AtomicPtr<u32>> = Arc::default();
        let (their_x, theirs) = (Arc::clone(&x), Arc::clone(&shared));
        let thread = thread::spawn(move || {
            let node = Box::into_raw(Box::new(their_x.load(SeqCst)));
            theirs.store(node, SeqCst);
        });
        x.store(1, SeqCst);
        let node = shared.load(SeqCst);
        if !node.is_null() {
            // SAFETY: it is a box that nobody changes.
            x.store(5 + unsafe { *node }, SeqCst);
            assert!(shared.compare_exchange(node, node, SeqCst, SeqCst).is_ok());
        }
        thread.join().unwrap();
        // SAFETY: only this thread has the box now.
        let content = unsafe { *Box::from_raw(shared.load(SeqCst)) };
        report.tell((x.load(SeqCst), content));
    });
    assert_eq!(seen, [(1, 0), (1, 1), (5, 0), (6, 1)]);
}

#[test]
fn pointers_move_by_values_on_the_heap_and_on_the_stack() {
    use anyorder::sync::atomic::{AtomicPtr, Ordering};
    anyorder::check(|| {
        let move_it = |values: &mut [u32]| {
            let base = values.as_mut_ptr();
            let pointer = AtomicPtr::new(base);
            assert_eq!(pointer.fetch_ptr_add(2, Ordering::SeqCst), base);
            assert_eq!(pointer.fetch_ptr_sub(1, Ordering::SeqCst), base.wrapping_add(2));
            assert_eq!(pointer.load(Ordering::SeqCst), base.wrapping_add(1));
        };
        move_it(&mut [1, 2, 3, 4]);
        let mut on_heap: Vec<u32> = (1..5).collect();
        move_it(&mut on_heap);
    });
    // Outside of checks they can be printed.
    let mut value = 1_u8;
    let pointer = AtomicPtr::new(&raw mut value);
    assert_eq!(format!("{pointer:p}"), format!("{:p}", &raw mut value));
}
