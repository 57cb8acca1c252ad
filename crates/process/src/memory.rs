//! The memory of this process, as the system counts it.

use std::fs::File;

/// Reads the resident memory of this process. A reading allocates nothing and takes about a
/// microsecond.
#[derive(Debug)]
pub struct Memory {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has the file"))]
    statm: File,
    page: u64,
}

impl Memory {
    /// Opens the place where the system reports the memory; `None` where it does not.
    #[must_use]
    pub fn open() -> Option<Memory> {
        let memory = Memory { statm: File::open("/proc/self/statm").ok()?, page: page_bytes()? };
        memory.resident_bytes().is_some().then_some(memory)
    }

    /// Returns the resident memory in bytes.
    #[cfg(unix)]
    #[must_use]
    pub fn resident_bytes(&self) -> Option<u64> {
        use std::os::unix::fs::FileExt;
        let mut text = [0; 128];
        let length = self.statm.read_at(&mut text, 0).ok()?;
        // All pages, the resident pages, and others.
        let mut fields = text[..length].split(|byte| *byte == b' ');
        let pages = fields.nth(1)?;
        let pages = pages.iter().try_fold(0_u64, |sum, byte| {
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
            sum.checked_mul(10)?.checked_add(digit)
        })?;
        pages.checked_mul(self.page)
    }

    /// Returns nothing: this system does not report it.
    #[cfg(not(unix))]
    #[must_use]
    pub fn resident_bytes(&self) -> Option<u64> {
        None
    }
}

#[cfg(unix)]
fn page_bytes() -> Option<u64> {
    // SAFETY: the call reads a constant of the system and has no other effect.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(page).ok().filter(|page| *page > 0)
}

#[cfg(not(unix))]
fn page_bytes() -> Option<u64> {
    None
}

/// Returns the memory of the machine in bytes, if the system reports it.
#[cfg(unix)]
#[must_use]
pub fn machine_bytes() -> Option<u64> {
    // SAFETY: the call reads a property of the machine and has no other effect.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    u64::try_from(pages).ok()?.checked_mul(page_bytes()?)
}

/// Returns nothing: this system does not report it.
#[cfg(not(unix))]
#[must_use]
pub fn machine_bytes() -> Option<u64> {
    None
}

/// Returns the peak of the resident memory in bytes, if the system reports it.
#[must_use]
pub fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_touched_is_resident() {
        const BYTES: usize = 64 << 20;
        let memory = Memory::open().unwrap();
        let before = memory.resident_bytes().unwrap();
        let touched = std::hint::black_box(vec![1_u8; BYTES]);
        let after = memory.resident_bytes().unwrap();
        assert!(after >= before + BYTES as u64 * 9 / 10, "{before} {after}");
        assert!(peak_bytes().unwrap() >= BYTES as u64);
        drop(touched);
    }
}
