//! Names static variables by the debugging information of a program: the variable, the member of it
//! at an offset, its size, and where it is declared.
//!
//! DWARF 5, sections 4.1 (variables), 5.1 to 5.13 (types) and 6.2.4 (files);
//! <https://dwarfstd.org/dwarf5std.html>. Only variables at a fixed address are known: not those of
//! one thread, and not those that live in registers.

use addr2line::gimli::{
    self, AttributeValue, DebugInfoOffset, DebuggingInformationEntry, Dwarf, DwarfSections,
    EndianSlice, LittleEndian, Operation, Unit, UnitOffset,
};
use object::{Object, ObjectSection, ReadCache};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// The most bytes of debugging information that are read.
const BYTES_MAX: u64 = 1 << 30;

/// The most types that one looks through for the name of a member.
const DEPTH_MAX: usize = 16;

type Reader<'s> = EndianSlice<'s, LittleEndian>;
type Entry<'s> = DebuggingInformationEntry<Reader<'s>>;

/// A static variable, or a member of one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Global {
    /// The variable, with the member at the address: `queue.slots[3].owner`.
    pub name: String,
    /// The bytes of the variable, or of its member; 0 if that is not known.
    pub size: u64,
    /// The file that declares it; empty if that is not known.
    pub file: String,
    /// The line, from 1; 0 if it is not known.
    pub line: u32,
}

/// The static variables of one file.
#[derive(Debug)]
pub struct Variables {
    sections: DwarfSections<Vec<u8>>,
    /// By address.
    found: Vec<Variable>,
}

#[derive(Debug)]
struct Variable {
    address: u64,
    size: u64,
    name: String,
    file: String,
    line: u32,
    /// The unit, and the type in it.
    of_type: Option<(DebugInfoOffset, UnitOffset)>,
}

impl Variables {
    /// Reads the variables of a file: linear in its debugging information. `None` if it has none
    /// that can be read.
    #[must_use]
    pub fn read(path: &Path) -> Option<Variables> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let mut left = BYTES_MAX;
        let sections = DwarfSections::load(|id| -> Result<Vec<u8>, ()> {
            let Some(section) = file.section_by_name(id.name()) else { return Ok(Vec::new()) };
            left = left.checked_sub(section.size()).ok_or(())?;
            // A section that cannot be read, such as a compressed one, is as good as none.
            let data = section.uncompressed_data().unwrap_or(Cow::Borrowed(&[]));
            Ok(data.into_owned())
        });
        let mut variables = Variables { sections: sections.ok()?, found: Vec::new() };
        let found = variables.all().ok()?;
        variables.found = found;
        variables.found.sort_by_key(|one| one.address);
        Some(variables)
    }

    /// Returns the variable at an address of the program as it was linked, with the member that has
    /// at least so many bytes there. O(log n), and the types on the way to the member.
    #[must_use]
    pub fn find(&self, address: u64, bytes: u64) -> Option<Global> {
        let after = self.found.partition_point(|one| one.address <= address);
        let near = self.found[..after].iter().rev().take(DEPTH_MAX);
        let inside = |one: &&Variable| address - one.address < one.size.max(1);
        let variable = near.into_iter().find(inside)?;
        let mut name = variable.name.clone();
        let offset = address - variable.address;
        let Variable { mut size, line, .. } = *variable;
        match self.member(variable, offset, bytes).ok().flatten() {
            Some((member, of_member)) => {
                name.push_str(&member);
                size = of_member;
            }
            None if offset > 0 => name.push_str(&format!("+{offset}")),
            None => {}
        }
        Some(Global { name, size, file: variable.file.clone(), line })
    }

    fn dwarf(&self) -> Dwarf<Reader<'_>> {
        self.sections.borrow(|section| EndianSlice::new(section, LittleEndian))
    }

    fn all(&self) -> gimli::Result<Vec<Variable>> {
        let dwarf = self.dwarf();
        let (mut units, mut found) = (dwarf.units(), Vec::new());
        while let Some(header) = units.next()? {
            // One unit that cannot be read does not hide the others.
            if let Ok(unit) = dwarf.unit(header) {
                let _ = variables_of(&dwarf, &unit, &mut found);
            }
        }
        Ok(found)
    }

    /// Returns the way to the member of a variable at an offset, and its size; `None` if it is not
    /// known.
    fn member(
        &self,
        variable: &Variable,
        offset: u64,
        bytes: u64,
    ) -> gimli::Result<Option<(String, u64)>> {
        let Some((at, of_type)) = variable.of_type else { return Ok(None) };
        let dwarf = self.dwarf();
        let unit = dwarf.unit(dwarf.debug_info.header_from_offset(at)?)?;
        let (mut name, mut offset, mut next) = (String::new(), offset, of_type);
        for _ in 0..DEPTH_MAX {
            let Some((word, rest, inner)) = step_into(&dwarf, &unit, next, offset)? else { break };
            if size_of(&unit, inner, 0)?.is_some_and(|size| size < bytes) {
                break;
            }
            name.push_str(&word);
            (offset, next) = (rest, inner);
        }
        if offset > 0 {
            name.push_str(&format!("+{offset}"));
        }
        let size = size_of(&unit, next, 0)?.unwrap_or(0);
        Ok(Some((name, size)))
    }
}

