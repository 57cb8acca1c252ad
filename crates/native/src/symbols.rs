//! Names places in code: function, file, line, with inlined functions.
//!
//! A mapped address becomes a position in a file by the copies of `/proc/self/maps`, that becomes
//! an address of the program as it was linked by the program headers of the file, and that a
//! position in the source by the tables of the compiler. Without them there are the symbols, and at
//! last the name of the file.

use crate::recording::{Module, Modules};
use crate::to_trace::{Frame, Names};
use crate::variables::{Global, Variables};
use addr2line::{Loader, demangle_auto};
use anyorder_common::files::{Source, never_stop};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Names places by the files that were mapped.
pub struct Symbols<'a> {
    modules: &'a Modules,
    /// Paths below it are shown without it.
    folder: PathBuf,
    files: FxHashMap<String, Option<Program>>,
    known: FxHashMap<u64, Vec<Frame>>,
    sources: Sources,
}

/// The source files of frames, by the names that frames have for them.
pub type Sources = BTreeMap<String, SourceFile>;

/// A source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// Its path, as the compiler wrote it.
    pub path: PathBuf,
    /// The program or library that was built of it.
    pub program: PathBuf,
}

/// A program or library.
struct Program {
    loader: Loader,
    /// Position in the file, size there, and address, of each loaded segment.
    segments: Vec<(u64, u64, u64)>,
    /// Its variables, once they were asked for.
    variables: OnceCell<Option<Variables>>,
}

impl<'a> Symbols<'a> {
    /// Names places in modules. Files are read when a place in them is first asked for.
    #[must_use]
    pub fn new(modules: &'a Modules, folder: PathBuf) -> Symbols<'a> {
        Symbols {
            modules,
            folder,
            files: FxHashMap::default(),
            known: FxHashMap::default(),
            sources: Sources::new(),
        }
    }

    /// Returns the source files of all frames so far.
    #[must_use]
    pub const fn sources(&self) -> &Sources {
        &self.sources
    }

    fn find(&mut self, address: u64) -> Vec<Frame> {
        let modules = self.modules;
        let Some(module) = modules.find(address).filter(|module| module.path.starts_with('/'))
        else {
            return Vec::new();
        };
        let file = self.files.entry(module.path.clone()).or_insert_with(|| Program::open(module));
        let mut frames = match file {
            Some(file) => file.frames(address - module.start + module.offset),
            None => Vec::new(),
        };
        let library = || {
            let name = Path::new(&module.path).file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        if library().starts_with("libtsan.so") || library().starts_with("libclang_rt.tsan") {
            // The runtime itself.
            return Vec::new();
        }
        if frames.is_empty() {
            frames.push(Frame::default());
        }
        for frame in &mut frames {
            if frame.file.is_empty() {
                (frame.file, frame.line, frame.column) = (library(), 0, 0);
                continue;
            }
            let path = PathBuf::from(&frame.file);
            frame.file = self.shown(&frame.file);
            if !self.sources.contains_key(&frame.file) {
                let program = PathBuf::from(&module.path);
                self.sources.insert(frame.file.clone(), SourceFile { path, program });
            }
        }
        frames
    }

    /// Returns the name of a file in frames: below the folder without it.
    fn shown(&self, file: &str) -> String {
        match Path::new(file).strip_prefix(&self.folder) {
            Ok(below) => below.to_string_lossy().into_owned(),
            Err(_) => file.to_owned(),
        }
    }
}

impl Symbols<'_> {
    /// Returns the file whose loaded data have an address, its path, and the address as it was
    /// linked.
    fn of_data(&mut self, address: u64) -> Option<(&Program, &'_ Path, u64)> {
        let modules = self.modules;
        let module = modules.find_data(address)?;
        let file = self.files.entry(module.path.clone()).or_insert_with(|| Program::open(module));
        let program = file.as_ref()?;
        let linked = address.wrapping_sub(modules.find_first(module)?.start);
        Some((program, Path::new(&module.path), linked.wrapping_add(program.first_address())))
    }

    /// Returns the static variable at an address, with the member of it that has at least so many
    /// bytes there: by the debugging information of its file, else by the symbols. The first call
    /// for a file reads all of its debugging information.
    #[must_use]
    pub fn global(&mut self, address: u64, bytes: u64) -> Option<Global> {
        let (program, path, linked) = self.of_data(address)?;
        let variables = program.variables.get_or_init(|| Variables::read(path));
        let known = variables.as_ref().and_then(|variables| variables.find(linked, bytes));
        let mut global = match known {
            Some(global) => global,
            None => Global { name: self.find_variable(address)?, ..Global::default() },
        };
        global.file = self.shown(&clean(&global.file));
        Some(global)
    }

    /// Returns the name of the variable at an address in the loaded data of a file.
    fn find_variable(&mut self, address: u64) -> Option<String> {
        let (program, _, linked) = self.of_data(address)?;
        let symbol = program.loader.find_symbol_info(linked)?;
        let name = demangled(symbol.name());
        match linked - symbol.address() {
            0 => Some(name),
            inside => Some(format!("{name}+{inside}")),
        }
    }
}

impl Names for Symbols<'_> {
    fn variable(&mut self, address: u64) -> Option<String> {
        self.find_variable(address)
    }

