//! The texts of a page's scripts: the lines around a place, in the text that a person wrote.

use super::served::{Files, origin};
use super::source_map::{self, SourceMap};
use anyorder_finding::{Site, SourceLines};
use anyorder_web::Store;
use std::collections::{BTreeMap, BTreeSet};

/// Lines around a place, on each side.
const NEAR: u32 = 3;

/// The longest line that is shown, in characters. Of a longer one, what is around the place.
const LINE_CHARS_MAX: usize = 160;

/// The texts of the responses that a page got, by the names of their files.
pub(super) struct Texts {
    texts: BTreeMap<String, (String, String)>,
    maps: BTreeMap<String, Option<SourceMap>>,
    store: Store,
    /// Names of scripts whose maps could not be had.
    pub(super) without_map: BTreeSet<String>,
}

impl Texts {
    /// Takes the texts of the responses so far.
    pub(super) fn new(store: &Store, files: &Files, page: &str) -> Texts {
        let mut texts = BTreeMap::new();
        for given in store.given() {
            let kind = given.response.content_type();
            let is_text = kind.contains("javascript") || kind.contains("html") || kind.is_empty();
            if let Ok(text) = std::str::from_utf8(&given.response.body)
                && is_text
            {
                let text = (given.url.clone(), text.to_owned());
                texts.entry(files.name(&given.url, page)).or_insert(text);
            }
        }
        let (maps, without_map) = Default::default();
        Texts { texts, maps, store: store.clone(), without_map }
    }

    /// Adds the lines around a site that has none. A site whose line is too long for a report, as
    /// in a script that was built, gets none.
    pub(super) fn add_lines(&self, site: &mut Site) {
        let Some((line, file)) = site.line.zip(site.file.as_ref()) else { return };
        if site.source.is_some() {
            return;
        }
        if let Some((_, text)) = self.texts.get(file) {
            let lines = around(text, line);
            let fits = |line: &String| line.chars().count() <= LINE_CHARS_MAX;
            site.source = lines.filter(|lines| lines.lines.iter().all(fits));
        }
    }

    /// Puts the site into the text that a person wrote, if the script has a map, and adds the lines
    /// around it. Of a long line, what is around the place is kept.
    pub(super) fn original(&mut self, site: &Site) -> Site {
        let mut site = site.clone();
        let (Some(file), Some(line)) = (site.file.clone(), site.line) else { return site };
        if let Some(Some(map)) = self.map(&file)
            && let Some(found) = map.original(line, site.column.unwrap_or(1))
        {
            site.file = Some(found.source.to_owned());
            (site.line, site.column) = (Some(found.line), Some(found.column));
            site.source = found.content.and_then(|text| around(text, found.line));
        } else if let Some((_, text)) = self.texts.get(&file) {
            site.source = around(text, line);
        }
        shorten(&mut site);
        site
    }

    /// Returns the map of a script, if it names one.
    fn map(&mut self, file: &str) -> Option<&Option<SourceMap>> {
        if !self.maps.contains_key(file) {
            let (url, text) = self.texts.get(file)?;
            let address = source_map::address(text)?;
            let bytes = source_map::inline(address).or_else(|| {
                let response = self.store.file(&resolved(url, address))?;
                Some(response.body.to_vec())
            });
            let map = bytes.and_then(|bytes| SourceMap::parse(&bytes));
            if map.is_none() {
                self.without_map.insert(file.to_owned());
            }
            self.maps.insert(file.to_owned(), map);
        }
        self.maps.get(file)
    }
}

/// Returns an address that is relative to another one.
fn resolved(base: &str, address: &str) -> String {
    if address.contains("://") {
        return address.to_owned();
    }
    if address.starts_with('/') {
        return format!("{}{address}", origin(base));
    }
    let path = base.split(['?', '#']).next().unwrap_or_default();
    let folder = path.rfind('/').map_or(path, |at| &path[..=at]);
    format!("{folder}{address}")
}

/// Returns the lines around one, from 1.
fn around(text: &str, line: u32) -> Option<SourceLines> {
    let first = line.saturating_sub(NEAR).max(1);
    let skipped = usize::try_from(first).ok()? - 1;
    let count = usize::try_from(line - first + NEAR + 1).ok()?;
    let lines: Vec<String> = text.lines().skip(skipped).take(count).map(str::to_owned).collect();
    let has_it = lines.len() > usize::try_from(line - first).ok()?;
    has_it.then_some(SourceLines { first, lines, newer: false })
}

/// Cuts long lines to what is around the column of the site, which moves with it.
fn shorten(site: &mut Site) {
    let Some(source) = &mut site.source else { return };
    let first = source.first;
    let mut column = site.column;
    for (number, line) in (first..).zip(&mut source.lines) {
        if line.chars().count() <= LINE_CHARS_MAX {
            continue;
        }
        let is_it = site.line == Some(number);
        let at = usize::try_from(site.column.filter(|_| is_it).unwrap_or(1)).unwrap_or(1);
        let skipped = at.saturating_sub(LINE_CHARS_MAX / 2);
        let cut: String = line.chars().skip(skipped).take(LINE_CHARS_MAX).collect();
        let begin = if skipped > 0 { "…" } else { "" };
        // The column counts bytes of the line.
        let moved = at.saturating_sub(skipped) + begin.len();
        column = if is_it { u32::try_from(moved).ok() } else { column };
        *line = format!("{begin}{cut}…");
    }
    site.column = column;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_relative_to_their_script() {
        for (base, address, expected) in [
            ("http://a/js/x.js?v=1", "x.js.map", "http://a/js/x.js.map"),
            ("http://a/js/x.js", "/maps/x.map", "http://a/maps/x.map"),
            ("http://a/js/x.js", "http://b/x.map", "http://b/x.map"),
        ] {
            assert_eq!(resolved(base, address), expected);
        }
    }

    #[test]
    fn lines_are_around_their_place_and_long_ones_are_cut() {
        let lines = around("1\n2\n3\n4\n5\n6", 2).expect("lines");
        assert_eq!((lines.first, lines.lines.len()), (1, 5));
        assert_eq!(around("1\n2", 3), None);
        let long = format!("{}HERE{}", "x".repeat(500), "y".repeat(500));
        let mut site = Site { line: Some(1), column: Some(501), ..Site::default() };
        site.source = around(&long, 1);
        shorten(&mut site);
        let line = &site.source.as_ref().expect("lines").lines[0];
        let at = usize::try_from(site.column.expect("a column")).expect("small") - 1;
        assert!(line[at..].starts_with("HERE"), "{line} {at}");
    }
}
