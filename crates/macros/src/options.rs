//! The options of `#[anyorder::test(...)]`.

use crate::tokens::{Error, is_sign};
use proc_macro::{Ident, Span, TokenStream, TokenTree};

/// All options, for messages.
const NAMES: &str = "`executions`, `steps`, `time`, `preemptions`, `turns`, `stack_size`, \
    `cores`, `engine`, `replay`, `report`, `leaks_allowed` or `panics_are_results`";

/// Returns the calls of the builder that options stand for, as the text of Rust code.
pub(crate) fn calls(options: TokenStream) -> Result<String, Error> {
    let mut tokens = options.into_iter().peekable();
    let (mut calls, mut known) = (String::new(), Vec::<String>::new());
    while let Some(token) = tokens.next() {
        let TokenTree::Ident(name) = token else {
            return Err(Error::new(token.span(), format!("expected an option: {NAMES}")));
        };
        if known.contains(&name.to_string()) {
            return Err(Error::new(name.span(), format!("`{name}` is given twice")));
        }
        known.push(name.to_string());
        let value = match is_sign(tokens.peek(), '=') {
            false => None,
            true => {
                let equals = tokens.next().map_or(name.span(), |token| token.span());
                let missing = || Error::new(equals, format!("`{name} =` has no value"));
                Some(tokens.next().ok_or_else(missing)?)
            }
        };
        calls += &call(&name, value)?;
        match tokens.next() {
            None => break,
            comma if is_sign(comma.as_ref(), ',') => {}
            Some(other) => {
                return Err(Error::new(other.span(), "expected a comma, and another option"));
            }
        }
    }
    Ok(calls)
}

fn call(name: &Ident, value: Option<TokenTree>) -> Result<String, Error> {
    let text = name.to_string();
    let (span, wanted) = (name.span(), |what: &str| {
        Error::new(name.span(), format!("`{name}` needs a value: {what}"))
    });
    match text.as_str() {
        "leaks_allowed" | "panics_are_results" => match value {
            None => Ok(format!(".{text}()")),
            Some(value) => Err(Error::new(value.span(), format!("`{text}` takes no value"))),
        },
        "executions" | "steps" | "stack_size" => {
            let value = value.ok_or_else(|| wanted(&format!("`{text} = 100_000`")))?;
            let number = number(&value)?;
            let method = if text == "stack_size" { text } else { format!("{text}_max") };
            Ok(format!(".{method}({number})"))
        }
        "cores" => {
            let value = value.ok_or_else(|| wanted("`cores = 4`"))?;
            Ok(format!(".cores({})", number(&value)?))
        }
        "engine" => {
            let value = value.ok_or_else(|| wanted("`engine = \"optimal\"`"))?;
            let names = "expected \"learning\", \"optimal\" or \"reads-from\"";
            let engine = match string(&value)?.as_str() {
                "learning" => "Learning",
                "optimal" => "Optimal",
                "reads-from" => "ReadsFrom",
                _ => return Err(Error::new(value.span(), names)),
            };
            Ok(format!(".engine(::anyorder::Engine::{engine})"))
        }
        "preemptions" | "turns" => {
            let example = if text == "turns" { "`turns = 64`" } else { "`preemptions = 2`" };
            let value = value.ok_or_else(|| wanted(example))?;
            let most: Result<u32, _> = value.to_string().replace('_', "").parse();
            let wrong = |_| Error::new(value.span(), "expected a number, like `2`");
            Ok(format!(".{text}_max({})", most.map_err(wrong)?))
        }
        "time" => {
            let value = value.ok_or_else(|| wanted("`time = \"10s\"`"))?;
            let millis = millis(&value)?;
            Ok(format!(".time_max(::core::time::Duration::from_millis({millis}))"))
        }
        "replay" | "report" => {
            let value = value.ok_or_else(|| wanted("a text"))?;
            // A text of the user's, as it stands.
            string(&value)?;
            Ok(format!(".{text}({value})"))
        }
        _ => Err(Error::new(span, format!("unknown option `{text}`, expected {NAMES}"))),
    }
}

fn number(value: &TokenTree) -> Result<u64, Error> {
    let text = value.to_string().replace('_', "");
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(Error::new(value.span(), "expected a number from 1, like `100_000`")),
    }
}

/// Returns what is in a plain string.
fn string(value: &TokenTree) -> Result<String, Error> {
    let text = value.to_string();
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let plain = inner.filter(|inner| !inner.contains('\\'));
    plain.map(str::to_owned).ok_or_else(|| Error::new(value.span(), "expected a text in quotes"))
}

/// Returns the milliseconds of `"10s"`.
fn millis(value: &TokenTree) -> Result<u64, Error> {
    let wrong = |span: Span| Error::new(span, "expected a time, like \"10s\", \"500ms\" or \"2m\"");
    let text = string(value).map_err(|_| wrong(value.span()))?;
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wrong(value.span())),
    };
    let millis = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    millis.filter(|millis| *millis > 0).ok_or_else(|| wrong(value.span()))
}
