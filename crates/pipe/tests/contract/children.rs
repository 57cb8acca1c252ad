//! The order form as child processes. Kinds 3 and 4.

use anyorder_pipe::{ChildCommand, PipeFactory, PipeOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A language, if it is installed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    Python,
    Node,
}

impl Language {
    pub(crate) const ALL: [Language; 2] = [Language::Python, Language::Node];

    fn interpreter(self) -> &'static str {
        match self {
            Language::Python => "python3",
            Language::Node => "node",
        }
    }

    /// Returns the order form in this language, with these options. If the language is missing,
    /// prints a message and returns `None`.
    pub(crate) fn order_form(self, options: &[&str]) -> Option<PipeFactory> {
        let script = match self {
            Language::Python => "python/double_submit.py",
            Language::Node => "node/double_submit.js",
        };
        self.program(&examples().join(script), options)
    }

    /// Returns a program in this language.
    pub(crate) fn program(self, script: &Path, options: &[&str]) -> Option<PipeFactory> {
        let interpreter = self.interpreter();
        let version = Command::new(interpreter)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !version.is_ok_and(|status| status.success()) {
            println!("skipped: {interpreter} is not here");
            return None;
        }
        let mut command = ChildCommand::new(interpreter).argument(script).arguments(options);
        // Tests leave nothing in the source tree.
        command.environment.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
        Some(PipeFactory { command, options: quick() })
    }
}

/// Waits long for children on a busy machine, but not for lost replies.
pub(crate) fn quick() -> PipeOptions {
    PipeOptions {
        start_timeout: Duration::from_secs(60),
        reply_timeout: Duration::from_secs(20),
        probe_after: Some(Duration::from_millis(30)),
        ..PipeOptions::default()
    }
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pipe")
}
