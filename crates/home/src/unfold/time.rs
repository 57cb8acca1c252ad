//! Time, in quarters of a day, and dates.

/// The moments of a run: two days in quarters, from a Monday at 08:00.
pub(super) const QUARTERS: i64 = 4;

/// Milliseconds of a quarter of a day.
const QUARTER_MS: i64 = 6 * 3_600_000;

/// Monday, 5 January 2026, 00:00 UTC.
const MONDAY_MS: i64 = 1_767_571_200_000;

const DAY_MS: i64 = 86_400_000;

/// Returns the moment after so many quarters.
pub(super) fn moment(quarters: i64) -> i64 {
    MONDAY_MS + 8 * 3_600_000 + quarters * QUARTER_MS
}

/// Returns the moment of sunrise (06:00) or sunset (18:00) of the day of a moment.
pub(super) fn sun(now: i64, is_rise: bool) -> i64 {
    day(now) + if is_rise { 6 } else { 18 } * 3_600_000
}

fn day(moment: i64) -> i64 {
    moment.div_euclid(DAY_MS) * DAY_MS
}

/// Reads a time of day on the day of `now`: `15:00`, or the time in
/// `2026-01-05T15:00:00.000+0000`.
pub(super) fn today(text: &str, now: i64) -> Option<i64> {
    let time = text.split_once('T').map_or(text, |(_, time)| time);
    let mut parts = time.split([':', '.', '+', '-', 'Z']);
    let hours: i64 = parts.next()?.trim().parse().ok()?;
    let minutes: i64 = parts.next().unwrap_or("0").trim().parse().unwrap_or(0);
    (hours < 24 && minutes < 60).then(|| day(now) + (hours * 60 + minutes) * 60_000)
}

/// Returns whether a time of day lies between two others, over midnight too.
pub(super) fn is_between(from: i64, to: i64, now: i64) -> bool {
    let [from, to, now] = [from, to, now].map(|moment| moment.rem_euclid(DAY_MS));
    if from <= to { (from..=to).contains(&now) } else { now >= from || now <= to }
}

const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Formats a moment as Java's `SimpleDateFormat` does, for the letters that apps use.
pub(super) fn format(moment: i64, pattern: &str) -> String {
    let days = (moment - MONDAY_MS).div_euclid(DAY_MS);
    let seconds = moment.rem_euclid(DAY_MS) / 1000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let weekday = DAYS[usize::try_from(days.rem_euclid(7)).unwrap_or(0)];
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|next| next != letter).unwrap_or(rest.len());
        let (run, more) = rest.split_at(end);
        rest = more;
        let width = run.len();
        out += &match letter {
            'y' => "2026".to_owned(),
            'M' => "01".to_owned(),
            'd' => format!("{:0width$}", 5 + days),
            'H' => format!("{hour:0width$}"),
            'h' => format!("{:0width$}", (hour + 11) % 12 + 1),
            'm' => format!("{minute:0width$}"),
            's' => format!("{second:0width$}"),
            'S' => "0".repeat(width),
            'a' => (if hour < 12 { "AM" } else { "PM" }).to_owned(),
            'E' if width < 4 => weekday[..3].to_owned(),
            'E' => weekday.to_owned(),
            'u' => (days.rem_euclid(7) + 1).to_string(),
            'Z' => "+0000".to_owned(),
            'z' => "UTC".to_owned(),
            '\'' => String::new(),
            _ => run.to_owned(),
        };
    }
    out
}
