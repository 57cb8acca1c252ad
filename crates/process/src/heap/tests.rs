//! The allocator is process-wide, so one test asks its questions in turn.

use super::*;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::channel;

/// Allocates in another thread; returns whether the thread came back soon.
fn comes_back(size: usize, zeroed: bool, exempt: bool) -> bool {
    static DONE: AtomicU32 = AtomicU32::new(0);
    let (tell, told) = channel();
    thread::spawn(move || {
        if exempt {
            exempt_this_thread();
        }
        let layout = Layout::from_size_align(size, 16).unwrap();
        // SAFETY: the size is not zero, and the memory is freed with the layout that it has.
        unsafe {
            let memory = if zeroed { Heap.alloc_zeroed(layout) } else { Heap.alloc(layout) };
            assert!(!memory.is_null());
            let memory = Heap.realloc(memory, layout, size + 16);
            Heap.dealloc(memory, Layout::from_size_align(size + 16, 16).unwrap());
        }
        DONE.fetch_add(1, Ordering::Relaxed);
        let _ = tell.send(());
    });
    told.recv_timeout(Duration::from_millis(500)).is_ok()
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_had_never_returns() {
    begin(None);
    assert!(comes_back(100, false, false));
    assert!(comes_back(64 << 20, false, false), "there is no bound");
    assert_eq!(refusal(), None);
    begin(Some(256 << 20));
    assert!(comes_back(100, false, false));
    assert!(comes_back(16 << 20, false, false), "below the bound");
    assert!(comes_back(1 << 30, true, false), "zeroed memory is not touched yet");
    assert!(comes_back(1 << 30, false, true), "exempt threads may pass the bound");
    assert_eq!(refusal(), None);
    assert!(!comes_back(1 << 30, false, false));
    assert_eq!(refusal(), Some(Refusal::Bound(1 << 30)));
    assert!(!comes_back(1 << 60, true, false), "no system has this much");
    assert_eq!(refusal(), Some(Refusal::System(1 << 60)));
    freeze();
    assert!(comes_back(100, false, true), "exempt threads work on");
    assert!(!comes_back(100, false, false));
    assert!(!comes_back(100, true, false));
}
