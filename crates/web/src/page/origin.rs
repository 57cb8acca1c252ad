//! Where a script asked for a request: in the page's own code, if some of that was running.

use super::handle::text;
use crate::source::host_of;
use serde_json::Value;

/// Code in a column behind this one is packed: nobody wrote it so.
const PACKED_COLUMN: u64 = 5000;

/// Returns where a script asked for a request: the first frame of the page's own code, or else the
/// first one. `page` is the address of the page.
pub(super) fn origin(initiator: &Value, page: &str) -> Option<(String, u32)> {
    let mut stack = &initiator["stack"];
    let mut first = None;
    while let Some(frames) = stack["callFrames"].as_array() {
        for frame in frames {
            let url = text(frame, "url");
            let Some(line) = frame["lineNumber"].as_u64().and_then(|line| u32::try_from(line).ok())
            else {
                continue;
            };
            if !url.starts_with("http") {
                continue;
            }
            let is_library =
                is_library(&url, page) || frame["columnNumber"].as_u64() > Some(PACKED_COLUMN);
            let place = (url, line.saturating_add(1));
            if !is_library {
                return Some(place);
            }
            first.get_or_insert(place);
        }
        stack = &stack["parent"];
    }
    first
}

/// Returns whether a script is a library, by its address: it is packed, or was installed, or comes
/// from another host than the page.
fn is_library(url: &str, page: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.ends_with(".min.js")
        || path.ends_with(".min.mjs")
        || path.contains("/node_modules/")
        || host_of(url) != host_of(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_frame_of_own_code_asked() {
        let frame = |url: &str, line: u32, column: u32| json!({"url": url, "lineNumber": line, "columnNumber": column});
        let (page, at) = ("http://a.test/shop/", "http://a.test/");
        let library = frame("http://a.test/jquery.min.js?v=3", 1, 9);
        let asked = |frames: Value| origin(&json!({"stack": {"callFrames": frames}}), page);
        for other in [
            frame("http://a.test/node_modules/axios/index.js", 7, 1),
            frame("https://cdn.test/a.js", 7, 1),
            frame("http://a.test/bundle.js", 0, 5001),
            library.clone(),
        ] {
            let own = frame("http://a.test/app.js", 3, 2);
            let found = asked(json!([frame("anyorder:runtime", 1, 1), other, own]));
            assert_eq!(found, Some((format!("{at}app.js"), 4)), "{other}");
            // Without a frame of its own, the first one is better than none.
            let url = text(&other, "url");
            assert_eq!(asked(json!([other, library])).map(|(found, _)| found), Some(url));
        }
        let parent = json!({"callFrames": [frame("http://a.test/app.js", 5, 0)]});
        let stack = json!({"stack": {"callFrames": [library], "parent": parent}});
        assert_eq!(origin(&stack, page), Some((format!("{at}app.js"), 6)));
        assert_eq!(asked(json!([])), None);
        assert_eq!(origin(&json!({"type": "parser"}), page), None);
    }
}
