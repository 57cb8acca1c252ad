//! Finds out whether the standard library in a program in Rust was instrumented.

use object::read::elf::ElfFile64;
use object::{
    Endianness, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, ReadRef, RelocationTarget,
};

/// Functions of the standard library that are neither generic nor inlined, by a part of their
/// names: each program with a `main`, or a lock, has one of them.
const OF_STD: [&str; 3] = ["lang_start_internal", "14lock_contended", "thread_start"];

/// What each instrumented function calls.
const ENTRY: &str = "__tsan_func_entry";

/// The most bytes of a function that are read.
const FUNCTION_MAX: u64 = 1 << 16;

/// Returns whether code in Rust was built for ThreadSanitizer with a standard library that was not;
/// `None` where the file does not tell.
pub(super) fn lacks_instrumented_std<'a, R: ReadRef<'a>>(data: R) -> Option<bool> {
    let file = ElfFile64::<Endianness, R>::parse(data).ok()?;
    let slots = slots(&file)?;
    // Both ways in which Rust writes names: `NtCs…_3std2rt…` and `_ZN3std2rt…`.
    let is_of_std =
        |name: &str| name.contains("3std") && OF_STD.iter().any(|part| name.contains(part));
    let mut functions = file.symbols().filter(|symbol| {
        symbol.is_definition() && symbol.size() > 0 && symbol.name().is_ok_and(is_of_std)
    });
    let function = functions.next()?;
    let section = file.section_by_index(function.section_index()?).ok()?;
    let (start, size) = (function.address(), function.size().min(FUNCTION_MAX));
    let code = section.data_range(start, size).ok()??;
    let calls = (0..code.len())
        .any(|at| slot_of_call(&file, (code, at), start).is_some_and(|slot| slots.contains(&slot)));
    Some(!calls)
}

/// Returns where the loader writes the address of [`ENTRY`]; `None` if nothing asks for it.
fn slots<'a, R: ReadRef<'a>>(file: &ElfFile64<'a, Endianness, R>) -> Option<Vec<u64>> {
    let symbols = file.dynamic_symbol_table()?;
    let is_entry = |target: RelocationTarget| {
        let RelocationTarget::Symbol(index) = target else { return false };
        symbols.symbol_by_index(index).is_ok_and(|symbol| symbol.name() == Ok(ENTRY))
    };
    let slots: Vec<u64> = file
        .dynamic_relocations()?
        .filter(|(_, relocation)| is_entry(relocation.target()))
        .map(|(address, _)| address)
        .collect();
    (!slots.is_empty()).then_some(slots)
}

/// Returns the slot through which a call at a place of a function goes, if there is a call: by
/// itself, or by way of the stub that it calls.
fn slot_of_call<'a, R: ReadRef<'a>>(
    file: &ElfFile64<'a, Endianness, R>,
    (code, at): (&[u8], usize),
    start: u64,
) -> Option<u64> {
    let address = start.wrapping_add(at as u64);
    match code.get(at..)? {
        [0xff, 0x15, rest @ ..] => relative(rest, address.wrapping_add(2)),
        [0xe8, rest @ ..] => {
            let stub = relative(rest, address.wrapping_add(1))?;
            let holds = |section: &object::read::elf::ElfSection64<'a, '_, Endianness, R>| {
                let end = section.address().wrapping_add(section.size());
                (section.address()..end).contains(&stub)
            };
            let section = file.sections().find(holds)?;
            let bytes = section.data_range(stub, 16).ok()??;
            let jump =
                (0..bytes.len().min(6)).find(|at| bytes[*at..].starts_with(&[0xff, 0x25]))?;
            relative(&bytes[jump + 2..], stub.wrapping_add(jump as u64 + 2))
        }
        _ => None,
    }
}

/// Returns the address that a distance of four bytes at an address leads to.
fn relative(bytes: &[u8], at: u64) -> Option<u64> {
    let distance = i32::from_le_bytes(*bytes.first_chunk::<4>()?);
    Some(at.wrapping_add(4).wrapping_add_signed(distance.into()))
}
