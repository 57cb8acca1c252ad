//! Built-in methods.

/// Declares the methods: their documentation, and their rows of [`Builtin::row`].
macro_rules! builtins {
    ($($(#[$doc:meta])* $name:ident = $row:expr;)*) => {
        /// A built-in method. The kind of the receiver decides what it does. A receiver without
        /// such a method is a type failure.
        ///
        /// A method that changes its receiver changes only the value in the receiver's register. To
        /// change a global or a field, code reads it into a register, calls the method, and writes
        /// it back. The compiler writes methods that take functions (`map`, `filter`, `all`, `any`,
        /// `count`) as loops over [`Elements`](Builtin::Elements).
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum Builtin {
            $($(#[$doc])* $name,)*
        }

        impl Builtin {
            /// All methods.
            pub const ALL: &[Builtin] = &[$(Builtin::$name),*];

            /// Its name, the number of its arguments, and its properties.
            const fn row(self) -> (&'static str, u16, u8) {
                match self {
                    $(Builtin::$name => $row,)*
                }
            }
        }
    };
}

// Properties of methods.
const READS: u8 = 0;
/// It changes its receiver.
const CHANGES: u8 = 1;
/// It reads only a few elements.
const QUICK: u8 = 2;

builtins! {
    /// list, set, map, str: the number of elements, entries or characters.
    Len = ("len", 0, QUICK);
    /// list, set, map, str: whether there are none.
    IsEmpty = ("is_empty", 0, QUICK);
    /// list: appends a value. Changes. Gives null.
    Push = ("push", 1, CHANGES | QUICK);
    /// list: removes the last element and gives it; a failure when there is none. Changes.
    Pop = ("pop", 0, CHANGES | QUICK);
    /// list: the first element; a failure when there is none.
    First = ("first", 0, QUICK);
    /// list: the last element; a failure when there is none.
    Last = ("last", 0, QUICK);
    /// list (position, value): inserts before a position, at most the length; otherwise a failure.
    /// Changes. Gives null.
    Insert = ("insert", 2, CHANGES);
    /// list (position): removes an element and gives it; a failure when there is none. set (value):
    /// removes it and gives whether it was there. map (key): removes the entry and gives its value,
    /// or null. Changes.
    Remove = ("remove", 1, CHANGES);
    /// list, set (value), str (part): whether the receiver contains it.
    Contains = ("contains", 1, READS);
    /// list (value): its first position, or -1.
    IndexOf = ("index_of", 1, READS);
    /// list, str (from, to): the part from `from` up to but without `to`; a failure unless 0 <=
    /// from <= to <= length.
    Slice = ("slice", 2, READS);
    /// list: reverses it. Changes. Gives null.
    Reverse = ("reverse", 0, CHANGES);
    /// list: sorts by the order of values. Changes. Gives null.
    Sort = ("sort", 0, CHANGES);
    /// list: the sum of ints.
    Sum = ("sum", 0, READS);
    /// list, set: the least element; a failure when there is none.
    Min = ("min", 0, QUICK);
    /// list, set: the greatest element; a failure when there is none.
    Max = ("max", 0, QUICK);
    /// list: removes the first element and gives it; a failure when there is none. Changes.
    TakeFirst = ("take_first", 0, CHANGES);
    /// list, set, map: removes everything. Changes. Gives null.
    Clear = ("clear", 0, CHANGES);
    /// set (value): adds it and gives whether it is new. Changes.
    Add = ("add", 1, CHANGES | QUICK);
    /// set (set): the union.
    Union = ("union", 1, READS);
    /// set (set): the intersection.
    Intersect = ("intersect", 1, READS);
    /// set (set): the difference.
    Minus = ("minus", 1, READS);
    /// set: its elements as a list, in the order of values. list: itself.
    ToList = ("to_list", 0, READS);
    /// list: its distinct elements as a set. set: itself.
    ToSet = ("to_set", 0, READS);
    /// map (key): the value, or null.
    Get = ("get", 1, QUICK);
    /// map (key, default): the value, or the default.
    GetOr = ("get_or", 2, QUICK);
    /// map (key, value): sets an entry. Changes. Gives null.
    Set = ("set", 2, CHANGES | QUICK);
    /// map (key): whether there is an entry.
    Has = ("has", 1, QUICK);
    /// map: its keys as a list, in the order of values.
    Keys = ("keys", 0, READS);
    /// map: its values as a list, in the order of the keys.
    Values = ("values", 0, READS);
    /// str (part): whether it starts with the part.
    StartsWith = ("starts_with", 1, READS);
    /// str: the integer it spells; a failure when it spells none.
    ToInt = ("to_int", 0, READS);
    /// any value: its text, as reports show it; a str gives itself.
    ToStr = ("to_str", 0, READS);
    /// The list that `for` iterates over: a list's elements, a set's elements, a map's keys.
    Elements = ("elements", 0, READS);
}

impl Builtin {
    /// Returns its name in the language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns the number of its arguments, without the receiver.
    #[must_use]
    pub const fn arguments(self) -> u16 {
        self.row().1
    }

    /// Returns whether it changes its receiver.
    #[must_use]
    pub const fn changes(self) -> bool {
        self.row().2 & CHANGES != 0
    }

    /// Returns whether it reads only a few elements.
    #[must_use]
    pub const fn is_quick(self) -> bool {
        self.row().2 & QUICK != 0
    }
}
