//! What the command says about a model: the job of `drive` in this process, or a binary.

use anyorder_drive::model::Model;
use anyorder_drive::{Collected, RobustModelOptions, robust_model, robust_verdict};
use anyorder_finding::{Input, Policy};
use anyorder_system::Control;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Options {
    pub(crate) repeat: Option<u32>,
    pub(crate) stops: Option<u32>,
    pub(crate) max_states: Option<usize>,
    pub(crate) time_limit_ms: Option<u64>,
    /// Stops the job at a poll; only in this process.
    pub(crate) polls: Option<u64>,
}

/// Who answers.
#[derive(Clone, Debug)]
pub(crate) enum Judged {
    Job,
    Binary(PathBuf),
}

/// A result as JSON, or the message of a refusal.
pub(crate) fn ask(judged: &Judged, text: &str, options: &Options) -> Result<Value, String> {
    match judged {
        Judged::Job => job(text, options),
        Judged::Binary(path) => binary(path, text, options),
    }
}

fn job(text: &str, options: &Options) -> Result<Value, String> {
    let model = Model::compile("random.any", text).map_err(|failure| format!("{failure:?}"))?;
    let usual = RobustModelOptions::default();
    let asked = RobustModelOptions {
        repeat: options.repeat.unwrap_or(usual.repeat),
        stops: options.stops.unwrap_or(usual.stops),
        max_states: options.max_states.unwrap_or(usual.max_states),
    };
    let cancel = options.polls.map(anyorder_system::Cancel::after_polls).unwrap_or_default();
    let control = Control { cancel, ..Control::default() }.into();
    let result =
        robust_model(&model, &asked, &control).map_err(|failure| format!("{failure:?}"))?;
    let mut all = Collected::new("robust", "0");
    all.add(vec![Input::new(Path::new("random.any"), "model")], result);
    let (mut outcome, _) = all.finish();
    outcome.verdict = robust_verdict(&outcome, &Policy::default());
    let mut out = Vec::new();
    anyorder_report::json::write(&outcome, &mut out).expect("a vector takes all");
    Ok(serde_json::from_slice(&out).expect("JSON"))
}

/// Runs a binary on the model.
fn binary(path: &Path, text: &str, options: &Options) -> Result<Value, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("random.any"), text).expect("a file");
    let mut command = Command::new(path);
    command.args(["robust", "random.any", "--quiet", "--format", "json"]);
    command.current_dir(folder.path());
    let mut option = |name: &str, value: Option<String>| {
        value.into_iter().for_each(|value| _ = command.args([name, &value]));
    };
    option("--repeat", options.repeat.map(|value| value.to_string()));
    option("--stops", options.stops.map(|value| value.to_string()));
    option("--max-states", options.max_states.map(|value| value.to_string()));
    option("--time-limit", options.time_limit_ms.map(|value| format!("{value}ms")));
    let output = command.output().expect("the binary runs");
    let status = output.status.code();
    let Ok(value) = serde_json::from_slice::<Value>(&output.stdout) else {
        return Err(format!("{status:?}: {}", String::from_utf8_lossy(&output.stderr)));
    };
    let wanted = match value["verdict"].as_str() {
        Some("robust") => Some(0),
        Some("not_robust") => Some(1),
        _ => Some(3),
    };
    if status == wanted { Ok(value) } else { Err(format!("status {status:?} with {value}")) }
}
