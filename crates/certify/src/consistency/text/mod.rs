//! The text of a proof of inconsistency: `docs/formats/consistency-proof.md`.

pub use crate::text::ReadProofError;
pub use read::{read_proof, read_proof_with_lines};
pub use run::read_run;
pub use write::write_proof;

mod read;
mod run;
mod write;

/// The first line.
const HEADER: &str = "consistency-proof 1";
