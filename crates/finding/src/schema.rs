//! The JSON Schema of a result, for `anyorder schema` and for readers of our JSON.

/// Returns the JSON Schema (draft 2020-12) of the object that `--format json` writes; each line of
/// `--format jsonl` is of its `$defs/finding`.
#[must_use]
pub fn schema() -> &'static str {
    include_str!("schema.json")
}
