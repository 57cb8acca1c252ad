//! Programs that do not load the runtime first, or not at all.

use super::{build, found};
use crate::common::{command, folder, ran, workspace};
use serde_json::Value;
use std::path::Path;

fn categories(folder: &Path, arguments: &[&str]) -> (Vec<String>, Value) {
    let options = [&["run", "--format", "json"], arguments].concat();
    let ran = ran(command(&options).current_dir(folder));
    let result: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    (found(&result).into_iter().map(|one| one.0).collect(), result)
}

/// Behind the C library, the functions of the runtime would not be found before those of the
/// library.
#[test]
fn a_runtime_that_is_linked_last_is_loaded_first() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let source = workspace().join("crates/cli/tests/native/programs.c");
    build(&source, &path("programs.o"), &["-fsanitize=thread", "-c"]);
    build(&path("programs.o"), &path("first"), &["-fsanitize=thread"]);
    let last = ["-Wl,--no-as-needed", "-lc", "-ltsan"];
    build(&path("programs.o"), &path("last"), &last);
    for part in ["use-in-section", "race", "race-joined", "wait-blindly"] {
        let (first, _) = categories(folder.path(), &["./first", part]);
        let (last, result) = categories(folder.path(), &["./last", part]);
        assert_eq!(first, last, "{part}: {result}");
        assert_eq!(result["complete"], true, "{part}: {result}");
    }
}

/// A library by `clang`, or linked by hand, asks for no runtime, and calls it all the same.
#[test]
fn a_library_without_a_runtime_of_its_own_was_built_with_it() {
    const LIBRARY: &str = "int shared; void *add(void *arg) { shared++; return arg; }\n";
    const PROGRAM: &str = "#include <pthread.h>\nvoid *add(void *);\n\
        int main(void) {\n    pthread_t one;\n    pthread_create(&one, 0, add, 0);\n    add(0);\n    \
        return pthread_join(one, 0);\n}\n";
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("library.c"), LIBRARY).expect("written");
    std::fs::write(path("program.c"), PROGRAM).expect("written");
    build(&path("library.c"), &path("library.o"), &["-fsanitize=thread", "-fPIC", "-c"]);
    build(&path("library.o"), &path("libadd.so"), &["-shared"]);
    let folder_of_library = format!("-L{}", folder.path().display());
    let options = [
        folder_of_library.as_str(),
        "-Wl,-rpath,$ORIGIN",
        "-Wl,--no-as-needed",
        "-ladd",
        "-Wl,--unresolved-symbols=ignore-in-shared-libs",
    ];
    build(&path("program.c"), &path("program"), &options);
    let (found, result) = categories(folder.path(), &["./program"]);
    assert_eq!(found, ["multi_threaded"], "{result}");
    let warnings = result["warnings"].to_string();
    assert!(!warnings.contains("libadd.so"), "{warnings}");
}
