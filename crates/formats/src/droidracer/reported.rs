//! The results of DroidRacer itself, which it appended to the log.

use super::fields::{identity, signed};

/// One race of the list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReportedRace {
    /// The `rwId` of one access, the log's `rwId1`; it may be the later access.
    pub first: u32,
    /// The `rwId` of the other access.
    pub second: u32,
    /// Whether each of the two writes.
    pub writes: [bool; 2],
    /// The thread of each.
    pub threads: [u32; 2],
    /// The object, or `None` for a static field or a database.
    pub object: Option<u64>,
    /// The class.
    pub class: String,
    /// The field's number.
    pub field: String,
    /// The path of the database, if it is one that is accessed.
    pub database: Option<String>,
}

/// One entry of a category: the races of one class or object, and one field.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ReportedGroup {
    /// All races on this field in objects of this class.
    Class {
        /// The class.
        class: String,
        /// The field's number.
        field: String,
    },
    /// All races on this field of this object.
    Object {
        /// The object.
        object: u64,
        /// The field's number.
        field: String,
        /// The numbers of the two operations that were both enabled, where given.
        triggers: Option<[u32; 2]>,
    },
    /// All races on a database.
    Database {
        /// Its path.
        path: String,
    },
}

/// All that DroidRacer reports.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reported {
    /// The races, one a line pair.
    pub races: Vec<ReportedRace>,
    /// The category of races between threads.
    pub multi_threaded: Vec<ReportedGroup>,
    /// The category of races explained by a post from another thread.
    pub cross_posted: Vec<ReportedGroup>,
    /// The category of races between tasks of events that were both enabled.
    pub co_enabled: Vec<ReportedGroup>,
    /// The category of races explained by a delayed post.
    pub delayed: Vec<ReportedGroup>,
    /// Races on one thread that no category above explains.
    pub uncategorised: Vec<ReportedGroup>,
    /// The number of nodes of the happens-before graph.
    pub graph_size: Option<u64>,
}

/// Returns a list of a report.
type List = fn(&mut Reported) -> &mut Vec<ReportedGroup>;

/// Reads DroidRacer's own results from the text of a whole log, or of its end. It ignores other
/// lines, so a log without results gives an empty report.
#[must_use]
pub fn reported(text: &str) -> Reported {
    let mut report = Reported::default();
    let mut list: Option<List> = None;
    let mut first: Option<ReportedRace> = None;
    for line in text.lines().map(str::trim) {
        if let Some(size) = line.strip_prefix("HB Graph size :") {
            report.graph_size = size.trim().parse().ok();
        } else if let Some(rest) = line.strip_prefix("RACE rwId1:") {
            first = side(rest);
        } else if let Some(rest) = line.strip_prefix("rwId2:") {
            if let (Some(mut race), Some(other)) = (first.take(), side(rest)) {
                race.second = other.first;
                (race.writes[1], race.threads[1]) = (other.writes[0], other.threads[0]);
                report.races.push(race);
            }
        } else if let Some(next) = list_of(line) {
            list = next;
        } else if let (Some(list), Some(group)) = (list, group(line)) {
            list(&mut report).push(group);
        }
    }
    report
}

/// Returns the list that begins with a line, or `Some(None)` where one ends.
fn list_of(line: &str) -> Option<Option<List>> {
    let starts: [(&str, Option<List>); 7] = [
        ("Multithreaded races", Some(|report| &mut report.multi_threaded)),
        ("Races due to a delayed post", Some(|report| &mut report.delayed)),
        ("Races due to cross thread post", Some(|report| &mut report.cross_posted)),
        ("Races due to co-enabled events", Some(|report| &mut report.co_enabled)),
        ("Uncategorized races", Some(|report| &mut report.uncategorised)),
        ("Async races", None),
        ("Memory used", None),
    ];
    starts.into_iter().find(|(start, _)| line.starts_with(start)).map(|(_, list)| list)
}

