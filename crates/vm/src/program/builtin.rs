//! Built-in methods.

/// A built-in method. The kind of the receiver decides what it does. A receiver without such a
/// method is a type failure.
///
/// A method that changes its receiver changes only the value in the receiver's register. To change
/// a global or a field, code reads it into a register, calls the method, and writes it back. The
/// compiler writes methods that take functions (`map`, `filter`, `all`, `any`, `count`) as loops
/// over [`Elements`](Builtin::Elements).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Builtin {
    /// list, set, map, str: the number of elements, entries or characters.
    Len,
    /// list, set, map, str: whether there are none.
    IsEmpty,
    /// list: appends a value. Changes. Gives null.
    Push,
    /// list: removes the last element and gives it; a failure when there is none. Changes.
    Pop,
    /// list: the first element; a failure when there is none.
    First,
    /// list: the last element; a failure when there is none.
    Last,
    /// list (position, value): inserts before a position, at most the length; otherwise a failure.
    /// Changes. Gives null.
    Insert,
    /// list (position): removes an element and gives it; a failure when there is none. set (value):
    /// removes it and gives whether it was there. map (key): removes the entry and gives its value,
    /// or null. Changes.
    Remove,
    /// list, set (value), str (part): whether the receiver contains it.
    Contains,
    /// list (value): its first position, or -1.
    IndexOf,
    /// list, str (from, to): the part from `from` up to but without `to`; a failure unless 0 <=
    /// from <= to <= length.
    Slice,
    /// list: reverses it. Changes. Gives null.
    Reverse,
    /// list: sorts by the order of values. Changes. Gives null.
    Sort,
    /// list: the sum of ints.
    Sum,
    /// list, set: the least element; a failure when there is none.
    Min,
    /// list, set: the greatest element; a failure when there is none.
    Max,
    /// list: removes the first element and gives it; a failure when there is none. Changes.
    TakeFirst,
    /// list, set, map: removes everything. Changes. Gives null.
    Clear,
    /// set (value): adds it and gives whether it is new. Changes.
    Add,
    /// set (set): the union.
    Union,
    /// set (set): the intersection.
    Intersect,
    /// set (set): the difference.
    Minus,
    /// set: its elements as a list, in the order of values. list: itself.
    ToList,
    /// list: its distinct elements as a set. set: itself.
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
    /// str (part): whether it starts with the part.
    StartsWith,
    /// str: the integer it spells; a failure when it spells none.
    ToInt,
    /// any value: its text, as reports show it; a str gives itself.
    ToStr,
    /// The list that `for` iterates over: a list's elements, a set's elements, a map's keys.
    Elements,
}

impl Builtin {
    /// All methods.
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

    /// Returns the number of its arguments, without the receiver.
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
