//! Where an address is: what names the object that lies there.

use super::arena;
use super::core::{self, Core, State};
use super::names::Place;
use anyorder_threads::ThreadId;

/// The highest byte of numbers that stand for addresses in the memory of a thread.
const MARK: u64 = 0xa7;
const MARK_AT: u32 = 56;
const THREAD_AT: u32 = 36;
const THREADS_MAX: u32 = 1 << (MARK_AT - THREAD_AT);
/// Set for positions on a stack.
const ON_STACK: u64 = 1 << 35;

impl Core {
    /// Returns what names an object at an address.
    pub(crate) fn place_of(&self, address: usize) -> Place {
        let state = &mut *self.state.borrow_mut();
        if let Some((thread, position)) = state.heap_position(address) {
            return Place::Heap(thread, position);
        }
        if let Some((thread, distance)) = state.stack_position(address) {
            return Place::Stack(thread, distance);
        }
        if let Some(model) = state.storage.in_model(address) {
            return Place::Fixed(model);
        }
        if cfg!(feature = "allocator") || is_static(address) {
            return Place::Fixed(address);
        }
        state.has_loose_names = true;
        let current = state.current;
        let strand = state.strands[current.index()].as_mut().expect("a thread that was spawned");
        strand.firsts += 1;
        Place::First(current, strand.firsts)
    }

    /// Returns a number for an address: the same in all executions for what is at the same place.
    pub(crate) fn number_of_address(&self, address: usize) -> u64 {
        let state = self.state.borrow();
        let (thread, position) = match state.heap_position(address) {
            Some(place) => place,
            None => match state.stack_position(address) {
                Some((thread, distance)) => (thread, ON_STACK | distance),
                None => return address as u64,
            },
        };
        if thread.0 >= THREADS_MAX {
            return address as u64;
        }
        MARK << MARK_AT | u64::from(thread.0) << THREAD_AT | position
    }

    /// The address for which a number stands.
    pub(crate) fn address_of_number(&self, number: u64) -> usize {
        if number >> MARK_AT != MARK {
            return number as usize;
        }
        let thread = (number >> THREAD_AT) as usize % THREADS_MAX as usize;
        let position = number & ((1 << THREAD_AT) - 1);
        let state = self.state.borrow();
        let strand = state.strands.get(thread).and_then(Option::as_ref);
        let address = strand.and_then(|strand| match position & ON_STACK {
            0 => strand.bump.address(position),
            _ => Some(strand.stack.1 - (position & !ON_STACK) as usize),
        });
        address.unwrap_or(number as usize)
    }
}

/// As [`Core::number_of_address`]; the address itself outside of checks.
pub(crate) fn number_of_address(address: usize) -> u64 {
    core::with(|core| core.number_of_address(address)).unwrap_or(address as u64)
}

/// As [`number_of_address`], for numbers that may be no addresses: only what is in a chunk counts.
#[inline]
pub(crate) fn number_of_heap_address(value: usize) -> u64 {
    if arena::contains(value) { number_of_address(value) } else { value as u64 }
}

/// As [`Core::address_of_number`].
#[inline]
pub(crate) fn address_of_number(number: u64) -> usize {
    if number >> MARK_AT != MARK {
        return number as usize;
    }
    core::with(|core| core.address_of_number(number)).unwrap_or(number as usize)
}

impl State {
    fn heap_position(&self, address: usize) -> Option<(ThreadId, u64)> {
        if arena::contains(address) {
            let (thread, position) = arena::position(address);
            return Some((ThreadId(thread), position));
        }
        let strands = self.strands.iter().flatten();
        let mut large =
            strands.filter_map(|strand| Some((strand.id, strand.bump.large_position(address)?)));
        large.next()
    }

    fn stack_position(&self, address: usize) -> Option<(ThreadId, u64)> {
        let holds = |thread: &&ThreadId| {
            let strand = self.strands[thread.index()].as_ref();
            strand.is_some_and(|one| one.stack.0 <= address && address < one.stack.1)
        };
        let thread = self.alive.iter().find(holds)?;
        let strand = self.strands[thread.index()].as_ref()?;
        Some((*thread, (strand.stack.1 - address) as u64))
    }
}

/// Returns whether an address is in memory that programs have from their start.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn is_static(address: usize) -> bool {
    use std::sync::OnceLock;
    static SEGMENTS: OnceLock<Vec<(usize, usize)>> = OnceLock::new();

    unsafe extern "C" fn list(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        data: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader hands out a description that is valid during the call, and `data` is
        // the list below.
        let (info, segments) = unsafe { (&*info, &mut *data.cast::<Vec<(usize, usize)>>()) };
        for at in 0..usize::from(info.dlpi_phnum) {
            // SAFETY: the table has that many entries.
            let header = unsafe { &*info.dlpi_phdr.add(at) };
            if header.p_type == libc::PT_LOAD {
                let from = info.dlpi_addr as usize + header.p_vaddr as usize;
                segments.push((from, from + header.p_memsz as usize));
            }
        }
        0
    }

    let segments = SEGMENTS.get_or_init(|| {
        let mut segments: Vec<(usize, usize)> = Vec::new();
        // SAFETY: the function keeps to the contract of the call, which ends before the list.
        unsafe { libc::dl_iterate_phdr(Some(list), (&raw mut segments).cast()) };
        segments
    });
    segments.iter().any(|(from, to)| (*from..*to).contains(&address))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn is_static(_address: usize) -> bool {
    false
}
