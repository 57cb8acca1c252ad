//! Makes the seeds that the checkout does not hold: beginnings of the real traces in `../shared`, where they are, and
//! native binary and text files of them.
//!
//! `cargo run --release --example seeds -- corpus` (see README.md for the flags).

use anyorder_trace::detect::Format;
use anyorder_trace::format::native_binary::BinaryWriter;
use anyorder_trace::format::native_text::NativeTextWriter;
use anyorder_trace::open::{OpenOptions, open};
use anyorder_trace::{Trace, TraceSource};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The bytes of a seed: fuzzers do best with small ones.
const SEED_BYTES: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let corpus = PathBuf::from(std::env::args_os().nth(1).ok_or("which folder is the corpus?")?);
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let real = [
        ("std", Format::Std, "data/native/memcached/trace.std"),
        ("std", Format::Std, "data/native/pbzip2/trace.std"),
        ("droidracer", Format::DroidRacer, "data/droidracer/RemindMe/trace.txt"),
        ("droidracer", Format::DroidRacer, "data/droidracer/twitter/trace.txt"),
    ];
    for (target, format, path) in real {
        match fs::read(shared.join(path)) {
            Ok(bytes) => {
                for (part, text) in cuts(&bytes).into_iter().enumerate() {
                    seeds(
                        &corpus,
                        target,
                        format,
                        &format!("{}-{part}", path.replace('/', "_")),
                        text,
                    )?;
                }
            }
            Err(error) => eprintln!("{path} skipped: {error}"),
        }
    }
    let small = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds");
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    for entry in fs::read_dir(small)?.chain(fs::read_dir(examples)?) {
        let path = entry?.path();
        if !path.is_file() {
            continue;
        }
        let bytes = fs::read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (target, format) = match path.extension().and_then(|ext| ext.to_str()) {
            Some("edtrace") => ("edtrace", Format::Edtrace),
            Some("txt") => ("droidracer", Format::DroidRacer),
            Some("std") => ("std", Format::Std),
            _ => ("native_text", Format::NativeText),
        };
        seeds(&corpus, target, format, &name, &bytes)?;
    }
    Ok(())
}

/// The beginning of a file and a part from its middle, cut at line ends.
fn cuts(bytes: &[u8]) -> Vec<&[u8]> {
    let from = |start: usize| {
        let start = bytes[start..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(start, |at| start + at + 1);
        let cut = &bytes[start..bytes.len().min(start + SEED_BYTES)];
        &cut[..cut.iter().rposition(|byte| *byte == b'\n').map_or(cut.len(), |at| at + 1)]
    };
    let beginning = &bytes[..bytes.len().min(SEED_BYTES)];
    let end =
        beginning.iter().rposition(|byte| *byte == b'\n').map_or(beginning.len(), |at| at + 1);
    vec![&beginning[..end], from(bytes.len() / 3), from(bytes.len() / 2)]
}

/// Puts a text into the corpus of its target and of `detect`, and what it reads as into those of the native formats.
fn seeds(
    corpus: &Path,
    target: &str,
    format: Format,
    name: &str,
    text: &[u8],
) -> Result<(), Box<dyn Error>> {
    let put = |target: &str, name: &str, bytes: &[u8]| {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)
    };
    put(target, name, text)?;
    put("detect", name, text)?;
    let mut source: Box<dyn TraceSource + '_> =
        open(format, Box::new(text), &OpenOptions::default())?;
    let Ok(trace) = Trace::read(&mut *source) else {
        eprintln!("{name}: a seed that does not read");
        return Ok(());
    };
    let mut binary = Vec::new();
    trace.write(&mut BinaryWriter::new(&mut binary)?)?;
    put("binary", name, &binary)?;
    put("binary", &format!("{name}-contents"), &anyorder_fuzz::frames::contents(&binary))?;
    put("detect", &format!("{name}-binary"), &binary)?;
    let mut native = Vec::new();
    trace.write(&mut NativeTextWriter::new(&mut native))?;
    put("native_text", &format!("{name}-text"), &native)?;
    Ok(())
}
