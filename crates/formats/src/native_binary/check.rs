//! Checks ids against their tables, for reader and writer alike. Translates names of a file to
//! names in memory.

use super::bytes::{Damage, Read, damage};
use anyorder_trace::{EventKind, Meta, NameId, Op, OperandKind, Tables};

macro_rules! sizes {
    ($($table:ident)*) => {
        /// The number of entries of each table. An id below it is valid.
        #[derive(Clone, Copy, Debug)]
        pub(super) struct Sizes {
            $(pub(super) $table: usize,)*
        }

        impl Sizes {
            /// Takes the sizes of tables.
            pub(super) fn of(tables: &Tables) -> Sizes {
                Sizes { $($table: tables.$table.len(),)* }
            }

            /// Returns each table by name, with its size.
            pub(super) fn each(&self) -> Vec<(&'static str, usize)> {
                vec![$((stringify!($table), self.$table),)*]
            }
        }
    };
}

sizes!(names handlers tasks locations locks conditions inputs sites stacks invocations);

impl Sizes {
    /// Returns the size of the table that operands of a kind index, and its name.
    fn of_operands(&self, kind: EventKind) -> (u64, &'static str) {
        let (size, what) = match kind.operand() {
            // Any number is valid.
            OperandKind::Nothing | OperandKind::Number => return (1 << 32, "number"),
            OperandKind::Location => (self.locations, "location"),
            OperandKind::Task => (self.tasks, "task"),
            OperandKind::Handler => (self.handlers, "handler"),
            OperandKind::Lock => (self.locks, "lock"),
            OperandKind::Condition => (self.conditions, "condition"),
            OperandKind::Invocation => (self.invocations, "invocation"),
            OperandKind::Input => (self.inputs, "input"),
            OperandKind::Name => (self.names, "name"),
        };
        (size as u64, what)
    }

    /// Checks that an operand is an entry of the table that its kind indexes.
    pub(super) fn operand(&self, kind: EventKind, operand: u32) -> Read<()> {
        let (size, what) = self.of_operands(kind);
        if u64::from(operand) < size {
            return Ok(());
        }
        damage(format!("`{}` of {what} {operand}, expected one of the {size} known", kind.word()))
    }

    /// Returns, for each kind number, the size of the table that its operands index.
    pub(super) fn operand_limits(&self) -> OperandLimits {
        let mut limits = OperandLimits::default();
        for kind in EventKind::ALL {
            limits.0[kind as usize] = self.of_operands(kind).0;
        }
        limits
    }
}

/// The kinds have numbers below this power of 2.
const KINDS_MAX: usize = 64;

const _: () = assert!(EventKind::ALL.len() <= KINDS_MAX);

/// For each kind, the size of the table that its operands index.
#[derive(Debug)]
pub(super) struct OperandLimits([u64; KINDS_MAX]);

impl Default for OperandLimits {
    fn default() -> OperandLimits {
        OperandLimits([0; KINDS_MAX])
    }
}

impl OperandLimits {
    #[inline]
    pub(super) fn of(&self, kind: EventKind) -> u64 {
        self.0[kind as usize & (KINDS_MAX - 1)]
    }
}

/// Checks that `id` is below the size of its table.
pub(super) fn known(id: u32, size: usize, what: &str) -> Read<()> {
    if (id as usize) < size {
        return Ok(());
    }
    damage(format!("{what} {id}, expected one of the {size} known"))
}

/// Checks that labels keep their meaning, because earlier events were checked against it.
pub(super) fn same_labels(old: &Meta, new: &Meta) -> Read<()> {
    if old.labels == new.labels {
        return Ok(());
    }
    damage("scheme of labels changes behind the first event, expected it to stay")
}

/// The tables read so far, and the numbers of their names in the file.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) tables: Tables,
    pub(super) names: FileNames,
}

/// Translates names of a file to names in memory. They differ only after an event of an unknown
/// kind: the name of the kind was then inserted between those of the file.
#[derive(Clone, Debug)]
pub(super) struct FileNames {
    /// The number of names in the file so far, the empty one included.
    pub(super) count: usize,
    /// For each inserted name, the number of names of the file before it. Ascending.
    inserted: Vec<u32>,
    /// The names of unknown kinds, by their number.
    kinds: Vec<(u8, NameId)>,
}

impl FileNames {
    /// Makes one for a file with `count` names so far, equal to those in memory.
    pub(super) fn identity(count: usize) -> FileNames {
        FileNames { count, inserted: Vec::new(), kinds: Vec::new() }
    }

    /// Returns whether names of the file and in memory are equal so far.
    pub(super) fn is_identity(&self) -> bool {
        self.inserted.is_empty()
    }

    /// Checks and translates a name of the file.
    pub(super) fn name(&self, id: u32) -> Read<NameId> {
        known(id, self.count, "name")?;
        let before = self.inserted.partition_point(|at| *at <= id);
        Ok(NameId(id + before as u32))
    }

    /// Returns the operation and operand that represent an event of a kind unknown to this version.
    pub(super) fn unknown_kind(&mut self, number: u8, tables: &mut Tables) -> Read<(Op, u32)> {
        let op = Op::from(EventKind::Other);
        if let Some((_, name)) = self.kinds.iter().find(|(known, _)| *known == number) {
            return Ok((op, name.0));
        }
        let text = format!("kind-{number}");
        let Some(name) = tables.names.push(&text) else {
            return Err(Damage("names of more than 4 GiB together".to_owned()));
        };
        self.inserted.push(self.count as u32);
        self.kinds.push((number, name));
        Ok((op, name.0))
    }
}
