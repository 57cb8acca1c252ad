//! A program that ends in the middle of its work removes its unfinished files. That is tested in a
//! process of its own, because it removes those of all tests.

use anyorder_common::files::{AtomicFile, end_files, remove_unfinished};
use std::fs;
use std::io::Write;
use std::process::Command;

/// Set in the process of its own.
const ALONE: &str = "ANYORDER_TEST_UNFINISHED";

#[test]
fn all_unfinished_files_of_the_process_are_removed() {
    if std::env::var_os(ALONE).is_none() {
        let mut alone = Command::new(std::env::current_exe().unwrap());
        alone.args(["--exact", "unfinished::all_unfinished_files_of_the_process_are_removed"]);
        let output = alone.env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut open = Vec::new();
    for name in ["a", "b"] {
        let mut file = AtomicFile::create(&folder.path().join(name)).unwrap();
        file.write_all(b"half").unwrap();
        open.push(file);
    }
    let count = || fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(count(), 2);
    remove_unfinished();
    assert_eq!(count(), 0);
    for file in open {
        assert!(file.commit().is_err());
    }
    assert_eq!(count(), 0);
    // Files that begin later are as any.
    let file = AtomicFile::create(&folder.path().join("c")).unwrap();
    file.commit().unwrap();
    assert_eq!(count(), 1);
    // At the end of the process, none begins.
    let file = AtomicFile::create(&folder.path().join("d")).unwrap();
    end_files();
    assert_eq!(count(), 1);
    assert!(file.commit().is_err());
    assert!(AtomicFile::create(&folder.path().join("e")).is_err());
    assert_eq!(count(), 1);
}
