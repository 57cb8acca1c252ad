//! Builds the shared object once for all tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the folder that has the shared object, by the name of ThreadSanitizer's.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(build)
}

fn build() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("image");
    std::fs::create_dir_all(&folder).expect("a folder for the image");
    let arguments = include_str!("../rustc-arguments.txt");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc)
        .args(arguments.lines())
        .arg("-o")
        .arg(folder.join("libtsan.so.2"))
        .arg(package.join("src/lib.rs"))
        .output()
        .expect("rustc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let by_clang = folder.join("libclang_rt.tsan-x86_64.so");
    let _ = std::fs::remove_file(&by_clang);
    std::fs::hard_link(folder.join("libtsan.so.2"), by_clang).expect("a second name");
    folder
}

#[test]
fn the_image_is_built() {
    assert!(folder().join("libtsan.so.2").exists());
}
