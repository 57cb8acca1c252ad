//! The runtime in the page, and what it reports.

use crate::rewriter::Rewriter;
use crate::source::Sockets;
use serde_json::{Value, json};

/// The global under which the page has the runtime; not enumerable.
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

/// The start of the paths of scripts that stop the parser.
pub(crate) const HOLD_PATH: &str = "/__anyorder/hold/";

/// Tells the log that rewrites dynamic code where to ask, and begins the first event of a document.
const LOG_END: &str = "
{
  const log = window.__anyorder;
  if (log) {
    const Request = XMLHttpRequest, open = Request.prototype.open, send = Request.prototype.send;
    try {
      log.rewrite = (text, kind) => {
        const request = new Request();
        Reflect.apply(open, request, ['POST', __PATH__, false]);
        Reflect.apply(send, request, [kind + '\\n' + text]);
        return request.status === 200 ? request.responseText : text;
      };
    } catch {}
    if (log.begin) log.begin(window === top ? 'load' : 'frame ' + location.pathname);
  }
}
";

/// Returns the scripts that run before those of each document.
pub(crate) fn scripts(
    rewriter: &dyn Rewriter,
    sockets: &Sockets,
    seed: u32,
    epoch_ms: u64,
) -> String {
    let message =
        |one: &crate::source::SocketMessage| json!({"data": one.data, "after": one.after});
    let list = |(path, list): (&String, &Vec<_>)| {
        (path.clone(), Value::from(list.iter().map(message).collect::<Vec<Value>>()))
    };
    let sockets: serde_json::Map<String, Value> = sockets.iter().map(list).collect();
    let config = json!({
        "name": NAME, "seed": seed, "epoch": epoch_ms, "barrier": BARRIER, "sockets": sockets,
        "synchronous": SYNCHRONOUS, "header": SYNCHRONOUS_HEADER,
    });
    let schedule = include_str!("../scripts/schedule.js");
    let schedule = schedule.replacen("__ANYORDER_CONFIG__", &config.to_string(), 1);
    let parts = [
        &schedule,
        include_str!("../scripts/messages.js"),
        SELECT,
        include_str!("../scripts/crawl.js"),
        include_str!("../scripts/page.js"),
    ];
    let mut text = String::from("(() => {\n");
    parts.iter().for_each(|part| text.push_str(part));
    text.push_str("})();\n");
    let log = rewriter.log();
    if !log.is_empty() {
        text.push_str(&log);
        let path = json!(REWRITE).to_string();
        text.push_str(&LOG_END.replace("__PATH__", &path));
    }
    text.push_str("//# sourceURL=anyorder:runtime\n");
    text
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

/// An access that the log reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) location: String,
    /// 1 for a read, 2 for a write, 4 for a write of the value that was there.
    pub(crate) flags: u64,
    pub(crate) site: u64,
}

/// What a frame reports after an event.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct QueueReport {
    pub(crate) created: Vec<Queued>,
    pub(crate) cancelled: Vec<u64>,
    pub(crate) now: u64,
    /// What was sent without a request: its kind, and the text.
    pub(crate) sent: Vec<(String, String)>,
    /// The accesses; `None` if there is no log.
    pub(crate) log: Option<Vec<Record>>,
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
        let records = |list: &Vec<Value>| list.iter().filter_map(record).collect();
        let log = value["log"].as_array().map(records);
        Some(QueueReport { created, cancelled, now: whole(&value["now"]), sent, log })
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
        let text = scripts(&crate::rewriter::Unchanged, &Sockets::new(), 7, 9);
        assert!(!text.contains("__ANYORDER_CONFIG__") && text.contains("\"seed\":7"));
        assert!(!text.contains("log.rewrite"), "nothing is logged");
    }
}
