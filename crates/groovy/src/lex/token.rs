//! Tokens of Groovy.

use anyorder_common::source::Span;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A name.
    Name,
    /// A reserved word.
    Word(&'static str),
    /// A number with its suffix.
    Number,
    /// A string without parts to insert.
    Text,
    /// The text of a string before its first part.
    TextStart,
    /// The text of a string between two parts.
    TextMiddle,
    /// The text of a string behind its last part.
    TextEnd,
    /// An operator or a bracket.
    Op(&'static str),
    /// One or more ends of lines that separate statements.
    Newline,
    /// The end of the file.
    End,
}

/// A token with its place.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its place.
    pub span: Span,
    /// For the text kinds: the index of the decoded text in [`super::Lexed::texts`].
    pub text: u32,
}

/// The reserved words of Groovy 2.4, sorted.
pub const WORDS: &[&str] = &[
    "abstract",
    "as",
    "assert",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "def",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "goto",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "int",
    "interface",
    "long",
    "native",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "short",
    "static",
    "strictfp",
    "super",
    "switch",
    "synchronized",
    "this",
    "threadsafe",
    "throw",
    "throws",
    "trait",
    "transient",
    "true",
    "try",
    "void",
    "volatile",
    "while",
];

/// The names of primitive types.
pub const PRIMITIVES: &[&str] =
    &["void", "boolean", "byte", "char", "short", "int", "float", "long", "double"];

/// The words that may stand before a declaration.
pub const MODIFIERS: &[&str] = &[
    "private",
    "public",
    "protected",
    "static",
    "transient",
    "final",
    "abstract",
    "native",
    "threadsafe",
    "synchronized",
    "volatile",
    "strictfp",
];

/// Operators and brackets; a longer one stands before its prefixes.
pub const OPERATORS: &[&str] = &[
    ">>>=", "...", "..<", "<=>", "==~", "===", "!==", "**=", ">>>", ">>=", "<<=", "==", "!=", "=~",
    "?:", "?.", "*.", ".&", "..", "->", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
    "&&", "||", "**", ">>", "<<", ">=", "<=", "+", "-", "*", "/", "%", "=", "<", ">", "!", "~",
    "?", ":", ",", ".", ";", "(", ")", "[", "]", "{", "}", "&", "|", "^", "@",
];
