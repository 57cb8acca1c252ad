//! Bytes from outside have a bound, and waiting for them has an end.
#![cfg(unix)]

use anyorder_common::files::{
    FileError, FileKind, Source, never_stop, open_regular, read, read_found, read_rest, text_of,
};
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

const KIND: FileKind = FileKind { name: "a list", bytes_max: 1 << 20 };

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

#[test]
fn what_is_too_large_is_refused_at_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
    assert_eq!(read(&path, KIND, never_stop).unwrap().len(), 1 << 20);
    fs::write(&path, vec![b'x'; (1 << 20) + 1]).unwrap();
    let error = read(&path, KIND, never_stop).unwrap_err();
    assert_eq!(error.to_string(), "larger than 1 MiB, expected a list");
    assert!(matches!(read_found(&path, KIND, never_stop), Err(FileError::TooLarge(_))));
    // A device without end, and a stream after its first bytes.
    let endless = read(Path::new("/dev/zero"), KIND, never_stop);
    assert!(matches!(endless, Err(FileError::TooLarge(_))));
    let small = FileKind { bytes_max: 3, ..KIND };
    assert_eq!(read_rest(&b"cd"[..], b"a".to_vec(), small, never_stop).unwrap(), b"acd");
    let error = read_rest(&b"cd"[..], b"ab".to_vec(), small, never_stop).unwrap_err();
    assert_eq!(error.to_string(), "larger than 3 bytes, expected a list");
}

#[test]
fn files_that_nobody_named_are_regular_ones() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(read_found(&at("none"), KIND, never_stop).unwrap().is_none());
    make_pipe(&at("pipe"));
    for path in [at("pipe"), "/dev/zero".into(), folder.path().to_owned()] {
        let error = read_found(&path, KIND, never_stop).unwrap_err();
        assert!(matches!(error, FileError::NotRegular), "{}", path.display());
        assert!(open_regular(&path).is_err(), "{}", path.display());
    }
    fs::write(at("file"), "x").unwrap();
    assert_eq!(read_found(&at("file"), KIND, never_stop).unwrap().unwrap(), b"x");
}

#[test]
fn texts_that_are_not_utf8_name_the_line() {
    assert_eq!(text_of(b"ab".to_vec()).unwrap(), "ab");
    let error = text_of(b"a\nb\xff".to_vec()).unwrap_err();
    assert_eq!(error.to_string(), "line 2: not UTF-8");
}

/// A pipe is read to its end, whenever its writer comes and however slow it is.
#[test]
fn pipes_are_read_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    make_pipe(&path);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(120));
            let mut pipe = fs::OpenOptions::new().write(true).open(&path).unwrap();
            for _ in 0..3 {
                pipe.write_all(b"part ").unwrap();
                std::thread::sleep(std::time::Duration::from_millis(70));
            }
        });
        assert_eq!(read(&path, KIND, never_stop).unwrap(), b"part part part ");
    });
}

/// A pipe without a writer does not block what can be stopped.
#[test]
fn waiting_can_be_stopped() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    fn ask() -> io::Result<()> {
        match ASKED.fetch_add(1, Ordering::Relaxed) {
            0..3 => Ok(()),
            _ => Err(io::Error::other("stopped")),
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    make_pipe(&path);
    let mut source = Source::open(&path, ask).unwrap();
    assert_eq!(source.read(&mut [0; 8]).unwrap_err().to_string(), "stopped");
    assert_eq!(ASKED.load(Ordering::Relaxed), 4);
}
