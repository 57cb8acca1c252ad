//! The built-in methods and their types.

use super::program::IndexId;
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

impl BuiltinMethod {
    /// Returns whether the method changes its receiver. The receiver must then be a place; the
    /// method reads and writes it.
    pub(crate) const fn changes(self) -> bool {
        use BuiltinMethod as M;
        matches!(
            self,
            M::Push
                | M::Pop
                | M::TakeFirst
                | M::Insert
                | M::Remove
                | M::Reverse
                | M::Sort
                | M::Clear
                | M::Add
                | M::Set
        )
    }
}

/// The type of a method on a receiver.
pub(super) struct Signature {
    pub(super) method: BuiltinMethod,
    pub(super) params: Vec<Type>,
    pub(super) result: Type,
}

fn found(method: BuiltinMethod, params: Vec<Type>, result: Type) -> Option<Signature> {
    Some(Signature { method, params, result })
}

fn test_of(element: &Type) -> Vec<Type> {
    vec![Type::Fn(vec![element.clone()], Box::new(Type::Bool))]
}

/// Returns the type of the method `name` of a receiver whose type (without null) is `receiver`.
/// `fresh` gives the unknown result of `map`.
pub(super) fn signature(
    receiver: &Type,
    name: &str,
    fresh: &mut dyn FnMut() -> Type,
) -> Option<Signature> {
    let method = BuiltinMethod::named(name)?;
    if method == BuiltinMethod::ToStr {
        let has = matches!(
            receiver,
            Type::Int
                | Type::Bool
                | Type::Str
                | Type::List(_)
                | Type::Set(_)
                | Type::Map(..)
                | Type::Enum(_)
                | Type::Record(_)
        );
        return if has { found(method, vec![], Type::Str) } else { None };
    }
    match receiver {
        Type::List(t) => on_list(method, t, fresh),
        Type::Array(over, t) => on_array(method, *over, t, fresh),
        Type::Set(t) => on_set(method, receiver, t),
        Type::Map(k, v) => on_map(method, k, v),
        Type::Str => on_str(method),
        _ => None,
    }
}

fn on_list(m: BuiltinMethod, t: &Type, fresh: &mut dyn FnMut() -> Type) -> Option<Signature> {
    use BuiltinMethod as M;
    let list = || Type::list(t.clone());
    match m {
        M::Len => found(m, vec![], Type::Int),
        M::IsEmpty => found(m, vec![], Type::Bool),
        M::Push => found(m, vec![t.clone()], Type::Nothing),
        M::Pop | M::TakeFirst => found(m, vec![], t.clone()),
        M::First | M::Last => found(m, vec![], t.clone()),
        M::Insert => found(m, vec![Type::Int, t.clone()], Type::Nothing),
        M::Remove => found(m, vec![Type::Int], t.clone()),
        M::Contains => found(m, vec![t.clone()], Type::Bool),
        M::IndexOf => found(m, vec![t.clone()], Type::Int),
        M::Slice => found(m, vec![Type::Int, Type::Int], list()),
        M::Reverse | M::Sort | M::Clear => found(m, vec![], Type::Nothing),
        M::Map => {
            let to = fresh();
            let result = Type::list(to.clone());
            found(m, vec![Type::Fn(vec![t.clone()], Box::new(to))], result)
        }
        M::Filter => found(m, test_of(t), list()),
        M::All | M::Any => found(m, test_of(t), Type::Bool),
        M::Count => found(m, test_of(t), Type::Int),
        M::Sum => found(m, vec![], Type::Int),
        M::Min | M::Max => found(m, vec![], t.clone()),
        M::ToList => found(m, vec![], list()),
        M::ToSet => found(m, vec![], Type::Set(Box::new(t.clone()))),
        _ => None,
    }
}

/// Returns the type of a method of an array over an index type. Only methods that need no order of
/// the elements exist.
fn on_array(
    m: BuiltinMethod,
    over: IndexId,
    t: &Type,
    fresh: &mut dyn FnMut() -> Type,
) -> Option<Signature> {
    use BuiltinMethod as M;
    match m {
        M::Map => {
            let to = fresh();
            let result = Type::Array(over, Box::new(to.clone()));
            found(m, vec![Type::Fn(vec![t.clone()], Box::new(to))], result)
        }
        M::Len
        | M::IsEmpty
        | M::Contains
        | M::All
        | M::Any
        | M::Count
        | M::Sum
        | M::Min
        | M::Max
        | M::ToSet => on_list(m, t, fresh),
        _ => None,
    }
}

fn on_set(m: BuiltinMethod, set: &Type, t: &Type) -> Option<Signature> {
    use BuiltinMethod as M;
    match m {
        M::Len => found(m, vec![], Type::Int),
        M::IsEmpty => found(m, vec![], Type::Bool),
        M::Add | M::Remove => found(m, vec![t.clone()], Type::Bool),
        M::Clear => found(m, vec![], Type::Nothing),
        M::Contains => found(m, vec![t.clone()], Type::Bool),
        M::Union | M::Intersect | M::Minus => found(m, vec![set.clone()], set.clone()),
        M::ToList => found(m, vec![], Type::list(t.clone())),
        M::ToSet => found(m, vec![], set.clone()),
        M::Filter => found(m, test_of(t), set.clone()),
        M::All | M::Any => found(m, test_of(t), Type::Bool),
        M::Count => found(m, test_of(t), Type::Int),
        M::Min | M::Max => found(m, vec![], t.clone()),
        _ => None,
    }
}

fn on_map(m: BuiltinMethod, k: &Type, v: &Type) -> Option<Signature> {
    use BuiltinMethod as M;
    match m {
        M::Len => found(m, vec![], Type::Int),
        M::IsEmpty => found(m, vec![], Type::Bool),
        M::Get => found(m, vec![k.clone()], v.clone().nullable()),
        M::GetOr => found(m, vec![k.clone(), v.clone()], v.clone()),
        M::Set => found(m, vec![k.clone(), v.clone()], Type::Nothing),
        M::Remove => found(m, vec![k.clone()], v.clone().nullable()),
        M::Clear => found(m, vec![], Type::Nothing),
        M::Has => found(m, vec![k.clone()], Type::Bool),
        M::Keys => found(m, vec![], Type::list(k.clone())),
        M::Values => found(m, vec![], Type::list(v.clone())),
        _ => None,
    }
}

fn on_str(m: BuiltinMethod) -> Option<Signature> {
    use BuiltinMethod as M;
    match m {
        M::Len => found(m, vec![], Type::Int),
        M::IsEmpty => found(m, vec![], Type::Bool),
        M::Contains | M::StartsWith => found(m, vec![Type::Str], Type::Bool),
        M::Slice => found(m, vec![Type::Int, Type::Int], Type::Str),
        M::ToInt => found(m, vec![], Type::Int),
        _ => None,
    }
}

/// Returns the names of all methods of a receiver, for "did you mean".
pub(super) fn names_of(receiver: &Type) -> Vec<&'static str> {
    let mut fresh = || Type::Any;
    let has = |method: &&BuiltinMethod| signature(receiver, method.name(), &mut fresh).is_some();
    BuiltinMethod::ALL.iter().filter(has).map(|method| method.name()).collect()
}
