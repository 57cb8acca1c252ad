//! Which packages the project has that can be replaced.

use crate::arguments::Settings;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The project: a workspace of cargo.
#[derive(Debug)]
pub(crate) struct Project {
    /// Its lock file.
    pub(crate) lock: PathBuf,
}

/// A package of the lock file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    source: Option<String>,
}

/// The packages that have a shim.
const NAMES: [&str; 2] = ["loom", "shuttle"];

/// The registry whose packages a `[patch.crates-io]` replaces.
const REGISTRIES: [&str; 2] =
    ["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];

impl Project {
    /// Finds the project, and makes its lock file if there is none.
    pub(crate) fn find(settings: &Settings) -> Result<Project, String> {
        let of_project = settings.of_project();
        let mut locate = cargo();
        locate.args(["locate-project", "--workspace", "--message-format", "plain"]);
        let manifest = output(locate.args(&of_project))?;
        let folder = Path::new(manifest.trim_end()).parent().ok_or("cargo named no manifest")?;
        let lock = folder.join("Cargo.lock");
        if !lock.exists() {
            let mut generate = cargo();
            generate.arg("generate-lockfile").args(&of_project);
            if settings.has("--offline") {
                generate.arg("--offline");
            }
            output(&mut generate)?;
        }
        Ok(Project { lock })
    }

    pub(crate) fn read_lock(&self) -> Result<String, String> {
        fs::read_to_string(&self.lock)
            .map_err(|error| format!("cannot read `{}`: {error}", self.lock.display()))
    }

    /// Returns whether the tests use anyorder itself, so that nothing need be replaced.
    pub(crate) fn uses_anyorder(&self) -> Result<bool, String> {
        let lock = self.read_lock()?;
        Ok(lock.contains("\nname = \"anyorder\"\n") && packages(&lock).is_empty())
    }

    /// Returns the packages that have to be replaced.
    pub(crate) fn replaced(&self) -> Result<Vec<Package>, String> {
        let lock = self.read_lock()?;
        let packages = packages(&lock);
        // A run that was killed left the lock file with our packages in it.
        let is_left = lock.contains("\nname = \"anyorder-threads\"\n");
        let is_known = |package: &&Package| match package.source.as_deref() {
            Some(source) => REGISTRIES.contains(&source),
            None => is_left,
        };
        let replaced: Vec<Package> = packages.iter().filter(is_known).cloned().collect();
        if !replaced.is_empty() {
            return Ok(replaced);
        }
        let lock = self.lock.display();
        match packages.first() {
            Some(Package { name, version, source }) => Err(format!(
                "`{lock}` names {name} {version} from {}, and only packages of crates.io can be \
                 replaced",
                source.as_deref().unwrap_or("a folder")
            )),
            None => Err(format!(
                "`{lock}` names neither loom nor shuttle nor anyorder: there is nothing to check"
            )),
        }
    }
}

/// Returns the packages of a lock file that have a shim. Those that are one already have no source.
fn packages(lock: &str) -> Vec<Package> {
    let of = |text: &str| {
        let field = |name: &str| {
            text.lines().find_map(|line| {
                let value = line.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"')?;
                Some(value.to_owned())
            })
        };
        Some(Package { name: field("name")?, version: field("version")?, source: field("source") })
    };
    let all = lock.split("[[package]]").skip(1).filter_map(of);
    all.filter(|package| NAMES.contains(&&*package.name)).collect()
}

/// Cargo, as the one that called us.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command, and returns what it prints.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim_end().trim_start_matches("error: ").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
version = 4

[[package]]
name = "loom"
version = "0.5.6"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "00"
dependencies = [
 "cfg-if",
]

[[package]]
name = "loom"
version = "0.7.2"
source = "git+https://example.org/loom#00"

[[package]]
name = "looms"
version = "0.1.0"
"#;

    #[test]
    fn packages_are_found_by_their_whole_names() {
        let found = packages(LOCK);
        let versions: Vec<&str> = found.iter().map(|package| &*package.version).collect();
        assert_eq!(versions, ["0.5.6", "0.7.2"]);
    }
}
