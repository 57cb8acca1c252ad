//! What is asked.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A command.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    Help,
    Version,
    /// Print lines for a manifest.
    Patches(Settings),
    /// Run tests.
    Test(Settings),
}

/// Who runs the tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Runner {
    /// `cargo test`.
    #[default]
    Cargo,
    /// `cargo nextest`.
    Nextest,
}

/// What a command is given.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) runner: Runner,
    /// Whether the shims leave the global allocator alone.
    pub(crate) system_allocator: bool,
    /// The folder for pages about checks that fail.
    pub(crate) report: Option<PathBuf>,
    /// For cargo, as they are.
    pub(crate) arguments: Vec<OsString>,
}

impl Settings {
    /// Returns the arguments that say which project is meant, and what may be fetched.
    pub(crate) fn of_project(&self) -> Vec<&OsStr> {
        let mut of_project = Vec::new();
        let mut arguments = self.of_cargo();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy();
            if text == "--manifest-path" {
                of_project.push(argument);
                of_project.extend(arguments.next());
            } else if text.starts_with("--manifest-path=") {
                of_project.push(argument);
            }
        }
        of_project
    }

    /// Returns whether an argument is there, before those of the tests.
    pub(crate) fn has(&self, argument: &str) -> bool {
        self.of_cargo().any(|other| other == argument)
    }

    /// Takes an option of ours with a value out of the arguments: `--NAME VALUE` or `--NAME=VALUE`.
    fn take_value(&mut self, name: &str) -> Result<Option<OsString>, String> {
        let with_value = format!("{name}=");
        let is_it = |argument: &OsStr| {
            argument == name || argument.to_string_lossy().starts_with(&*with_value)
        };
        let Some(at) = self.of_cargo().position(is_it) else { return Ok(None) };
        let argument = self.arguments.remove(at);
        let value = match argument.to_string_lossy().strip_prefix(&*with_value) {
            Some(value) => OsString::from(value),
            None if self.of_cargo().nth(at).is_some() => self.arguments.remove(at),
            None => OsString::new(),
        };
        if value.is_empty() {
            return Err(format!("`{name}` needs a folder\nhint: `{name} report`"));
        }
        Ok(Some(value))
    }

    fn of_cargo(&self) -> impl Iterator<Item = &OsStr> {
        let all = self.arguments.iter().map(OsString::as_os_str);
        all.take_while(|argument| *argument != "--")
    }
}

/// Reads a command line without the name of the program.
pub(crate) fn read(mut arguments: Vec<OsString>) -> Result<Request, String> {
    // Cargo gives the name of the command.
    if arguments.first().is_some_and(|first| first == "anyorder") {
        arguments.remove(0);
    }
    if arguments.is_empty() {
        return Ok(Request::Help);
    }
    let command = arguments.remove(0);
    let command = command.to_string_lossy();
    match &*command {
        "-h" | "--help" | "help" => return Ok(Request::Help),
        "-V" | "--version" => return Ok(Request::Version),
        "test" | "nextest" | "patches" => {}
        other => {
            return Err(format!(
                "there is no command `{other}`\nhint: `cargo anyorder test` runs tests; `cargo \
                 anyorder --help` says more"
            ));
        }
    }
    let runner = if command == "nextest" { Runner::Nextest } else { Runner::Cargo };
    let mut settings = Settings { runner, arguments, ..Settings::default() };
    if settings.has("--help") || settings.has("-h") {
        return Ok(Request::Help);
    }
    settings.system_allocator = settings.has("--system-allocator");
    settings.arguments.retain(|argument| argument != "--system-allocator");
    if command == "patches" {
        return Ok(Request::Patches(settings));
    }
    settings.report = settings.take_value("--report")?.map(PathBuf::from);
    let is_command = |first: &OsString| !first.to_string_lossy().starts_with('-');
    if runner == Runner::Nextest && !settings.arguments.first().is_some_and(is_command) {
        return Err("`nextest` needs a command\nhint: `cargo anyorder nextest run`".to_owned());
    }
    Ok(Request::Test(settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Request, String> {
        read(text.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn commands_are_read() {
        assert_eq!(read_text(""), Ok(Request::Help));
        assert_eq!(read_text("anyorder test --help"), Ok(Request::Help));
        assert_eq!(read_text("anyorder -V"), Ok(Request::Version));
        assert!(read_text("anyorder tset").unwrap_err().contains("`tset`"));
        let Ok(Request::Test(settings)) = read_text("anyorder test -p a -- --help") else {
            panic!("what is behind `--` is for the tests");
        };
        assert_eq!(settings.arguments, ["-p", "a", "--", "--help"]);
    }

    #[test]
    fn our_option_is_not_for_cargo() {
        let Ok(Request::Test(settings)) = read_text("test --system-allocator --lib") else {
            panic!("a test");
        };
        assert!(settings.system_allocator);
        assert_eq!(settings.arguments, ["--lib"]);
    }

    #[test]
    fn nextest_is_asked_for_by_a_command() {
        let Ok(Request::Test(settings)) = read_text("nextest run --report=pages -E all()") else {
            panic!("a run");
        };
        assert_eq!((settings.runner, settings.report), (Runner::Nextest, Some("pages".into())));
        assert_eq!(settings.arguments, ["run", "-E", "all()"]);
        for text in ["nextest", "nextest --release"] {
            assert!(read_text(text).unwrap_err().contains("nextest run"), "{text}");
        }
    }

    #[test]
    fn the_folder_of_reports_is_not_for_cargo() {
        let Ok(Request::Test(settings)) = read_text("test --lib --report pages -- --report x")
        else {
            panic!("a test");
        };
        assert_eq!(settings.report, Some("pages".into()));
        assert_eq!(settings.arguments, ["--lib", "--", "--report", "x"]);
        for text in ["test --report", "test --report -- x", "test --report="] {
            assert!(read_text(text).unwrap_err().contains("needs a folder"), "{text}");
        }
    }

    #[test]
    fn the_project_is_found_by_its_manifest() {
        let of = |text: &str| match read_text(text) {
            Ok(Request::Test(settings)) => {
                settings.of_project().into_iter().map(OsStr::to_owned).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(of("test --manifest-path a/Cargo.toml x"), ["--manifest-path", "a/Cargo.toml"]);
        assert_eq!(of("test --manifest-path=a"), ["--manifest-path=a"]);
        assert!(of("test -- --manifest-path=a").is_empty());
    }
}
