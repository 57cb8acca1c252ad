//! Where a page comes from, and which files its addresses are.

use crate::Failure;
use crate::failure::Unusable;
use anyorder_web::{Archive, Folder, FolderError, GivenResponse, Source};
use std::path::{Path, PathBuf};

/// The address under which a folder is served. Nothing listens there.
const HOST: &str = "http://localhost";

/// A page and its server.
pub struct Served {
    pub(super) url: String,
    pub(super) source: Box<dyn Source>,
    pub(super) files: Files,
    /// Whether a real server answers.
    pub(super) is_real: bool,
    /// Responses that come before those of the source.
    pub(super) given: Vec<GivenResponse>,
}

/// The files behind addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    /// The folder that is served, if one is.
    folder: Option<PathBuf>,
}

impl Files {
    /// Returns the folder that is served, if one is.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the file of an address, or its path without the first `/`; of another host, the
    /// address itself.
    pub(super) fn name(&self, url: &str, page: &str) -> String {
        let Some(rest) = url.strip_prefix(origin(page)) else { return url.to_owned() };
        let path = rest.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
        let inner = if path.is_empty() || path.ends_with('/') {
            format!("{path}index.html")
        } else {
            path.to_owned()
        };
        match &self.folder {
            Some(folder) => folder.join(inner).to_string_lossy().into_owned(),
            None => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
        }
    }
}

/// Returns the part of an address before its path.
pub(super) fn origin(url: &str) -> &str {
    let after = url.find("://").map_or(0, |at| at + 3);
    let end = url[after..].find(['/', '?', '#']).map_or(url.len(), |at| after + at);
    &url[..end]
}

impl Served {
    /// Returns the folder that is served, if one is.
    #[must_use]
    pub fn in_folder(&self) -> Option<&Path> {
        self.files.folder()
    }

    /// A page on a real server. Each response is asked for once and then repeated.
    #[must_use]
    pub fn real(url: &str) -> Served {
        let url = if origin(url) == url { format!("{url}/") } else { url.to_owned() };
        let given = Vec::new();
        Served { url, source: Box::new(()), files: Files::default(), is_real: true, given }
    }

    /// The files of a folder, and the page at a path such as `/index.html?tab=1`.
    ///
    /// # Errors
    ///
    /// Fails if it is no folder, or its `replies.json` or `sockets.json` has mistakes.
    pub fn folder(folder: &Path, path: &str) -> Result<Served, Failure> {
        let wrong = |FolderError { place, why }| Failure::input(place, Unusable::Page(why));
        let source = Box::new(Folder::open(folder).map_err(wrong)?);
        let url = format!("{HOST}/{}", path.trim_start_matches('/'));
        let files = Files { folder: Some(folder.to_owned()) };
        Ok(Served { url, source, files, is_real: false, given: Vec::new() })
    }

    /// The page in a file, with its folder as its server.
    ///
    /// # Errors
    ///
    /// Like [`folder`](Self::folder).
    pub fn file(page: &Path) -> Result<Served, Failure> {
        let folder = page.parent().filter(|folder| *folder != Path::new(""));
        let name = page.file_name().unwrap_or_default().to_string_lossy();
        let encoded = name.replace('%', "%25").replace('#', "%23").replace('?', "%3F");
        Served::folder(folder.unwrap_or(Path::new(".")), &encoded)
    }

    /// The first page of an archive that a browser has recorded (HAR), with the recorded
    /// responses. `path` names it in messages.
    ///
    /// # Errors
    ///
    /// Fails if the text is no archive, or has no page.
    pub fn archive(path: &Path, text: &[u8]) -> Result<Served, Failure> {
        let wrong = |why: String| Failure::input(path, Unusable::Page(why));
        let archive = Archive::parse(text).map_err(|error| wrong(error.to_string()))?;
        let url = archive.first_url().to_owned();
        if !url.starts_with("http") {
            return Err(wrong("the HAR archive has no request of a page".to_owned()));
        }
        Ok(Served::given(&url, Box::new(archive), Vec::new()))
    }

    /// A page whose responses were given before, on top of a source.
    pub(super) fn given(url: &str, source: Box<dyn Source>, given: Vec<GivenResponse>) -> Served {
        Served { url: url.to_owned(), source, files: Files::default(), is_real: false, given }
    }
}

/// Returns whether bytes begin like an HTML page.
#[must_use]
pub fn is_page(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |word: &str| {
        head.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
    };
    begins("<!doctype html") || begins("<html") || begins("<head") || begins("<body")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_files() {
        let page = "http://localhost/shop/";
        let files = Files { folder: Some("site".into()) };
        assert_eq!(files.name("http://localhost/app.js?v=1", page), "site/app.js");
        assert_eq!(files.name("http://localhost/shop/", page), "site/shop/index.html");
        assert_eq!(files.name("http://cdn/x.js", page), "http://cdn/x.js");
        let real = Files::default();
        assert_eq!(real.name("http://localhost/app.js?v=1", page), "http://localhost/app.js");
        assert_eq!(Served::real("http://a:80").url, "http://a:80/");
        assert_eq!(origin("https://a.b:1/c?d"), "https://a.b:1");
    }

    #[test]
    fn pages_are_known_by_their_beginning() {
        for page in ["<!DOCTYPE html>", "\u{feff} <HTML lang=en>", "<head>"] {
            assert!(is_page(page.as_bytes()), "{page}");
        }
        for other in ["", "model x", "{", "<xml>", "<!doctype"] {
            assert!(!is_page(other.as_bytes()), "{other}");
        }
    }
}
