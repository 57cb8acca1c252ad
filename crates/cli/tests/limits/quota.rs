//! A quota on the size of files, and programs that leave others behind.

use super::common::{NOTES, folder, path};
use super::{PATIENCE, ended, start};
use std::process::Command;
use std::time::Instant;

/// Runs the binary in a shell that allows files of one block only.
fn with_quota(words: &[&str]) -> super::common::Ran {
    let line = "ulimit -f 1; exec \"$0\" \"$@\"";
    let binary = assert_cmd::cargo::cargo_bin("anyorder");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(line).arg(binary).args(words);
    shell.current_dir(super::common::workspace());
    ended(start(&mut shell))
}

#[test]
fn a_file_that_passes_the_quota_is_an_error_and_leaves_nothing() {
    let folder = folder();
    let out = path(&folder, "out");
    for (words, file) in [
        (&["check", NOTES, "--format", "json", "-o", &out][..], &out),
        (&["check", NOTES, "--report", &out], &out),
        (&["check", NOTES, "--write-baseline", &out], &out),
        (&["predict", NOTES, "--schedules", &out], &out),
        (&["convert", NOTES, &out, "--to", "text"], &out),
        (&["generate", "flat", "--size", "100", "-o", &out], &out),
        (&["consistency", NOTES, "--witness", &out], &out),
    ] {
        let ran = with_quota(words);
        if ran.status < 2 {
            // The file was small enough.
            assert!(words.contains(&"--write-baseline") || words.contains(&"--witness"), "{ran:?}");
        } else {
            assert_eq!(ran.status, 2, "{words:?}: {ran:?}");
            assert!(ran.stderr.contains(file), "{words:?}: {ran:?}");
            assert!(ran.stderr.to_lowercase().contains("large"), "{words:?}: {ran:?}");
        }
        let left = parts(folder.path());
        assert!(left.is_empty(), "{words:?}: {left:?}");
        let _ = std::fs::remove_file(&out);
        let _ = std::fs::remove_dir_all(&out);
    }
}

/// The unfinished files in a folder and in those inside it.
fn parts(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(parts(&entry.path()));
        } else if name.ends_with(".part") {
            found.push(name);
        }
    }
    found
}

/// Whether a process runs.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, None | Some(None | Some('Z' | 'X')))
}

#[test]
fn what_a_program_starts_in_a_session_of_its_own_ends_with_it() {
    if Command::new("setsid").arg("true").status().is_err() {
        eprintln!("skipped: there is no setsid");
        return;
    }
    let folder = folder();
    for (at, (leave, then)) in [
        // The program ends by itself.
        ("setsid sleep 600 & echo $! > FILE", "echo no protocol"),
        ("(setsid sleep 600 & echo $! > FILE)", "echo no protocol"),
        // It goes on until the limit, and its child knows nothing of it.
        ("env -i setsid sleep 600 & echo $! > FILE", "sleep 600"),
        // Its child has children.
        ("setsid sh -c 'sleep 600 & echo $! > FILE; sleep 600' &", "sleep 600"),
    ]
    .into_iter()
    .enumerate()
    {
        let pid_file = path(&folder, &format!("pid{at}"));
        let script = path(&folder, &format!("program{at}.sh"));
        let wait = format!("while ! test -s {pid_file}; do sleep 0.01; done");
        let text = format!("{}\n{wait}\n{then}\n", leave.replace("FILE", &pid_file));
        std::fs::write(&script, text).expect("the script");
        let program = format!("sh {script}");
        let words = ["explore", "--program", &program, "--time-limit", "2s"];
        let ran = ended(start(&mut super::common::command(&words)));
        assert!(ran.status == 2 || ran.status == 3, "{ran:?}");
        let pid = std::fs::read_to_string(&pid_file).expect("the program ran");
        let since = Instant::now();
        while runs(pid.trim()) {
            assert!(since.elapsed() < PATIENCE / 10, "{leave}: it still runs");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
