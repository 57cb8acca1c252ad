//! What the commands say of recorded runs: names that repeat, inputs that are not understood, locks
//! inside memory, findings about right programs.

use crate::common;

mod memory;
mod names;
mod right;
mod silence;

use common::{file, run};
use serde_json::Value;
use tempfile::TempDir;

/// The exit status and the JSON result of a command on a trace.
fn result(folder: &TempDir, command: &str, name: &str, text: &str) -> (i32, Value) {
    let input = file(folder, name, text);
    let ran = run(&[command, &input, "--format", "json"]);
    let value = serde_json::from_str(&ran.stdout);
    (ran.status, value.unwrap_or_else(|_| panic!("one JSON object: {ran:?}")))
}

/// The findings of a result.
fn findings(result: &Value) -> &[Value] {
    result["findings"].as_array().expect("a list")
}
