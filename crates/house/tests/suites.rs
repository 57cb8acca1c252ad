//! Every suite of tests is in a binary: a file that no `all.rs` names would never run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the suites in a folder of tests: files with a test, and folders with a `main.rs`.
fn suites(tests: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(tests).expect("a folder").map(|entry| entry.expect("an entry"));
    let suite = |path: PathBuf| {
        let name = path.file_stem()?.to_str()?.to_owned();
        let main = path.join("main.rs");
        let file = if path.is_dir() { main } else { path };
        let text = fs::read_to_string(file).ok()?;
        (text.contains("#[test]") || text.contains("\nmod ") || text.contains("proptest!"))
            .then_some(name)
    };
    entries.filter_map(|entry| suite(entry.path())).filter(|name| name != "all").collect()
}

/// Returns the suites that a manifest and the `all.rs` beside it name.
fn named(manifest: &str, all: &str) -> BTreeSet<String> {
    let modules = all.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let (_, tests) = manifest.split_once("\n[[test]]").unwrap_or_default();
    let own = tests.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    modules.chain(own).map(str::to_owned).collect()
}

/// Returns the folder and the manifest of each crate.
fn crates() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = fs::read_dir(crates).expect("the crates").map(|entry| entry.expect("one").path());
    let manifest = |folder: &PathBuf| fs::read_to_string(folder.join("Cargo.toml"));
    folders.map(|folder| (folder.clone(), manifest(&folder).expect("a manifest"))).collect()
}

#[test]
fn every_suite_is_named() {
    let mut checked = 0;
    for (folder, manifest) in crates() {
        if !manifest.contains("autotests = false") {
            continue;
        }
        let tests = folder.join("tests");
        let all = fs::read_to_string(tests.join("all.rs")).expect("an `all.rs`");
        let named = named(&manifest, &all);
        let missing: Vec<_> =
            suites(&tests).into_iter().filter(|one| !named.contains(one)).collect();
        assert!(missing.is_empty(), "{}: `all.rs` does not name {missing:?}", folder.display());
        checked += 1;
    }
    assert!(checked > 10, "{checked} crates have one binary of tests");
}

/// Returns the binaries of tests of a package: those of its manifest, or else one for each suite.
fn binaries(package: &Path) -> BTreeSet<String> {
    let manifest = fs::read_to_string(package.join("Cargo.toml")).expect("a manifest");
    let tests = package.join("tests");
    match manifest.contains("autotests = false") {
        true => named(&manifest, ""),
        false if tests.is_dir() => suites_and_all(&tests),
        false => BTreeSet::new(),
    }
}

fn suites_and_all(tests: &Path) -> BTreeSet<String> {
    let all = tests.join("all.rs").is_file().then(|| "all".to_owned());
    suites(tests).into_iter().chain(all).collect()
}

/// Returns the binaries that a script runs: the words of `together` and `alone`.
fn run_by(script: &str) -> BTreeSet<String> {
    let list = |line: &str| {
        let list = line.strip_prefix("together=").or_else(|| line.strip_prefix("alone="))?;
        Some(list.trim_matches('"').to_owned())
    };
    let words = script.lines().filter_map(list).collect::<Vec<_>>().join(" ");
    words.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_script_runs_every_binary() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = fs::read_to_string(root.join("test.sh")).expect("the script");
    let crates = fs::read_dir(root.join("crates")).expect("the crates");
    let packages = crates.map(|entry| entry.expect("an entry").path());
    let built: BTreeSet<String> =
        packages.chain([root.join("examples/rust")]).flat_map(|one| binaries(&one)).collect();
    assert_eq!(built, run_by(&script), "`together` and `alone` of test.sh");
    assert!(built.contains("all") && built.contains("bombs") && built.contains("programs"));
}

/// Returns the source files of a folder that have tests.
fn with_tests(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let with = |path: PathBuf| match path.is_dir() {
        true => with_tests(&path),
        false => {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let has_tests = text.contains("#[cfg(test)]") || text.contains("#[test]");
            Vec::from_iter(has_tests.then_some(path))
        }
    };
    entries.flat_map(|entry| with(entry.path())).collect()
}

