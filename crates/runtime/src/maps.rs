//! The list of modules: `/proc/self/maps`, copied as it is.

use crate::c;
use crate::record;
use core::mem::MaybeUninit;

const BUFFER: usize = 2048;
/// The limit of the size of files from which on lists are written.
const FILE_BYTES_MIN: u64 = 64 << 20;

/// Appends the list of modules, as it is now, to the file beside the recording.
pub(crate) fn copy() {
    let path = record::maps_path();
    // A write beyond the limit of the size of files would end the process.
    if path == 0 || c::soft_limit(c::RLIMIT_FSIZE) < FILE_BYTES_MIN {
        return;
    }
    let flags = c::O_WRONLY | c::O_CREAT | c::O_APPEND | c::O_CLOEXEC;
    let to = c::call(c::SYS_OPENAT, &[c::AT_FDCWD, path, flags, 0o644]);
    if to < 0 {
        return;
    }
    let to = to as usize;
    let heading = b"# maps\n";
    c::call(c::SYS_WRITE, &[to, heading.as_ptr() as usize, heading.len()]);
    read(c"/proc/self/maps".as_ptr() as usize, |part| {
        let mut done = 0;
        while done < part.len() {
            let rest = &part[done..];
            let wrote = c::call(c::SYS_WRITE, &[to, rest.as_ptr() as usize, rest.len()]);
            if wrote <= 0 {
                return false;
            }
            done += wrote as usize;
        }
        true
    });
    c::call(c::SYS_CLOSE, &[to]);
}

/// Reads a file in parts until its end, or until the reader has enough.
pub(crate) fn read(path: usize, mut reader: impl FnMut(&[u8]) -> bool) {
    let flags = c::O_RDONLY | c::O_CLOEXEC;
    let from = c::call(c::SYS_OPENAT, &[c::AT_FDCWD, path, flags, 0]);
    if from < 0 {
        return;
    }
    let from = from as usize;
    // Not set to zeros: the compiler would call the `memset` that the program calls.
    let mut buffer = MaybeUninit::<[u8; BUFFER]>::uninit();
    loop {
        let count = c::call(c::SYS_READ, &[from, buffer.as_mut_ptr() as usize, BUFFER]);
        if count == -c::EINTR {
            continue;
        }
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: the kernel has written so many bytes.
        let part = unsafe { core::slice::from_raw_parts(buffer.as_ptr().cast(), count) };
        if count == 0 || !reader(part) {
            break;
        }
    }
    c::call(c::SYS_CLOSE, &[from]);
}

/// Returns where the mapping with an address begins and ends; nothing if there is none.
pub(crate) fn mapping_of(address: usize) -> (usize, usize) {
    let mut found = (0, 0);
    let (mut start, mut number, mut field) = (0, 0_usize, 0);
    read(c"/proc/self/maps".as_ptr() as usize, |part| {
        for byte in part {
            match (byte, field) {
                (b'\n', _) => (number, field) = (0, 0),
                (b'-', 0) => {
                    start = number;
                    (number, field) = (0, 1);
                }
                (b' ', 1) => {
                    if (start..number).contains(&address) {
                        found = (start, number);
                        return false;
                    }
                    field = 2;
                }
                (_, 0 | 1) => {
                    let digit = (*byte as char).to_digit(16).unwrap_or(0);
                    number = number << 4 | digit as usize;
                }
                _ => {}
            }
        }
        true
    });
    found
}
