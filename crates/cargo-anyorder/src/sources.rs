//! The sources of the shims, as a folder.
//!
//! Cargo replaces a package only by one of the same name and the very version that the lock file
//! names. So each version gets a manifest of its own; the sources are the same.

use crate::arguments::Settings;
use crate::lock::Package;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

/// A package that takes the place of another one.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) folder: PathBuf,
}

/// The folder of the sources, and where manifests may be written.
#[derive(Debug)]
pub(crate) struct Root {
    sources: PathBuf,
    manifests: PathBuf,
}

/// Returns the folder of the sources: that of `ANYORDER_SHIMS`, or one in the cache, filled from
/// this binary.
pub(crate) fn root() -> Result<Root, String> {
    let folder = cache()?.join(format!("shims-{:016x}", fingerprint()));
    let manifests = folder.join("manifests");
    if let Some(sources) = env::var_os("ANYORDER_SHIMS") {
        let sources = PathBuf::from(sources);
        let sources = sources
            .canonicalize()
            .map_err(|error| format!("ANYORDER_SHIMS: `{}`: {error}", sources.display()))?;
        if !sources.join("shims/loom/Cargo.toml").is_file() {
            let shown = sources.display();
            return Err(format!("ANYORDER_SHIMS: `{shown}` is no checkout of anyorder"));
        }
        return Ok(Root { sources, manifests });
    }
    let sources = folder.join("sources");
    if !sources.exists() {
        fill(&folder, &sources)
            .map_err(|error| format!("cannot write to `{}`: {error}", folder.display()))?;
    }
    Ok(Root { sources, manifests })
}

/// Writes all sources, under another name first: what has the name is whole.
fn fill(folder: &Path, sources: &Path) -> io::Result<()> {
    let unfinished = folder.join(format!("unfinished-{}", process::id()));
    for (name, content) in embedded::FILES {
        let path = unfinished.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&unfinished))?;
        fs::write(path, content)?;
    }
    match fs::rename(&unfinished, sources) {
        // Another process was faster.
        Err(_) if sources.exists() => fs::remove_dir_all(&unfinished),
        result => result,
    }
}

/// Returns the folder for caches of this user.
fn cache() -> Result<PathBuf, String> {
    if let Some(folder) = env::var_os("ANYORDER_CACHE") {
        return Ok(PathBuf::from(folder));
    }
    let of = |name: &str, below: &str| {
        let folder = env::var_os(name).filter(|folder| !folder.is_empty())?;
        Some(PathBuf::from(folder).join(below))
    };
    let folder = of("XDG_CACHE_HOME", "anyorder")
        .or_else(|| of("LOCALAPPDATA", "anyorder/cache"))
        .or_else(|| of("HOME", ".cache/anyorder"));
    folder.ok_or_else(|| "no folder for caches is known\nhint: set ANYORDER_CACHE".to_owned())
}

/// Returns a number for the embedded sources (FNV-1a): other sources get another folder.
fn fingerprint() -> u64 {
    let bytes =
        embedded::FILES.iter().flat_map(|(name, content)| name.bytes().chain(content.bytes()));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Writes the manifest of a shim that has the version of a package.
pub(crate) fn patch(root: &Root, package: &Package, settings: &Settings) -> Result<Patch, String> {
    let Package { name, version, .. } = package;
    let shims = root.sources.join("shims");
    let is_old_loom = name == "loom" && version.starts_with("0.5.");
    let shim = shims.join(if is_old_loom { "loom-0.5" } else { name });
    let path = shim.join("Cargo.toml");
    let manifest = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let manifest = manifest_of(&manifest, version, &shim, settings.system_allocator);
    let kind = if settings.system_allocator { "-system" } else { "" };
    let folder = root.manifests.join(format!("{name}-{version}{kind}"));
    let path = folder.join("Cargo.toml");
    // Unchanged, it keeps its time, and nothing is built anew.
    if fs::read_to_string(&path).ok().as_ref() != Some(&manifest) {
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, manifest))
            .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
    }
    Ok(Patch { name: name.clone(), version: version.clone(), folder })
}

/// Returns the manifest with another version, from another folder.
fn manifest_of(manifest: &str, version: &str, shim: &Path, system_allocator: bool) -> String {
    let mut section = "";
    let mut text = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        }
        let key = line.split(['=', ' ']).next().unwrap_or_default();
        match (section, key) {
            ("[package]", "version") => text += &format!("version = {version:?}"),
            ("[features]", "default") if system_allocator => {
                text += &line.replace("\"allocator\", ", "").replace("\"allocator\"", "");
            }
            ("[lib]", "path") => {
                let path = line.split('"').nth(1).unwrap_or("src/lib.rs");
                text += &format!("path = {:?}", shim.join(path));
            }
            _ => text += &line.replace("\"../../crates/", &format!("\"{}/", crates(shim))),
        }
        text.push('\n');
    }
    text
}

fn crates(shim: &Path) -> String {
    let root = shim.ancestors().nth(2).unwrap_or(shim);
    // In TOML a backslash escapes; Windows takes the other one as well.
    root.join("crates").display().to_string().replace('\\', "/")
}

/// Returns the patches as lines of a section `[patch.crates-io]`.
pub(crate) fn as_toml(patches: &[Patch]) -> String {
    let mut text = String::new();
    for patch in patches {
        let [(package, name), (path, folder)] = patch.fields();
        writeln!(text, "{} = {{ {package} = {name}, {path} = {folder} }}", patch.key())
            .expect("a string takes it");
    }
    text
}

impl Patch {
    /// The key in `[patch.crates-io]`: several versions of a package have different ones.
    pub(crate) fn key(&self) -> String {
        format!("{}-{}", self.name, self.version.replace(['.', '+'], "-"))
    }

    /// What stands there: fields and their values.
    pub(crate) fn fields(&self) -> [(&'static str, String); 2] {
        [("package", format!("{:?}", self.name)), ("path", format!("{:?}", self.folder))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_has_all_sources() {
        let has = |name: &str| embedded::FILES.iter().any(|file| file.0 == name);
        for name in ["Cargo.toml", "shims/loom/src/lib.rs", "shims/shuttle/src/lib.rs"] {
            assert!(has(name), "{name}");
        }
        for krate in ["anyorder", "threads", "common"] {
            assert!(has(&format!("crates/{krate}/src/lib.rs")), "{krate}");
            assert!(has(&format!("crates/{krate}/Cargo.toml")), "{krate}");
        }
    }

    #[test]
    fn manifests_get_the_version_of_the_lock_file() {
        let manifest = "[package]\nname = \"loom\"\nversion = \"0.7.3\"\n\n[features]\ndefault = \
                        [\"allocator\"]\n\n[dependencies]\nanyorder = { path = \
                        \"../../crates/anyorder\" }\n\n[lib]\npath = \"src/lib.rs\"\n";
        let text = manifest_of(manifest, "0.7.1", Path::new("/s/shims/loom"), true);
        assert_eq!(
            text,
            "[package]\nname = \"loom\"\nversion = \"0.7.1\"\n\n[features]\ndefault = []\n\n\
             [dependencies]\nanyorder = { path = \"/s/crates/anyorder\" }\n\n[lib]\npath = \
             \"/s/shims/loom/src/lib.rs\"\n"
        );
    }
}
