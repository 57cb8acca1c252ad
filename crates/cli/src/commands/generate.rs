//! `anyorder generate`: generates a trace of a family.

use crate::args::GenerateArgs;
use crate::bugs::write_checked;
use crate::commands::consistency::write_run;
use crate::failure::{Failure, JobFailure, Usage};
use crate::output::bytes_to;
use crate::phase::claim;
use anyorder_drive::{CertifyOptions, TraceInput};
use anyorder_formats::detect::Format;
use anyorder_formats::open::create;
use anyorder_generate::{Request, generate_with_run};
use anyorder_system::Control;
use anyorder_trace::{Problems, Trace, TraceOrder};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Generates the trace and writes it.
pub(crate) fn run(args: &GenerateArgs) -> Result<ExitCode, Failure> {
    let request = Request {
        seed: args.seed,
        mailbox: args.mailbox,
        shuffle_lines: !args.ordered,
        ratio: args.ratio,
        messages: args.messages,
        handlers: args.handlers,
        share: args.share,
        groups: args.groups,
        ring: args.ring,
        ..Request::new(args.family, args.size)
    };
    let generated = generate_with_run(&request).map_err(Usage::Generate)?;
    if let Some(path) = &args.run {
        let Some(order) = &generated.run else {
            let family = args.family.name();
            return Err(Usage::NoRun { family }.into());
        };
        let (trace, control) = (generated.trace.clone(), Control::default());
        let input = TraceInput::new("the generated trace", trace, &Problems::default(), &control)?;
        let mut write = |out: &mut dyn Write| write_run(&input.trace, order, out);
        write_checked(path, &input, CertifyOptions::default(), &control, &mut write)?;
    }
    // Edtrace holds no order between tasks.
    let has_order = args.ordered && generated.run.is_some() && args.to != Format::Edtrace;
    let trace = if has_order { as_observed(&generated.trace) } else { generated.trace };
    let path = args.output.as_deref();
    let failed = |error| JobFailure::writing(path.unwrap_or(Path::new("standard output")), error);
    bytes_to(path, |out| {
        let written = create(args.to, Box::new(out));
        written.and_then(|mut sink| trace.write(sink.as_mut())).map_err(failed)?;
        // The file gets its name next.
        claim();
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a trace whose events have the order of the recorded run, and say so.
fn as_observed(trace: &Trace) -> Trace {
    let mut tables = trace.tables().clone();
    tables.meta.order = TraceOrder::Observed;
    Trace::new(tables, trace.columns().clone())
}
