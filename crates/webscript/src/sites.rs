//! The table of sites: where in the sources each reported access is.

use crate::original::Move;
use rustc_hash::FxHashMap;

/// A source: a file, or the part of a page that is one script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// Where a text begins: in which source, at which line and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The source.
    pub source: SourceId,
    /// The line of the first character, counted from 1.
    pub line: u32,
    /// The column of the first character in UTF-16 code units, counted from 1.
    pub column: u32,
}

impl Origin {
    /// Returns the origin of a text that is the whole source.
    #[must_use]
    pub fn start_of(source: SourceId) -> Self {
        Self { source, line: 1, column: 1 }
    }
}

/// What an expression does to a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes, or deletes.
    Write,
    /// It reads and writes, as `+=` does.
    Both,
}

/// One place that reports an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site<'s> {
    /// The source.
    pub source: SourceId,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in UTF-16 code units, counted from 1.
    pub column: u32,
    /// What is accessed: the name of a property or of a variable, or what the text has between
    /// brackets (cut at 40 bytes).
    pub name: &'s str,
    /// What is done to it.
    pub access: Access,
}

/// As [`Site`], 20 bytes.
#[derive(Clone, Copy, Debug)]
struct Packed {
    source: u32,
    line: u32,
    column: u32,
    name: u32,
    access: Access,
}

/// All sites of a page. The id of a site is its place in the table.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    sources: Vec<Box<str>>,
    sites: Vec<Packed>,
    names: Vec<Box<str>>,
    name_ids: FxHashMap<Box<str>, u32>,
    /// What was inserted into each source, in order.
    moves: FxHashMap<SourceId, Vec<Move>>,
    /// The sources as they were.
    texts: FxHashMap<SourceId, Box<str>>,
}

/// Names are cut at this length in bytes.
const NAME_BYTES_MAX: usize = 40;

impl Sites {
    /// Returns an empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a source under a name that people know, as its URL.
    pub fn add_source(&mut self, name: &str) -> SourceId {
        self.sources.push(name.into());
        SourceId(u32::try_from(self.sources.len() - 1).unwrap_or(u32::MAX))
    }

    /// Returns the name of a source.
    #[must_use]
    pub fn source(&self, id: SourceId) -> Option<&str> {
        self.sources.get(usize::try_from(id.0).ok()?).map(AsRef::as_ref)
    }

    /// Returns the site with an id.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<Site<'_>> {
        let packed = self.sites.get(usize::try_from(id).ok()?)?;
        let name = self.names.get(usize::try_from(packed.name).ok()?)?;
        let Packed { source, line, column, access, .. } = *packed;
        Some(Site { source: SourceId(source), line, column, name, access })
    }

    /// Returns how many sites there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// Returns whether there is no site.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// Adds a site, and returns its id.
    pub(crate) fn add(&mut self, at: Origin, name: &str, access: Access) -> u32 {
        let name = self.name(cut(name));
        let Origin { source, line, column } = at;
        self.sites.push(Packed { source: source.0, line, column, name, access });
        u32::try_from(self.sites.len() - 1).unwrap_or(u32::MAX)
    }

    /// Forgets all sites from an id on: those of a text that is not rewritten after all.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.sites.truncate(len);
    }

    /// Keeps a text that is about to be rewritten, if it is a whole source, and forgets what was
    /// inserted into that before.
    pub(crate) fn begin(&mut self, origin: Origin, text: &str) {
        if origin == Origin::start_of(origin.source) {
            self.moves.remove(&origin.source);
            self.texts.insert(origin.source, text.into());
        }
    }

    /// Notes what was inserted into a source: behind all that was noted before.
    pub(crate) fn add_moves(&mut self, source: SourceId, moves: &[Move]) {
        self.moves.entry(source).or_default().extend(moves);
    }

    pub(crate) fn moves_of(&self, source: SourceId) -> &[Move] {
        self.moves.get(&source).map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn text_of(&self, source: SourceId) -> Option<&str> {
        self.texts.get(&source).map(AsRef::as_ref)
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.name_ids.get(name) {
            return id;
        }
        let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.into());
        self.name_ids.insert(name.into(), id);
        id
    }
}

fn cut(name: &str) -> &str {
    let mut end = name.len().min(NAME_BYTES_MAX);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}
