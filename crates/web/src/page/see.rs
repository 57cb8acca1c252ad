//! What a page shows and keeps.

use super::driver::PageDriver;
use super::runtime::NAME;
use crate::error::WebError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// What a page shows and keeps.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Seen {
    /// What the runtime reports.
    pub(crate) page: Value,
    /// The picture, as PNG; `None` if the page cannot be drawn now.
    pub(crate) picture: Option<Vec<u8>>,
}

/// Makes what moves stand still. The sheet is no part of the document.
const STILL: &str = "(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*,*::before,*::after{animation:none!important;transition:none!important;\
caret-color:transparent!important;outline:none!important;scroll-behavior:auto!important}');
  const before = document.adoptedStyleSheets;
  document.adoptedStyleSheets = [...before, sheet];
  scrollTo(0, 0);
  return before.length;
})()";
const MOVE_AGAIN: &str =
    "void (document.adoptedStyleSheets = document.adoptedStyleSheets.slice(0, -1))";

impl PageDriver {
    /// Looks at the page. A page whose style sheets are held back cannot be drawn.
    pub(crate) fn see(&mut self, can_draw: bool) -> Result<Seen, WebError> {
        let text = self.look(&format!("{NAME}.observe()"))?;
        let page = serde_json::from_str(text.as_str().unwrap_or("null")).unwrap_or_default();
        let picture = if can_draw { self.picture()? } else { None };
        Ok(Seen { page, picture })
    }

    /// Takes a picture of the top of the page, without focus and pointer: where these are is not
    /// what a page shows.
    fn picture(&mut self) -> Result<Option<Vec<u8>>, WebError> {
        self.look(STILL)?;
        self.call("Input.dispatchMouseEvent", pointer_away())?;
        self.state.has_pointer = false;
        let params = json!({"format": "png", "optimizeForSpeed": true});
        let reply = self.call("Page.captureScreenshot", params);
        self.look(MOVE_AGAIN)?;
        let reply = match reply {
            Ok(reply) => reply,
            // The picture is left out, and the rest is compared. One that only comes too late would
            // be a difference that depends on the load of the machine: the run is lost then.
            Err(WebError::Refused { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let data = reply["data"].as_str().unwrap_or_default();
        Ok(STANDARD.decode(data).ok().filter(|bytes| !bytes.is_empty()))
    }
}

/// Returns the command that moves the pointer out of the page.
pub(super) fn pointer_away() -> Value {
    json!({"type": "mouseMoved", "x": -1, "y": -1, "button": "none", "buttons": 0})
}
