//! A child may assign roles to its tasks.

use anyorder_pipe::{ChildCommand, PipeOptions, PipeSystem, Received, Retrying, Transport};
use anyorder_system::{Choice, RunError, TaskName, TaskRole, TaskSystem};
use std::collections::VecDeque;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A connection in memory with scripted answers to `enabled` and `execute`.
struct Scripted {
    enabled: &'static str,
    step: &'static str,
    replies: VecDeque<Received>,
}

impl Transport for Scripted {
    fn send(&mut self, line: Vec<u8>) {
        let request = String::from_utf8(line).expect("requests are UTF-8");
        let id = request.trim_start_matches("{\"id\":").split(',').next().expect("an id");
        let is = |op: &str| request.contains(&format!("\"op\":\"{op}\""));
        let ok = match () {
            () if is("hello") => r#"{"version":1,"program":{"name":"x"}}"#,
            () if is("enabled") => self.enabled,
            () if is("execute") => self.step,
            () => "{}",
        };
        let reply = format!(r#"{{"id":{id},"ok":{ok}}}"#);
        self.replies.push_back(Received::Line(reply.into_bytes()));
    }

    fn receive(&mut self, _timeout: Duration) -> Received {
        self.replies.pop_front().unwrap_or(Received::Closed)
    }

    fn end(&mut self, _patience: Duration) -> String {
        String::new()
    }
}

fn scripted(enabled: &'static str, step: &'static str) -> PipeSystem {
    let connect = move |_| -> Result<Box<dyn Transport>, RunError> {
        Ok(Box::new(Scripted { enabled, step, replies: VecDeque::new() }))
    };
    PipeSystem::over(Box::new(connect), PipeOptions::default()).expect("it says hello")
}

#[test]
fn roles_are_told_where_tasks_are_listed_and_posted() {
    let enabled = r#"{"tasks":[{"task":"click","role":"input"},{"task":"load"}]}"#;
    let step = r#"{"posted":[{"task":"load/wait","role":"timer"},{"task":"load/next"}]}"#;
    let mut system = scripted(enabled, step);
    let names = ["click", "load", "load/wait", "load/next", "nobody"];
    let roles = |system: &dyn TaskSystem| -> Vec<TaskRole> {
        names.iter().map(|name| system.role(&name.parse().expect("a name"))).collect()
    };
    use TaskRole::{Input, Task, Timer};
    assert_eq!(roles(&system), [Task; 5]);
    system.enabled().expect("it lists");
    assert_eq!(roles(&system), [Input, Task, Task, Task, Task]);
    system.execute(&Choice::of(TaskName::root("load"))).expect("it runs");
    assert_eq!(roles(&system), [Input, Task, Timer, Task, Task]);
    system.reset().expect("it resets");
    assert_eq!(roles(&Retrying::new(system, 2)), [Input, Task, Timer, Task, Task]);
}

#[test]
fn a_task_has_one_role() {
    let enabled = r#"{"tasks":[{"task":"a","role":"input"}]}"#;
    for (step, wrong) in [
        (r#"{"posted":[{"task":"a","role":"input"}]}"#, false),
        (r#"{"posted":[{"task":"a"}]}"#, false),
        (r#"{"posted":[{"task":"a","role":"timer"}]}"#, true),
        (r#"{"posted":[{"task":"a","role":"king"}]}"#, true),
        (r#"{"posted":[{"task":"a","role":7}]}"#, true),
    ] {
        let mut system = scripted(enabled, step);
        system.enabled().expect("it lists");
        let result = system.execute(&Choice::of(TaskName::root("b")));
        assert_eq!(matches!(result, Err(RunError::Crashed(_))), wrong, "{step}: {result:?}");
        system.reset().expect("it is usable again");
    }
}

fn plays(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

#[test]
fn the_libraries_tell_inputs_and_timers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pipe");
    let order = ["load", "click", "click/submit", "click/submit/timeout"];
    let form = (order.as_slice(), ["click/submit/timeout Timer", "help Input"].as_slice());
    let search = (["key"].as_slice(), ["key Input"].as_slice());
    for (program, script, (order, expected)) in [
        ("python3", "python/double_submit.py", form),
        ("node", "node/double_submit.js", form),
        ("node", "node/search.js", search),
    ] {
        if !plays(program) {
            println!("skipped: {program} is not here");
            continue;
        }
        let command = ChildCommand::new(program).argument(folder.join(script));
        let mut system = PipeSystem::spawn(command, PipeOptions::default()).expect("it starts");
        let mut seen = Vec::new();
        for name in order {
            let enabled = system.enabled().expect("it lists");
            seen.extend(enabled.into_iter().map(|enabled| enabled.task));
            system.execute(&Choice::of(name.parse().expect("a name"))).expect("it can run");
        }
        seen.sort_by_key(ToString::to_string);
        seen.dedup();
        let told: Vec<String> = seen
            .iter()
            .filter(|task| system.role(task) != TaskRole::Task)
            .map(|task| format!("{task} {:?}", system.role(task)))
            .collect();
        assert_eq!(told, expected, "{script}");
    }
}
