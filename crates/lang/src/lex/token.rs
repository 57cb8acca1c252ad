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
    (words: $($word:ident $word_text:literal)* ; signs: $($sign:ident $sign_text:literal)*) => {
        /// Kinds of tokens.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum TokenKind {
            /// A name that is not reserved.
            Name,
            /// A number.
            Int,
            /// A string with its quotes (the closing one may be missing).
            Str,
            /// A character without meaning.
            Unknown,
            /// The end of the text.
            End,
            $(#[doc = concat!("`", $word_text, "`")] $word,)*
            $(#[doc = concat!("`", $sign_text, "`")] $sign,)*
        }

        /// All reserved words.
        pub const RESERVED: &[&str] = &[$($word_text),*];

        impl TokenKind {
            /// Returns the reserved word `text`, if it is one.
            pub fn reserved(text: &str) -> Option<TokenKind> {
                match text { $($word_text => Some(TokenKind::$word),)* _ => None }
            }

            /// Returns whether the token is a reserved word.
            pub fn is_reserved(self) -> bool {
                matches!(self, $(TokenKind::$word)|*)
            }

            /// Returns the text of the token; empty for names, literals and the end.
            pub fn text(self) -> &'static str {
                match self {
                    $(TokenKind::$word => $word_text,)*
                    $(TokenKind::$sign => $sign_text,)*
                    _ => "",
                }
            }
        }
    };
}

tokens! {
    words:
    Model "model" Const "const" Enum "enum" Record "record" Class "class" Var "var" Lock "lock" Cond "cond"
    Handler "handler" Fn "fn" Task "task" Procedure "procedure" Event "event" Thread "thread" Init "init"
    Driver "driver" Component "component" Invariant "invariant" Response "response" Final "final" Spec "spec" Setting "setting"
    Symmetric "symmetric" Once "once" Disabled "disabled" Unfair "unfair" Daemon "daemon" LeadsTo "leads_to"
    Let "let" If "if" Else "else" While "while" Loop "loop" For "for" In "in" Break "break" Continue "continue"
    Return "return" Match "match" Assert "assert" Assume "assume" Fail "fail" Post "post" Async "async"
    Cancel "cancel" Enable "enable" Disable "disable" Acquire "acquire" Release "release" With "with" Wait "wait"
    Notify "notify" NotifyAll "notify_all" Fork "fork" Join "join" Choose "choose" Atomic "atomic" Yield "yield"
    Call "call" True "true" False "false" Null "null" SelfWord "self" New "new" Set "set" Map "map"
    Enabled "enabled"
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
