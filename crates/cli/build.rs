//! Leaves tables out of the small binary that nothing there reads: those for unwinding of stacks,
//! a tenth of it, since a panic ends the command where it happens (`src/panic.rs`); and of its own
//! addresses all but their packed form.
//!
//! Only where the linker is the usual one of Linux: others do not know linker scripts.

use std::path::Path;
use std::{env, fs};

/// Discards the tables for unwinding. What would read them: a panic that unwinds, and debuggers.
const SCRIPT: &str =
    "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.eh_frame_hdr) } } INSERT AFTER .text;\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    if is("PROFILE", "release") && is("DEBUG", "false") && is_usual_linker() {
        let script = Path::new(&env::var("OUT_DIR")?).join("no-unwinding.ld");
        fs::write(&script, SCRIPT)?;
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{}", script.display());
        println!("cargo:rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    Ok(())
}

/// Whether the variable has the value.
fn is(variable: &str, value: &str) -> bool {
    env::var(variable).is_ok_and(|v| v == value)
}

/// Whether the target is Linux with GNU's library, and nobody chose a linker.
fn is_usual_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && env::var_os("RUSTC_LINKER").is_none()
        && !flags.contains("fuse-ld")
        && !flags.contains("linker")
}
