//! The attributes of `anyorder`, written with the compiler's own library: no `syn`, no `quote`.
//!
//! - `tokens`: reading and writing of tokens, errors with their place;
//! - `options`: what stands in the parentheses of `#[anyorder::test(...)]`;
//! - `test`: the function below it.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

mod options;
mod test;
mod tokens;

/// Makes a function a test in all of its executions. Used as `#[anyorder::test]`, where its options
/// are described.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    test::expand(options, item).unwrap_or_else(tokens::Error::into_tokens)
}
