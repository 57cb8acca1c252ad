use crate::args::{ExploreArgs, Global};
use crate::failure::Failure;
use std::process::ExitCode;
pub(crate) fn run(_args: &ExploreArgs, _global: &Global) -> Result<ExitCode, Failure> { Err(Failure::new("todo")) }
