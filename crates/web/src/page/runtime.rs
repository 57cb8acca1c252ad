//! The runtime in the page, and what it reports.

use crate::rewriter::Rewriter;
use crate::source::{SocketMessage, Sockets, has_answers};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The global under which a frame has its runtime; not enumerable.
pub(crate) const NAME: &str = "__anyorder_page";

/// The binding by which the page tells of synchronous requests. The runtime removes it.
pub(crate) const SYNCHRONOUS: &str = "__anyorder_synchronous";

/// Finds elements by their targets, and names them.
pub(crate) const SELECT: &str = include_str!("../scripts/select.js");

/// The header of synchronous requests.
pub(crate) const SYNCHRONOUS_HEADER: &str = "x-anyorder-synchronous";

/// The path of the request that comes behind all others.
pub(crate) const BARRIER: &str = "/__anyorder/barrier";

/// The path to which dynamic code is sent, to be rewritten.
pub(crate) const REWRITE: &str = "/__anyorder/rewrite";

/// What stands before the address of a script in the fragment of a copy of it.
pub(crate) const HOME: &str = "#anyorder=";

/// The start of the paths of scripts that stop the parser.
pub(crate) const HOLD_PATH: &str = "/__anyorder/hold/";

/// Gives the log to the runtime. A log that is no part of this program has the name `__anyorder`.
const LOG_END: &str = "
{
  const host = globalThis.__anyorder_host;
  if (host && globalThis.__anyorder) host(globalThis.__anyorder);
  delete globalThis.__anyorder_host;
}
";

/// What the runtime of all frames and workers gets.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) seed: u32,
    pub(super) epoch_ms: u64,
    /// Who knows it may call the runtime. The page does not.
    pub(super) key: String,
    /// The address of the page.
    pub(super) url: String,
    /// What is in the local storage of each origin.
    pub(super) local: BTreeMap<String, BTreeMap<String, String>>,
    /// Whether sockets that the source does not know are opened at the real server.
    pub(super) has_server: bool,
}

/// The scripts that run before those of the page.
#[derive(Clone, Debug)]
pub(super) struct Scripts {
    /// In each frame.
    pub(super) frame: String,
    /// In each worker, once [`Scripts::of_worker`] has put its name in.
    worker: String,
    /// In a world of its own of each frame.
    pub(super) observer: String,
}

impl Scripts {
    /// Returns the script of the worker of a name.
    pub(super) fn of_worker(&self, name: &str) -> String {
        self.worker.replacen(r#""__ANYORDER_WORKER__""#, &json!(name).to_string(), 1)
    }
}

/// Returns the scripts that run before those of each document and worker.
pub(super) fn scripts(rewriter: &dyn Rewriter, sockets: &Sockets, config: &Config) -> Scripts {
    // Those with answers to texts are known to the driver, which is asked.
    let own = sockets.iter().filter(|(_, list)| !has_answers(list));
    let list = |(path, list): (&String, &Vec<SocketMessage>)| {
        (path.clone(), list.iter().map(SocketMessage::to_json).collect::<Value>())
    };
    let asks = config.has_server || sockets.values().any(|list| has_answers(list));
    let own: serde_json::Map<String, Value> = own.map(list).collect();
    let given = json!({
        "name": NAME, "key": config.key, "seed": config.seed, "epoch": config.epoch_ms,
        "page": config.url, "local": config.local,
        "barrier": BARRIER, "rewrite": REWRITE, "home": HOME, "sockets": own, "asks": asks,
        "synchronous": SYNCHRONOUS, "header": SYNCHRONOUS_HEADER,
    });
    let schedule = include_str!("../scripts/schedule.js");
    let schedule = schedule.replacen("__ANYORDER_CONFIG__", &given.to_string(), 1);
    let requests = include_str!("../scripts/requests.js");
    let sockets = include_str!("../scripts/sockets.js");
    let workers = include_str!("../scripts/workers.js");
    let natives = include_str!("../scripts/natives.js");
    let calls = include_str!("../scripts/calls.js");
    let log = rewriter.log();
    let runtime = |part: &str| {
        let (log, end) = if log.is_empty() { ("", "") } else { (log.as_str(), LOG_END) };
        format!(
            "(() => {{\n{schedule}{natives}{workers}{requests}{sockets}{part}{calls}}})();\n{log}{end}\
             //# sourceURL=anyorder:runtime\n"
        )
    };
    let observer = [
        include_str!("../scripts/observer.js"),
        SELECT,
        include_str!("../scripts/crawl.js"),
        &include_str!("../scripts/page.js").replacen("__NAME__", NAME, 1),
    ]
    .concat();
    Scripts {
        frame: runtime(concat!(
            include_str!("../scripts/messages.js"),
            include_str!("../scripts/animations.js")
        )),
        worker: runtime(include_str!("../scripts/worker.js")),
        observer: format!("(() => {{\n{observer}}})();\n"),
    }
}

/// Returns an expression that calls the runtime of a frame or a worker.
pub(super) fn call_of(key: &str, call: &str) -> String {
    format!("{NAME}('{key}').{call}")
}

/// An event in the queue of a frame.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Queued {
    /// Its number in its frame.
    pub(crate) id: u64,
    pub(crate) kind: String,
    pub(crate) label: String,
    pub(crate) due: u64,
    pub(crate) delay: u64,
    pub(crate) channel: String,
}

