//! The text of a proof of inconsistency: `docs/formats/consistency-proof.md`.

pub use read::{ReadProofError, read_proof};
pub use write::write_proof;

mod read;
mod write;

/// The first line.
const HEADER: &str = "consistency-proof 1";
