//! The last call of a program that ends in the middle of its work. No other test may share its
//! process.
#![cfg(unix)]

use anyorder_pipe::{ChildCommand, PipeOptions, PipeSystem, end_all_children};
use anyorder_system::TaskSystem;
use std::path::Path;

#[test]
fn all_children_end_with_their_processes_and_none_starts_again() {
    // The child starts a process, and reports its number as its name.
    let script = r#"sleep 600 & read line
        echo '{"id":1,"ok":{"version":1,"program":{"name":"'$!'"}}}'; sleep 600"#;
    let command = ChildCommand::new("sh").argument("-c").argument(script);
    let start = || PipeSystem::spawn(command.clone(), PipeOptions::default());
    let systems: Vec<PipeSystem> = (0..3).map(|_| start().unwrap()).collect();
    assert!(systems.iter().all(|system| is_running(&system.program().name)));
    // Also while other threads wait for their children.
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let mut systems = systems;
            let asked = systems.iter_mut().map(|system| system.enabled().is_err());
            assert!(asked.collect::<Vec<_>>().iter().all(|failed| *failed));
            systems
        });
        end_all_children();
        for system in &waits.join().unwrap() {
            let gone = (0..2_000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                !is_running(&system.program().name)
            });
            assert!(gone, "{system:?}");
        }
    });
    assert!(start().unwrap_err().to_string().contains("about to end"));
}

/// Whether a process runs. One that was killed may stay a zombie until its parent is gone.
fn is_running(process: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(process).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
}
