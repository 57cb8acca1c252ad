//! JavaScript and HTML of a page, rewritten in flight so that the page reports which locations its
//! events read and write.
//!
//! It decides where a script accesses something that another event of the page may access too:
//! properties of objects, global variables, and captured variables that change. It does not know
//! what an event is, how a page is loaded, or who reads the report. All functions go from text to
//! text.
//!
//! # Guarantee
//!
//! A rewritten script computes what the script computes, and its lines keep their numbers. The
//! exceptions are in `js/README.md`: a script that reads its own source text sees the rewritten
//! one, for example. The report is not complete; `js/README.md` lists what is not reported.
//!
//! # Use
//!
//! ```
//! use anyorder_webscript::{Kind, Origin, Sites, rewrite_script};
//!
//! let mut sites = Sites::new();
//! let source = sites.add_source("https://example.org/app.js");
//! let origin = Origin::start_of(source);
//! let text = rewrite_script("shop.total = 1", Kind::Classic, origin, &mut sites)?;
//! assert_eq!(text, r#"__aoW(__aoQ(__aoG("shop",1),shop),"total",0).total = 1"#);
//! assert_eq!(sites.get(0).map(|site| site.name), Some("total"));
//! # Ok::<(), anyorder_webscript::SyntaxError>(())
//! ```
#![forbid(unsafe_code)]

pub use html::{Holds, Html, HtmlOptions, Page, Unlogged, rewrite_html, rewrite_page};
pub use runtime::LOG_JS;
pub use script::{Kind, SyntaxError, rewrite_script};
pub use sites::{Access, Origin, Site, Sites, SourceId};

mod edits;
mod html;
mod lines;
mod original;
mod runtime;
mod script;
mod sites;
