//! Declarations: variables, methods, classes, types.

use super::{Arg, Block, Expr};
use anyorder_common::source::Span;

/// Words and annotations before a declaration.
#[derive(Clone, Debug, Default)]
pub struct Modifiers {
    /// `def` is among them.
    pub has_def: bool,
    /// `private`, `static`, `final`, ... in their order.
    pub words: Vec<&'static str>,
    /// The annotations.
    pub annotations: Vec<Annotation>,
}

impl Modifiers {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        !self.has_def && self.words.is_empty() && self.annotations.is_empty()
    }
}

/// `@Name(key = value)`
#[derive(Clone, Debug)]
pub struct Annotation {
    /// Its place.
    pub span: Span,
    /// The dotted name.
    pub name: String,
    /// The members; a value without a key has the key `value`.
    pub members: Vec<(String, Expr)>,
}

/// A type as it is written.
#[derive(Clone, Debug)]
pub struct TypeName {
    /// Its place.
    pub span: Span,
    /// The dotted name, a primitive type, or `?`.
    pub name: String,
    /// What stands in `<...>`; `Some` and empty for `<>`.
    pub arguments: Option<Vec<TypeName>>,
    /// The bound of a wildcard: `extends` or `super`, and its type.
    pub bound: Option<(&'static str, Box<TypeName>)>,
    /// The number of `[]` behind it.
    pub dimensions: u32,
}

/// A parameter of a generic class or method.
#[derive(Clone, Debug)]
pub struct TypeParameter {
    /// Its name.
    pub name: String,
    /// The types that it extends.
    pub bounds: Vec<TypeName>,
}

/// A parameter of a method or closure.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its place.
    pub span: Span,
    /// `def`, `final` and annotations.
    pub modifiers: Modifiers,
    /// The type, if there is one.
    pub type_name: Option<TypeName>,
    /// `T... x`
    pub is_variable: bool,
    /// The name.
    pub name: String,
    /// The value without an argument.
    pub default: Option<Expr>,
}

/// Variables that are declared together.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// `def`, `final` and annotations.
    pub modifiers: Modifiers,
    /// The type of all of them; `None` with `(a, b)`, where each has its own.
    pub type_name: Option<TypeName>,
    /// The variables.
    pub variables: Vec<Variable>,
    /// The value of `def (a, b) = value`; the variables have none then.
    pub together: Option<Expr>,
}

/// A variable with its first value.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its place, with the value.
    pub span: Span,
    /// Its own type, in `def (int a, b) = ...`.
    pub type_name: Option<TypeName>,
    /// Its name.
    pub name: String,
    /// Its first value.
    pub value: Option<Expr>,
}

/// A method or constructor.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its place.
    pub span: Span,
    /// Modifiers, `def`, annotations.
    pub modifiers: Modifiers,
    /// The parameters of a generic method.
    pub type_parameters: Vec<TypeParameter>,
    /// The type of the result, if there is one.
    pub result: Option<TypeName>,
    /// The name.
    pub name: String,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The exceptions that it may throw.
    pub throws: Vec<String>,
    /// The body; `None` for an abstract method.
    pub body: Option<Block>,
    /// A constructor has the name of its class and no type.
    pub is_constructor: bool,
    /// The value of a method of an annotation.
    pub default: Option<Expr>,
}

/// `import static a.b.C.* as d`
#[derive(Clone, Debug)]
pub struct Import {
    /// `import static`
    pub is_static: bool,
    /// The dotted name, without `.*`.
    pub name: String,
    /// `.*`
    pub is_star: bool,
    /// `as name`
    pub alias: Option<String>,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
}

/// What a class is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassKind {
    /// `class`
    Class,
    /// `interface`
    Interface,
    /// `enum`
    Enum,
    /// `trait`
    Trait,
    /// `@interface`
    Annotation,
    /// The body behind `new T()`.
    Anonymous,
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: ClassKind,
    /// Modifiers and annotations.
    pub modifiers: Modifiers,
    /// Its name; empty for an anonymous one.
    pub name: String,
    /// The parameters of a generic class.
    pub type_parameters: Vec<TypeParameter>,
    /// `extends`; an interface may extend several.
    pub extends: Vec<TypeName>,
    /// `implements`
    pub implements: Vec<TypeName>,
    /// The constants of an enum.
    pub constants: Vec<EnumConstant>,
    /// Its members.
    pub items: Vec<Item>,
}

/// A constant of an enum.
#[derive(Clone, Debug)]
pub struct EnumConstant {
    /// Its place.
    pub span: Span,
    /// Its annotations.
    pub annotations: Vec<Annotation>,
    /// Its name.
    pub name: String,
    /// The arguments of its constructor; `None` without parentheses.
    pub arguments: Option<Vec<Arg>>,
    /// Its own members.
    pub body: Option<Box<Class>>,
}

/// A member of a class.
#[derive(Clone, Debug)]
pub enum Item {
    /// Fields and properties.
    Field(Box<Declaration>),
    /// A method or constructor.
    Method(Box<Method>),
    /// A class inside.
    Class(Box<Class>),
    /// `{ ... }`, and with `true` `static { ... }`.
    Initializer(bool, Block),
}
