//! The data in objects, which each execution finds as it was at first.

use super::arena;
use super::core::{self, Core};
use super::names::Place;
use super::place;
use rustc_hash::FxHashMap;
use std::alloc::{self, Layout};
use std::cell::UnsafeCell;
use std::{mem, ptr};

/// Data in an object. In a static it is a model: each execution has a copy, which it destroys at
/// its end, so that executions do not see each other, whatever thread of the system they are on.
pub(crate) struct Contents<T: ?Sized>(UnsafeCell<T>);

impl<T> Contents<T> {
    pub(crate) const fn new(value: T) -> Contents<T> {
        Contents(UnsafeCell::new(value))
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Contents<T> {
    /// Returns where the data of this execution is.
    #[inline]
    pub(crate) fn get(&self) -> *mut T {
        let model = self.0.get();
        let address = model.cast::<()>() as usize;
        if arena::contains(address) {
            return model;
        }
        match core::with(|core| core.distance_of_copy(address, model)) {
            Some(distance) if distance != 0 => model.wrapping_byte_offset(distance),
            _ => model,
        }
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        // SAFETY: the borrow is exclusive; a copy has the type of the data.
        unsafe { &mut *self.get() }
    }
}

/// The copies of an execution, by the address of the model.
#[derive(Default)]
pub(crate) struct Storage {
    distances: FxHashMap<usize, isize>,
    /// In the order in which they were made.
    copies: Vec<Copied>,
}

/// A copy: where the model is, where the copy is, and what destroys it.
struct Copied {
    model: usize,
    address: usize,
    size: usize,
    copy: Box<dyn Destroy>,
}

impl Storage {
    /// Returns the address in the model of an address in a copy.
    pub(super) fn in_model(&self, address: usize) -> Option<usize> {
        let inner = |copied: &Copied| {
            let inner = address.checked_sub(copied.address)?;
            (inner < copied.size).then_some(copied.model + inner)
        };
        self.copies.iter().find_map(inner)
    }
}

trait Destroy {
    fn destroy(&mut self);
}

/// The copy of data that a static has.
struct CopyOf<T: ?Sized> {
    value: *mut T,
    layout: Layout,
}

impl<T: ?Sized> Destroy for CopyOf<T> {
    fn destroy(&mut self) {
        // SAFETY: `copy` made it in memory of this layout, and nobody uses it any more.
        unsafe {
            ptr::drop_in_place(self.value);
            if self.layout.size() > 0 {
                alloc::dealloc(self.value.cast(), self.layout);
            }
        }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        for copied in &mut self.copies {
            copied.copy.destroy();
        }
    }
}

impl Core {
    fn distance_of_copy<T: ?Sized>(&self, address: usize, model: *mut T) -> isize {
        if let Some(distance) = self.state.borrow().storage.distances.get(&address) {
            return *distance;
        }
        let is_copy = self.state.borrow().storage.in_model(address).is_some();
        if is_copy || !matches!(self.place_of(address), Place::Fixed(_)) {
            return 0;
        }
        // Data of statics was made when the program was compiled: its bytes may be copied. Other
        // data outside of executions may own memory, of which there cannot be two owners.
        if mem::needs_drop::<T>() && !place::is_static(address) {
            self.state.borrow_mut().has_outside_data = true;
            if self.shared.is_some() {
                self.wait_for_end();
            }
            return 0;
        }
        let Some(copied) = copy(model) else { return 0 };
        let distance = (copied.address as isize).wrapping_sub(copied.model as isize);
        let storage = &mut self.state.borrow_mut().storage;
        storage.distances.insert(address, distance);
        storage.copies.push(copied);
        distance
    }
}

/// Copies the data of a static; `None` if it has no bytes.
fn copy<T: ?Sized>(model: *mut T) -> Option<Copied> {
    // SAFETY: the model is alive, and nothing changes it.
    let layout = Layout::for_value(unsafe { &*model });
    if layout.size() == 0 {
        return None;
    }
    // SAFETY: the layout is not empty; the new memory has room for the bytes.
    let address = unsafe {
        let address = alloc::alloc(layout);
        assert!(!address.is_null(), "memory for the data of a static");
        ptr::copy_nonoverlapping(model.cast::<u8>(), address, layout.size());
        address
    };
    let distance = (address as isize).wrapping_sub(model.cast::<u8>() as isize);
    let copy: Box<dyn Destroy + '_> =
        Box::new(CopyOf { value: model.wrapping_byte_offset(distance), layout });
    // SAFETY: what is in a static outlives all; only the compiler does not know it.
    let copy: Box<dyn Destroy> = unsafe { mem::transmute(copy) };
    let model = model.cast::<()>() as usize;
    Some(Copied { model, address: address as usize, size: layout.size(), copy })
}
