//! The stream of messages. Results have theirs in [`output`](crate::output).

use anyorder_common::text::Harmless;
use std::io::Write;

/// Returns standard error for messages: hostile characters that are left in them are escaped.
pub(crate) fn stderr() -> Harmless<impl Write> {
    Harmless::new(anstream::stderr().lock())
}
