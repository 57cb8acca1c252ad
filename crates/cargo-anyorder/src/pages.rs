//! The pages of checks that fail, collected in a folder with a page that leads to them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io, path, process};

/// The page that leads to the others.
const INDEX: &str = "index.html";

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\"><head><meta charset=\"utf-8\"/>
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>
<meta name=\"color-scheme\" content=\"light dark\"/>
<title>Checks that fail</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.3rem }
li { margin: .3rem 0 }
code { font-family: ui-monospace, monospace }
</style></head>
<body><h1>Checks that fail</h1>
";

/// A folder for pages, and when the tests began.
#[derive(Debug)]
pub(crate) struct Pages {
    folder: PathBuf,
    begun: SystemTime,
}

/// A page that a test wrote.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Page {
    /// As it stands in the page: escaped.
    title: String,
    file: String,
}

impl Pages {
    /// Makes the folder, if there is none.
    pub(crate) fn begin(folder: &Path) -> Result<Pages, String> {
        let failed = |error| format!("--report: cannot write to `{}`: {error}", folder.display());
        fs::create_dir_all(folder).map_err(failed)?;
        // Tests run in the folders of their packages.
        let folder = path::absolute(folder).map_err(failed)?;
        // Times of files may be coarser than the clock, so the beginning is that of a file.
        let mark = folder.join(format!("unfinished-{}", process::id()));
        fs::write(&mark, "").map_err(failed)?;
        let begun = fs::metadata(&mark).and_then(|of| of.modified()).map_err(failed)?;
        fs::remove_file(&mark).map_err(failed)?;
        Ok(Pages { folder, begun })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes the page that leads to those of the tests. Returns what to say.
    pub(crate) fn end(&self) -> Result<String, String> {
        let failed = |error| format!("--report: `{}`: {error}", self.folder.display());
        let (pages, old) = self.pages().map_err(failed)?;
        let index = self.folder.join(INDEX);
        let unfinished = self.folder.join(format!("unfinished-{}", process::id()));
        let written = fs::write(&unfinished, page(&pages, old));
        written.and_then(|()| fs::rename(&unfinished, &index)).map_err(failed)?;
        Ok(match pages.len() {
            0 => "no check failed with a page".to_owned(),
            1 => format!("1 check failed: {}", index.display()),
            count => format!("{count} checks failed: {}", index.display()),
        })
    }

    /// Returns the pages that were written since the beginning, and how many there are of earlier
    /// runs.
    fn pages(&self) -> io::Result<(Vec<Page>, usize)> {
        let (mut pages, mut old) = (Vec::new(), 0);
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let Ok(file) = entry.file_name().into_string() else { continue };
            if !file.ends_with(".html") || file == INDEX {
                continue;
            }
            if entry.metadata()?.modified()? < self.begun {
                old += 1;
                continue;
            }
            let text = fs::read_to_string(entry.path())?;
            let title =
                text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
            if let Some((title, _)) = title {
                pages.push(Page { title: title.to_owned(), file });
            }
        }
        pages.sort();
        Ok((pages, old))
    }
}

/// The text of the page. Names of files need no escapes: the tests write none that do.
fn page(pages: &[Page], old: usize) -> String {
    let mut text = HEAD.to_owned();
    let safe = |file: &str| file.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
    text.push_str("<ul>\n");
    for Page { title, file } in pages.iter().filter(|page| safe(&page.file)) {
        let _ = writeln!(text, "<li><a href=\"{file}\"><code>{title}</code></a></li>");
    }
    text.push_str("</ul>\n");
    if pages.is_empty() {
        text.push_str("<p>None in this run.</p>\n");
    }
    if old > 0 {
        let _ = writeln!(text, "<p>The folder has {old} more, of earlier runs.</p>");
    }
    text.push_str("</body></html>\n");
    text
}