/// Adds the variables of a unit.
fn variables_of<'s>(
    dwarf: &Dwarf<Reader<'s>>,
    unit: &Unit<Reader<'s>>,
    found: &mut Vec<Variable>,
) -> gimli::Result<()> {
    // The name of each scope around the entry, by its depth.
    let mut scopes: Vec<(isize, Option<String>)> = Vec::new();
    // A variable of a namespace or class may be declared there and defined outside of it.
    let mut declared_in: BTreeMap<usize, String> = BTreeMap::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        let depth = entry.depth();
        scopes.retain(|(scope, _)| *scope < depth);
        if entry.has_children() {
            let names = matches!(
                entry.tag(),
                gimli::DW_TAG_namespace | gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type
            );
            let name = if names { text(dwarf, unit, entry, gimli::DW_AT_name) } else { None };
            scopes.push((depth, name));
        }
        if !matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_member) {
            continue;
        }
        let names = scopes.iter().filter_map(|(_, name)| name.as_ref());
        let scope: String = names.map(|name| format!("{name}::")).collect();
        let Some(address) = address_of(dwarf, unit, entry) else {
            if !scope.is_empty() {
                declared_in.insert(entry.offset().0, scope);
            }
            continue;
        };
        let at = match entry.attr_value(gimli::DW_AT_specification) {
            Some(AttributeValue::UnitRef(at)) => Some(at),
            _ => None,
        };
        let declared = at.and_then(|at| unit.entry(at).ok());
        let scope = at.and_then(|at| declared_in.get(&at.0).cloned()).unwrap_or(scope);
        let of = |name| {
            entry
                .attr_value(name)
                .or_else(|| declared.as_ref().and_then(|one| one.attr_value(name)))
        };
        let Some(name) = of(gimli::DW_AT_name).and_then(|value| string(dwarf, unit, value)) else {
            continue;
        };
        let of_type = match of(gimli::DW_AT_type) {
            Some(AttributeValue::UnitRef(at)) => Some(at),
            _ => None,
        };
        let size = of_type.map(|at| size_of(unit, at, 0)).transpose()?.flatten();
        let number = |name| of(name).and_then(|value| value.udata_value());
        found.push(Variable {
            address,
            size: size.unwrap_or(0),
            name: scope + &name,
            file: of(gimli::DW_AT_decl_file)
                .and_then(|file| file_of(dwarf, unit, &file))
                .unwrap_or_default(),
            line: number(gimli::DW_AT_decl_line).and_then(|line| line.try_into().ok()).unwrap_or(0),
            of_type: of_type.zip(unit.header.debug_info_offset()).map(|(of, at)| (at, of)),
        });
    }
    Ok(())
}

/// Returns the fixed address of a variable.
fn address_of<'s>(
    dwarf: &Dwarf<Reader<'s>>,
    unit: &Unit<Reader<'s>>,
    entry: &Entry<'s>,
) -> Option<u64> {
    let expression = entry.attr_value(gimli::DW_AT_location)?.exprloc_value()?;
    let mut operations = expression.operations(unit.encoding());
    let address = match operations.next().ok()?? {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } => dwarf.address(unit, index).ok()?,
        _ => return None,
    };
    // Anything that follows computes something else from it.
    matches!(operations.next(), Ok(None)).then_some(address)
}

fn string<'s>(
    dwarf: &Dwarf<Reader<'s>>,
    unit: &Unit<Reader<'s>>,
    value: AttributeValue<Reader<'s>>,
) -> Option<String> {
    let text = dwarf.attr_string(unit, value).ok()?;
    Some(text.to_string_lossy().into_owned())
}

fn text<'s>(
    dwarf: &Dwarf<Reader<'s>>,
    unit: &Unit<Reader<'s>>,
    entry: &Entry<'s>,
    name: gimli::DwAt,
) -> Option<String> {
    string(dwarf, unit, entry.attr_value(name)?)
}

/// Returns the path of a file of a unit.
fn file_of<'s>(
    dwarf: &Dwarf<Reader<'s>>,
    unit: &Unit<Reader<'s>>,
    file: &AttributeValue<Reader<'s>>,
) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let file = match file {
        AttributeValue::FileIndex(file) => *file,
        other => other.udata_value()?,
    };
    let file = header.file(file)?;
    let mut path = unit.comp_dir.map_or_else(String::new, |dir| dir.to_string_lossy().into_owned());
    let mut add = |part: &str| {
        if part.starts_with('/') || path.is_empty() {
            part.clone_into(&mut path);
        } else {
            path = format!("{path}/{part}");
        }
    };
    if let Some(folder) = file.directory(header) {
        add(&string(dwarf, unit, folder)?);
    }
    add(&string(dwarf, unit, file.path_name())?);
    Some(path)
}

