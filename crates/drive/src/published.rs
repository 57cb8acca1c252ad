//! Smart-home apps by the devices, events and states of the published tool for pairs of apps.

use crate::failure::{Failure, Unusable};
use crate::remark::{Remark, Remarked};
use crate::states::{CheckOptions, StateProgram, Watcher, check_states_watched};
use crate::{JobControl, JobResult};
use anyorder_common::text::escape_lines;
use anyorder_finding::{Stat, Warning, WarningKind, option, stat};
use anyorder_home::published::PublishedHome;
use anyorder_system::{Hash128, ProgramIdentity};

struct Program {
    identity: ProgramIdentity,
    home: PublishedHome,
}

impl StateProgram for Program {
    type System = PublishedHome;

    fn system(&self) -> &PublishedHome {
        &self.home
    }

    fn program(&self) -> &ProgramIdentity {
        &self.identity
    }
}

/// Searches all states of apps, each with its file and text.
///
/// # Errors
///
/// Fails if the tool makes no events of the apps, and as [`check_states_watched`].
pub(crate) fn check(
    apps: &[(String, String)],
    search: &CheckOptions,
    control: &JobControl<'_>,
    watcher: &mut dyn Watcher,
) -> Result<JobResult, Failure> {
    let files: Vec<&str> = apps.iter().map(|(file, _)| file.as_str()).collect();
    let name = files.join(" + ");
    let texts: String = apps.iter().map(|(_, text)| text.as_str()).collect();
    let hash = Some(Hash128::of(format!("{texts}all as published").as_bytes()));
    let home = PublishedHome::new(apps, &|| control.check().is_err())
        .map_err(|why| Failure::input(&name, Unusable::App(why)))?;
    let identity = ProgramIdentity { name, version: String::new(), hash };
    let program = Program { identity, home };
    let mut result = check_states_watched(&program, search, control, watcher)?.result;
    // An answer to a choice inside of a handler is no transition there.
    let transitions = result.stats.get(stat::TRANSITIONS.word()).and_then(Stat::integer);
    if let Some(transitions) = transitions {
        let events = transitions.saturating_sub(program.home.answers_count());
        result.stats.set(stat::TRANSITIONS, events);
    }
    let text = Remarked::OnlyCounted.to_string();
    let input = &program.identity.name;
    result.warnings.push(Warning::new(WarningKind::Odd, input, text, 1));
    result.remarks.push(Remark::on(input, Remarked::OnlyCounted));
    for missing in program.home.missing() {
        let text = format!("not understood: {}", escape_lines(&missing.what));
        let place = format!("{}:{}:{}", missing.file, missing.line, missing.column);
        let warning = Warning::new(WarningKind::Ignored, &missing.file, &text, 1);
        result.warnings.push(Warning { places: vec![place], ..warning });
        if !result.limits.contains(&option::NOT_UNDERSTOOD) {
            result.cut_by(option::NOT_UNDERSTOOD);
        }
    }
    Ok(result)
}