fn group(line: &str) -> Option<ReportedGroup> {
    if let Some(rest) = line.strip_prefix("class:") {
        let (class, field) = rest.split_once("field:")?;
        let field = field.split_whitespace().next()?.to_owned();
        return Some(ReportedGroup::Class { class: class.trim().to_owned(), field });
    }
    if let Some(rest) = line.strip_prefix("object:") {
        let (object, rest) = rest.split_once("field:")?;
        let field = rest.split_whitespace().next()?.to_owned();
        let triggers = rest.split_once("opIds:").and_then(|(_, numbers)| {
            let (a, b) = numbers.split_once(',')?;
            Some([a.trim().parse().ok()?, b.trim().parse().ok()?])
        });
        return Some(ReportedGroup::Object { object: address(object.trim())?, field, triggers });
    }
    let path = line.strip_prefix("database:")?.split_whitespace().next()?.to_owned();
    Some(ReportedGroup::Database { path })
}

/// Reads one of the two lines of a race as its first access: `6908 type - WRITE  obj - 0x41  class
/// - LA; field -   fieldIdx - 244  dbPath -   tid - 1 ...`.
fn side(rest: &str) -> Option<ReportedRace> {
    let first = rest.split_whitespace().next()?.parse().ok()?;
    let value = |key: &str| {
        let (_, behind) = rest.split_once(&format!(" {key} -"))?;
        // Where a value is absent, the next key stands in its place, followed by a dash.
        let mut words = behind.split_whitespace();
        let word = words.next()?;
        (words.next() != Some("-")).then(|| word.to_owned())
    };
    Some(ReportedRace {
        first,
        writes: [value("type")? == "WRITE", false],
        threads: [value("tid").and_then(|tid| tid.parse().ok()).unwrap_or(0), 0],
        object: value("obj").and_then(|object| address(&object)).filter(|object| *object != 0),
        class: value("class").unwrap_or_default(),
        field: value("fieldIdx").unwrap_or_default(),
        database: value("dbPath"),
        ..ReportedRace::default()
    })
}

fn address(text: &str) -> Option<u64> {
    identity(text.as_bytes()).or_else(|| signed(text.as_bytes()).map(i64::cast_unsigned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_races() {
        let report = reported(
            " HB Graph size : 12\n9 UNLOCK tid:1 lock-obj:0x1\nRaces detected\n\
             RACE rwId1:69 type - WRITE  obj - 0x41  class - LA; field -   fieldIdx - 244  dbPath -   tid - 1  accessId - 121\n     \
             rwId2:76 type - READ  obj - 0x41  class - LA; field -   fieldIdx - 244  dbPath -   tid - 3  accessId - 138\n\
             RACE rwId1:1 type - WRITE  obj - 0  class -  field -   fieldIdx - 0  dbPath - /a/b.db  tid - 1  accessId - 1\n\
             rwId2:2 type - READ  obj - 0  class -  field -   fieldIdx - 0  dbPath - /a/b.db  tid - 3  accessId - 1\n\
             Multithreaded races\nclass: LA;  field:244\nRaces due to co-enabled events\n\
             object: 0x41  field:8 co-enabled trigger opIds:563, 712\n Uncategorized races\nclass: LB;  field:3\n\
             Memory used for race detection\n",
        );
        assert_eq!(report.graph_size, Some(12));
        assert_eq!(report.races.len(), 2);
        assert_eq!((report.races[0].first, report.races[0].second), (69, 76));
        assert_eq!(report.races[0].writes, [true, false]);
        assert_eq!(report.races[0].threads, [1, 3]);
        assert_eq!(report.races[0].object, Some(0x41));
        assert_eq!(report.races[0].class, "LA;");
        assert_eq!(report.races[0].field, "244");
        assert_eq!(report.races[0].database, None);
        assert_eq!(report.races[1].object, None);
        assert_eq!(report.races[1].class, "");
        assert_eq!(report.races[1].database.as_deref(), Some("/a/b.db"));
        let class = |class: &str, field: &str| ReportedGroup::Class {
            class: class.to_owned(),
            field: field.to_owned(),
        };
        assert_eq!(report.multi_threaded, [class("LA;", "244")]);
        assert_eq!(report.uncategorised, [class("LB;", "3")]);
        let triggers = Some([563, 712]);
        assert_eq!(
            report.co_enabled,
            [ReportedGroup::Object { object: 0x41, field: "8".to_owned(), triggers }]
        );
        assert!(report.cross_posted.is_empty() && report.delayed.is_empty());
    }
}
