//! The scheduler in `docs/pipe-protocol.md` works as printed.

use anyorder_pipe::{ChildCommand, PipeOptions, PipeSystem};
use anyorder_system::{Choice, RunError, TaskName, TaskSystem};
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn the_scheduler_of_the_documentation_runs() {
    let python = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if !python.is_ok_and(|status| status.success()) {
        println!("skipped: python3 is not here");
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pipe-protocol.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let program = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    let program = program.expect("the page has a program");
    assert!(program.lines().count() <= 55, "it says 50 lines");

    let command = ChildCommand::new("python3").argument("-c").argument(program);
    let mut system = PipeSystem::spawn(command, PipeOptions::default()).expect("it says hello");
    let mut ends = Vec::new();
    for order in [["add", "add#1"], ["add#1", "add"]] {
        system.reset().expect("reset");
        for name in order {
            let name: TaskName = name.parse().expect("a name");
            system.execute(&Choice::of(name)).expect("both orders run");
        }
        let again = system.execute(&Choice::of(TaskName::root("add")));
        assert!(matches!(again, Err(RunError::Diverged(_))), "{again:?}");
        assert_eq!(system.enabled().expect("enabled"), []);
        ends.push(system.observe().expect("observe").hash());
    }
    assert_ne!(ends[0], ends[1], "the order of the two shows");
    assert_eq!(system.starts(), 1);
}
