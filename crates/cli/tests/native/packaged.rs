//! What other build systems use: `pkg-config` and CMake; and programs with static libraries.

#![expect(clippy::print_stdout, reason = "says what was skipped")]

use super::annotated::build;
use super::found;
use crate::common::{command, folder, ran, workspace};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn has(tool: &str) -> bool {
    let has = Command::new(tool).arg("--version").output().is_ok();
    if !has {
        println!("skipped: there is no {tool}");
    }
    has
}

fn output(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let [out, err] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(status.success(), "{command:?}: {out}{err}");
    out
}

fn result(folder: &Path, program: &str) -> Value {
    let ran = ran(command(&["run", "--format", "json", program]).current_dir(folder));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn pkg_config_has_the_header_and_the_flags() {
    if !has("pkg-config") {
        return;
    }
    let folder = folder();
    let asked = |what: &str| {
        let mut tool = Command::new("pkg-config");
        tool.env("PKG_CONFIG_PATH", workspace().join("crates/native")).args([what, "anyorder"]);
        output(&mut tool).trim().to_owned()
    };
    assert_eq!(asked("--modversion"), env!("CARGO_PKG_VERSION"));
    let (cflags, recorded) = (asked("--cflags"), asked("--variable=recorded"));
    let source = workspace().join("examples/native/map.cc");
    let mut cc = Command::new("c++");
    cc.args(["-std=c++17", "-pthread", "-DSAME_KEY", "-o", "map"]).arg(source);
    output(cc.args(cflags.split(' ')).args(recorded.split(' ')).current_dir(folder.path()));
    assert_eq!(found(&result(folder.path(), "./map")).len(), 1);
}

const PROJECT: &str = "\
cmake_minimum_required(VERSION 3.18)
project(map CXX)
set(CMAKE_CXX_STANDARD 17)
enable_testing()
find_package(Threads REQUIRED)
find_package(anyorder CONFIG REQUIRED)
add_executable(map map.cc)
target_link_libraries(map anyorder::recorded Threads::Threads)
anyorder_add_test(NAME right COMMAND map OPTIONS --confirm)
add_executable(same map.cc)
target_compile_definitions(same PRIVATE SAME_KEY)
target_link_libraries(same anyorder::recorded Threads::Threads)
anyorder_add_test(NAME wrong COMMAND same)
";

#[test]
fn cmake_runs_tests_and_those_with_findings_fail() {
    if !has("cmake") {
        return;
    }
    let folder = folder();
    fs::write(folder.path().join("CMakeLists.txt"), PROJECT).expect("written");
    fs::copy(workspace().join("examples/native/map.cc"), folder.path().join("map.cc"))
        .expect("a copy");
    let cmake = |arguments: &[&str]| {
        let mut cmake = Command::new("cmake");
        cmake.args(arguments).current_dir(folder.path());
        cmake
    };
    let config = workspace().join("crates/native/cmake");
    let config = format!("-Danyorder_DIR={}", config.display());
    let executable =
        format!("-DANYORDER_EXECUTABLE={}", command(&[]).get_program().to_string_lossy());
    output(&mut cmake(&["-B", "build", &config, &executable]));
    output(&mut cmake(&["--build", "build"]));
    for (name, passes) in [("right", true), ("wrong", false)] {
        let mut ctest = Command::new("ctest");
        ctest.args(["--output-on-failure", "-R", name]).current_dir(folder.path().join("build"));
        let output = ctest.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.success(), passes, "{name}: {text}");
        assert_eq!(text.contains("put and put of"), !passes, "{name}: {text}");
    }
}

/// A program that has the library of C++ in it asks the runtime for `new` and `delete`.
#[test]
fn the_library_of_c_plus_plus_may_be_static() {
    const SOURCE: &str = "crates/cli/tests/native/static.cc";
    let folder = folder();
    let program = folder.path().join("static");
    for linked in [&["-static-libstdc++", "-static-libgcc"][..], &[]] {
        if !build(SOURCE, &program, &[linked, &["-fsanitize=thread"]].concat()) {
            return;
        }
        let result = result(folder.path(), "./static");
        let found = found(&result);
        let is_race = |one: &&(String, String)| one.1.contains("`shared`");
        let is_use = |one: &&(String, String)| one.0 == "use_after_free";
        assert_eq!(found.iter().filter(is_race).count(), 1, "{linked:?}: {found:?}");
        assert_eq!(found.iter().filter(is_use).count(), 1, "{linked:?}: {found:?}");
        assert_eq!(found.len(), 2, "{linked:?}: {found:?}");
        assert_eq!(result["stats"]["program_status"], 0, "{linked:?}");
    }
}
