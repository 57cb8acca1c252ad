//! Checks one model: searches its states, and reports violated properties.

use crate::args::{CheckArgs, Global};
use crate::failure::Failure;
use crate::search_watch::SearchWatch;
use crate::watch::Watch;
use anyorder_drive::model::{Model, check_model_watched};
use anyorder_drive::states::CheckResult;
use anyorder_drive::{JobResult, Level, Message};
use std::path::Path;

/// Checks a model.
pub(super) fn check(
    path: &Path,
    text: &str,
    args: &CheckArgs,
    global: &Global,
    watch: &Watch,
) -> Result<JobResult, Failure> {
    let model = Model::compile(&path.to_string_lossy(), text)?;
    let options = args.search.options();
    global.print(model.warnings());
    global.print(&options.plan(&model).1);
    let mut follower = SearchWatch::new(watch, &args.search);
    let checked = check_model_watched(&model, &options, &watch.control(), &mut follower)?;
    let CheckResult { mut result, never_run } = checked;
    if !never_run.is_empty() {
        result.stats.set("never_run", never_run.join("; ").as_str());
    }
    let warn = |words: &String| Message::at(Level::Warning, path, words);
    result.remarks.extend(never_run.iter().map(warn));
    args.search.set(&mut result.options);
    Ok(result)
}
