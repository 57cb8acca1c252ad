//! Makes the seeds that the checkout does not hold: beginnings of the recorded runs in `data`,
//! native binary and text files of them, the models of the checkout, and small traces and bytecode made up.
//!
//! `cargo run --release --example seeds -- corpus` (see README.md for the flags).

use anyorder_formats::detect::Format;
use anyorder_formats::native_binary::BinaryWriter;
use anyorder_formats::native_text::NativeTextWriter;
use anyorder_formats::open::{OpenOptions, open};
use anyorder_trace::{Trace, TraceSource};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The bytes of a seed: fuzzers do best with small ones.
const SEED_BYTES: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let corpus = PathBuf::from(std::env::args_os().nth(1).ok_or("which folder is the corpus?")?);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let real = [
        ("std", Format::Std, "data/native/memcached/trace.std"),
        ("std", Format::Std, "data/native/pbzip2/trace.std"),
        ("droidracer", Format::DroidRacer, "data/droidracer/RemindMe/trace.txt"),
        ("droidracer", Format::DroidRacer, "data/droidracer/twitter/trace.txt"),
    ];
    for (target, format, path) in real {
        match fs::read(root.join(path)) {
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
            Some(kind @ ("pipe" | "proof")) => {
                put(&corpus, kind, &name, &bytes)?;
                continue;
            }
            Some("edtrace") => {
                put(&corpus, "consistency", &name, &bytes)?;
                ("edtrace", Format::Edtrace)
            }
            Some("txt") => ("droidracer", Format::DroidRacer),
            Some("std") => ("std", Format::Std),
            _ => ("native_text", Format::NativeText),
        };
        seeds(&corpus, target, format, &name, &bytes)?;
    }
    models(&corpus)?;
    logs(&corpus, &root)?;
    files(&corpus)?;
    made(&corpus)
}

/// Files that commands write and read, and files that people write.
fn files(corpus: &Path) -> Result<(), Box<dyn Error>> {
    let result = anyorder_fuzz::settings::RESULT;
    put(corpus, "result", "predicted", result.as_bytes())?;
    let parsed: serde_json::Value = serde_json::from_str(result)?;
    let witness = &parsed["findings"][0]["witness"]["inline"];
    put(corpus, "witness", "inline", witness.to_string().as_bytes())?;
    put(corpus, "witness", "result", result.as_bytes())?;
    put(corpus, "witness", "open", anyorder_fuzz::stored::WITNESS.as_bytes())?;
    put(corpus, "schedule", "two", anyorder_fuzz::stored::SCHEDULE.as_bytes())?;
    for (number, bytes) in anyorder_fuzz::stored::checkpoints()?.iter().enumerate() {
        put(corpus, "checkpoint", &format!("cut-{number}"), bytes)?;
    }
    put(corpus, "specification", "set", anyorder_fuzz::settings::SPECIFICATION.as_bytes())?;
    put(corpus, "baseline", "one", anyorder_fuzz::settings::BASELINE.as_bytes())?;
    put(corpus, "config", "three", anyorder_fuzz::settings::CONFIG.as_bytes())?;
    Ok(())
}

/// The models of the checkout.
fn models(corpus: &Path) -> Result<(), Box<dyn Error>> {
    for folder in ["examples/models", "crates/lang/tests", "crates/lang/tests/programs"] {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|ext| ext == "any") {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                put(corpus, "model", &name, &fs::read(&path)?)?;
            }
        }
    }
    Ok(())
}

/// Bytes without meaning for `machine`, and small traces for `consistency`.
fn made(corpus: &Path) -> Result<(), Box<dyn Error>> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = move |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % limit
    };
    for number in 0..40 {
        let length = 100 + below(400);
        let bytes: Vec<u8> = (0..length).map(|_| below(256) as u8).collect();
        put(corpus, "machine", &format!("made-{number}"), &bytes)?;
        put(corpus, "predict", &format!("made-{number}"), &bytes[..100])?;
        put(corpus, "consistency", &format!("made-{number}"), traced(&mut below).as_bytes())?;
    }
    Ok(())
}

/// Posts from two handlers to two, and messages that write and read two variables.
fn traced(below: &mut dyn FnMut(u64) -> u64) -> String {
    let messages = 2 + below(5);
    let mut text = String::from("edtrace 1\n");
    let mut writes: [Vec<String>; 2] = [Vec::new(), Vec::new()];
    let mut bodies = Vec::new();
    for message in 0..messages {
        text += &format!("p{message} {} - post m{message}\n", ["A", "B"][below(2) as usize]);
        let handler = below(2);
        bodies.push((message, format!("h{handler} m{message}"), below(3)));
        for number in 0..bodies[bodies.len() - 1].2 {
            writes[(number % 2) as usize].push(format!("w{message}_{number}"));
        }
    }
    for (message, place, count) in &bodies {
        text += &format!("g{message} {place} get\n");
        for number in 0..*count {
            let variable = (number % 2) as usize;
            text += &format!("w{message}_{number} {place} w v{variable}\n");
        }
        let variable = below(2) as usize;
        let source = below(writes[variable].len() as u64 + 1) as usize;
        let source = writes[variable].get(source).map_or("init", String::as_str);
        text += &format!("r{message} {place} r v{variable} {source}\n");
    }
    for (variable, writes) in writes.iter().enumerate().filter(|(_, writes)| writes.len() > 1) {
        text += &format!("co v{variable} {}\n", writes.join(" "));
    }
    text
}

/// Puts recorded logs of other tools there. The first byte says which reader takes them.
fn logs(corpus: &Path, root: &Path) -> Result<(), Box<dyn Error>> {
    for (which, folder, extension) in
        [(0_u8, "data/rapid-binary", "data"), (2, "data/speedygo", "log")]
    {
        for entry in fs::read_dir(root.join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|ext| ext == extension) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let mut bytes = vec![which];
                bytes.extend(fs::read(&path)?);
                bytes.truncate(SEED_BYTES);
                put(corpus, "logs", &name, &bytes)?;
            }
        }
    }
    Ok(())
}

fn put(corpus: &Path, target: &str, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let folder = corpus.join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
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
    let put = |target: &str, name: &str, bytes: &[u8]| put(corpus, target, name, bytes);
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
