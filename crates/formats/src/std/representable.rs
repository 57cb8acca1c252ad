//! Names that STD can represent: they are read back unchanged, and each denotes one thing.

use super::line::{self, Memory};
use anyorder_trace::{LocationId, Tables};
use hashbrown::HashSet;

/// The reason why STD cannot represent something.
#[derive(Debug)]
pub(super) struct Unrepresentable(pub(super) String);

/// The role of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Thread,
    Lock,
    Condition,
    Memory,
}

impl Role {
    pub(super) const ALL: [Role; 4] = [Role::Thread, Role::Lock, Role::Condition, Role::Memory];

    /// Returns the word for it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Role::Thread => "thread",
            Role::Lock => "lock",
            Role::Condition => "condition",
            Role::Memory => "location",
        }
    }

    /// Returns the name of an entry of the table for this role.
    pub(super) fn name(self, tables: &Tables, entry: u32) -> Option<String> {
        let index = entry as usize;
        let name = match self {
            Role::Thread => tables.handlers.get(index)?.name,
            Role::Lock => *tables.locks.get(index)?,
            Role::Condition => *tables.conditions.get(index)?,
            Role::Memory => {
                return (index < tables.locations.len())
                    .then(|| tables.location_text(LocationId(entry)));
            }
        };
        Some(tables.name(name).to_owned())
    }

    /// Returns whether the reader accepts this text as a name of this role.
    fn takes(self, text: &str) -> bool {
        if text.is_empty() || text.contains('\n') {
            return false;
        }
        match self {
            // A byte order mark before the first line is no part of a name.
            Role::Thread => !text.contains('|') && !text.starts_with(['#', '\u{feff}']),
            Role::Lock | Role::Condition => true,
            Role::Memory => {
                // The writer knows which addresses without a size are read as names.
                matches!(
                    line::memory(text.as_bytes(), 0),
                    Ok(Memory::Named(_) | Memory::Address(_))
                )
            }
        }
    }
}

/// The names of the entries of one table, all distinct.
#[derive(Debug)]
pub(super) struct Texts {
    role: Role,
    texts: Vec<Option<Box<str>>>,
    used: HashSet<Box<str>>,
}

impl Texts {
    pub(super) fn new(role: Role) -> Texts {
        Texts { role, texts: Vec::new(), used: HashSet::new() }
    }

    /// Returns the name that an entry got before.
    pub(super) fn get(&self, entry: u32) -> Option<&str> {
        self.texts.get(entry as usize)?.as_deref()
    }

    /// Names an entry.
    pub(super) fn give(&mut self, entry: u32, text: &str) -> Result<(), Unrepresentable> {
        let (what, shown) = (self.role.word(), text.escape_debug());
        if !self.role.takes(text) {
            return Err(Unrepresentable(format!("a {what} named `{shown}`")));
        }
        if self.used.contains(text) {
            return Err(Unrepresentable(format!("two {what}s named `{shown}`")));
        }
        self.set(entry, text.into());
        Ok(())
    }

    /// Names an entry after its number.
    pub(super) fn name_by_number(&mut self, entry: u32) {
        let mut text = format!("{}_{entry}", self.role.word());
        while self.used.contains(text.as_str()) {
            text.push('_');
        }
        self.set(entry, text.into_boxed_str());
    }

    fn set(&mut self, entry: u32, text: Box<str>) {
        let entry = entry as usize;
        if self.texts.len() <= entry {
            self.texts.resize(entry + 1, None);
        }
        self.used.insert(text.clone());
        self.texts[entry] = Some(text);
    }
}

/// Returns whether an unknown operation is read back unchanged.
pub(super) fn is_unknown_operation(text: &str) -> bool {
    if text.contains('\n') {
        return false;
    }
    let line = format!("T|{text}|?");
    match line::split(line.as_bytes()) {
        Ok(parts) => parts.text == text.as_bytes() && line::operation(parts.word).is_none(),
        Err(_) => false,
    }
}

/// Returns whether a label is read back unchanged.
pub(super) fn is_label(text: &str) -> bool {
    !text.contains(['|', '\n']) && !text.ends_with('\r')
}
