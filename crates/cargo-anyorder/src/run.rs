//! `cargo test` with the shims.

use crate::arguments::Settings;
use crate::lock::{Project, cargo};
use crate::say;
use crate::sources::Patch;
use std::{env, fs};

/// The packages that do the work: in a build for tests they are optimised all the same.
const OPTIMISED: [&str; 5] =
    ["anyorder", "anyorder-threads", "anyorder-common", "rustc-hash", "corosensei"];

/// The exit status of cargo when it was killed.
const KILLED: u8 = 101;

/// Runs the tests. Returns the exit status of cargo. The lock file is then as it was.
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
    if !has_flags() {
        say("note: RUSTFLAGS is not set; many projects want RUSTFLAGS=\"--cfg loom\"");
    }
    let before = project.read_lock()?;
    // Ctrl-C ends cargo, and we go on to put the lock file back. Without a handler it is not.
    let _ = ctrlc::set_handler(|| {});
    let mut command = cargo();
    command.arg("test");
    for patch in patches {
        // Cargo takes no tables here.
        for (field, value) in patch.fields() {
            command.arg("--config");
            command.arg(format!("patch.crates-io.{}.{field}={value}", patch.key()));
        }
    }
    for package in OPTIMISED {
        command.arg("--config");
        command.arg(format!("profile.dev.package.{package}.opt-level=3"));
    }
    let status = command.args(&settings.arguments).status();
    restore(project, &before)?;
    let status = status.map_err(|error| format!("cannot run cargo: {error}"))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(KILLED))
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
