//! Pages that go to another one by themselves: `<meta http-equiv=refresh>`. The browser would do
//! that by its own clock. Here the attribute gets another name, and the runtime puts the way into
//! the queue of the page, as a timer.

use std::borrow::Cow;

/// The attribute, and its name in the page that the browser gets: equally long, so that all places
/// in the text stay.
const ATTRIBUTE: &[u8] = b"http-equiv";
const HELD: &[u8] = b"data-equiv";

/// Returns a page whose refreshes the browser does not see.
pub(super) fn hold_refreshes(page: &[u8]) -> Cow<'_, [u8]> {
    let mut held = Cow::Borrowed(page);
    let mut at = 0;
    while let Some(start) = find(&page[at..], b"<meta") {
        let start = at + start;
        let length = page[start..].iter().position(|byte| *byte == b'>');
        let end = length.map_or(page.len(), |length| start + length);
        if let Some(place) = find(&page[start..end], ATTRIBUTE) {
            let place = start + place;
            let value = page[place + ATTRIBUTE.len()..end].trim_ascii_start();
            let value = value.strip_prefix(b"=").unwrap_or_default().trim_ascii_start();
            let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
            if find(value.trim_ascii_start(), b"refresh") == Some(0) {
                held.to_mut()[place..place + HELD.len()].copy_from_slice(HELD);
            }
        }
        at = end;
    }
    held
}

/// Returns where a word in small letters begins, whatever letters the text has.
fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|part| part.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::hold_refreshes;

    #[test]
    fn only_refreshes_are_held() {
        for text in [
            "<meta http-equiv=refresh content=0>",
            "a<META content='1; url=x' HTTP-EQUIV = \"Refresh\"><p>",
            "<meta charset=utf-8><meta http-equiv='refresh'",
        ] {
            let held = String::from_utf8(hold_refreshes(text.as_bytes()).into_owned()).unwrap();
            assert_eq!(held.len(), text.len());
            assert!(held.contains("data-equiv"), "{held}");
        }
        for text in [
            "",
            "<meta",
            "<meta http-equiv",
            "<meta http-equiv=content-type content=refresh>",
            "<p>http-equiv=refresh",
            "<meta name=refresh>",
        ] {
            assert_eq!(hold_refreshes(text.as_bytes()), text.as_bytes(), "{text}");
        }
    }
}
