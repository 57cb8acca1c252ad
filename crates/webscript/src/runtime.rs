//! The runtime in the page.

/// The script that must run before any script of the page. It defines the functions that rewritten
/// texts call, and `__anyorder`; see `js/README.md`.
pub const LOG_JS: &str = concat!(
    include_str!("js/core.js"),
    include_str!("js/heap.js"),
    include_str!("js/dom.js"),
    include_str!("js/events.js"),
    include_str!("js/dynamic.js"),
    include_str!("js/end.js"),
);
