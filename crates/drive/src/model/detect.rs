//! Recognises a model by its first words, never by its file name.

/// Returns whether a text begins, after blanks and comments, with `model` and a name. `head` is the
/// beginning of the text. If a comment continues past `head`, the text does not count as a model.
#[must_use]
pub fn is_model(head: &[u8]) -> bool {
    let mut rest = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    loop {
        rest = rest.trim_ascii_start();
        if let Some(comment) = rest.strip_prefix(b"//") {
            let end = comment.iter().position(|byte| *byte == b'\n');
            rest = end.map_or(&[], |end| &comment[end..]);
        } else if rest.starts_with(b"/*") {
            match behind_comment(rest) {
                Some(behind) => rest = behind,
                None => return false,
            }
        } else {
            break;
        }
    }
    let Some(behind) = rest.strip_prefix(b"model") else { return false };
    let name = behind.trim_ascii_start();
    let spaced = name.len() < behind.len();
    spaced && name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// Returns the text after a comment; comments may nest.
fn behind_comment(text: &[u8]) -> Option<&[u8]> {
    let (mut at, mut depth) = (0, 0_u32);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(&text[at..]);
            }
        } else {
            at += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_decides() {
        for model in [
            "model m",
            "  \n// a\n/* b /* c */ d */ model m\nvar x = 0;",
            "\u{feff}model\tlate_load\n",
            "// T1|acq(L1)|12\nmodel x",
        ] {
            assert!(is_model(model.as_bytes()), "{model}");
        }
        for other in [
            "",
            "model",
            "model|r(x)|1",
            "models m",
            "model 1",
            "/* model m",
            "/* a */",
            "// model m",
            "edtrace 1\n",
            "anyorder-trace 1\n",
            "T1|acq(L1)|12\n",
        ] {
            assert!(!is_model(other.as_bytes()), "{other}");
        }
    }
}
