//! The sizes of the traces of Android applications in the paper's table.

use crate::counts::Counts;

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PaperRow {
    /// The application.
    pub name: &'static str,
    /// The size of its largest trace.
    pub counts: Counts,
}

const fn row(name: &'static str, events: u64, messages: u64, handlers: u64) -> PaperRow {
    PaperRow { name, counts: Counts::new(events, messages, handlers) }
}

/// Table 1 of the paper on consistency checking of event-driven traces, in its order. Our copy of
/// the text lacks the names of two applications.
pub const PAPER_ROWS: [PaperRow; 17] = [
    row("SampleApp", 4_776, 13, 5),
    row("Tomdroid", 4_776, 13, 5),
    row("Opensudoku", 11_292, 14, 5),
    row("Sgtpuzzles", 18_406, 18, 5),
    row("Remindme", 6_870, 23, 5),
    row("Modelcheckingserver", 4_057, 26, 4),
    row("Messenger", 5_034, 26, 7),
    row("Music", 4_253, 33, 5),
    row("Fbreader", 6_159, 35, 8),
    row("K9Mail", 5_309, 46, 9),
    row("Aarddict", 1_220, 12, 5),
    row("AdobeReader", 15_717, 140, 7),
    row("unnamed-1", 5_319, 14, 12),
    row("unnamed-2", 9_889, 30, 12),
    row("Browser", 9_762, 34, 15),
    row("Flipkart", 116_945, 61, 15),
    row("Mytracks", 3_671, 32, 16),
];
