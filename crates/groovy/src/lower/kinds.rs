//! How values of Groovy are values of the machine.

use anyorder_program::{ClassId, EnumId, ProgramBuilder, RecordId, Type, TypeId};

/// The types of the machine that Groovy's values have.
#[derive(Clone, Copy, Debug)]
pub struct Kinds {
    /// Lists: an object with the field `items`, a list of the machine.
    pub list: ClassId,
    /// Maps: an object with the fields `keys`, a list in the order of insertion, and `table`, a map
    /// of the machine.
    pub map: ClassId,
    /// Variables that closures share: an object with the field `value`.
    pub cell: ClassId,
    /// Numbers other than `int`: `Long(value)`, `BigInteger(high, low)`, `Decimal(high, low,
    /// scale)`, `Double(bits)`, `Float(bits)`. `high` and `low` are the halves of 128 bits.
    pub number: EnumId,
    /// `Thrown(exception)` and `Gap(text)`.
    pub outcome: EnumId,
    /// Ranges of `int`: `from`, `to`, both inside.
    pub range: RecordId,
    /// Entries of maps: `key`, `value`.
    pub entry: RecordId,
    /// Closures: `code`, a function, and `most`, the number of its parameters; `it` is one.
    pub closure: RecordId,
    /// Exceptions: the simple name of the `class`, and the `message` or null.
    pub exception: RecordId,
    /// Classes as values: the simple `name`.
    pub class: RecordId,
    /// What `=~` gives: `text`, `pattern`.
    pub matcher: RecordId,
    /// Maps outside of running code: `keys` and `table` as in `map`. Lists are lists of the
    /// machine.
    pub frozen_map: RecordId,
    pub(super) types: Types,
}

/// The variant `Thrown` of `Kinds::outcome`.
pub(super) const THROWN: u16 = 0;
/// The variant `Gap`.
pub(super) const GAP: u16 = 1;

/// Types to ask for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Types {
    pub(super) null: TypeId,
    pub(super) boolean: TypeId,
    pub(super) int: TypeId,
    pub(super) text: TypeId,
    pub(super) plain_list: TypeId,
    pub(super) list: TypeId,
    pub(super) map: TypeId,
    pub(super) number: TypeId,
    pub(super) outcome: TypeId,
    pub(super) range: TypeId,
    pub(super) entry: TypeId,
    pub(super) closure: TypeId,
    pub(super) exception: TypeId,
    pub(super) class: TypeId,
    pub(super) matcher: TypeId,
    pub(super) frozen_map: TypeId,
}

impl Kinds {
    pub(super) fn new(b: &mut ProgramBuilder) -> Kinds {
        let list = b.class("List", &["items"]);
        let map = b.class("Map", &["keys", "table"]);
        let cell = b.class("Cell", &["value"]);
        let variants =
            [("Long", 1), ("BigInteger", 2), ("Decimal", 3), ("Double", 1), ("Float", 1)];
        let number = b.enumeration("Number", &variants);
        let outcome = b.enumeration("Outcome", &[("Thrown", 1), ("Gap", 1)]);
        let range = b.record("Range", &["from", "to"]);
        let entry = b.record("Entry", &["key", "value"]);
        let closure = b.record("Closure", &["code", "most"]);
        let exception = b.record("Exception", &["class", "message"]);
        let class = b.record("Class", &["name"]);
        let matcher = b.record("Matcher", &["text", "pattern"]);
        let frozen_map = b.record("PlainMap", &["keys", "table"]);
        let types = Types {
            null: b.ty(Type::Null, false),
            boolean: b.ty(Type::Bool, false),
            int: b.ty(Type::Int, false),
            text: b.ty(Type::Str, false),
            plain_list: b.ty(Type::List, false),
            list: b.ty(Type::Object(list), false),
            map: b.ty(Type::Object(map), false),
            number: b.ty(Type::Enum(number), false),
            outcome: b.ty(Type::Enum(outcome), false),
            range: b.ty(Type::Record(range), false),
            entry: b.ty(Type::Record(entry), false),
            closure: b.ty(Type::Record(closure), false),
            exception: b.ty(Type::Record(exception), false),
            class: b.ty(Type::Record(class), false),
            matcher: b.ty(Type::Record(matcher), false),
            frozen_map: b.ty(Type::Record(frozen_map), false),
        };
        Kinds {
            list,
            map,
            cell,
            number,
            outcome,
            range,
            entry,
            closure,
            exception,
            class,
            matcher,
            frozen_map,
            types,
        }
    }
}
