use crate::args::{ShrinkArgs, Global};
use crate::failure::Failure;
use std::process::ExitCode;
pub(crate) fn run(_args: &ShrinkArgs, _global: &Global) -> Result<ExitCode, Failure> { Err(Failure::new("todo")) }
