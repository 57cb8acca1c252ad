//! Starts a browser, with a pipe for commands and a profile of its own.
//!
//! The browser talks over two pipes, not over a port: nobody else can connect. It expects them as
//! descriptors 3 and 4. A shell moves its standard input and output there, because a child that
//! Rust starts has no others without unsafe code.
//!
//! The browser ends in each of these cases: its owner is dropped, also by a panic (the process
//! group is killed); [`end_all_browsers`](super::end_all_browsers); this process is killed
//! (`setpriv` of util-linux asks the kernel to kill the child then, and a browser whose pipe closes
//! ends by itself).

use super::running;
use crate::error::WebError;
use std::io::{PipeReader, PipeWriter};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// How a browser is started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BrowserOptions {
    /// Its program; `None`: the first of the usual names in `$PATH`.
    pub program: Option<PathBuf>,
    /// Whether the browser's sandbox is used. `None`, the default: where it works. It does not for
    /// root, nor in containers that forbid user namespaces. Pages that are not trusted need it.
    pub sandbox: Option<bool>,
    /// Whether the browser has a window, which needs a display. Default: no.
    pub headed: bool,
    /// More arguments.
    pub arguments: Vec<String>,
}

/// The arguments of every start, with the reason where it is not the usual hygiene of automation.
const ARGUMENTS: &[&str] = &[
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-client-side-phishing-detection",
    "--disable-dev-shm-usage",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    // A page that nobody looks at runs as one that somebody looks at.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    // Input is delivered before the first paint, as a fast user's.
    "--allow-pre-commit-input",
    // One process for all frames of a page: one session sees them all.
    "--disable-site-isolation-trials",
    // Requests start where the parser meets their elements: not ahead of it, where nothing says
    // when, and not on a thread of their own, where a later request can overtake them.
    "--blink-settings=doHtmlPreloadScanning=false",
    // The browser does not know that a page whose document was held back is of the local network.
    "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,\
     BackgroundResourceFetch,IsolateOrigins,site-per-process,Translate,OptimizationHints,\
     MediaRouter,PaintHolding,BackForwardCache,Prerender2,LazyImageLoading,\
     AutofillServerCommunication,HttpsUpgrades,PreloadLinkRelDataUrls",
];

/// The arguments without a window.
const HEADLESS: &[&str] = &["--headless", "--hide-scrollbars"];

/// The arguments with a window.
const HEADED: &[&str] = &["--window-size=1040,900", "--disable-infobars"];

/// Moves the standard streams to the descriptors that the browser expects.
const SHELL: &str = "if command -v setpriv >/dev/null 2>&1 && setpriv --pdeathsig KILL true \
    2>/dev/null; then set -- setpriv --pdeathsig KILL \"$@\"; fi; \
    exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";

/// The first part of the name of a profile's folder; the rest begins with the number of the process
/// that made it.
const PROFILE_PREFIX: &str = "anyorder-web-";

/// A browser that was started. Dropping it kills the browser and its children, and removes its
/// profile.
#[derive(Debug)]
pub struct LaunchedBrowser {
    id: u32,
    /// Taken when it is dropped.
    child: Option<Child>,
    profile: Option<TempDir>,
    is_sandboxed: bool,
}

impl LaunchedBrowser {
    /// Returns its process id, which is the id of its process group.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.id
    }

    /// Returns whether its sandbox is on.
    #[must_use]
    pub fn is_sandboxed(&self) -> bool {
        self.is_sandboxed
    }

    /// Returns the folder of its profile.
    #[must_use]
    pub fn profile(&self) -> Option<&Path> {
        self.profile.as_ref().map(TempDir::path)
    }
}

impl Drop for LaunchedBrowser {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            running::end(child, self.profile.take().map(TempDir::keep));
        }
    }
}

/// Starts a browser. Returns it with the pipe to it and the pipe from it.
///
/// The thread that calls this must live as long as the browser: the kernel kills the child of a
/// thread that has ended, if it was asked to.
///
/// # Errors
///
/// Fails if there is no browser, or it cannot be started.
pub(crate) fn launch(
    program: &Path,
    options: &BrowserOptions,
) -> Result<(LaunchedBrowser, PipeWriter, PipeReader), WebError> {
    let failed =
        |why: std::io::Error| WebError::Start { program: program.to_owned(), why: why.to_string() };
    remove_left_profiles(&std::env::temp_dir());
    let prefix = format!("{PROFILE_PREFIX}{}-", std::process::id());
    let profile = tempfile::Builder::new().prefix(&prefix).tempdir().map_err(failed)?;
    let (to_child, to) = std::io::pipe().map_err(failed)?;
    let (from, from_child) = std::io::pipe().map_err(failed)?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SHELL, "sh"]).arg(program).args(ARGUMENTS);
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    command.args(if options.headed { HEADED } else { HEADLESS });
    if options.sandbox == Some(false) {
        command.arg("--no-sandbox");
    }
    command.args(&options.arguments).arg("about:blank");
    command.stdin(Stdio::from(to_child)).stdout(Stdio::from(from_child)).stderr(Stdio::null());
    own_group(&mut command);
    let child = running::spawn(&mut command, profile.path().to_owned()).map_err(failed)?;
    let (id, is_sandboxed) = (child.id(), options.sandbox != Some(false));
    let profile = Some(profile);
    Ok((LaunchedBrowser { id, child: Some(child), profile, is_sandboxed }, to, from))
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

/// Returns whether the browser's sandbox is out of question: it refuses to start for root.
#[cfg(unix)]
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
pub(crate) fn is_root() -> bool {
    false
}

#[cfg(not(unix))]
fn own_group(_command: &mut Command) {}

/// Removes the profiles of processes that were killed before they could.
fn remove_left_profiles(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let maker = name.to_str().and_then(maker_of);
        if maker.is_some_and(|maker| !is_alive(maker)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns the number of the process that made a profile.
fn maker_of(name: &str) -> Option<i32> {
    name.strip_prefix(PROFILE_PREFIX)?.split('-').next()?.parse().ok()
}

#[cfg(unix)]
fn is_alive(id: i32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let found = Pid::from_raw(id).map(test_kill_process);
    // Of another user's process it is not known: it counts as alive.
    !matches!(found, Some(Err(rustix::io::Errno::SRCH)))
}

#[cfg(not(unix))]
fn is_alive(_id: i32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_name_the_process_that_made_them() {
        assert_eq!(maker_of("anyorder-web-123-abc"), Some(123));
        assert_eq!(maker_of("anyorder-web-x-abc"), None);
        assert_eq!(maker_of("other-123-abc"), None);
    }

    #[test]
    #[cfg(unix)]
    fn only_profiles_of_processes_that_are_gone_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        // No process has the largest number.
        let left = folder.path().join(format!("{PROFILE_PREFIX}{}-x", i32::MAX));
        let own = folder.path().join(format!("{PROFILE_PREFIX}{}-x", std::process::id()));
        for one in [&left, &own] {
            std::fs::create_dir(one).unwrap();
        }
        remove_left_profiles(folder.path());
        assert!(!left.exists());
        assert!(own.exists());
    }
}
