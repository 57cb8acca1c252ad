//! Dates of the constant time, in UTC.

const DAY_MS: i64 = 86_400_000;

const DAYS: [&str; 7] =
    ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Returns the hour of the day of a moment in milliseconds.
pub(super) fn hours(at: i64) -> i32 {
    (at.rem_euclid(DAY_MS) / 3_600_000) as i32
}

/// Returns the minute of the hour of a moment.
pub(super) fn minutes(at: i64) -> i32 {
    (at.rem_euclid(3_600_000) / 60_000) as i32
}

/// Returns year, month from 1, and day of a moment, by the Gregorian calendar.
fn civil(at: i64) -> (i64, i64, i64) {
    // Days since 1 March of the year 0, in cycles of 400 years.
    let days = at.div_euclid(DAY_MS) + 719_468;
    let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + cycle * 400 + i64::from(month <= 2), month, day)
}

/// Formats a moment as Java's `SimpleDateFormat` does, for the letters that apps use.
pub(super) fn format(at: i64, pattern: &str) -> String {
    let (year, month, day) = civil(at);
    let (hour, minute) = (hours(at), minutes(at));
    let (second, milli) = (at.rem_euclid(60_000) / 1000, at.rem_euclid(1000));
    let weekday = DAYS[at.div_euclid(DAY_MS).rem_euclid(7) as usize];
    let name = MONTHS[(month - 1) as usize];
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|next| next != letter).unwrap_or(rest.len());
        let (run, more) = rest.split_at(end);
        rest = more;
        let width = run.len();
        out += &match letter {
            'y' if width == 2 => format!("{:02}", year % 100),
            'y' => format!("{year:0width$}"),
            'M' if width > 3 => name.to_owned(),
            'M' if width == 3 => name[..3].to_owned(),
            'M' => format!("{month:0width$}"),
            'd' => format!("{day:0width$}"),
            'H' => format!("{hour:0width$}"),
            'h' => format!("{:0width$}", (hour + 11) % 12 + 1),
            'm' => format!("{minute:0width$}"),
            's' => format!("{second:0width$}"),
            'S' => format!("{milli:0width$}"),
            'a' => (if hour < 12 { "AM" } else { "PM" }).to_owned(),
            'E' if width < 4 => weekday[..3].to_owned(),
            'E' => weekday.to_owned(),
            'Z' => "+0000".to_owned(),
            'z' => "UTC".to_owned(),
            '\'' => String::new(),
            _ => run.to_owned(),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(format(0, "yyyy-MM-dd EEE HH:mm:ss.SSS"), "1970-01-01 Thu 00:00:00.000");
        let at = 1_564_694_080_896;
        assert_eq!(format(at, "EEEE, MMMM d yyyy h:mm a"), "Thursday, August 1 2019 9:14 PM");
        assert_eq!(format(951_782_400_000, "yy/M/d"), "00/2/29");
    }
}
