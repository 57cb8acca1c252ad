//! Recordings that cannot be as long as they should.

use crate::reader::kind;
use crate::run::{Run, compile, has_cpp, recorded, recorded_by};
use std::process::Command;

#[test]
fn a_recording_ends_at_its_limit_and_the_program_goes_on() {
    if !has_cpp() {
        println!("skipped: there is no g++");
        return;
    }
    let program = compile("stress.cc", "g++", &["-O1"]);
    let run = recorded(&program, &[], &[("ANYORDER_MAX_RECORDING", "3000000")]);
    assert_eq!(run.status, 4, "{}", run.output);
    let recording = &run.recordings[0];
    assert_eq!(recording.flags & 1, 1);
    assert!(recording.chunks <= 3_000_000 / 65_536, "{}", recording.chunks);
}

// Each test has a program of its own: one that runs cannot be written.

#[test]
fn a_recording_that_cannot_be_made_changes_nothing() {
    let program = compile("counts.c", "gcc", &["-O1", "-DLIMITED"]);
    let folder = crate::image::folder();
    let there = concat!(env!("CARGO_TARGET_TMPDIR"), "/limited");
    std::fs::create_dir_all(there).expect("a folder");
    let tries = [
        ("ulimit -s 256; ulimit -v 14000", there),
        ("ulimit -f 100", there),
        ("true", "/nowhere/at/all"),
    ];
    for (before, recording) in tries {
        let output = Command::new("sh")
            .args(["-c", &format!("{before}; exec \"$0\"")])
            .arg(&program)
            .env("LD_LIBRARY_PATH", folder)
            .env("ANYORDER_RECORDING", format!("{recording}/"))
            .output()
            .expect("the shell runs");
        assert_eq!(output.status.code(), Some(7), "{before}: {output:?}");
        assert_eq!(output.stdout, b"2000 2000 999\n", "{before}");
    }
    std::fs::remove_dir_all(there).expect("the folder can be removed");
}

/// The runtime reserves address space, and must not ask for more than there is.
#[test]
fn little_address_space_is_enough_to_record() {
    let program = compile("counts.c", "gcc", &["-O1", "-DLITTLE"]);
    let usual = recorded(&program, &[], &[]);
    let writes = |run: &Run| run.recordings.first().map(|one| one.count(kind::WRITE));
    assert!(writes(&usual) > Some(1_000));
    for kilobytes in ["2000000", "600000", "200000", "100000", "60000"] {
        let limited = recorded_by(&program, &[], &[], |command| {
            let line = format!("ulimit -s 1024; ulimit -v {kilobytes}; exec \"$0\"");
            let mut shell = Command::new("sh");
            shell.args(["-c", &line]).arg(command.get_program());
            shell.env_remove("ANYORDER_RECORDING");
            shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            shell.output().expect("the shell runs")
        });
        assert_eq!((&limited.output, limited.status), (&usual.output, usual.status));
        assert_eq!(writes(&limited), writes(&usual), "{kilobytes}");
        assert_eq!(limited.recordings[0].flags & 1, 0, "{kilobytes}");
    }
}
