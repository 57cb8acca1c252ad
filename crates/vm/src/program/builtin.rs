//! Built-in methods.

/// A built-in method. The receiver's value decides what it does; a receiver that has no such method is a failure of type.
///
/// Methods that change their receiver change the value in the receiver's register (and nothing shared): to change a global
/// or a field, read it into a register, call the method, write it back. Methods that take functions (`map`, `filter`, `all`, `any`,
/// `count`) are loops for the compiler to write, over [`Elements`](Builtin::Elements).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Builtin {
    /// list, set, map, str: the number of elements, entries or characters.
    Len,
    /// list, set, map, str: whether there are none.
    IsEmpty,
    /// list: appends a value. Changes. Gives null.
    Push,
    /// list: takes the last element; a failure when there is none. Changes.
    Pop,
    /// list: the first element; a failure when there is none.
    First,
    /// list: the last element; a failure when there is none.
    Last,
    /// list (position, value): inserts before a position up to the length, otherwise a failure. Changes. Gives null.
    Insert,
    /// list (position): takes an element out and gives it, a failure when there is none. set (value): takes it out and tells
    /// whether it was there. map (key): takes the entry out and gives its value, or null. Changes.
    Remove,
    /// list, set (value), str (part): whether it is in there.
    Contains,
    /// list (value): its first position, or -1.
    IndexOf,
    /// list, str (from, to): the part from `from` up to but without `to`; a failure unless 0 <= from <= to <= length.
    Slice,
    /// list: turns it round. Changes. Gives null.
    Reverse,
    /// list: sorts by the order of values. Changes. Gives null.
    Sort,
    /// list: the sum of ints.
    Sum,
    /// list, set: the least element; a failure when there is none.
    Min,
    /// list, set: the greatest element; a failure when there is none.
    Max,
    /// list: takes the first element; a failure when there is none. Changes.
    TakeFirst,
    /// list, set, map: takes everything out. Changes. Gives null.
    Clear,
    /// set (value): adds it and tells whether it is new. Changes.
    Add,
    /// set (set): both together.
    Union,
    /// set (set): what is in both.
    Intersect,
    /// set (set): what is only in the first.
    Minus,
    /// set: its elements as a list, in the order of values. list: itself.
    ToList,
    /// list: its different elements as a set. set: itself.
    ToSet,
    /// map (key): the value, or null.
    Get,
    /// map (key, default): the value, or the default.
    GetOr,
    /// map (key, value): sets an entry. Changes. Gives null.
    Set,
    /// map (key): whether there is an entry.
    Has,
    /// map: its keys as a list, in the order of values.
    Keys,
    /// map: its values as a list, in the order of the keys.
    Values,
    /// str (part): whether it starts with it.
    StartsWith,
    /// str: the integer it spells; a failure when it spells none.
    ToInt,
    /// any value: as a string, as reports show it; a str is itself.
    ToStr,
    /// What `for` goes through, as a list: a list's elements, a set's elements, a map's keys.
    Elements,
}

impl Builtin {
    /// All of them.
    pub const ALL: [Builtin; 34] = {
        use Builtin::*;
        [
            Len, IsEmpty, Push, Pop, First, Last, Insert, Remove, Contains, IndexOf, Slice,
            Reverse, Sort, Sum, Min, Max, TakeFirst, Clear, Add, Union, Intersect, Minus, ToList,
            ToSet, Get, GetOr, Set, Has, Keys, Values, StartsWith, ToInt, ToStr, Elements,
        ]
    };

    /// Returns its name in the language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Builtin::Len => "len",
            Builtin::IsEmpty => "is_empty",
            Builtin::Push => "push",
            Builtin::Pop => "pop",
            Builtin::First => "first",
            Builtin::Last => "last",
            Builtin::Insert => "insert",
            Builtin::Remove => "remove",
            Builtin::Contains => "contains",
            Builtin::IndexOf => "index_of",
            Builtin::Slice => "slice",
            Builtin::Reverse => "reverse",
            Builtin::Sort => "sort",
            Builtin::Sum => "sum",
            Builtin::Min => "min",
            Builtin::Max => "max",
            Builtin::TakeFirst => "take_first",
            Builtin::Clear => "clear",
            Builtin::Add => "add",
            Builtin::Union => "union",
            Builtin::Intersect => "intersect",
            Builtin::Minus => "minus",
            Builtin::ToList => "to_list",
            Builtin::ToSet => "to_set",
            Builtin::Get => "get",
            Builtin::GetOr => "get_or",
            Builtin::Set => "set",
            Builtin::Has => "has",
            Builtin::Keys => "keys",
            Builtin::Values => "values",
            Builtin::StartsWith => "starts_with",
            Builtin::ToInt => "to_int",
            Builtin::ToStr => "to_str",
            Builtin::Elements => "elements",
        }
    }

    /// Returns the number of its arguments, the receiver left out.
    #[must_use]
    pub const fn arguments(self) -> u16 {
        match self {
            Builtin::Insert | Builtin::Slice | Builtin::GetOr | Builtin::Set => 2,
            Builtin::Push
            | Builtin::Remove
            | Builtin::Contains
            | Builtin::IndexOf
            | Builtin::Add
            | Builtin::Union
            | Builtin::Intersect
            | Builtin::Minus
            | Builtin::Get
            | Builtin::Has
            | Builtin::StartsWith => 1,
            _ => 0,
        }
    }

    /// Returns whether it changes its receiver.
    #[must_use]
    pub const fn changes(self) -> bool {
        matches!(
            self,
            Builtin::Push
                | Builtin::Pop
                | Builtin::Insert
                | Builtin::Remove
                | Builtin::Reverse
                | Builtin::Sort
                | Builtin::TakeFirst
                | Builtin::Clear
                | Builtin::Add
                | Builtin::Set
        )
    }
}