/// Returns the crate and the path of each test that `long-tests.txt` names.
fn long_tests(list: &str) -> Vec<(String, String)> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let named = |words: Vec<&str>| match words[..] {
        [seconds, name, test] if seconds.parse::<u32>().is_ok() => (name.into(), test.into()),
        _ => panic!("long-tests.txt: expected seconds, crate, test; found {words:?}"),
    };
    words.map(named).collect()
}

/// Returns whether a source below a folder has a function of this name.
fn declares(folder: &Path, function: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut paths = entries.map(|entry| entry.expect("an entry").path());
    paths.any(|path| match path.is_dir() {
        true => declares(&path, function),
        false => fs::read_to_string(&path).is_ok_and(|text| {
            text.lines().any(|line| line.trim_start().starts_with(&format!("fn {function}(")))
        }),
    })
}

/// A name that no test has any more would leave nothing out, and would not be missed.
#[test]
fn the_long_tests_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let list = fs::read_to_string(root.join("long-tests.txt")).expect("the list");
    let named = long_tests(&list);
    assert!(named.len() > 50, "{} tests", named.len());
    assert_eq!(named.iter().map(|(_, test)| test).collect::<BTreeSet<_>>().len(), named.len());
    for (name, test) in &named {
        let function = test.rsplit("::").next().expect("a name");
        let folder = root.join("crates").join(name);
        assert!(
            declares(&folder.join("src"), function) || declares(&folder.join("tests"), function),
            "long-tests.txt: `{name}` has no test `{test}`"
        );
    }
    assert!(!declares(&root.join("crates/house/tests"), "a_test_that_does_not_exist"));
}

/// A binary that is gone would be built as all others are, and nobody would see it.
#[test]
fn what_is_built_without_optimisation_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let compiler = fs::read_to_string(root.join(".ci/rustc")).expect("the compiler");
    let named: Vec<&str> =
        compiler.split('"').filter(|word| word.starts_with("anyorder-")).collect();
    assert!(named.len() > 10, "{named:?}");
    for name in named {
        let (package, target) = name.split_once(' ').expect("a package and a target");
        let folder = root.join("crates").join(package.trim_start_matches("anyorder-"));
        let is_library = target == package.replace('-', "_");
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let exists = match is_library {
            true => !manifest.contains("\ntest = false\n"),
            false => binaries(&folder).contains(target),
        };
        assert!(exists, ".ci/rustc: `{package}` has no tests `{target}`");
    }
}

/// A library without tests is not built a second time for them; one that gets some must be again.
#[test]
fn libraries_that_are_not_tested_have_no_tests() {
    let mut checked = 0;
    for (folder, manifest) in crates() {
        if manifest.contains("\ntest = false\n") {
            assert_eq!(with_tests(&folder.join("src")), Vec::<PathBuf>::new());
            checked += 1;
        }
    }
    assert!(checked > 2, "{checked} libraries without tests");
    let inline = Path::new(env!("CARGO_MANIFEST_DIR")).join("../common/src");
    assert!(!with_tests(&inline).is_empty(), "the search for tests finds some");
}

#[test]
fn a_suite_that_nothing_names_is_noticed() {
    let named = named("[package]\n\n[[test]]\nname = \"bombs\"\n", "mod common;\nmod a;\n");
    assert_eq!(named, BTreeSet::from(["a", "bombs", "common"].map(str::to_owned)));
    let tests = tempfile();
    for (file, text) in [("a.rs", "#[test]\nfn a() {}"), ("b.rs", "#[test]\nfn b() {}")] {
        fs::write(tests.join(file), text).expect("a file");
    }
    fs::write(tests.join("help.rs"), "fn help() {}").expect("a file");
    assert_eq!(suites(&tests), BTreeSet::from(["a", "b"].map(str::to_owned)));
    fs::remove_dir_all(&tests).expect("the folder");
}

/// Makes a folder for one test.
fn tempfile() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("suites-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}
