//! The functions that ours stand in front of: the next ones of their names in the order of search.

use crate::c;
use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// A function of another library, looked up when it is first called.
pub(crate) struct Symbol {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Symbol {
    pub(crate) const fn new(name: &'static CStr) -> Symbol {
        Symbol { name, address: AtomicUsize::new(0) }
    }

    /// Returns the address of the function, or that of one that answers `ENOSYS`.
    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 { known } else { self.find() }
    }

    /// Returns the address of the function, or the other address where there is none.
    #[inline(always)]
    pub(crate) fn address_or(&self, other: usize) -> usize {
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 { known } else { self.find_or(other) }
    }

    #[cold]
    fn find(&self) -> usize {
        self.find_or(unsupported as *const () as usize)
    }

    #[cold]
    fn find_or(&self, other: usize) -> usize {
        let address = next(self.name) as usize;
        let address = if address == 0 { other } else { address };
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// Returns the next function of a name. Condition variables have two versions: `dlsym` of older
/// libraries gives the one of 1999, which has another layout.
fn next(name: &CStr) -> *mut c_void {
    if name.to_bytes().starts_with(b"pthread_cond_") {
        // SAFETY: both names end with a zero byte.
        let address = unsafe { c::dlvsym(c::RTLD_NEXT, name.as_ptr(), c"GLIBC_2.3.2".as_ptr()) };
        if !address.is_null() {
            return address;
        }
    }
    // SAFETY: the name ends with a zero byte.
    unsafe { c::dlsym(c::RTLD_NEXT, name.as_ptr()) }
}

/// Stands for a function that the C library does not have.
extern "C" fn unsupported() -> c_int {
    c::ENOSYS
}
