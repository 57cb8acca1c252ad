//! What is used of crossbeam-utils, so that its waiting is seen.

use std::ops::{Deref, DerefMut};

#[derive(Default, Debug)]
pub struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    pub const fn new(value: T) -> Self {
        CachePadded(value)
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CachePadded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

#[derive(Default)]
pub struct Backoff;

impl Backoff {
    pub fn new() -> Self {
        Backoff
    }
    pub fn spin(&self) {
        anyorder::hint::spin_loop();
    }
    pub fn snooze(&self) {
        anyorder::hint::spin_loop();
    }
    pub fn is_completed(&self) -> bool {
        true
    }
}

pub mod atomic {
    //! Only timers use it, which no test here does.
    pub struct AtomicCell<T>(std::sync::Mutex<T>);

    impl<T: Copy> AtomicCell<T> {
        pub fn new(value: T) -> Self {
            AtomicCell(std::sync::Mutex::new(value))
        }
        pub fn load(&self) -> T {
            *self.0.lock().unwrap()
        }
        pub fn compare_exchange(&self, _: T, new: T) -> Result<T, T> {
            let mut value = self.0.lock().unwrap();
            Ok(std::mem::replace(&mut *value, new))
        }
    }
}
