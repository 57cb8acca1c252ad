//! Panics after which the standard library ends the process: a destructor panics while its thread
//! unwinds. There will be no report, so what is known is printed at once.

use super::failure::Panic;
use anyorder_threads::{Op, ThreadId};
use std::io::{self, Write as _};

/// Makes the text that runs an execution again, of the operations so far and their results.
pub(crate) type Describe = fn(&[(ThreadId, Op, u64)]) -> String;

/// Tells the user which panics meet, and how to run the execution again.
pub(super) fn tell(panics: &[Panic], describe: Option<Describe>, log: &[(ThreadId, Op, u64)]) {
    let mut text = String::from(
        "\nanyorder: a destructor panics while its thread unwinds from another panic, so the process ends here.\n",
    );
    for panic in panics {
        let at = panic.position.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
        text += &format!("  thread {} panicked{at}: {}\n", panic.thread.0, panic.message);
    }
    if let Some(describe) = describe {
        text += &format!("to replay: ANYORDER_REPLAY='{}'\n", describe(log));
    }
    // Without an output there is nobody to tell.
    let _ = io::stderr().write_all(text.as_bytes());
}
