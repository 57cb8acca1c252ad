//! Times in what a page stores and sends.
//!
//! The clock of a page moves with its timers, so another order stores another time: `expires` is a
//! day and 500 ms after the beginning instead of a day and 200 ms. That is no difference that a
//! user could see, so times near the clock of the page count by their hour. **Guarantee.** Texts
//! without times stay as they are. Two constants that differ by less than an hour look alike, and
//! a time just before a full hour may still differ from one just behind it.

/// How far from the beginning of a run a number counts as a time, in milliseconds: two years.
const NEAR_MS: u64 = 2 * 366 * 24 * 3_600_000;

const HOUR_MS: u64 = 3_600_000;

/// Returns a text with its times as full hours: numbers of seconds or milliseconds since 1970, near
/// the time at which the page began.
pub(super) fn by_the_hour(text: &str, epoch_ms: u64) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|character: char| character.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let end = number.find(|character: char| !character.is_ascii_digit());
        let (number, behind) = number.split_at(end.unwrap_or(number.len()));
        out.push_str(before);
        out.push_str(&hour_of(number, epoch_ms).unwrap_or_else(|| number.to_owned()));
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Returns the hour of a time, in its own unit.
fn hour_of(number: &str, epoch_ms: u64) -> Option<String> {
    let unit_ms = match number.len() {
        10 => 1000,
        13 => 1,
        _ => return None,
    };
    let time_ms = number.parse::<u64>().ok()?.checked_mul(unit_ms)?;
    let is_near = time_ms.abs_diff(epoch_ms) <= NEAR_MS;
    is_near.then(|| ((time_ms / HOUR_MS * HOUR_MS) / unit_ms).to_string())
}

#[cfg(test)]
mod tests {
    use super::by_the_hour;

    const EPOCH_MS: u64 = 1_767_225_600_000;

    #[test]
    fn times_near_the_clock_count_by_their_hour() {
        for (text, expected) in [
            ("1767312000500", "1767312000000"),
            (r#"{"until":1767225600200,"n":7}"#, r#"{"until":1767225600000,"n":7}"#),
            ("a=1767225601; b=2", "a=1767225600; b=2"),
            ("1767229200000", "1767229200000"),
        ] {
            assert_eq!(by_the_hour(text, EPOCH_MS), expected);
        }
    }

    #[test]
    fn other_texts_stay() {
        for text in ["", "order 12345", "1000000000000", "17672256002000", "4111111111111", "no 1"]
        {
            assert_eq!(by_the_hour(text, EPOCH_MS), text);
        }
    }
}
