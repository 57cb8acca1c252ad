//! The built-in methods and their types.

use super::types::Type;

macro_rules! methods {
    ($($name:ident $text:literal)*) => {
        /// A built-in method. Its effect depends on the receiver.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum BuiltinMethod {
            $(#[doc = concat!("`", $text, "`")] $name),*
        }

        impl BuiltinMethod {
            /// All built-in methods.
            pub const ALL: &[BuiltinMethod] = &[$(BuiltinMethod::$name),*];

            /// Returns the name of the method.
            pub const fn name(self) -> &'static str {
                match self { $(BuiltinMethod::$name => $text),* }
            }

            /// Returns the method of that name.
            pub(crate) fn named(name: &str) -> Option<BuiltinMethod> {
                BuiltinMethod::ALL.iter().copied().find(|method| method.name() == name)
            }
        }
    };
}

methods! {
    Len "len" IsEmpty "is_empty" Push "push" Pop "pop" First "first" Last "last" Insert "insert" Remove "remove"
    Contains "contains" IndexOf "index_of" Slice "slice" Reverse "reverse" Sort "sort" Map "map" Filter "filter"
    All "all" Any "any" Count "count" Sum "sum" Min "min" Max "max" TakeFirst "take_first" Clear "clear" Add "add"
    Union "union" Intersect "intersect" Minus "minus" ToList "to_list" ToSet "to_set" Get "get" GetOr "get_or"
    Set "set" Has "has" Keys "keys" Values "values" StartsWith "starts_with" ToInt "to_int" ToStr "to_str"
}

/// Methods that change their receiver.
const CHANGING: &[BuiltinMethod] = {
    use BuiltinMethod::*;
    &[Push, Pop, TakeFirst, Insert, Remove, Reverse, Sort, Clear, Add, Set]
};

impl BuiltinMethod {
    /// Whether it calls a function for each element.
    pub(crate) const fn applies(self) -> bool {
        use BuiltinMethod as M;
        matches!(self, M::Map | M::Filter | M::All | M::Any | M::Count)
    }

    /// Whether it changes its receiver: it needs a place, which it reads and writes.
    pub(crate) fn changes(self) -> bool {
        CHANGING.contains(&self)
    }
}

/// The type of a method on a receiver.
pub(super) struct Signature {
    pub(super) method: BuiltinMethod,
    pub(super) params: Vec<Type>,
    pub(super) result: Type,
}

/// The method `name` of a receiver whose type (without null) is `receiver`. `fresh` gives the
/// unknown result of `map`. An array over an index type has no method that needs an order of its
/// elements.
pub(super) fn signature(
    receiver: &Type,
    name: &str,
    fresh: &mut dyn FnMut() -> Type,
) -> Option<Signature> {
    use BuiltinMethod as M;
    use Type as T;
    let method = BuiltinMethod::named(name)?;
    let one = |t: &Type| vec![t.clone()];
    let function = |t: &Type, to: Type| vec![T::Fn(one(t), Box::new(to))];
    let (params, result) = match (method, receiver) {
        (M::Len, T::List(_) | T::Array(..) | T::Set(_) | T::Map(..) | T::Str) => (vec![], T::Int),
        (M::IsEmpty, T::List(_) | T::Array(..) | T::Set(_) | T::Map(..) | T::Str) => {
            (vec![], T::Bool)
        }
        (M::Clear, T::List(_) | T::Set(_) | T::Map(..)) => (vec![], T::Nothing),
        (M::Contains, T::List(t) | T::Array(_, t) | T::Set(t)) => (one(t), T::Bool),
        (M::All | M::Any, T::List(t) | T::Array(_, t) | T::Set(t)) => {
            (function(t, T::Bool), T::Bool)
        }
        (M::Count, T::List(t) | T::Array(_, t) | T::Set(t)) => (function(t, T::Bool), T::Int),
        (M::Min | M::Max, T::List(t) | T::Array(_, t) | T::Set(t)) => (vec![], (**t).clone()),
        (M::ToSet, T::List(t) | T::Array(_, t) | T::Set(t)) => (vec![], T::Set(t.clone())),
        (M::ToList, T::List(t) | T::Set(t)) => (vec![], T::List(t.clone())),
        (M::Filter, T::List(t) | T::Set(t)) => (function(t, T::Bool), receiver.clone()),
        (M::Sum, T::List(_) | T::Array(..)) => (vec![], T::Int),
        (M::Map, T::List(t)) => {
            let to = fresh();
            (function(t, to.clone()), T::list(to))
        }
        (M::Map, T::Array(over, t)) => {
            let to = fresh();
            (function(t, to.clone()), T::Array(*over, Box::new(to)))
        }
        (M::Push, T::List(t)) => (one(t), T::Nothing),
        (M::Insert, T::List(t)) => (vec![T::Int, (**t).clone()], T::Nothing),
        (M::Remove, T::List(t)) => (vec![T::Int], (**t).clone()),
        (M::Pop | M::TakeFirst | M::First | M::Last, T::List(t)) => (vec![], (**t).clone()),
        (M::IndexOf, T::List(t)) => (one(t), T::Int),
        (M::Slice, T::List(_) | T::Str) => (vec![T::Int, T::Int], receiver.clone()),
        (M::Reverse | M::Sort, T::List(_)) => (vec![], T::Nothing),
        (M::Add | M::Remove, T::Set(t)) => (one(t), T::Bool),
        (M::Union | M::Intersect | M::Minus, T::Set(_)) => (one(receiver), receiver.clone()),
        (M::Get | M::Remove, T::Map(k, v)) => (one(k), (**v).clone().nullable()),
        (M::GetOr, T::Map(k, v)) => (vec![(**k).clone(), (**v).clone()], (**v).clone()),
        (M::Set, T::Map(k, v)) => (vec![(**k).clone(), (**v).clone()], T::Nothing),
        (M::Has, T::Map(k, _)) => (one(k), T::Bool),
        (M::Keys, T::Map(k, _)) => (vec![], T::List(k.clone())),
        (M::Values, T::Map(_, v)) => (vec![], T::List(v.clone())),
        (M::Contains | M::StartsWith, T::Str) => (vec![T::Str], T::Bool),
        (M::ToInt, T::Str) => (vec![], T::Int),
        (M::ToStr, T::Int | T::Bool | T::Str | T::Enum(_) | T::Record(_)) => (vec![], T::Str),
        (M::ToStr, T::List(_) | T::Set(_) | T::Map(..)) => (vec![], T::Str),
        _ => return None,
    };
    Some(Signature { method, params, result })
}

/// Returns the names of all methods of a receiver, for "did you mean".
pub(super) fn names_of(receiver: &Type) -> Vec<&'static str> {
    let mut fresh = || Type::Any;
    let has = |method: &&BuiltinMethod| signature(receiver, method.name(), &mut fresh).is_some();
    BuiltinMethod::ALL.iter().filter(has).map(|method| method.name()).collect()
}
