//! Smart-home apps among the inputs of a command.

use crate::args::HomeArgs;
use crate::failure::{Failure, JobFailure, Usage};
use crate::input;
use crate::reading::APP;
use anyorder_drive::Unusable;
use anyorder_drive::home::is_app;
use std::path::{Path, PathBuf};

/// What stands between the files in the name of a home.
const BETWEEN: &str = " + ";

/// An app: its file, and its text.
pub(crate) type GivenApp = (String, String);

/// Looks for apps among the inputs: files of Groovy, and folders of them. If there is one, all
/// inputs must be such.
pub(crate) fn find(inputs: &[PathBuf], args: &HomeArgs) -> Result<Option<Vec<GivenApp>>, Failure> {
    // A folder of anything else is not for this.
    let is_home = |path: &PathBuf| path.is_dir() && (args.given().is_some() || has_apps(path));
    if !inputs.first().is_some_and(|path| is_app(path) || is_home(path)) {
        return match (args.given(), inputs.first()) {
            (Some(option), Some(path)) => {
                Err(Usage::OptionOf { path: path.clone(), option, kind: "smart-home apps" }.into())
            }
            _ => Ok(None),
        };
    }
    let mut paths = Vec::new();
    for path in &expand(inputs) {
        if path.is_dir() {
            paths.extend(apps_in(path)?);
        } else if is_app(path) {
            paths.push(path.clone());
        } else {
            return Err(Usage::Unexpected { path: path.clone() }.into());
        }
    }
    paths.iter().map(|path| read(path)).collect::<Result<_, _>>().map(Some)
}

/// Reads an app.
pub(crate) fn read(path: &Path) -> Result<GivenApp, Failure> {
    let bytes = input::peek(path)?.bytes_of(path, APP)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        JobFailure::input(path, Unusable::NotUtf8 { line: None, expected: "the text of an app" })
    })?;
    Ok((path.to_string_lossy().into_owned(), text))
}

fn has_apps(folder: &Path) -> bool {
    apps_in(folder).is_ok()
}

/// Returns the files of Groovy in a folder, in the order of their names.
fn apps_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| JobFailure::reading(folder, error);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if is_app(&path) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        let why = Unusable::App("it has no file that ends in `.groovy`".to_owned());
        return Err(JobFailure::input(folder, why).into());
    }
    Ok(paths)
}

/// Returns inputs in which the name of a home, `a.groovy + b.groovy`, stands for its files.
pub(crate) fn expand(inputs: &[PathBuf]) -> Vec<PathBuf> {
    let files = |path: &PathBuf| match path.to_str() {
        Some(name) if name.contains(BETWEEN) && is_app(path) && !path.exists() => {
            name.split(BETWEEN).map(PathBuf::from).collect()
        }
        _ => vec![path.clone()],
    };
    inputs.iter().flat_map(files).collect()
}
