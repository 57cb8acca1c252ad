//! Enums whose variants have numbers and words in the formats.

/// An enum with a word for each variant, for code that does not know which enum it is.
pub trait Worded {
    /// Returns the word for the value.
    fn text(&self) -> &'static str;

    /// Returns the words of all variants.
    fn choices(&self) -> &'static [&'static str];

    /// Sets the value to the variant of one of the [`choices`](Self::choices).
    fn choose(&mut self, choice: usize);
}

/// Declares an enum of numbered variants: `Name = 0,`, or with words: `Name = 0 "name",`. The form
/// `@words` adds words to an enum declared elsewhere.
#[macro_export]
macro_rules! coded {
    (@words $vis:vis $name:ident { $($variant:ident $word:literal,)* }) => {
        impl $name {
            /// All variants, in the order of their declaration.
            $vis const ALL: [$name; [$($word),*].len()] = [$($name::$variant),*];

            /// Returns the word for it, used in texts and reports.
            #[must_use]
            $vis const fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }

            /// Returns the one whose [`word`](Self::word) is `word`.
            #[must_use]
            $vis fn from_word(word: &str) -> Option<$name> {
                Self::ALL.into_iter().find(|known| known.word() == word)
            }
        }

        impl $crate::coded::Worded for $name {
            fn text(&self) -> &'static str {
                self.word()
            }

            fn choices(&self) -> &'static [&'static str] {
                &[$($word),*]
            }

            fn choose(&mut self, choice: usize) {
                *self = Self::ALL[choice];
            }
        }
    };
    (
        $(#[$about:meta])*
        $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $number:literal,)* }
    ) => {
        $(#[$about])*
        #[repr(u8)]
        $vis enum $name {
            $($(#[$doc])* $variant = $number,)*
        }

        impl $name {
            /// Returns the one with this number; numbers without one give `None`.
            #[inline]
            #[must_use]
            $vis const fn from_number(number: u8) -> Option<$name> {
                match number {
                    $($number => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
    };
    (
        $(#[$about:meta])*
        $vis:vis enum $name:ident {
            $($(#[$doc:meta])* $variant:ident = $number:literal $word:literal,)*
        }
    ) => {
        $crate::coded! {
            $(#[$about])*
            $vis enum $name { $($(#[$doc])* $variant = $number,)* }
        }
        $crate::coded! { @words $vis $name { $($variant $word,)* } }
    };
}
