//! Counts and sizes as people read them.

/// Returns a count with commas between thousands.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a size with a binary unit and one decimal.
#[must_use]
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Returns `1 race`, `2 races`, `2 witnesses`, `2 categories`.
#[must_use]
pub fn plural(number: u64, word: &str) -> String {
    let (stem, ending) = match word.strip_suffix('y') {
        _ if number == 1 => (word, ""),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => (stem, "ies"),
        _ if word.ends_with('s') => (word, "es"),
        _ => (word, "s"),
    };
    format!("{} {stem}{ending}", count(number))
}

/// Returns the form of a verb or phrase that agrees with a number: the first for one, the second
/// for others.
#[must_use]
pub fn agree(number: u64, [one, many]: [&str; 2]) -> &str {
    if number == 1 { one } else { many }
}

/// Returns `1 more race`, `2 more races`.
#[must_use]
pub fn more(number: u64, word: &str) -> String {
    plural(number, &format!("more {word}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_numbers() {
        assert_eq!(plural(1, "witness"), "1 witness");
        assert_eq!(plural(2, "witness"), "2 witnesses");
        assert_eq!([plural(0, "category"), plural(2, "delay")], ["0 categories", "2 delays"]);
        assert_eq!(more(1_000, "race"), "1,000 more races");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!([0, 1023, 1536, 3 << 30].map(bytes), ["0 B", "1023 B", "1.5 KiB", "3.0 GiB"]);
        assert_eq!(plural(1, "race"), "1 race");
        assert_eq!(plural(2000, "race"), "2,000 races");
        assert_eq!(more(2, "race"), "2 more races");
    }
}
