//! Rewrites a script from standard input: `rewrite_script [classic|module|handler|eval]`. With
//! `runtime` it prints the script that must run before.
use anyorder_webscript::{Kind, LOG_JS, Origin, Sites, rewrite_script};
use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let kind = std::env::args().nth(1).unwrap_or_default();
    if kind == "runtime" {
        return std::io::stdout().write_all(LOG_JS.as_bytes());
    }
    let kind = match kind.as_str() {
        "module" => Kind::Module,
        "handler" => Kind::Handler,
        "eval" => Kind::Eval,
        _ => Kind::Classic,
    };
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut sites = Sites::new();
    let source = sites.add_source("standard input");
    match rewrite_script(&text, kind, Origin::start_of(source), &mut sites) {
        Ok(text) => std::io::stdout().write_all(text.as_bytes()),
        Err(error) => Err(std::io::Error::other(error)),
    }
}
