//! The names in results, each declared once: of counts ([`stat`]), of options and of what limits a
//! job ([`option`]).
//!
//! Only a declared name can be set. A result that was read may have others: it may come from
//! another version.

pub mod option;
pub mod stat;

/// Declares names as constants, and the list of all of them.
macro_rules! names {
    ($type:ident: $($(#[doc = $doc:literal])+ $constant:ident $word:literal $($merge:ident)?;)+) => {
        $(
            $(#[doc = $doc])+
            pub const $constant: $type =
                $type::new($word, concat!($($doc),+))$(.merged(Merge::$merge))?;
        )+

        /// All names, in the order of this file.
        pub const ALL: &[$type] = &[$($constant),+];
    };
}

pub(crate) use names;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_name_is_declared_once() {
        let stats: BTreeSet<&str> = stat::ALL.iter().map(|name| name.word()).collect();
        assert_eq!(stats.len(), stat::ALL.len());
        let options: BTreeSet<&str> = option::ALL.iter().map(|name| name.word()).collect();
        assert_eq!(options.len(), option::ALL.len());
        let snake = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let kebab = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        assert!(stats.iter().all(snake) && options.iter().all(kebab));
        assert_eq!(stat::StatName::declared("states"), Some(stat::STATES));
        assert_eq!(stat::StatName::declared("state"), None);
    }

    #[test]
    fn the_page_lists_what_is_declared() {
        let page = include_str!("../../../../docs/schema.md");
        let rows = |heading: &str| -> Vec<String> {
            let (_, section) = page.split_once(heading).expect(heading);
            let section = section.split("\n## ").next().unwrap_or_default();
            section.lines().filter(|line| line.starts_with("| `")).map(str::to_owned).collect()
        };
        let row = |word: &str, what: &str| {
            let what = what.trim().trim_end_matches('.');
            let (first, rest) = what.split_at(1);
            format!("| `{word}` | {}{rest} |", first.to_lowercase())
        };
        let stats = stat::ALL.iter().map(|name| row(name.word(), name.what()));
        assert_eq!(rows("\n## Statistics\n"), stats.collect::<Vec<_>>());
        let options = option::ALL.iter().map(|name| row(name.word(), name.what()));
        assert_eq!(rows("\n## Options and limits\n"), options.collect::<Vec<_>>());
    }
}
