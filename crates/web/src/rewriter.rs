//! What is done to the texts of a page before it gets them.

/// Rewrites scripts and pages, so that events report what they access.
///
/// The identity ([`Unchanged`]) reports nothing: then events have only the accesses that the driver
/// itself sees, those to the status of events.
pub trait Rewriter: Send + Sync {
    /// Rewrites a script. `is_module` tells its kind.
    fn script(&self, text: &str, url: &str, is_module: bool) -> String;

    /// Rewrites a page; `content_type` is the value of its header.
    fn html(&self, bytes: &[u8], content_type: &str, url: &str) -> RewrittenPage;

    /// Rewrites code that a page makes itself, such as the text of `eval`.
    fn dynamic(&self, text: &str, _kind: &str) -> String {
        text.to_owned()
    }

    /// Returns the script that logs accesses. It runs before the scripts of each page, and defines
    /// `__anyorder.begin(event)`, which gets the name of the event that begins, and
    /// `__anyorder.end()`. The latter returns a list of records
    /// `[location, flags, site]`, where the bits of the flags are 1 for a read, 2 for a write, and
    /// 4 for a write of the value that was there. It may define `__anyorder.skip()`, which ends the
    /// event of the document without records. Empty: nothing is logged.
    fn log(&self) -> String {
        String::new()
    }

    /// Returns where a site of a record is: the file, and the line and the column from 1.
    fn site(&self, _site: u64) -> Option<(String, u32, u32)> {
        None
    }

    /// Returns the column that a place of a rewritten text had before. The address is that of the
    /// text; lines and columns are from 1, in UTF-16 units, and lines are kept.
    fn column(&self, _url: &str, _line: u32, column: u32) -> u32 {
        column
    }

    /// Returns a line that the browser says about a place of a text as it was, in the words of that
    /// text.
    fn message(&self, _place: Option<(&str, u32, u32)>, message: &str) -> String {
        message.to_owned()
    }
}

/// A page that was rewritten.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RewrittenPage {
    /// The page.
    pub bytes: Vec<u8>,
    /// Its encoding, if the header must say another one than before.
    pub charset: Option<String>,
}

impl From<Vec<u8>> for RewrittenPage {
    fn from(bytes: Vec<u8>) -> RewrittenPage {
        RewrittenPage { bytes, charset: None }
    }
}

/// Leaves everything as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unchanged;

impl Rewriter for Unchanged {
    fn script(&self, text: &str, _url: &str, _is_module: bool) -> String {
        text.to_owned()
    }

    fn html(&self, bytes: &[u8], _content_type: &str, _url: &str) -> RewrittenPage {
        bytes.to_vec().into()
    }
}
