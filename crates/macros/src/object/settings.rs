//! The options of `#[anyorder::object(...)]`.

use crate::tokens::{Error, is_sign, split_types};
use proc_macro::{Span, TokenStream, TokenTree};

/// All options, for messages.
const NAMES: &str = "`field = name`, `calls = Name` or `spec = path::of::Spec`";

/// The options of the attribute.
pub(super) struct Settings {
    /// The field that is the `Object`.
    pub(super) field: TokenStream,
    /// The name of the type of calls, if it is given.
    pub(super) calls: Option<TokenTree>,
    /// A specification that is there already.
    pub(super) spec: Option<TokenStream>,
}

impl Settings {
    pub(super) fn read(options: TokenStream) -> Result<Settings, Error> {
        let mut settings =
            Settings { field: "object".parse().unwrap_or_default(), calls: None, spec: None };
        let mut known = Vec::new();
        for option in split_types(options) {
            let mut tokens = option.into_iter();
            let name = tokens.next();
            let span = name.as_ref().map_or(Span::call_site(), TokenTree::span);
            let Some(TokenTree::Ident(name)) = name else {
                return Err(Error::new(span, format!("expected an option: {NAMES}")));
            };
            let name = name.to_string();
            let is_equal = is_sign(tokens.next().as_ref(), '=');
            let value: Vec<TokenTree> = tokens.collect();
            let [first, more @ ..] = &*value else {
                return Err(Error::new(span, format!("expected {NAMES}")));
            };
            if !is_equal {
                return Err(Error::new(span, format!("expected {NAMES}")));
            }
            if known.contains(&name) {
                return Err(Error::new(span, format!("`{name}` is given twice")));
            }
            match (&*name, first) {
                ("spec", _) => settings.spec = Some(value.into_iter().collect()),
                ("field", TokenTree::Ident(_) | TokenTree::Literal(_)) if more.is_empty() => {
                    settings.field = first.clone().into();
                }
                ("calls", TokenTree::Ident(_)) if more.is_empty() => {
                    settings.calls = Some(first.clone());
                }
                ("field" | "calls", _) => {
                    return Err(Error::new(first.span(), "expected a name"));
                }
                _ => {
                    let message = format!("unknown option `{name}`, expected {NAMES}");
                    return Err(Error::new(span, message));
                }
            }
            known.push(name);
        }
        if let (Some(calls), Some(_)) = (&settings.calls, &settings.spec) {
            let message = "calls of a specification that is there have the type of that";
            return Err(Error::new(calls.span(), message));
        }
        Ok(settings)
    }
}
