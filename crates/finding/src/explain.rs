//! The texts of `anyorder explain`: the meaning of each word of a report, and advice.

/// The texts, separated by lines of three dashes. Each begins with its topic, a colon and a summary
/// in one line; then come a blank line and paragraphs. The order is that of [`topics`].
const TEXTS: &str = include_str!("explain.txt");

/// Returns all topics of [`explain`]: the kinds, the categories, then further words of reports.
pub fn topics() -> impl Iterator<Item = &'static str> {
    texts().map(|(topic, _)| topic)
}

/// Returns the text about one of the [`topics`], with `-` or `_` between words; `None` for other
/// topics.
#[must_use]
pub fn explain(topic: &str) -> Option<&'static str> {
    let topic = topic.replace('-', "_").to_ascii_lowercase();
    texts().find(|(known, _)| *known == topic).map(|(_, text)| text)
}

/// Returns each topic with its text.
fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXTS.split("---\n").filter_map(|text| Some((text.split_once(": ")?.0, text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Kind, MisuseCategory, PredictedCategory, RaceCategory};

    #[test]
    fn every_word_has_a_text_of_its_own() {
        for kind in Kind::ALL {
            assert!(explain(kind.word()).is_some(), "{kind}");
        }
        for category in RaceCategory::ALL {
            assert!(explain(category.word()).is_some(), "{category}");
        }
        for category in PredictedCategory::ALL {
            assert!(explain(category.word()).is_some(), "{category}");
        }
        for category in MisuseCategory::ALL {
            assert!(explain(category.word()).is_some(), "{category}");
        }
        for topic in topics() {
            let text = explain(topic).unwrap_or_else(|| panic!("{topic}"));
            let (first, rest) = text.split_once("\n\n").unwrap_or_else(|| panic!("{topic}"));
            assert!(first.starts_with(&format!("{topic}: ")), "{topic}");
            assert!(!first.contains('\n') && !rest.is_empty(), "{topic}");
            assert!(text.ends_with(".\n") && !text.ends_with("\n\n"), "{topic}");
            for line in text.lines() {
                let width = line.chars().count();
                assert!(width <= 90 && !line.ends_with(' '), "{topic}: {line}");
            }
        }
    }

    #[test]
    fn spelling_is_forgiving_but_not_arbitrary() {
        assert_eq!(explain("Co-Enabled"), explain("co_enabled"));
        assert_eq!(explain("nonsense"), None);
    }
}
