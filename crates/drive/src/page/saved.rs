//! A page in the file of a finding: with its steps, its options and its responses, so that the
//! finding can be replayed where the page is not.
//!
//! The schedule of a finding has the page under the key `page`:
//!
//! ```json
//! {"schedule": 1, "program": {"name": "http://localhost/"}, "options": {}, "choices": [],
//!  "page": {"format": 1, "finding": "its title", "url": "http://localhost/", "folder": "site",
//!           "actions": {"steps": []}, "network_faults": false, "slow_document": false,
//!           "storage_state": false, "responses": [], "sockets": {}}}
//! ```
//!
//! The files of `--schedules` and `--report` have the responses. A result as JSON has everything
//! but them.

use super::program::{PageProgram, PageSettings};
use super::served::Served;
use crate::failure::Unusable;
use crate::{Failure, JobResult, json};
use anyorder_finding::{Witness, WitnessPlace};
use anyorder_web::{
    Answer, GivenResponse, PageRequest, Response, Sockets, Source, read_given, read_sockets,
    write_actions, write_given, write_sockets,
};
use serde_json::{Value, json};
use std::path::Path;

/// The version of this form.
const FORMAT: u64 = 1;

/// The most bytes of responses that one file has. With more, it has none, and a replay needs the
/// page.
const RESPONSES_BYTES_MAX: usize = 64 << 20;

/// A page that was read from the file of a finding.
#[derive(Clone, Debug)]
pub struct SavedPage {
    /// Its address.
    pub url: String,
    /// The folder that was served, if one was. It is only for people: nothing opens it.
    pub folder: Option<String>,
    /// The title of the finding.
    pub title: Option<String>,
    /// Its steps and options.
    pub settings: PageSettings,
    /// Whether it had a storage state. The file has none, since that is secret.
    pub had_stored: bool,
    /// Its responses; none if the file has none.
    pub responses: Vec<GivenResponse>,
    sockets: Sockets,
}

impl SavedPage {
    /// Reads the page of a schedule, or of the first finding of a result that has one and whose id
    /// begins with `id`. `None` if there is none. `path` is named in failures only.
    ///
    /// # Errors
    ///
    /// Fails if there is one that is not of the documented form.
    pub fn read(path: &Path, text: &str, id: Option<&str>) -> Result<Option<SavedPage>, Failure> {
        let Ok(value) = json::parse(text) else { return Ok(None) };
        let own = value.get("page");
        let is_it = |finding: &&Value| {
            let known = finding["id"].as_str().unwrap_or_default();
            id.is_none_or(|id| known.starts_with(id))
        };
        let findings = value["findings"].as_array().into_iter().flatten().filter(is_it);
        let mut inline = findings.filter_map(|one| one.pointer("/witness/inline/page"));
        let Some(page) = own.or_else(|| inline.next()).filter(|page| page.is_object()) else {
            return Ok(None);
        };
        let wrong = |why: String| Failure::input(path, Unusable::Page(why));
        SavedPage::of(path, page).map(Some).map_err(|why| match why {
            Wrong::Words(why) => wrong(why),
            Wrong::Steps(failure) => *failure,
        })
    }

    fn of(path: &Path, page: &Value) -> Result<SavedPage, Wrong> {
        let words = |why: &str| Wrong::Words(why.to_owned());
        if page["format"] != FORMAT {
            return Err(words("the page of the finding is of another version"));
        }
        let url = page["url"].as_str().filter(|url| url.starts_with("http"));
        let url = url.ok_or_else(|| words("`page.url` is no address"))?.to_owned();
        let flag = |key: &str| page[key].as_bool().unwrap_or(false);
        let settings = PageSettings {
            faults: flag("network_faults"),
            in_parts: flag("slow_document"),
            ..PageSettings::default()
        };
        let name = format!("{}: `page.actions`", path.display());
        let settings = settings.with_actions(&name, &page["actions"].to_string());
        let settings = settings.map_err(|failure| Wrong::Steps(Box::new(failure)))?;
        let responses = match page.get("responses") {
            None => Vec::new(),
            Some(list) => read_given(list).map_err(|error| Wrong::Words(error.to_string()))?,
        };
        let folder = page["folder"].as_str().map(str::to_owned);
        let title = page["finding"].as_str().map(str::to_owned);
        let sockets = read_sockets(&page["sockets"])
            .map_err(|why| Wrong::Words(format!("`page.sockets`: {why}")))?;
        let had_stored = flag("storage_state");
        Ok(SavedPage { had_stored, url, folder, title, settings, responses, sockets })
    }

    /// Returns the page with its responses as its server. What it asks for besides gets 404.
    ///
    /// # Errors
    ///
    /// Fails if the file has no responses; `path` names it.
    pub fn served(&self, path: &Path) -> Result<Served, Failure> {
        if self.responses.is_empty() {
            let why = "it has no responses, so the page has to be given, too: \
                       `anyorder replay PAGE FILE`";
            return Err(Failure::input(path, Unusable::Page(why.to_owned())));
        }
        let source = Box::new(Nothing(self.sockets.clone()));
        Ok(Served::given(&self.url, source, self.responses.clone()))
    }
}

/// Why a page of a file cannot be read.
enum Wrong {
    Words(String),
    Steps(Box<Failure>),
}

/// The source of a page whose responses were all given before.
struct Nothing(Sockets);

impl Source for Nothing {
    fn answer(&mut self, _request: &PageRequest) -> Answer {
        Answer::Response(Response::new(404, "text/plain", b"not recorded"))
    }

    fn sockets(&self) -> Sockets {
        self.0.clone()
    }
}

impl PageProgram {
    /// Puts the page, with its steps and options, into the schedules of all findings.
    pub fn describe_page(&self, result: &mut JobResult) {
        let page = self.description();
        for one in &mut result.findings {
            if let Some(Witness { format, place: WitnessPlace::Inline(schedule) }) =
                &mut one.finding.witness
                && format == "schedule"
                && let Some(schedule) = schedule.as_object_mut()
            {
                let mut page = page.clone();
                page["finding"] = Value::from(one.finding.title.as_str());
                schedule.insert("page".to_owned(), page);
            }
        }
    }

    /// Adds the responses that the page got so far to a schedule that has the page, if they are not
    /// too large.
    pub fn add_responses(&self, schedule: &mut Value) {
        let Some(page) = schedule.get_mut("page").and_then(Value::as_object_mut) else { return };
        let store = self.store();
        let given = store.given();
        let bytes: usize = given.iter().map(|given| given.response.body.len()).sum();
        if bytes <= RESPONSES_BYTES_MAX {
            page.insert("responses".to_owned(), write_given(&given));
            page.insert("sockets".to_owned(), write_sockets(&store.sockets()));
        }
    }

    fn description(&self) -> Value {
        let options = self.options();
        // What is written is valid JSON.
        let actions: Value =
            serde_json::from_str(&write_actions(&options.actions)).unwrap_or_default();
        let mut page = json!({
            "format": FORMAT, "url": options.url, "actions": actions,
            "network_faults": options.faults, "slow_document": self.in_parts(),
        });
        if !options.stored.is_empty() {
            page["storage_state"] = Value::from(true);
        }
        if let Some(folder) = self.folder() {
            page["folder"] = Value::from(folder.to_string_lossy());
        }
        page
    }
}
