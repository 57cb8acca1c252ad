//! Makes text from an input harmless where [`escape`] is not enough.

use anyorder_common::text::escape;
pub(crate) use anyorder_common::text::escape_xml as xml;
use std::borrow::Cow;

/// Returns the text escaped and cut to `max` characters, the last one an ellipsis if it was cut.
pub(crate) fn clipped(text: &str, max: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(max) else { return escape(text) };
    let keep = text[..end].char_indices().next_back().map_or(0, |(last, _)| last);
    Cow::Owned(format!("{}…", escape(&text[..keep])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(clipped("äöü", 3), "äöü");
        assert_eq!(clipped("äöüß", 3), "äö…");
        assert_eq!(clipped("\x1b\x1b\x1b", 2), r"\u{1b}…");
        assert_eq!(clipped("", 0), "");
    }

    #[test]
    fn xml_has_no_markup_left() {
        assert_eq!(xml("<a b='c'>&\"]]>\0"), "&lt;a b=&#39;c&#39;&gt;&amp;&quot;]]&gt;\\u{0}");
    }
}
