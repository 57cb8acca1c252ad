//! Finds a Chromium.

use crate::error::WebError;
use std::env;
use std::path::{Path, PathBuf};

/// The names of its program in `$PATH`, in the order in which they are tried.
const NAMES: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "headless_shell",
    "chrome-headless-shell",
    "microsoft-edge",
    "brave-browser",
];

/// Places outside `$PATH`.
const PLACES: &[&str] = &[
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/opt/google/chrome/chrome",
    "/snap/bin/chromium",
];

/// Returns the program of a Chromium: the given one, or the first of the usual names.
///
/// # Errors
///
/// Fails if the given path is no program, or nothing is found. The message says how to get one.
pub fn find_browser(given: Option<&Path>) -> Result<PathBuf, WebError> {
    if let Some(path) = given {
        let found = if path.components().count() > 1 { named(path) } else { in_path(path) };
        let searched = format!("`{}` is no program that can be run", path.display());
        return found.ok_or(WebError::NoBrowser { searched });
    }
    let by_name = NAMES.iter().find_map(|name| in_path(Path::new(name)));
    let found = by_name.or_else(|| PLACES.iter().find_map(|place| named(Path::new(place))));
    let searched = || format!("none of {} is in $PATH", NAMES.join(", "));
    found.ok_or_else(|| WebError::NoBrowser { searched: searched() })
}

/// Returns whether a browser can have a window here: whether there is a display.
#[must_use]
pub fn has_display() -> bool {
    let is_given = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos")))
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| is_given(name))
}

fn in_path(name: &Path) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).find_map(|folder| named(&folder.join(name)))
}

fn named(path: &Path) -> Option<PathBuf> {
    is_program(path).then(|| path.to_owned())
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_path_is_named_with_what_to_do() {
        let error = find_browser(Some(Path::new("/nowhere/chromium"))).unwrap_err().to_string();
        assert!(
            error.starts_with("no Chromium found: `/nowhere/chromium` is no program"),
            "{error}"
        );
        assert!(error.contains("--browser PATH"), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn a_name_is_searched_in_the_path_and_a_path_is_not() {
        assert!(find_browser(Some(Path::new("sh"))).is_ok());
        assert!(find_browser(Some(Path::new("./sh"))).is_err());
        assert!(find_browser(Some(Path::new("/"))).is_err(), "a folder is no program");
    }
}