/// What a page asks about one of its sockets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SocketAsk {
    /// The number of the socket in its frame.
    pub(crate) number: u64,
    pub(crate) verb: AskVerb,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AskVerb {
    /// Whether a socket to this path opens.
    Open(String),
    /// What comes after this text.
    Send(String),
}

/// An access that the log reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) location: String,
    /// 1 for a read, 2 for a write, 4 for a write of the value that was there.
    pub(crate) flags: u64,
    pub(crate) site: u64,
}

/// What a frame or a worker reports after an event.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct QueueReport {
    pub(crate) created: Vec<Queued>,
    pub(crate) cancelled: Vec<u64>,
    pub(crate) now: u64,
    /// What was sent without a request: its kind, and the text.
    pub(crate) sent: Vec<(String, String)>,
    /// What it asks about sockets.
    pub(crate) asks: Vec<SocketAsk>,
    /// The accesses; `None` if there is no log.
    pub(crate) log: Option<Vec<Record>>,
    /// What the frame does that is not under control.
    pub(crate) gaps: Vec<String>,
    /// The scripts of the workers that it has made; empty for those from blobs and data.
    pub(crate) workers: Vec<String>,
    /// Whether it did something since the last report.
    pub(crate) busy: bool,
}

impl QueueReport {
    /// Reads a report; parts that are not understood are left out.
    pub(crate) fn parse(text: &str) -> Option<QueueReport> {
        let value: Value = serde_json::from_str(text).ok()?;
        let list = |name: &str| value[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let created = list("created").iter().filter_map(queued).collect();
        let cancelled = list("cancelled").iter().filter_map(Value::as_u64).collect();
        let pair =
            |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
        let sent = list("sent").iter().filter_map(pair).collect();
        let texts =
            |name: &str| list(name).iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let (gaps, workers) = (texts("gaps"), texts("workers"));
        let asks = list("asks").iter().filter_map(asked).collect();
        let records = |list: &Vec<Value>| list.iter().filter_map(record).collect();
        let log = value["log"].as_array().map(records);
        Some(QueueReport {
            created,
            cancelled,
            now: whole(&value["now"]),
            sent,
            asks,
            log,
            gaps,
            workers,
            busy: value["busy"] == true,
        })
    }
}

fn queued(value: &Value) -> Option<Queued> {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let kind = text("kind");
    (!kind.is_empty()).then_some(())?;
    Some(Queued {
        id: value["id"].as_u64()?,
        kind,
        label: text("label"),
        due: whole(&value["due"]),
        delay: whole(&value["delay"]),
        channel: text("channel"),
    })
}

fn asked(value: &Value) -> Option<SocketAsk> {
    let (number, text) = (value[1].as_u64()?, value[2].as_str()?.to_owned());
    let verb = match value[0].as_str()? {
        "open" => AskVerb::Open(text),
        _ => AskVerb::Send(text),
    };
    Some(SocketAsk { number, verb })
}

fn record(value: &Value) -> Option<Record> {
    let location = value[0].as_str()?.to_owned();
    Some(Record { location, flags: value[1].as_u64()?, site: value[2].as_u64().unwrap_or(0) })
}

/// Returns a number of milliseconds, which may be broken.
fn whole(value: &Value) -> u64 {
    value.as_f64().map_or(0, |number| number.max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let text = r#"{"created":[{"id":1,"kind":"timeout","label":"a.js:3","due":4.5,"delay":4,"channel":""},{"id":2}],
            "cancelled":[3],"now":4.5,"sent":[["window","x"]],"log":[["x",3,9],["bad"]]}"#;
        let report = QueueReport::parse(text).unwrap();
        assert_eq!(report.created.len(), 1);
        assert_eq!((report.created[0].due, report.now), (4, 4));
        assert_eq!((report.cancelled, report.sent.len()), (vec![3], 1));
        let record = Record { location: "x".to_owned(), flags: 3, site: 9 };
        assert_eq!(report.log, Some(vec![record]));
        assert_eq!(QueueReport::parse(r#"{"log":null}"#).unwrap().log, None);
        assert_eq!(QueueReport::parse("x"), None);
    }

    #[test]
    fn the_configuration_takes_its_place() {
        let (key, url, local) = ("k".to_owned(), "http://localhost/".to_owned(), BTreeMap::new());
        let config = Config { seed: 7, epoch_ms: 9, key, url, local, has_server: false };
        let all = scripts(&crate::rewriter::Unchanged, &Sockets::new(), &config);
        for text in [&all.frame, &all.worker] {
            assert!(!text.contains("__ANYORDER_CONFIG__") && text.contains("\"seed\":7"));
            assert!(!text.contains(LOG_END), "nothing is logged");
        }
        assert!(!all.observer.contains("__NAME__"));
    }
}
