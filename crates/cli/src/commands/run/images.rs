//! Which of the recorded process images are checked, and what they are called.
//!
//! A build tool, a test driver or a shell starts the programs that are of interest. Where a program
//! built with `-fsanitize=thread` ran, the others are not checked.

use crate::failure::Failure;
use crate::reading::{MAPS, ask, failed, failed_to_read};
use anyorder_common::files::{Source, read_found};
use anyorder_common::numbers::plural;
use anyorder_drive::native_run::launch::Sanitized;
use anyorder_drive::native_run::{Header, Modules};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A recorded process image that is checked.
pub(super) struct Image {
    /// What it is called in results.
    pub(super) name: PathBuf,
    /// The file of its events.
    pub(super) events: PathBuf,
    /// The file of its mapped code.
    pub(super) maps: PathBuf,
    /// Whether it is the started program itself, not one that it has started.
    pub(super) is_started: bool,
}

/// The recorded process images.
pub(super) struct Images {
    /// Those that are checked.
    pub(super) checked: Vec<Image>,
    /// Whether any of them has code built with `-fsanitize=thread`.
    pub(super) is_sanitized: bool,
    /// What is said about those that are not checked, and how many they are.
    pub(super) left_out: Option<(String, u64)>,
}

/// Chooses among the images that a started program has left.
pub(super) fn choose(started: &OsStr, found: &[(PathBuf, PathBuf)]) -> Result<Images, Failure> {
    let mut known = Sanitized::default();
    let mut all = Vec::new();
    for (number, (events, maps)) in found.iter().enumerate() {
        let text = read_found(maps, MAPS, ask).map_err(|error| failed(maps, MAPS, error))?;
        let is_sanitized = known.is_in(&Modules::parse(&text.unwrap_or_default()));
        let source = Source::open(events, ask).map_err(|error| failed_to_read(events, error))?;
        // What is no recording is refused when it is read whole.
        let header = Header::read(source).ok();
        let program = header.and_then(|header| header.command.into_iter().next());
        all.push((number, program.unwrap_or_default(), is_sanitized));
    }
    let is_sanitized = all.iter().any(|(.., is_sanitized)| *is_sanitized);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut others: BTreeMap<String, u64> = BTreeMap::new();
    let mut checked = Vec::new();
    for (number, program, is_own) in all {
        if is_sanitized && !is_own {
            *others.entry(file_name(Path::new(&program))).or_default() += 1;
            continue;
        }
        let is_same = file_name(Path::new(&program)) == file_name(Path::new(started));
        let path = match is_same || program.is_empty() {
            true => PathBuf::from(started),
            false => below_here(Path::new(&program)),
        };
        let count = counts.entry(path.to_string_lossy().into_owned()).or_default();
        let (events, maps) = found[number].clone();
        let name = numbered(&path, *count);
        *count += 1;
        checked.push(Image { name, events, maps, is_started: number == 0 });
    }
    let left_out = others.values().sum::<u64>();
    let names: Vec<&str> = others.keys().map(String::as_str).take(NAMED_MAX).collect();
    let more = if others.len() > NAMED_MAX { ", and others" } else { "" };
    let text = format!(
        "{} built without `-fsanitize=thread` not checked: {}{more}",
        plural(left_out, "process"),
        names.join(", ")
    );
    Ok(Images { checked, is_sanitized, left_out: (left_out > 0).then_some((text, left_out)) })
}

/// The most programs that are named as not checked.
const NAMED_MAX: usize = 5;

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns a path without the current folder.
fn below_here(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).to_owned()
}

/// Returns the path for the image with a number: the first has the path itself.
pub(super) fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let mut name: OsString = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{}", number + 1));
    if let Some(end) = path.extension() {
        name.push(".");
        name.push(end);
    }
    path.with_file_name(name)
}
