//! Files appear whole or not at all, and nothing of them is left over.
#![cfg(unix)]

use anyorder_common::files::{AtomicFile, Folder};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

fn write(path: &Path, content: &str) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(content.as_bytes())?;
    file.commit()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_file_appears_when_it_is_committed_and_is_gone_when_it_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(&[b'x'; 200_000]).unwrap();
    assert!(!path.exists());
    assert_eq!(names(folder.path()).len(), 1);
    file.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap().len(), 200_000);
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"y").unwrap();
    drop(file);
    assert_eq!(fs::read(&path).unwrap().len(), 200_000);
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn a_replaced_file_passes_its_mode_on_and_a_new_one_has_that_of_any() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    let path = folder.path().join("a");
    write(&path, "1").unwrap();
    assert_eq!(mode(&path), mode(&plain), "that of `fs::write`");
    for kept in [0o600, 0o640, 0o755, 0o444, 0o666, 0o4755] {
        fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
        write(&path, "2").unwrap();
        assert_eq!(mode(&path), kept, "{kept:o}");
    }
}

/// A file that is replaced may be private: the unfinished file is readable by nobody else.
#[test]
fn an_unfinished_file_is_private_where_it_replaces_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    write(&path, "1").unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"secret").unwrap();
    let part = names(folder.path()).into_iter().find(|name| name.ends_with(".part")).unwrap();
    assert_eq!(mode(&folder.path().join(part)), 0o600);
}

#[test]
fn links_stay_and_their_targets_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // A relative link to a link to another folder, and one whose target is not there yet.
    let target = other.path().join("target");
    fs::write(&target, "old").unwrap();
    symlink(&target, at("second")).unwrap();
    symlink("second", at("first")).unwrap();
    symlink("new", at("dangling")).unwrap();
    write(&at("first"), "content").unwrap();
    write(&at("dangling"), "content").unwrap();
    for link in ["first", "second", "dangling"] {
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
        assert_eq!(fs::read_to_string(at(link)).unwrap(), "content", "{link}");
    }
    assert_eq!(names(other.path()), ["target"]);
    assert_eq!(names(folder.path()), ["dangling", "first", "new", "second"]);
    symlink("circle", at("circle")).unwrap();
    let error = write(&at("circle"), "content").unwrap_err();
    assert!(error.to_string().contains("symbolic links"), "{error}");
    symlink("gone/file", at("nowhere")).unwrap();
    assert_eq!(write(&at("nowhere"), "x").unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn other_hard_links_keep_the_old_content() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a"), "old").unwrap();
    fs::hard_link(at("a"), at("b")).unwrap();
    write(&at("a"), "new").unwrap();
    assert_eq!(fs::read_to_string(at("a")).unwrap(), "new");
    assert_eq!(fs::read_to_string(at("b")).unwrap(), "old");
}

#[test]
fn folders_are_refused_and_devices_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let error = write(folder.path(), "x").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    write(Path::new("/dev/null"), "x").unwrap();
    let error = write(Path::new("/dev/full"), "x").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    let link = folder.path().join("null");
    symlink("/dev/null", &link).unwrap();
    write(&link, "x").unwrap();
    assert_eq!(names(folder.path()), ["null"]);
    let error = write(&folder.path().join("missing/a"), "x").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(write(Path::new("/proc/anyorder"), "x").is_err());
}

/// A file that someone has open is not replaced under their hands.
#[test]
fn a_link_to_an_open_file_writes_into_it() {
    use std::os::fd::AsRawFd;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let mut open = fs::File::create(&path).unwrap();
    open.write_all(b"before ").unwrap();
    let link = format!("/dev/fd/{}", open.as_raw_fd());
    if Path::new(&link).exists() {
        let inode = fs::metadata(&path).unwrap().ino();
        write(Path::new(&link), "after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "before after");
        assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
    }
}

#[test]
fn files_of_dead_writers_are_removed_and_those_of_live_ones_stay() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at(".anyorder-1-0.part"), "dead").unwrap();
    fs::write(at(".anyorder-AbC123.part"), "dead").unwrap();
    // These are not ours, or no files.
    fs::write(at(".anyorder-notes"), "").unwrap();
    fs::write(at("result.part"), "").unwrap();
    fs::create_dir(at(".anyorder-folder.part")).unwrap();
    symlink("result.part", at(".anyorder-link.part")).unwrap();
    fs::write(at(".anyorder-live.part"), "").unwrap();
    let held = at(".anyorder-live.part");
    // Another process, because the lock of one process may count as that of its own.
    let mut holder = Command::new("flock")
        .args(["--exclusive", "--no-fork", held.to_str().unwrap()])
        .args(["sh", "-c", "echo held; read line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("flock is part of util-linux");
    let mut said = [0; 5];
    io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut said).unwrap();
    write(&at("a"), "x").unwrap();
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let left = [
        ".anyorder-folder.part",
        ".anyorder-link.part",
        ".anyorder-live.part",
        ".anyorder-notes",
        "a",
        "result.part",
    ];
    assert_eq!(names(folder.path()), left);
}

#[test]
fn a_folder_gets_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/c");
    let mut out = Folder::create(&path).unwrap();
    for name in ["1", "2"] {
        out.write(name, &mut |file| file.write_all(name.as_bytes())).unwrap();
    }
    out.write("2", &mut |_| Err(io::Error::other("no"))).unwrap_err();
    out.finish().unwrap();
    assert_eq!(names(&path), ["1", "2"]);
    assert_eq!(fs::read_to_string(path.join("2")).unwrap(), "2");
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(Folder::create(&folder.path().join("file/x")).is_err());
}

/// Threads write into one folder while others begin there and search it.
#[test]
fn writers_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                for round in 0..50 {
                    let path = folder.join(format!("{}", (thread + round) % 3));
                    write(&path, "content").unwrap();
                    assert_eq!(fs::read_to_string(&path).unwrap(), "content");
                }
            });
        }
    });
    assert_eq!(names(folder.path()), ["0", "1", "2"]);
}

#[test]
fn many_files_of_a_folder_appear_whole_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut out = Folder::create(folder.path()).unwrap();
    // The last of the same name wins; one that fails leaves no trace.
    for number in 0..1_000 {
        let name = format!("{}", number % 700);
        out.write(&name, &mut |file| write!(file, "{number}")).unwrap();
    }
    assert!(out.write("bad", &mut |_| Err(std::io::Error::other("no"))).is_err());
    out.finish().unwrap();
    for number in 0..700 {
        let text = fs::read_to_string(folder.path().join(number.to_string())).unwrap();
        let last = if number < 300 { number + 700 } else { number };
        assert_eq!(text, last.to_string());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 700);
}

#[test]
fn files_that_wait_for_their_names_vanish_with_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut out = Folder::create(folder.path()).unwrap();
    for number in 0..20 {
        out.write(&number.to_string(), &mut |file| write!(file, "x")).unwrap();
    }
    drop(out);
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("part")));
}
