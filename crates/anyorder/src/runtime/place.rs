//! Where an address is: what names the object that lies there.

use super::arena;
use super::core::{self, Core, State};
use super::names::Place;
use super::strand::is_near_stacks;
use anyorder_threads::{ThreadId, place};

/// The highest byte of numbers that stand for places too far away for [`place`]. They say nothing
/// of what is there.
const FAR: u64 = 0xa7;
const MARK_AT: u32 = 56;

/// How a place is written: a thread, whether it is its stack, and a position.
struct Code {
    thread_at: u32,
    threads_max: u32,
    on_stack: u64,
}

/// In the lower half of a number, as [`place`] has it.
const NEAR: Code = Code { thread_at: 20, threads_max: 1 << 12, on_stack: 1 << 19 };

/// In all of a number but the highest byte.
const WIDE: Code = Code { thread_at: 36, threads_max: 1 << 20, on_stack: 1 << 35 };

impl Code {
    /// Positions on a stack are distances from its base, downwards. The number grows with the
    /// address all the same: programs add to it.
    fn write(&self, thread: ThreadId, is_stack: bool, position: u64) -> Option<u64> {
        let fits = thread.0 < self.threads_max && position < self.on_stack;
        let position = if is_stack { self.on_stack.wrapping_sub(position) } else { position };
        let place = u64::from(thread.0) << self.thread_at | position;
        fits.then_some(if is_stack { place | self.on_stack } else { place })
    }

    fn read(&self, code: u64) -> (usize, bool, u64) {
        let thread = (code >> self.thread_at) as usize % self.threads_max as usize;
        let (is_stack, position) = (code & self.on_stack != 0, code & (self.on_stack - 1));
        (thread, is_stack, if is_stack { self.on_stack - position } else { position })
    }
}

impl Core {
    /// Returns what names an object at an address.
    pub(crate) fn place_of(&self, address: usize) -> Place {
        let state = &mut *self.state.borrow_mut();
        if let Some(place) = state.memory_at(address) {
            return place;
        }
        if let Some(model) = state.storage.in_model(address) {
            return Place::Fixed(model);
        }
        let is_others = arena::contains(address);
        if !is_others && (cfg!(feature = "allocator") || is_static(address)) {
            return Place::Fixed(address);
        }
        state.has_loose_names = true;
        let current = state.current;
        let strand = state.strands[current.index()].as_mut().expect("a thread that was spawned");
        strand.firsts += 1;
        Place::First(current, strand.firsts)
    }

    /// Returns a number for an address: the same in all executions for what is at the same place.
    /// For one that is handed over it also stands for what the running thread has seen.
    pub(crate) fn number_of_address(&self, address: usize, is_handed_over: bool) -> u64 {
        let state = &mut *self.state.borrow_mut();
        let (thread, is_stack, position) = match state.memory_at(address) {
            Some(Place::Heap(thread, position)) => (thread, false, position),
            Some(Place::Stack(thread, distance)) => (thread, true, distance),
            _ => return address as u64,
        };
        if let Some(code) = NEAR.write(thread, is_stack, position) {
            let content = if is_handed_over { state.content_of(code as u32) } else { 0 };
            return place::MARK << MARK_AT | u64::from(content) << 32 | code;
        }
        let far = WIDE.write(thread, is_stack, position);
        far.map_or(address as u64, |code| FAR << MARK_AT | code)
    }

    /// The address for which a number stands.
    pub(crate) fn address_of_number(&self, number: u64) -> usize {
        let (thread, is_stack, position) = match number >> MARK_AT {
            place::MARK => NEAR.read(number & 0xffff_ffff),
            FAR => WIDE.read(number & ((1 << MARK_AT) - 1)),
            _ => return number as usize,
        };
        let state = self.state.borrow();
        let strand = state.strands.get(thread).and_then(Option::as_ref);
        let address = strand.and_then(|strand| match is_stack {
            true => strand.stack.1.checked_sub(position as usize),
            false => strand.bump.address(position),
        });
        address.unwrap_or(number as usize)
    }
}

/// As [`Core::number_of_address`]; the address itself outside of checks.
pub(crate) fn number_of_address(address: usize, is_handed_over: bool) -> u64 {
    let number = core::with(|core| core.number_of_address(address, is_handed_over));
    number.unwrap_or(address as u64)
}

/// As [`number_of_address`], for numbers that may be no addresses: only what is in a chunk or on a
/// stack counts.
#[inline]
pub(crate) fn number_of_memory(value: usize, is_handed_over: bool) -> u64 {
    match arena::contains(value) || is_near_stacks(value) {
        true => number_of_address(value, is_handed_over),
        false => value as u64,
    }
}

/// As [`Core::address_of_number`].
#[inline]
pub(crate) fn address_of_number(number: u64) -> usize {
    if !matches!(number >> MARK_AT, place::MARK | FAR) {
        return number as usize;
    }
    core::with(|core| core.address_of_number(number)).unwrap_or(number as usize)
}

impl State {
    /// Returns a number for what the running thread knows of a place.
    fn content_of(&mut self, code: u32) -> u32 {
        let strand = self.strands[self.current.index()].as_ref();
        let version = strand.map_or(0, |strand| strand.version());
        self.names.content(code, version)
    }

    /// Returns the place of an address in memory that threads have for one execution. Constant for
    /// memory in chunks and on the stack of the running thread, linear in the threads elsewhere.
    pub(super) fn memory_at(&self, address: usize) -> Option<Place> {
        if arena::is_of(address, self.program) {
            let (thread, position) = arena::position(address);
            return Some(Place::Heap(ThreadId(thread), position));
        }
        if is_near_stacks(address)
            && let Some((thread, distance)) = self.stack_position(address)
        {
            return Some(Place::Stack(thread, distance));
        }
        let mut strands = self.strands.iter().flatten();
        strands.find_map(|one| Some(Place::Heap(one.id, one.bump.large_position(address)?)))
    }

    fn stack_position(&self, address: usize) -> Option<(ThreadId, u64)> {
        let holds = |thread: &&ThreadId| {
            let strand = self.strands[thread.index()].as_ref();
            strand.is_some_and(|one| one.stack.0 <= address && address < one.stack.1)
        };
        let current = Some(&self.current).filter(holds);
        let thread = current.or_else(|| self.alive.iter().find(holds))?;
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