    fn frames(&mut self, address: u64) -> Vec<Frame> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let found = self.find(address);
        self.known.insert(address, found.clone());
        found
    }
}

impl Program {
    fn open(module: &Module) -> Option<Program> {
        // A device may be mapped: reading it may do something.
        let source = Source::open(Path::new(&module.path), never_stop).ok()?;
        source.size()?;
        let mut head = Vec::new();
        source.take(1 << 16).read_to_end(&mut head).ok()?;
        let segments = segments(&head)?;
        let loader = Loader::new(&module.path).ok()?;
        Some(Program { loader, segments, variables: OnceCell::new() })
    }

    /// Returns the address of the first loaded segment, as it was linked.
    fn first_address(&self) -> u64 {
        self.segments.first().map_or(0, |(_, _, address)| *address & !0xfff)
    }

    fn frames(&self, position: u64) -> Vec<Frame> {
        let inside = |(from, size, _): &&(u64, u64, u64)| position.wrapping_sub(*from) < *size;
        let Some((from, _, address)) = self.segments.iter().find(inside) else {
            return Vec::new();
        };
        let address = address.wrapping_add(position - from);
        let mut frames = Vec::new();
        if let Ok(mut found) = self.loader.find_frames(address) {
            while let Ok(Some(frame)) = found.next() {
                let name = frame.function.as_ref().and_then(|name| name.demangle().ok());
                let place = frame.location.as_ref();
                frames.push(Frame {
                    function: name.map(Cow::into_owned).unwrap_or_default(),
                    file: place.and_then(|at| at.file).map(clean).unwrap_or_default(),
                    line: place.and_then(|at| at.line).unwrap_or(0),
                    column: place.and_then(|at| at.column).unwrap_or(0),
                });
            }
        }
        let unnamed = frames.last().is_none_or(|frame| frame.function.is_empty());
        if unnamed && let Some(symbol) = self.loader.find_symbol(address) {
            let function = demangled(symbol);
            match frames.last_mut() {
                Some(last) => last.function = function,
                None => frames.push(Frame { function, ..Frame::default() }),
            }
        }
        frames
    }
}

/// Returns a symbol as its author wrote it. One that has no prefix of a language is of C: it could
/// be read as a type of C++.
fn demangled(symbol: &str) -> String {
    match symbol.starts_with("_Z") || symbol.starts_with("_R") {
        true => demangle_auto(Cow::Borrowed(symbol), None).into_owned(),
        false => symbol.to_owned(),
    }
}

/// Takes `.` and `..` out of a path, as the compiler wrote it.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the loaded segments of an ELF file of 64 bits: position, size in the file, address.
fn segments(head: &[u8]) -> Option<Vec<(u64, u64, u64)>> {
    const LOAD: u64 = 1;
    let number = |at: usize, size: usize| {
        let bytes = head.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    if head.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let mut found = Vec::new();
    for index in 0..count {
        let at = usize::try_from(start.checked_add(index * size)?).ok()?;
        if number(at, 4)? == LOAD {
            found.push((number(at + 8, 8)?, number(at + 32, 8)?, number(at + 16, 8)?));
        }
    }
    Some(found)
}
