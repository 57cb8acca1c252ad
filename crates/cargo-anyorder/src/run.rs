//! `cargo test` or `cargo nextest` with the shims.

use crate::arguments::{Runner, Settings};
use crate::cut::Cut;
use crate::lock::{Project, cargo};
use crate::pages::Pages;
use crate::say;
use crate::sources::Patch;
use std::process::Command;
use std::{env, fs};

/// The packages that do the work: in a build for tests they are optimised all the same.
const OPTIMISED: [&str; 5] =
    ["anyorder", "anyorder-threads", "anyorder-common", "rustc-hash", "corosensei"];

/// The most packages of a lock file that are updated.
const UPDATES_MAX: usize = 16;

/// The exit status of cargo when it was killed.
const KILLED: u8 = 101;

/// The exit status if no test failed and a limit cut a model that nobody asked for.
const INCOMPLETE: u8 = 3;

/// Runs the tests. Returns the exit status of cargo, or [`INCOMPLETE`]. The lock file is then as it
/// was.
pub(crate) fn run(settings: &Settings, project: &Project, patches: &[Patch]) -> Result<u8, String> {
    for locked in ["--locked", "--frozen"] {
        if settings.has(locked) {
            return Err(format!(
                "`{locked}` cannot be kept: while tests run, the lock file names the shims\nhint: \
                 `--offline` fetches nothing; the lock file is put back in any case"
            ));
        }
    }
    for patch in patches {
        say(&format!("in place of {} {}", patch.name, patch.version));
    }
    if !patches.is_empty() && !has_flags() {
        say("note: RUSTFLAGS is not set; many projects want RUSTFLAGS=\"--cfg loom\"");
    }
    let pages = settings.report.as_deref().map(Pages::begin).transpose()?;
    let cut = Cut::begin()?;
    let before = project.read_lock()?;
    // Ctrl-C ends cargo, and we go on to put the lock file back. Without a handler it is not.
    let _ = ctrlc::set_handler(|| {});
    update(settings, patches);
    let mut command = cargo();
    let mut arguments = &settings.arguments[..];
    match (settings.runner, settings.arguments.split_first()) {
        (Runner::Nextest, Some((first, rest))) => {
            command.arg("nextest").arg(first);
            arguments = rest;
        }
        _ => _ = command.arg("test"),
    }
    command.env("ANYORDER_INCOMPLETE", cut.file());
    if let Some(pages) = &pages {
        command.env("ANYORDER_REPORT", pages.folder());
    }
    add_patches(&mut command, patches);
    for package in OPTIMISED {
        command.arg("--config");
        command.arg(format!("profile.dev.package.{package}.opt-level=3"));
        command.arg("--config");
        command.arg(format!("profile.dev.package.{package}.debug-assertions=false"));
    }
    let status = command.args(arguments).status();
    restore(project, &before)?;
    let status = status.map_err(|error| format!("cannot run cargo: {error}"))?;
    let listed = cut.listed();
    if let Some(listed) = &listed {
        say(&listed.text);
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(KILLED);
    match pages.map(|pages| pages.end()) {
        None => {}
        Some(Ok(text)) => say(&text),
        // That tests fail is the greater news.
        Some(Err(message)) if code != 0 => say(&format!("error: {message}")),
        Some(Err(message)) => return Err(message),
    }
    let is_incomplete = listed.is_some_and(|listed| listed.is_incomplete);
    Ok(if code == 0 && is_incomplete { INCOMPLETE } else { code })
}

fn add_patches(command: &mut Command, patches: &[Patch]) {
    for patch in patches {
        // Cargo takes no tables here.
        for (field, value) in patch.fields() {
            command.arg("--config");
            command.arg(format!("patch.crates-io.{}.{field}={value}", patch.key()));
        }
    }
}

/// Takes newer versions of what the lock file has too old for the shims, as far as that helps. What
/// is still wrong cargo says when it runs the tests.
fn update(settings: &Settings, patches: &[Patch]) {
    let offline = settings.has("--offline").then_some("--offline");
    let mut updated: Vec<String> = Vec::new();
    while updated.len() < UPDATES_MAX {
        let mut command = cargo();
        command.args(["metadata", "--format-version=1"]).args(settings.of_project()).args(offline);
        add_patches(&mut command, patches);
        let Ok(output) = command.output() else { return };
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let Some(name) = too_old(&errors).filter(|_| !output.status.success()) else { return };
        if updated.contains(&name) {
            return;
        }
        // Where several are too old, cargo updates none of them with the patches.
        let update = |patches: &[Patch]| {
            let mut command = cargo();
            command.args(["update", &name]).args(settings.of_project()).args(offline);
            add_patches(&mut command, patches);
            command.output().is_ok_and(|output| output.status.success())
        };
        if !update(patches) && !update(&[]) {
            return;
        }
        say(&format!("{name} is newer than in the lock file while the tests run"));
        updated.push(name);
    }
}

/// Returns the package of which cargo finds no version, with the version of the lock file that is
/// in the way: there may be others of its name. It is the one that was selected before, or the
/// only one that may be selected now, by whom of both cargo asked first.
fn too_old(errors: &str) -> Option<String> {
    let after = errors.split_once("failed to select a version for `")?.1;
    let name = after.split('`').next()?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
    let selected = after.split_once(&format!("previously selected package `{name} v"));
    let met = after.lines().find(|line| line.starts_with("versions that meet the requirements"));
    let locked = met.and_then(|line| line.split_once("(locked to ")?.1.split(')').next());
    let selected = selected.and_then(|(_, version)| version.split(['`', ' ']).next());
    let version = locked.or(selected);
    let spec = version.map_or(name.to_owned(), |version| format!("{name}@{version}"));
    is_name.then_some(spec)
}

fn has_flags() -> bool {
    ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"]
        .into_iter()
        .any(|name| env::var_os(name).is_some())
}

fn restore(project: &Project, before: &str) -> Result<(), String> {
    let failed = |error| format!("cannot put `{}` back: {error}", project.lock.display());
    if project.read_lock().as_deref() == Ok(before) {
        return Ok(());
    }
    fs::write(&project.lock, before).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::too_old;

    #[test]
    fn the_package_that_is_too_old_is_named() {
        let errors = "error: failed to select a version for `libc`.\n    ... required by package";
        assert_eq!(too_old(errors).as_deref(), Some("libc"));
        let errors =
            format!("{errors}\n  previously selected package `libc v0.2.154`\n    ... which");
        assert_eq!(too_old(&errors).as_deref(), Some("libc@0.2.154"));
        let errors = format!(
            "{errors}\nversions that meet the requirements `^0.2.1` (locked to 0.2.2) are: 0.2.2\n"
        );
        assert_eq!(too_old(&errors).as_deref(), Some("libc@0.2.2"));
        assert_eq!(too_old("error: failed to select a version for `x y`"), None);
        assert_eq!(too_old("error: no matching package named `libc` found"), None);
    }
}
