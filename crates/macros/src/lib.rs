//! The attributes and macros of `anyorder`, written with the compiler's own library: no `syn`, no
//! `quote`.
//!
//! - `tokens`: reading and writing of tokens, errors with their place;
//! - `options`: what stands in the parentheses of `#[anyorder::test(...)]`;
//! - `test`: the function below it;
//! - `object`: impl blocks whose methods are calls of an object with a specification;
//! - `branches`: futures that are polled in turns.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

mod branches;
mod object;
mod options;
mod test;
mod tokens;

/// Makes a function a test in all of its executions. Used as `#[anyorder::test]`, where its options
/// are described.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    test::expand(options, item).unwrap_or_else(tokens::Error::into_tokens)
}

/// Makes the methods of an impl block calls of an object with a specification. Used as
/// `#[anyorder::object]`, where it is described.
#[proc_macro_attribute]
pub fn object(options: TokenStream, item: TokenStream) -> TokenStream {
    object::expand(options, item).unwrap_or_else(tokens::Error::into_tokens)
}

/// Waits for the first of several futures. Used as `anyorder::future::select!`, where it is
/// described.
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    branches::select(input).unwrap_or_else(tokens::Error::into_tokens)
}

/// Waits for several futures. Used as `anyorder::future::join!`, where it is described.
#[proc_macro]
pub fn join(input: TokenStream) -> TokenStream {
    branches::join(input, false).unwrap_or_else(tokens::Error::into_tokens)
}

/// Waits for several futures, or for the first error. Used as `anyorder::future::try_join!`, where
/// it is described.
#[proc_macro]
pub fn try_join(input: TokenStream) -> TokenStream {
    branches::join(input, true).unwrap_or_else(tokens::Error::into_tokens)
}
