//! What a writer wrote is not handed over.

use anyorder::cell::UnsafeCell;
use anyorder::sync::Arc;
use anyorder::thread;
use subject::RwLock;

struct Cell(UnsafeCell<u32>);

// SAFETY: behind a lock, which is what is tested.
unsafe impl Send for Cell {}
// SAFETY: as above.
unsafe impl Sync for Cell {}

fn lock() -> Arc<RwLock<Cell>> {
    Arc::new(RwLock::new(Cell(UnsafeCell::new(0))))
}

fn read(lock: &RwLock<Cell>) -> u32 {
    // SAFETY: the lock is held.
    lock.read().0.with(|value| unsafe { *value })
}

fn write(lock: &RwLock<Cell>) {
    // SAFETY: the lock is held.
    lock.write().0.with_mut(|value| unsafe { *value += 1 });
}

#[test]
fn bug() {
    anyorder::check(|| {
        let lock = lock();
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || write(&theirs));
        read(&lock);
        other.join().unwrap();
    });
}

#[test]
fn right_readers_only() {
    anyorder::check(|| {
        let lock = lock();
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || read(&theirs));
        read(&lock);
        other.join().unwrap();
    });
}

#[test]
fn right_after_the_join() {
    anyorder::check(|| {
        let lock = lock();
        let theirs = Arc::clone(&lock);
        thread::spawn(move || write(&theirs)).join().unwrap();
        assert_eq!(read(&lock), 1);
    });
}

#[test]
fn right_a_reader_before_the_writer() {
    anyorder::check(|| {
        let lock = lock();
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || {
            let before = theirs.try_read().is_some();
            assert!(before);
        });
        other.join().unwrap();
        write(&lock);
    });
}
