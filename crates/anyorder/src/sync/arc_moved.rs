//! A value of any type, out of an `Arc` of the standard library.

use super::Shared;
use crate::runtime::Slot;
use anyorder_threads::Object;
use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ptr;
use std::sync::Arc as StdArc;
use std::sync::atomic::AtomicUsize;

/// Moves the value of an `Arc` without other owners.
#[track_caller]
pub(super) fn into_shared<T: ?Sized>(std: StdArc<T>) -> StdArc<Shared<T>> {
    let value: *const T = StdArc::into_raw(std);
    // SAFETY: it is alive. The numbers stand before the value, which is the last field.
    let (size, align) = unsafe { (mem::size_of_val(&*value), mem::align_of_val(&*value)) };
    let head = Layout::new::<Shared<()>>();
    let align = align.max(head.align());
    let offset = head.size().next_multiple_of(align);
    let memory = memory(offset.saturating_add(size), align);
    let header = Shared {
        owners: Slot::made(|| Object::Count(1)),
        weak: Slot::made(|| Object::Count(0)),
        owners_here: AtomicUsize::new(1),
        weak_here: AtomicUsize::new(0),
        value: UnsafeCell::new(ManuallyDrop::new(())),
    };
    // SAFETY: the memory has room for the head and, behind it, the value. The value is moved: its
    // old memory is freed as that of a value without a destructor. The new memory has the size and
    // the alignment of what it is taken for, as `from_raw` asks.
    unsafe {
        ptr::write(memory.cast_mut().cast::<Shared<()>>(), header);
        let to = memory.cast_mut().byte_add(offset).cast::<u8>();
        ptr::copy_nonoverlapping(value.cast::<u8>(), to, size);
        drop(StdArc::from_raw(value as *const ManuallyDrop<T>));
        let shared = value.with_addr_of(memory) as *const Shared<T>;
        debug_assert_eq!(mem::align_of_val(&*shared), align);
        StdArc::from_raw(shared)
    }
}

trait WithAddress {
    fn with_addr_of(self, address: *const ()) -> Self;
}

impl<T: ?Sized> WithAddress for *const T {
    /// Returns a pointer to another address, with what is known of the type.
    fn with_addr_of(self, address: *const ()) -> *const T {
        let mut pointer = self;
        // SAFETY: the first word of a pointer to a value of unknown size is the address.
        unsafe { ptr::write((&raw mut pointer).cast::<*const ()>(), address) };
        pointer
    }
}

/// Returns memory in an `Arc`: of at least this size, in whole units of the alignment.
fn memory(size: usize, align: usize) -> *const () {
    fn of<Unit>(size: usize) -> *const () {
        let units = StdArc::<[Unit]>::new_uninit_slice(size.div_ceil(mem::size_of::<Unit>()));
        let raw: *const [MaybeUninit<Unit>] = StdArc::into_raw(units);
        raw.cast()
    }
    macro_rules! aligned {
        ($($align:literal)*) => {
            match align {
                $($align => {
                    #[repr(align($align))]
                    struct Unit(#[expect(dead_code, reason = "memory")] [u8; $align]);
                    of::<Unit>(size)
                })*
                _ => panic!("an Arc with an alignment of {align} bytes"),
            }
        };
    }
    aligned!(4 8 16 32 64 128 256 512 1024 2048 4096)
}
