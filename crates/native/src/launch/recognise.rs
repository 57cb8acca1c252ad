//! Finds out how a program was built.

use super::rust;
use crate::recording::Modules;
use object::elf::{DT_NEEDED, EM_X86_64, FileHeader64};
use object::read::elf::{Dyn, ElfFile64, FileHeader};
use object::{Endianness, Object, ObjectSymbol, ReadCache, ReadRef};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How a program was built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Build {
    /// With ThreadSanitizer, whose shared runtime is replaced by ours.
    Sanitized {
        /// Whether it loads the runtime itself, and before the libraries of whose functions the
        /// runtime has its own.
        loads_runtime: bool,
    },
    /// Without it: accesses are not seen.
    Plain,
    /// A script; the interpreter was built like this.
    Script(Box<Build>),
}

impl Build {
    /// Returns whether the runtime must be loaded before all else: the program does not ask for it,
    /// or asks for it too late.
    pub(super) fn needs_preload(&self) -> bool {
        !matches!(self, Build::Sanitized { loads_runtime: true })
    }

    /// Returns whether accesses of the program itself are recorded.
    #[must_use]
    pub fn sees_accesses(&self) -> bool {
        matches!(self, Build::Sanitized { .. })
    }
}

/// Why a program cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is no such program.
    #[error("no such program")]
    NotFound,
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is no program of this kind of machine.
    #[error("expected a program for Linux on x86-64, or a script")]
    Foreign,
    /// The runtime of ThreadSanitizer is a part of it.
    #[error("it contains the runtime of ThreadSanitizer, which cannot be replaced")]
    Static,
    /// It loads no libraries, and so no runtime.
    #[error("it is linked statically, so no runtime can be loaded into it")]
    NoLoader,
}

/// A program, and what it is.
pub type Recognised = Result<Build, Refusal>;

/// Finds a program as a shell does: a name without a slash in the folders of `PATH`.
#[must_use]
pub fn find_program(name: &OsStr) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 || name.as_encoded_bytes().contains(&b'/') {
        return Some(path.to_owned());
    }
    let folders = std::env::var_os("PATH")?;
    let candidates = std::env::split_paths(&folders).map(|folder| folder.join(name));
    candidates.into_iter().find(|path| is_executable(path))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// Says which files of code were built with ThreadSanitizer. It reads each file once.
#[derive(Debug, Default)]
pub struct Sanitized {
    known: BTreeMap<String, bool>,
}

impl Sanitized {
    /// Returns whether some code of a process was. A file that cannot be read may be such a one.
    pub fn is_in(&mut self, modules: &Modules) -> bool {
        let code = modules.pieces().iter().filter(|piece| piece.is_code);
        let mut files = code.map(|piece| piece.path.as_str()).filter(|path| {
            let name = path.rsplit('/').next().unwrap_or_default();
            path.starts_with('/') && !is_runtime(name)
        });
        files.any(|path| match self.known.get(path) {
            Some(known) => *known,
            None => {
                let build = recognise(Path::new(path));
                let is = !matches!(build, Ok(Build::Plain) | Err(Refusal::NoLoader));
                self.known.insert(path.to_owned(), is);
                is
            }
        })
    }
}

/// Finds out how a program was built. Reads its headers and its symbols only.
///
/// # Errors
///
/// Fails for a program that cannot be recorded.
pub fn recognise(program: &Path) -> Recognised {
    recognise_within(program, 4)
}

/// `depth` bounds how often an interpreter may be a script itself.
fn recognise_within(program: &Path, depth: u32) -> Recognised {
    let meta = program.metadata().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Refusal::NotFound,
        _ => Refusal::Io(error),
    })?;
    if !meta.is_file() {
        return Err(Refusal::Foreign);
    }
    let mut file = File::open(program)?;
    let mut head = Vec::new();
    file.by_ref().take(512).read_to_end(&mut head)?;
    if head.starts_with(b"#!") {
        let line = head[2..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line).into_owned();
        let mut words = line.split_ascii_whitespace();
        let interpreter = words.next().ok_or(Refusal::Foreign)?;
        let by_env = Path::new(interpreter).ends_with("env");
        let named = if by_env { words.find(|word| !word.starts_with('-')) } else { None };
        let interpreter = match named {
            Some(name) => find_program(OsStr::new(name)).ok_or(Refusal::NotFound)?,
            None => PathBuf::from(interpreter),
        };
        let of = match depth {
            0 => return Err(Refusal::Foreign),
            _ => recognise_within(&interpreter, depth - 1)?,
        };
        return Ok(Build::Script(Box::new(of)));
    }
    if !head.starts_with(b"\x7fELF") {
        return Err(Refusal::Foreign);
    }
    of_elf(&ReadCache::new(file)).unwrap_or(Err(Refusal::Foreign))
}

/// Returns whether a file has code in Rust that was built for ThreadSanitizer, with a standard
/// library that was not: what that orders is not seen. `false` where the file does not tell, as
/// one without symbols. Reads its symbols, and one function.
#[must_use]
pub fn lacks_instrumented_std(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    rust::lacks_instrumented_std(&ReadCache::new(file)).unwrap_or(false)
}

/// Returns whether a library with this name is a runtime of ThreadSanitizer, or ours in its place.
fn is_runtime(name: &str) -> bool {
    name.starts_with("libtsan.so") || name.starts_with("libclang_rt.tsan")
}

/// The libraries with functions that the runtime replaces: it must be found before them.
const REPLACED: [&str; 2] = ["libc.so", "libpthread.so"];

/// Each instrumented function, and each file with one, calls these.
const ASKED_FOR: [&str; 2] = ["__tsan_init", "__tsan_func_entry"];

fn of_elf<'a, R: ReadRef<'a>>(data: R) -> object::Result<Recognised> {
    let header = FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    if header.e_machine.get(endian) != EM_X86_64 {
        return Ok(Err(Refusal::Foreign));
    }
    let sections = header.sections(endian, data)?;
    let (mut has_loader, mut loads_runtime) = (false, true);
    if let Some((entries, index)) = sections.dynamic(endian, data)? {
        let strings = sections.strings(endian, data, index)?;
        has_loader = true;
        for entry in entries {
            if entry.tag(endian) != DT_NEEDED {
                continue;
            }
            let name = entry.string(endian, strings)?;
            let name = String::from_utf8_lossy(name).into_owned();
            if is_runtime(&name) {
                return Ok(Ok(Build::Sanitized { loads_runtime }));
            }
            loads_runtime &= !REPLACED.iter().any(|library| name.starts_with(library));
        }
    }
    let file = ElfFile64::<Endianness, R>::parse(data)?;
    let has_runtime = |symbol: object::read::elf::ElfSymbol64<'a, '_, Endianness, R>| {
        symbol.is_definition() && symbol.name() == Ok("__tsan_init")
    };
    if file.symbols().any(has_runtime) || file.dynamic_symbols().any(has_runtime) {
        return Ok(Err(Refusal::Static));
    }
    let asks_for_runtime = |symbol: object::read::elf::ElfSymbol64<'a, '_, Endianness, R>| {
        symbol.is_undefined() && symbol.name().is_ok_and(|name| ASKED_FOR.contains(&name))
    };
    if has_loader && file.dynamic_symbols().any(asks_for_runtime) {
        return Ok(Ok(Build::Sanitized { loads_runtime: false }));
    }
    Ok(if has_loader { Ok(Build::Plain) } else { Err(Refusal::NoLoader) })
}
