//! Programs that a shell starts, as a test driver does.

use super::{found, programs};
use crate::common::{command, ran};
use serde_json::Value;
use std::fs;

/// Runs a shell command among the programs.
fn shell(options: &[&str], line: &str) -> (Value, String) {
    let mut arguments = vec!["run", "--format", "json"];
    arguments.extend(options);
    arguments.extend(["sh", "-c", line]);
    let ran = ran(command(&arguments).current_dir(programs()));
    let result = serde_json::from_str(&ran.stdout);
    (result.unwrap_or_else(|error| panic!("{error}: {ran:?}")), ran.stderr)
}

fn inputs(result: &Value) -> Vec<&str> {
    let inputs = result["inputs"].as_array().expect("a list");
    inputs.iter().filter_map(|input| input["path"].as_str()).collect()
}

#[test]
fn what_a_shell_starts_is_checked_and_the_shell_is_not() {
    let (result, said) = shell(&[], "./programs race; ./programs race-joined; true");
    assert_eq!(inputs(&result), ["./programs", "./programs.2"], "{result}");
    let categories: Vec<String> = found(&result).into_iter().map(|one| one.0).collect();
    assert_eq!(categories, ["multi_threaded"], "{result}");
    assert_eq!((&result["verdict"], &result["complete"]), (&"findings".into(), &true.into()));
    let left_out = "built without `-fsanitize=thread` not checked: sh";
    assert!(result["warnings"].to_string().contains(left_out), "{result}");
    assert!(said.contains(left_out) && !said.contains("are not\n"), "{said}");
    let (result, _) = shell(&[], "./programs race-joined; true");
    assert_eq!((&result["verdict"], &result["complete"]), (&"ok".into(), &true.into()));
}

#[test]
fn a_shell_alone_is_checked_and_its_accesses_are_said_to_be_unseen() {
    let (result, said) = shell(&[], "true; true");
    assert_eq!((inputs(&result), &result["verdict"]), (vec!["sh"], &"incomplete".into()));
    assert!(said.contains("sh: built without `-fsanitize=thread`"), "{said}");
}

#[test]
fn what_a_shell_starts_is_kept_and_not_made_to_happen() {
    let kept = programs().join("kept.trace");
    let options = ["--confirm", "--record", kept.to_str().expect("a name")];
    let (result, _) = shell(&options, "./programs race; ./programs race-joined; true");
    assert!(result["warnings"].to_string().contains("was not made to happen"), "{result}");
    let second = programs().join("kept.2.trace");
    assert_eq!(inputs(&result).len(), 2, "{result}");
    for file in [&kept, &second] {
        assert!(fs::metadata(file).is_ok_and(|meta| meta.len() > 100), "{}", file.display());
    }
}