/// Returns the bytes of a type.
fn size_of(unit: &Unit<Reader<'_>>, at: UnitOffset, depth: usize) -> gimli::Result<Option<u64>> {
    let entry = unit.entry(at)?;
    if let Some(size) = entry.attr_value(gimli::DW_AT_byte_size) {
        return Ok(size.udata_value());
    }
    let Some(AttributeValue::UnitRef(inner)) = entry.attr_value(gimli::DW_AT_type) else {
        return Ok(None);
    };
    if depth == DEPTH_MAX {
        return Ok(None);
    }
    let inner = size_of(unit, inner, depth + 1)?;
    match entry.tag() {
        gimli::DW_TAG_array_type => {
            let counts = counts_of(unit, at)?;
            let count = counts.into_iter().try_fold(1_u64, u64::checked_mul);
            Ok(inner.zip(count).and_then(|(size, count)| size.checked_mul(count)))
        }
        _ => Ok(inner),
    }
}

/// Returns the number of elements in each dimension of an array.
fn counts_of(unit: &Unit<Reader<'_>>, at: UnitOffset) -> gimli::Result<Vec<u64>> {
    let mut tree = unit.entries_tree(Some(at))?;
    let (mut children, mut counts) = (tree.root()?.children(), Vec::new());
    while let Some(child) = children.next()? {
        let entry = child.entry();
        if entry.tag() == gimli::DW_TAG_subrange_type {
            let number = |name| entry.attr_value(name).and_then(|value| value.udata_value());
            let last = number(gimli::DW_AT_upper_bound).and_then(|last| last.checked_add(1));
            counts.push(number(gimli::DW_AT_count).or(last).unwrap_or(0));
        }
    }
    Ok(counts)
}

/// A step into a type: the words for it, the offset that is left, and the next type.
type Step = (String, u64, UnitOffset);

/// Steps into the part of a type at an offset. `None` where it has no parts.
fn step_into<'s>(
    dwarf: &Dwarf<Reader<'s>>,
    unit: &Unit<Reader<'s>>,
    at: UnitOffset,
    offset: u64,
) -> gimli::Result<Option<Step>> {
    let entry = unit.entry(at)?;
    let inner = match entry.attr_value(gimli::DW_AT_type) {
        Some(AttributeValue::UnitRef(inner)) => Some(inner),
        _ => None,
    };
    match (entry.tag(), inner) {
        (
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type,
            Some(inner),
        ) => Ok(Some((String::new(), offset, inner))),
        (gimli::DW_TAG_array_type, Some(inner)) => {
            let Some(size) = size_of(unit, inner, 0)?.filter(|size| *size > 0) else {
                return Ok(None);
            };
            let (mut index, mut words) = (offset / size, String::new());
            for count in counts_of(unit, at)?.iter().skip(1).rev() {
                if *count > 0 {
                    words = format!("[{}]{words}", index % count);
                    index /= count;
                }
            }
            Ok(Some((format!("[{index}]{words}"), offset % size, inner)))
        }
        (gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type, _) => {
            member_at(dwarf, unit, at, offset)
        }
        _ => Ok(None),
    }
}

/// Returns the member of a type at an offset: of several in a union the first one.
fn member_at<'s>(
    dwarf: &Dwarf<Reader<'s>>,
    unit: &Unit<Reader<'s>>,
    at: UnitOffset,
    offset: u64,
) -> gimli::Result<Option<Step>> {
    let mut tree = unit.entries_tree(Some(at))?;
    let mut children = tree.root()?.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        let is_base = entry.tag() == gimli::DW_TAG_inheritance;
        if entry.tag() != gimli::DW_TAG_member && !is_base {
            continue;
        }
        let place = entry.attr_value(gimli::DW_AT_data_member_location);
        let from = match place {
            Some(place) => place.udata_value(),
            // A member of a union. A static one of a class has no place, and is external.
            None => entry.attr_value(gimli::DW_AT_external).is_none().then_some(0),
        };
        let (Some(from), Some(AttributeValue::UnitRef(inner))) =
            (from, entry.attr_value(gimli::DW_AT_type))
        else {
            continue;
        };
        let size = size_of(unit, inner, 0)?.unwrap_or(0);
        if offset >= from && offset - from < size {
            // The members of a base, and of a member without a name, are those of the whole.
            let name = if is_base { None } else { text(dwarf, unit, entry, gimli::DW_AT_name) };
            let word = name.map(|name| format!(".{name}")).unwrap_or_default();
            return Ok(Some((word, offset - from, inner)));
        }
    }
    Ok(None)
}
