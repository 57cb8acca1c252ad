//! What a user of ThreadSanitizer looks for in a report: lines, stacks, memory, threads, locks.

use super::{build, commands_in, folder, found, in_programs, programs, result, workspace};
use crate::common::{command, ran};
use serde_json::Value;
use std::fs;
use std::time::{Duration, SystemTime};

/// Returns the texts of what a finding is about, of one kind.
fn about<'v>(finding: &'v Value, kind: &str) -> Vec<&'v str> {
    let related = finding["related"].as_array().expect("a list");
    let of_kind = related.iter().filter(|one| one["kind"] == kind);
    of_kind.filter_map(|one| one["text"].as_str()).collect()
}

fn of_category(result: &Value, category: &str) -> Value {
    let findings = result["findings"].as_array().expect("a list");
    let found = findings.iter().find(|finding| finding["category"] == category);
    found.unwrap_or_else(|| panic!("{category}: {result}")).clone()
}

#[test]
fn each_place_has_its_lines_and_its_stack() {
    let source = fs::read_to_string(workspace().join("crates/cli/tests/native/programs.c"));
    let source: Vec<String> = source.expect("the source").lines().map(str::to_owned).collect();
    for which in ["race", "use-in-section", "wait-blindly", "two-locks"] {
        let result = result(which, &[]);
        for site in result["findings"]
            .as_array()
            .expect("a list")
            .iter()
            .flat_map(|one| one["sites"].as_array().expect("a list").iter())
        {
            let lines = &site["source"];
            let (first, line) = (lines["first"].as_u64(), site["line"].as_u64());
            let (first, line) = (first.expect("a number"), line.expect("a number"));
            assert!(first + 2 >= line && first <= line, "{which}: {site}");
            for (number, text) in (first..).zip(lines["lines"].as_array().expect("a list")) {
                assert_eq!(text.as_str(), source.get(number as usize - 1).map(String::as_str));
            }
            assert!(lines.get("newer").is_none(), "{which}: {site}");
            let stack = site["stack"].as_array().expect("a stack");
            assert!(!stack.is_empty(), "{which}: {site}");
        }
    }
}

#[test]
fn memory_threads_and_locks_are_named() {
    let race = of_category(&result("race", &[]), "multi_threaded");
    assert!(race["title"].as_str().is_some_and(|title| title.contains("of `shared`")), "{race}");
    let memory = about(&race, "memory");
    assert_eq!(memory, ["global `shared` of size 4"]);
    let declared = &race["related"][0]["site"];
    assert!(declared["file"].as_str().is_some_and(|file| file.ends_with("programs.c")));
    let line = declared["line"].as_u64().expect("a line");
    let source = fs::read_to_string(workspace().join("crates/cli/tests/native/programs.c"));
    let source = source.expect("the source");
    assert_eq!(source.lines().nth(line as usize - 1), Some("static volatile int shared;"));
    assert_eq!(about(&race, "thread"), ["`T1 race`, created by `main`"]);
    let freed = of_category(&result("use-in-section", &[]), "use_after_free");
    let memory = about(&freed, "memory");
    assert!(memory[0].starts_with("heap block of size 8 at 0x"), "{memory:?}");
    assert!(memory[0].ends_with("allocated by `main`"), "{memory:?}");
    let allocation = &freed["related"][0];
    assert_eq!(allocation["of"], serde_json::json!([1, 2]), "{allocation}");
    let stack = allocation["site"]["stack"].as_array().expect("a stack");
    assert!(stack.last().is_some_and(|last| last.as_str().is_some_and(|at| at.ends_with("main"))));
    let locks = about(&freed, "lock");
    assert!(locks.contains(&"`m`, held by `T1 use_in_section`, was taken"), "{locks:?}");
    assert_eq!(locks.len(), 2, "{locks:?}");
    for lock in
        freed["related"].as_array().expect("a list").iter().filter(|one| one["kind"] == "lock")
    {
        assert_eq!(lock["site"]["function"], "lock", "{lock}");
    }
}

#[test]
fn the_lines_are_in_all_reports() {
    let text = in_programs(&["run", "./programs", "race"]).stderr;
    assert!(text.contains("|     shared = 1;\n"), "{text}");
    let marked = text.lines().skip_while(|line| !line.starts_with("    >  ")).nth(1);
    assert!(marked.is_some_and(|line| line.trim_end().ends_with('^')), "{text}");
    let sarif = in_programs(&["run", "--format", "sarif", "./programs", "use-in-section"]).stdout;
    let sarif: Value = serde_json::from_str(&sarif).expect("one object");
    let results = sarif["runs"][0]["results"].as_array().expect("a list");
    let freed = results.iter().find(|one| one["ruleId"] == "order_violation/use_after_free");
    let freed = freed.expect("it is found");
    let place = &freed["locations"][0]["physicalLocation"];
    assert!(place["region"]["snippet"]["text"].is_string(), "{place}");
    assert!(place["contextRegion"]["snippet"]["text"].is_string(), "{place}");
    assert!(freed["stacks"].as_array().is_some_and(|stacks| stacks.len() > 2), "{freed}");
    let page = folder();
    let path = page.path().to_str().expect("a path");
    in_programs(&["run", "--report", path, "./programs", "race"]);
    let html = fs::read_to_string(page.path().join("index.html")).expect("a page");
    assert!(html.contains("<pre class=\"source\">") && html.contains("shared = 1;"));
    assert!(html.contains("global <code>shared</code> of size 4"));
}

