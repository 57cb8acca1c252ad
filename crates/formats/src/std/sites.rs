//! Tables of source positions for a trace: `label<TAB>function<TAB>file:line`.

use super::line::short_decimal;
use crate::fault::{LineError, utf8};
use anyorder_trace::{
    NameIndex, Names, Place, Problem, Problems, ReadError, Site, SiteId, TableFull, Tables,
    TextIndex,
};
use hashbrown::HashMap;

/// The description of one label in a table.
#[derive(Debug)]
struct Described {
    function: String,
    file: String,
    line: u32,
}

/// The sites of a trace, by label.
#[derive(Debug, Default)]
pub(super) struct Sites {
    described: HashMap<String, Described>,
    /// The sites with a small number as label, by that number; `NONE` where absent.
    by_number: Vec<SiteId>,
    by_label: TextIndex,
}

/// Labels below this are found by index, in a list of 4 bytes each.
const NUMBERS_MAX: u32 = 1 << 18;

/// The label of an event with an unknown site.
pub(super) const UNKNOWN: &str = "?";

impl Sites {
    /// Reads a table; all problems are listed.
    pub(super) fn with_table(text: &str) -> Result<Sites, ReadError> {
        let mut sites = Sites::default();
        let mut problems = Problems::default();
        for (number, line) in (1u64..).zip(text.lines()) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let message = match describe(line) {
                Ok((label, described)) => {
                    if sites.described.insert(label.to_owned(), described).is_none() {
                        continue;
                    }
                    "the site was described before"
                }
                Err(message) => message,
            };
            let problem = Problem::error(Place::line_column(number, 1), message);
            problems.push(problem.with_text(line.as_bytes()));
        }
        if problems.errors_total > 0 {
            return Err(ReadError::Malformed { format: "site table", problems });
        }
        Ok(sites)
    }

    /// Returns the site with this label.
    #[inline]
    pub(super) fn find(&self, names: &Names, label: &[u8]) -> Option<SiteId> {
        match short_decimal(label) {
            Some((number, [])) if number < NUMBERS_MAX => self.by_number(number),
            _ => self.by_label.find(names, label).map(SiteId),
        }
    }

    /// Returns the site with this number as label.
    #[inline]
    pub(super) fn by_number(&self, number: u32) -> Option<SiteId> {
        self.by_number.get(number as usize).copied().and_then(SiteId::some)
    }

    /// Adds a new site with this label.
    #[cold]
    pub(super) fn add(
        &mut self,
        tables: &mut Tables,
        names: &mut NameIndex,
        label: &[u8],
        column: usize,
    ) -> Result<SiteId, LineError> {
        if label.is_empty() || label == UNKNOWN.as_bytes() {
            return Ok(SiteId::UNKNOWN);
        }
        if tables.sites.len() >= u32::MAX as usize {
            return Err(TableFull("sites").into());
        }
        let name = names.intern(&mut tables.names, utf8(label, column)?)?;
        let mut site = Site { label: name, ..Site::default() };
        if let Some(described) = self.described.get(tables.names.get(name)) {
            let mut intern = |text: &str| names.intern(&mut tables.names, text);
            site.function = intern(&described.function)?;
            site.file = intern(&described.file)?;
            site.line = described.line;
        } else if let Some((file, line, column_in_line)) =
            str::from_utf8(label).ok().and_then(source_position)
        {
            site.file = names.intern(&mut tables.names, file)?;
            (site.line, site.column) = (line, column_in_line);
        }
        let id = SiteId::from_index(tables.sites.len());
        tables.sites.push(site);
        match short_decimal(label) {
            Some((number, [])) if number < NUMBERS_MAX => {
                let number = number as usize;
                if self.by_number.len() <= number {
                    self.by_number.resize(number + 1, SiteId::NONE);
                }
                self.by_number[number] = id;
            }
            _ => self.by_label.insert(&tables.names, name, id.0),
        }
        Ok(id)
    }
}

/// Parses a label that is a source position: `main.c:11`, `src/main.c:11:5`. The file must have a
/// dot or a slash, so that `thread:3` remains a label.
pub(super) fn source_position(label: &str) -> Option<(&str, u32, u32)> {
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number| digits && *number > 0)
    };
    let (rest, last) = label.rsplit_once(':')?;
    let last: u32 = number(last)?;
    let (file, line, column) = match rest.rsplit_once(':') {
        Some((file, line)) if number(line).is_some() => (file, number(line)?, last),
        _ => (rest, last, 0),
    };
    let is_file = file.contains(['.', '/', '\\']) && !file.ends_with(['.', '/', '\\', ':']);
    is_file.then_some((file, line, column))
}

/// Parses a line of a table. `?` stands for an unknown part.
fn describe(line: &str) -> Result<(&str, Described), &'static str> {
    let mut fields = line.split('\t');
    let (Some(label), Some(function), Some(position), None) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err("expected number, function and file:line, separated by tabs");
    };
    if label.is_empty() {
        return Err("expected the number of a site");
    }
    let known = |text: &str| if text == UNKNOWN { String::new() } else { text.to_owned() };
    let (file, line) = match position.rsplit_once(':') {
        Some((file, UNKNOWN)) => (file, 0),
        Some((file, digits))
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            (file, digits.parse().map_err(|_| "expected a line number of at most 32 bits")?)
        }
        _ => (position, 0),
    };
    Ok((label, Described { function: known(function), file: known(file), line }))
}

/// Writes the table of source positions for a trace written by [`StdWriter`](super::StdWriter): for
/// each labelled site, the facts that the label does not contain.
///
/// It omits sites whose label, function or file contains a tab or a line end. Linear in the table.
#[must_use]
pub fn site_table(tables: &Tables) -> String {
    let mut out = String::new();
    for site in &tables.sites {
        let [label, function, file] =
            [site.label, site.function, site.file].map(|name| tables.name(name));
        let hostile = |text: &str| text.contains(['\t', '\n', '\r']);
        if label.is_empty() || [label, function, file].into_iter().any(hostile) {
            continue;
        }
        let known = |text| if str::is_empty(text) { UNKNOWN } else { text };
        out.push_str(&format!("{label}\t{}\t{}", known(function), known(file)));
        if site.line != 0 {
            out.push_str(&format!(":{}", site.line));
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::source_position;

    #[test]
    fn labels_that_are_source_positions_are_known_as_such() {
        for (label, expected) in [
            ("main.c:11", Some(("main.c", 11, 0))),
            ("src/a b/main.c:11:5", Some(("src/a b/main.c", 11, 5))),
            ("C:\\x\\main.c:7", Some(("C:\\x\\main.c", 7, 0))),
            ("/bin/worker:3", Some(("/bin/worker", 3, 0))),
            ("12", None),
            ("main:11", None),
            ("main.c:0", None),
            ("main.c:", None),
            ("main.c:+3", None),
            (":3", None),
            ("main.c:99999999999", None),
            ("1.2", None),
        ] {
            assert_eq!(source_position(label), expected, "{label}");
        }
    }
}
