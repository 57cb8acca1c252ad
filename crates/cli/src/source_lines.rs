//! Reads the lines of the source around the places of findings.

use crate::reading::{SOURCE, ask};
use anyorder_common::files::read_found;
use anyorder_drive::JobResult;
use anyorder_drive::native_run::{SourceFile, Sources};
use anyorder_finding::{Site, SourceLines, Warning, WarningKind};
use anyorder_trace::{Meta, Trace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::time::SystemTime;

/// The lines before and after a position.
const AROUND: u32 = 2;

/// The most letters of a line that are kept.
const LETTERS_MAX: usize = 400;

/// A file that was read.
struct Text {
    lines: Vec<String>,
    newer: bool,
}

/// Adds the lines of the source to the places of findings. A file that cannot be read is named in a
/// warning.
pub(crate) fn add_source_lines(input: &str, sources: &Sources, result: &mut JobResult) {
    let mut texts: BTreeMap<String, Option<Text>> = BTreeMap::new();
    let findings = result.findings.iter_mut().map(|one| &mut one.finding);
    for site in findings.flat_map(|finding| &mut finding.sites) {
        let Some((file, source)) =
            site.file.as_ref().and_then(|file| Some((file, sources.get(file)?)))
        else {
            continue;
        };
        let text = texts.entry(file.clone()).or_insert_with(|| Text::read(source));
        site.source = text.as_ref().and_then(|text| text.around(site));
    }
    for (file, _) in texts.iter().filter(|(_, text)| text.is_none()) {
        let text = format!("{file}: the source cannot be read, so its lines are not shown");
        result.warnings.push(Warning::new(WarningKind::Odd, input, text, 1));
    }
}

/// Adds the lines of the source to findings in a trace that was recorded from a program. The names
/// of files stand in the trace, so only files below the working folder or that of the trace are
/// read.
pub(crate) fn add_recorded_lines(path: &Path, trace: &Trace, result: &mut JobResult) {
    if trace.tables().meta.origin != Meta::RECORDING {
        return;
    }
    let below: Vec<_> = std::env::current_dir()
        .into_iter()
        .chain(path.parent().and_then(|folder| folder.canonicalize().ok()))
        .collect();
    let sites = result.findings.iter().flat_map(|one| &one.finding.sites);
    let files: BTreeSet<&String> = sites.filter_map(|site| site.file.as_ref()).collect();
    let mut sources = Sources::new();
    for file in files {
        let found = below.iter().find_map(|folder| {
            let within = Path::new(file).strip_prefix(folder).unwrap_or(Path::new(file));
            let is_plain = within
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            Some(folder.join(within)).filter(|path| is_plain && path.is_file())
        });
        if let Some(found) = found {
            sources.insert(file.clone(), SourceFile { path: found, program: path.to_owned() });
        }
    }
    let name = path.to_string_lossy();
    add_source_lines(&name, &sources, result);
}

impl Text {
    fn read(source: &SourceFile) -> Option<Text> {
        let bytes = read_found(&source.path, SOURCE, ask).ok()??;
        let text = String::from_utf8_lossy(&bytes);
        let shortened = |line: &str| line.chars().take(LETTERS_MAX).collect();
        let lines = text.lines().map(shortened).collect();
        let times = (changed(&source.path), changed(&source.program));
        let newer = matches!(times, (Some(source), Some(program)) if source > program);
        Some(Text { lines, newer })
    }

    /// Returns the lines around a position; `None` if the file is too short for it.
    fn around(&self, site: &Site) -> Option<SourceLines> {
        let line = site.line.filter(|line| *line as usize <= self.lines.len() && *line > 0)?;
        let first = line.saturating_sub(AROUND).max(1);
        let end = self.lines.len().min((line + AROUND) as usize);
        let lines = self.lines.get(first as usize - 1..end)?.to_vec();
        Some(SourceLines { first, lines, newer: self.newer })
    }
}

/// Returns when a file was changed.
fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|meta| meta.modified()).ok()
}
