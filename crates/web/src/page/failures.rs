//! What the page says when something fails: exceptions and messages of its console, in the words
//! and places of its texts as they were.

use super::handle::{path, text};
use crate::rewriter::Rewriter;
use anyorder_system::{Failure, FailureKind, FailureSite};
use serde_json::Value;

/// A place in a text of the page: its address, line and column, from 1.
type Place = (String, u32, u32);

/// The message of an exception without a text.
const NO_MESSAGE: &str = "an empty text is thrown";

/// The beginning of the addresses of scripts that the page does not know of.
const OWN: &str = "anyorder:";

/// Returns an exception as a failure.
pub(super) fn failure(details: &Value, rewriter: &dyn Rewriter) -> Failure {
    let exception = &details["exception"];
    let frames = details["stackTrace"]["callFrames"].as_array().into_iter().flatten();
    let described = exception["description"].as_str().map(str::to_owned);
    let place = described
        .as_deref()
        .and_then(|stack| behind_own(stack, rewriter))
        .or_else(|| std::iter::once(details).chain(frames).find_map(|one| place_of(one, rewriter)));
    let thrown = described.unwrap_or_else(|| shown(exception, rewriter));
    let first = thrown.lines().find(|line| !line.trim().is_empty()).unwrap_or(NO_MESSAGE);
    let first = rewriter.message(place.as_ref().map(borrowed), first);
    let in_promise = details["text"].as_str().is_some_and(|text| text.contains("in promise"));
    let message = if in_promise { format!("{first} (in a promise)") } else { first };
    let site = place.map(|(url, line, column)| (path(&url).to_owned(), line, column));
    let site = site.filter(|(file, ..)| !file.is_empty());
    let site = site.map(|(file, line, column)| FailureSite { file, line, column });
    Failure { kind: FailureKind::Other, message, site, broken: None }
}

/// Returns the first place of the page in the stack of an error that a function in the place of a
/// native has thrown. The browser names the place of such an error where it was thrown last.
fn behind_own(stack: &str, rewriter: &dyn Rewriter) -> Option<Place> {
    let is_frame = |line: &&str| line.trim_start().starts_with("at ");
    let mut frames = stack.lines().filter(is_frame).peekable();
    frames.peek().filter(|line| line.contains(OWN))?;
    let mut first = None;
    for line in frames.filter(|line| !line.contains(OWN)) {
        with_places(line, rewriter, &mut first);
        if first.is_some() {
            break;
        }
    }
    first
}

fn borrowed((url, line, column): &Place) -> (&str, u32, u32) {
    (url, *line, *column)
}

/// Returns the place of a frame of a stack, if it is in a script of the page's own.
fn place_of(frame: &Value, rewriter: &dyn Rewriter) -> Option<Place> {
    let url = text(frame, "url");
    let number = |name: &str| {
        let number = frame[name].as_u64().and_then(|number| u32::try_from(number).ok());
        number.unwrap_or(0).saturating_add(1)
    };
    let (line, column) = (number("lineNumber"), number("columnNumber"));
    let column = rewriter.column(&url, line, column);
    url.starts_with("http").then_some((url, line, column))
}

/// Returns a value of the page as text.
pub(super) fn shown(value: &Value, rewriter: &dyn Rewriter) -> String {
    let described = value["description"].as_str();
    match (&value["value"], described) {
        (Value::String(text), _) => original(text, rewriter),
        (_, Some(text)) => {
            let text = original(text, rewriter);
            text.lines().next().unwrap_or_default().to_owned()
        }
        (Value::Null, None) => value["type"].as_str().unwrap_or_default().to_owned(),
        (other, None) => other.to_string(),
    }
}

/// Returns a text of the page, with its places and expressions as they were. Lines of stacks that
/// are none of the page are left out.
fn original(text: &str, rewriter: &dyn Rewriter) -> String {
    let is_own = |line: &str| line.trim_start().starts_with("at ") && line.contains(OWN);
    let mut first = None;
    let lines: Vec<String> = text
        .split('\n')
        .filter(|line| !is_own(line))
        .map(|line| with_places(line, rewriter, &mut first))
        .collect();
    let place = first.as_ref().map(borrowed);
    let lines = lines.iter().map(|line| rewriter.message(place, line));
    lines.collect::<Vec<String>>().join("\n")
}

/// Returns a line with the places in it as they were. Keeps the first place of all lines.
fn with_places(line: &str, rewriter: &dyn Rewriter, first: &mut Option<Place>) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("http") {
        let (before, address) = rest.split_at(at);
        out.push_str(before);
        let end = address.find([' ', ')', '"', '\'', ',', '\t']).unwrap_or(address.len());
        let (whole, behind) = address.split_at(end);
        rest = behind;
        match placed(whole) {
            Some((url, line, column)) => {
                let column = rewriter.column(url, line, column);
                first.get_or_insert_with(|| (url.to_owned(), line, column));
                out.push_str(&format!("{url}:{line}:{column}"));
            }
            None => out.push_str(whole),
        }
    }
    out + rest
}

/// Reads an address with a line and a column.
fn placed(text: &str) -> Option<(&str, u32, u32)> {
    let (rest, column) = text.rsplit_once(':')?;
    let (url, line) = rest.rsplit_once(':')?;
    url.contains("://").then_some((url, line.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewriter::RewrittenPage;

    /// Each column was 10 less.
    struct Less;

    impl Rewriter for Less {
        fn script(&self, text: &str, _url: &str, _is_module: bool) -> String {
            text.to_owned()
        }

        fn html(&self, bytes: &[u8], _content_type: &str, _url: &str) -> RewrittenPage {
            bytes.to_vec().into()
        }

        fn column(&self, _url: &str, _line: u32, column: u32) -> u32 {
            column - 10
        }
    }

    #[test]
    fn stacks_have_the_places_of_the_texts_as_they_were() {
        let stack = "Error: x\n    at help (anyorder:runtime:3:4)\n    at f (http://a:80/b.js:3:15)\n    \
            at https://a/?c:1:11";
        let place = ("http://a:80/b.js".to_owned(), 3, 5);
        assert_eq!(behind_own(stack, &Less), Some(place));
        assert_eq!(behind_own("Error: x\n    at f (http://a:80/b.js:3:15)", &Less), None);
        let expected = "Error: x\n    at f (http://a:80/b.js:3:5)\n    at https://a/?c:1:1";
        assert_eq!(original(stack, &Less), expected);
        for plain in ["see http://a/b and https://c:80/", "http", "at 3:4"] {
            assert_eq!(original(plain, &Less), plain);
        }
    }
}
