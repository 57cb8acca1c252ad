//! Durations and sizes as people write them.

use anyorder_process::machine_bytes;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Reads a duration such as `90`, `90s`, `1m30s`, `500ms`, `2h`; a bare number counts seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str = "expected a duration such as `30s`, `1m30s` or `500ms`";
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: u32 = rest[..digits].parse().map_err(|_| EXPECTED)?;
        rest = &rest[digits..];
        let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let unit = match &rest[..letters] {
            "ms" => Duration::from_millis(1),
            "s" => Duration::from_secs(1),
            "m" | "min" => Duration::from_secs(60),
            "h" => Duration::from_secs(3600),
            _ => return Err(EXPECTED.to_owned()),
        };
        let part = unit.checked_mul(number).and_then(|part| total.checked_add(part));
        total = part.ok_or("the duration is too long")?;
        rest = &rest[letters..];
    }
    if text.is_empty() { Err(EXPECTED.to_owned()) } else { Ok(total) }
}

/// Reads a size such as `512M`, `1.5GiB`, `1000000`; `K`, `M`, `G` and `T` are powers of 1,024.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "expected a size such as `512M` or `2GiB`";
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor: u64 = match unit.trim_end_matches("iB").trim_end_matches('B') {
        "" => 1,
        "K" | "k" => 1 << 10,
        "M" | "m" => 1 << 20,
        "G" | "g" => 1 << 30,
        "T" | "t" => 1 << 40,
        _ => return Err(EXPECTED.to_owned()),
    };
    if let Ok(number) = number.parse::<u64>() {
        return number.checked_mul(factor).ok_or_else(|| "the size is too large".to_owned());
    }
    let bytes = number.parse::<f64>().map_err(|_| EXPECTED.to_owned())? * factor as f64;
    // Users type fractions only for small sizes; sizes past 2^53 are whole numbers.
    if bytes.is_finite() && bytes < 9e15 { Ok(bytes as u64) } else { Err(EXPECTED.to_owned()) }
}

/// Reads the greatest size of a recording, which grows in large pieces.
pub(crate) fn parse_recording(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text)?;
    if bytes < 1 << 20 { Err("expected at least 1M".to_owned()) } else { Ok(bytes) }
}

/// Reads the size of a table that is held in memory as a whole: at most the memory of the machine.
pub(crate) fn parse_held_bytes(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text)?;
    match machine_bytes() {
        Some(most) if bytes > most => {
            Err(format!("more than the {} MB of memory of this machine", most / 1_000_000))
        }
        _ => Ok(bytes),
    }
}

/// Reads a number of threads. More than a thousand help nowhere, and no system starts any number.
pub(crate) fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    const THREADS_MAX: usize = 1024;
    let threads: NonZeroUsize = text.parse().map_err(|error| format!("{error}"))?;
    if threads.get() > THREADS_MAX {
        return Err(format!("expected at most {THREADS_MAX} threads"));
    }
    Ok(threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_or_started_has_bounds() {
        assert_eq!(parse_threads("1024").map(NonZeroUsize::get), Ok(1024));
        for bad in ["0", "1025", "100000", "-1", "x", "99999999999999999999999"] {
            assert!(parse_threads(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_held_bytes("256M"), Ok(256 << 20));
        assert!(parse_held_bytes("8000000T").is_err());
    }

    #[test]
    fn durations() {
        let ms = |text| parse_duration(text).map(|d| d.as_millis());
        assert_eq!(ms("90"), Ok(90_000));
        assert_eq!(ms("1m30s"), Ok(90_000));
        assert_eq!(ms("500ms"), Ok(500));
        assert_eq!(ms("2h"), Ok(7_200_000));
        for bad in ["", "s", "1x", "1.5s", "-1", "1s2", "99999999999s"] {
            assert!(ms(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_bytes("1000"), Ok(1000));
        assert_eq!(parse_bytes("512M"), Ok(512 << 20));
        assert_eq!(parse_bytes("2GiB"), Ok(2 << 30));
        assert_eq!(parse_bytes("1.5K"), Ok(1536));
        for bad in ["", "M", "1X", "-1", "1e3", "99999999999T", "1.2.3"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }
}
