//! The code that was mapped, from copies of `/proc/self/maps`.

use std::collections::BTreeMap;

/// The most mapped pieces of code that are kept.
const PIECES_MAX: usize = 1 << 16;

/// A mapped piece of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Module {
    /// The first address.
    pub start: u64,
    /// The address after the last one.
    pub end: u64,
    /// The position in the file of the first byte.
    pub offset: u64,
    /// The file; empty for code without one.
    pub path: String,
    /// Whether it can be executed.
    pub is_code: bool,
}

/// All mapped pieces, of all copies.
#[derive(Clone, Debug, Default)]
pub struct Modules {
    pieces: Vec<Module>,
}

impl Modules {
    /// Reads copies of `/proc/self/maps`. Lines that are not understood are passed over.
    #[must_use]
    pub fn parse(text: &[u8]) -> Modules {
        let mut found: BTreeMap<(u64, u64), Module> = BTreeMap::new();
        for line in text.split(|byte| *byte == b'\n') {
            let Some(module) = std::str::from_utf8(line).ok().and_then(module) else { continue };
            if found.len() < PIECES_MAX {
                // A later copy has what is mapped there since.
                found.insert((module.start, module.end), module);
            }
        }
        Modules { pieces: found.into_values().collect() }
    }

    /// Returns the piece that holds an address.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<&Module> {
        let after = self.pieces.partition_point(|piece| piece.start <= address);
        // Pieces of different copies may overlap; the nearest start decides.
        let near = self.pieces[..after].iter().rev().take(8);
        near.into_iter().find(|piece| address < piece.end)
    }

    /// Returns the piece that holds an address in the data of a file. The end of the data, which is
    /// zero at first, has no file of its own: it follows the piece before it.
    #[must_use]
    pub fn find_data(&self, address: u64) -> Option<&Module> {
        let piece = self.find(address).filter(|piece| !piece.is_code)?;
        if piece.path.starts_with('/') {
            return Some(piece);
        }
        let at = self.pieces.iter().position(|one| one == piece)?;
        let before = self.pieces.get(at.checked_sub(1)?)?;
        let follows = before.end == piece.start && before.path.starts_with('/');
        (piece.path.is_empty() && follows).then_some(before)
    }

    /// Returns the first piece of the file of a piece: the nearest one below it that maps the
    /// beginning of the file.
    #[must_use]
    pub fn find_first(&self, module: &Module) -> Option<&Module> {
        let below = self.pieces.iter().rev().filter(|one| one.start <= module.start);
        below.into_iter().find(|one| one.path == module.path && one.offset == 0)
    }

    /// Returns the code addresses whose low half is this: none, one, or several.
    pub fn complete(&self, low: u32) -> impl Iterator<Item = u64> + '_ {
        let code = self.pieces.iter().filter(|piece| piece.is_code);
        let mut last = None;
        code.filter_map(move |piece| {
            let mut address = (piece.start & !u64::from(u32::MAX)) | u64::from(low);
            if address < piece.start {
                address = address.checked_add(1 << 32)?;
            }
            let is_new = address < piece.end && last != Some(address);
            last = if is_new { Some(address) } else { last };
            is_new.then_some(address)
        })
    }

    /// Returns all pieces, by address.
    #[must_use]
    pub fn pieces(&self) -> &[Module] {
        &self.pieces
    }
}

/// Reads a line: `START-END PERMISSIONS OFFSET DEVICE INODE PATH`.
fn module(line: &str) -> Option<Module> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = (hex(start)?, hex(end)?);
    let mut parts = rest.split_ascii_whitespace();
    let (permissions, offset) = (parts.next()?, hex(parts.next()?)?);
    let _ = (parts.next()?, parts.next()?);
    // A path may have spaces in it.
    let path = rest.find('/').map_or("", |at| {
        // The device, `08:01`, has no slash; a name such as `[heap]` is no file.
        rest[at..].trim_end().trim_end_matches(" (deleted)")
    });
    let is_code = permissions.as_bytes().get(2) == Some(&b'x');
    (start < end).then(|| Module { start, end, offset, path: path.to_owned(), is_code })
}
