//! Tokens.

use crate::source::Span;

/// A piece of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its place.
    pub span: Span,
}

macro_rules! tokens {
    (
        reserved: $($fixed:ident $fixed_text:literal)* ;
        words: $($word:ident $word_text:literal)* ;
        signs: $($sign:ident $sign_text:literal)*
    ) => {
        /// Kinds of tokens.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum TokenKind {
            /// A name that is no word of the language.
            Name,
            /// A number.
            Int,
            /// A string with its quotes (the closing one may be missing).
            Str,
            /// A character without meaning.
            Unknown,
            /// The end of the text.
            End,
            $(#[doc = concat!("`", $fixed_text, "`")] $fixed,)*
            $(#[doc = concat!("`", $word_text, "`")] $word,)*
            $(#[doc = concat!("`", $sign_text, "`")] $sign,)*
        }

        /// The words that are never names, except behind a dot: each begins or continues an
        /// expression, or a statement whose next token could also continue a name.
        pub const RESERVED: &[&str] = &[$($fixed_text),*];

        /// The words that mean something in their place only, and are names elsewhere.
        pub const CONTEXTUAL: &[&str] = &[$($word_text),*];

        impl TokenKind {
            /// Returns the word `text` of the language, if it is one.
            pub fn word(text: &str) -> Option<TokenKind> {
                match text {
                    $($fixed_text => Some(TokenKind::$fixed),)*
                    $($word_text => Some(TokenKind::$word),)*
                    _ => None,
                }
            }

            /// Returns whether the token is never a name.
            pub fn is_reserved(self) -> bool {
                matches!(self, $(TokenKind::$fixed)|*)
            }

            /// Returns whether the token can be a name: one, or a contextual word.
            pub fn is_name(self) -> bool {
                matches!(self, TokenKind::Name $(| TokenKind::$word)*)
            }

            /// Returns the text of the token; empty for names, literals and the end.
            pub fn text(self) -> &'static str {
                match self {
                    $(TokenKind::$fixed => $fixed_text,)*
                    $(TokenKind::$word => $word_text,)*
                    $(TokenKind::$sign => $sign_text,)*
                    _ => "",
                }
            }
        }
    };
}

tokens! {
    reserved:
    If "if" Else "else" While "while" For "for" In "in" Match "match" Let "let" Fn "fn" Return "return"
    Break "break" Continue "continue" Assert "assert" Assume "assume" Choose "choose" True "true" False "false"
    Null "null" SelfWord "self"
    ;
    words:
    Model "model" Const "const" Enum "enum" Record "record" Class "class" Var "var" Lock "lock" Cond "cond"
    Handler "handler" Task "task" Procedure "procedure" Event "event" Thread "thread" Init "init"
    Driver "driver" Component "component" Invariant "invariant" Response "response" Final "final" Spec "spec" Setting "setting"
    Symmetric "symmetric" Once "once" Disabled "disabled" Unfair "unfair" Daemon "daemon" LeadsTo "leads_to"
    Loop "loop" Fail "fail" Post "post" Async "async"
    Cancel "cancel" Enable "enable" Disable "disable" Acquire "acquire" Release "release" With "with" Wait "wait"
    Notify "notify" NotifyAll "notify_all" Fork "fork" Join "join" Atomic "atomic" Yield "yield"
    Call "call" New "new" Set "set" Map "map" Enabled "enabled"
    ;
    signs:
    LBrace "{" RBrace "}" LParen "(" RParen ")" LBracket "[" RBracket "]" Comma "," Semi ";" Colon ":"
    DotDot ".." Dot "." Arrow "->" FatArrow "=>" Question "?" Tilde "~" Underscore "_"
    PlusPlus "++" MinusMinus "--" PlusEq "+=" MinusEq "-=" StarEq "*=" SlashEq "/=" PercentEq "%="
    Plus "+" Minus "-" Star "*" Slash "/" Percent "%" EqEq "==" NotEq "!=" Le "<=" Ge ">=" Lt "<" Gt ">"
    AndAnd "&&" OrOr "||" Not "!" Eq "="
}

/// A comment. Comments are not tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comment {
    /// The place, with the comment marks but without the line end.
    pub span: Span,
    /// Whether it is `/* .. */` rather than `// ..`.
    pub block: bool,
}