#[test]
fn inlined_functions_are_in_stacks() {
    let folder = folder();
    let source = "#include <pthread.h>\n#include <unistd.h>\nint shared;\n\
                  __attribute__((always_inline)) static inline void innermost(void) { shared++; }\n\
                  __attribute__((always_inline)) static inline void middle(void) { innermost(); }\n\
                  __attribute__((noinline)) static void outer(void) { middle(); }\n\
                  static void *work(void *x) { outer(); return x; }\n\
                  int main(void) { pthread_t a; pthread_create(&a, 0, work, 0); usleep(50000);\n\
                  outer(); pthread_join(a, 0); return 0; }\n";
    fs::write(folder.path().join("inlined.c"), source).expect("written");
    let built = folder.path().join("inlined");
    build(&folder.path().join("inlined.c"), &built, &["-fsanitize=thread"]);
    let result = commands_in(folder.path(), &["run", "--format", "json", "./inlined"]);
    let result: Value = serde_json::from_str(&result.stdout).expect("one object");
    let finding = of_category(&result, "multi_threaded");
    for (site, root) in [(0, "work"), (1, "main")] {
        let stack = finding["sites"][site]["stack"].as_array().expect("a stack");
        let names = stack.iter().filter_map(|at| at.as_str()?.rsplit_once(" in "));
        let names: Vec<&str> = names.map(|(_, name)| name).collect();
        assert_eq!(names, ["innermost", "middle", "outer", root], "{stack:?}");
    }
}

#[test]
fn a_source_that_changed_or_is_gone_is_said_so() {
    let folder = folder();
    let source = folder.path().join("copy.c");
    fs::copy(workspace().join("crates/cli/tests/native/programs.c"), &source).expect("copied");
    build(&source, &folder.path().join("copy"), &["-fsanitize=thread"]);
    let run = |options: &[&str]| {
        let mut words = vec!["run"];
        words.extend(options);
        words.extend(["./copy", "race"]);
        commands_in(folder.path(), &words)
    };
    let later = SystemTime::now() + Duration::from_secs(5);
    fs::File::options()
        .write(true)
        .open(&source)
        .and_then(|file| file.set_modified(later))
        .expect("a new time");
    let text = run(&[]).stderr;
    assert!(text.contains("the file is newer than the program"), "{text}");
    fs::remove_file(&source).expect("removed");
    let json: Value = serde_json::from_str(&run(&["--format", "json"]).stdout).expect("an object");
    assert!(json["findings"][0]["sites"][0].get("source").is_none());
    let said = json["warnings"].as_array().expect("warnings").iter().any(|warning| {
        warning["text"].as_str().is_some_and(|text| text.contains("copy.c: the source cannot be"))
    });
    assert!(said && json["complete"] == true, "{json}");
    assert!(!found(&json).is_empty());
}

/// Runs a program with a file of suppressions, and returns the result.
fn suppressed(which: &str, options: &[&str], variable: Option<(&str, &str)>) -> (i32, Value) {
    let mut words = vec!["run", "--format", "json"];
    words.extend(options);
    words.extend(["./programs", which]);
    let mut command = command(&words);
    command.current_dir(programs());
    if let Some((name, value)) = variable {
        command.env(name, value);
    }
    let ran = ran(&mut command);
    (ran.status, serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}")))
}

#[test]
fn suppressions_of_thread_sanitizer_are_understood() {
    let folder = folder();
    let path = folder.path().join("known.txt");
    let text = "# known\nrace:^nothing_here$\nrace:^use_in_section$\ndeadlock:*\n";
    fs::write(&path, text).expect("written");
    let path = path.to_str().expect("a path");
    let variable = format!("exitcode=0:history_size=4 suppressions='{path}'");
    for (options, variable) in [
        (&["--suppressions", path][..], None),
        (&[], Some(("TSAN_OPTIONS", variable.as_str()))),
        (&[], Some(("ANYORDER_OPTIONS", &*format!("suppressions={path}")))),
    ] {
        let (status, result) = suppressed("use-in-section", options, variable);
        assert_eq!((status, &result["verdict"]), (0, &"ok".into()), "{result}");
        let finding = of_category(&result, "use_after_free");
        let mark = &finding["suppressed"];
        assert_eq!((&mark["line"], &mark["file"]), (&3.into(), &path.into()), "{mark}");
        let by = &result["stats"]["suppressed_by"];
        assert_eq!(by[format!("{path}:2")], 0, "{by}");
        assert!(by[format!("{path}:3")].as_u64() >= Some(1), "{by}");
    }
    let text = in_programs(&["run", "--suppressions", path, "./programs", "use-in-section"]);
    assert!(text.stderr.contains(&format!("suppressed by {path}:3")), "{}", text.stderr);
}

#[test]
fn a_broken_suppression_is_an_error_with_its_place() {
    let folder = folder();
    let path = folder.path().join("broken.txt");
    fs::write(&path, "race:fine\nrcae:odd\n").expect("written");
    let path = path.to_str().expect("a path");
    let ran = in_programs(&["run", "--suppressions", path, "./programs", "race"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("broken.txt: line 2, column 1: unknown type `rcae`"), "{ran:?}");
    let missing = in_programs(&["run", "--suppressions", "no-such-file", "./programs", "race"]);
    assert_eq!((missing.status, missing.stdout.as_str()), (2, ""), "{missing:?}");
}

#[test]
fn the_exit_status_that_thread_sanitizer_is_told_holds() {
    let status = |name, value| suppressed("race", &[], Some((name, value))).0;
    assert_eq!(status("TSAN_OPTIONS", "exitcode=66 halt_on_error=1"), 66);
    assert_eq!(status("TSAN_OPTIONS", "exitcode=0"), 0);
    assert_eq!(status("ANYORDER_OPTIONS", "exitcode=9"), 9);
    assert_eq!(status("TSAN_OPTIONS", "second_deadlock_stack=1"), 1);
}
