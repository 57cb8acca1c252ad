//! Texts of two runs, line by line.
//!
//! **Problem.** Two texts. Wanted: their lines, with those of one text only marked. **Method.** The
//! common beginning and end are cut off; what is left gets a longest common subsequence by the
//! table of the dynamic program. Where that table would be too large, the middle counts as
//! replaced: the result is then right, and longer than it has to be. **Cost.** The product of the
//! two numbers of lines in the middle, at most [`TABLE_MAX`].

use anyorder_finding::run::{DifferenceLine, TextDifference};

/// The most entries of the table.
const TABLE_MAX: usize = 4_000_000;

/// Equal lines that are kept around a difference.
const NEAR: usize = 2;

/// The most lines of a difference.
const LINES_MAX: usize = 160;

/// Compares two texts; `None` if they are equal.
pub(super) fn difference(title: &str, before: &str, after: &str) -> Option<TextDifference> {
    let (a, b): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    if a == b {
        return None;
    }
    let mut lines = near(&compared(&a, &b));
    let left_out = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    Some(TextDifference { title: title.to_owned(), lines, left_out })
}

/// Returns all lines of both texts, in order.
fn compared(a: &[&str], b: &[&str]) -> Vec<DifferenceLine> {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let ends = a[start..].iter().rev().zip(b[start..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    let (middle_a, middle_b) = (&a[start..a.len() - end], &b[start..b.len() - end]);
    let both = |line: &&str| DifferenceLine::Both((*line).to_owned());
    let mut lines: Vec<DifferenceLine> = a[..start].iter().map(both).collect();
    lines.extend(middle(middle_a, middle_b));
    lines.extend(a[a.len() - end..].iter().map(both));
    lines
}

fn middle(a: &[&str], b: &[&str]) -> Vec<DifferenceLine> {
    let before = |line: &str| DifferenceLine::Before(line.to_owned());
    let after = |line: &str| DifferenceLine::After(line.to_owned());
    let width = b.len() + 1;
    if (a.len() + 1).saturating_mul(width) > TABLE_MAX {
        let removed = a.iter().map(|line| before(line));
        return removed.chain(b.iter().map(|line| after(line))).collect();
    }
    // `longest[i * width + j]`: of what follows the first `i` and `j` lines.
    let mut longest = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let below = longest[(i + 1) * width + j].max(longest[i * width + j + 1]);
            let same = if a[i] == b[j] { longest[(i + 1) * width + j + 1] + 1 } else { 0 };
            longest[i * width + j] = same.max(below);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            lines.push(DifferenceLine::Both(a[i].to_owned()));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            lines.push(before(a[i]));
            i += 1;
        } else {
            lines.push(after(b[j]));
            j += 1;
        }
    }
    lines.extend(a[i..].iter().map(|line| before(line)));
    lines.extend(b[j..].iter().map(|line| after(line)));
    lines
}

/// Leaves out the equal lines that are not near a difference.
fn near(lines: &[DifferenceLine]) -> Vec<DifferenceLine> {
    let differs: Vec<usize> =
        (0..lines.len()).filter(|at| !matches!(lines[*at], DifferenceLine::Both(_))).collect();
    let mut kept = Vec::new();
    let mut gap = 0;
    for (at, line) in lines.iter().enumerate() {
        let next = differs.partition_point(|differs| *differs < at.saturating_sub(NEAR));
        if differs.get(next).is_some_and(|differs| *differs <= at + NEAR) {
            if gap > 0 {
                kept.push(DifferenceLine::Gap(gap));
                gap = 0;
            }
            kept.push(line.clone());
        } else {
            gap += 1;
        }
    }
    if gap > 0 {
        kept.push(DifferenceLine::Gap(gap));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_common::random::{Random as _, SplitMix64};

    fn sides(lines: &[DifferenceLine]) -> (Vec<&str>, Vec<&str>) {
        let mut sides = (Vec::new(), Vec::new());
        for line in lines {
            match line {
                DifferenceLine::Both(line) => {
                    sides.0.push(&**line);
                    sides.1.push(&**line);
                }
                DifferenceLine::Before(line) => sides.0.push(line),
                DifferenceLine::After(line) => sides.1.push(line),
                DifferenceLine::Gap(_) => unreachable!("no line is left out yet"),
            }
        }
        sides
    }

    /// The length of the longest common subsequence, by trying both.
    fn longest(a: &[&str], b: &[&str]) -> usize {
        match (a, b) {
            ([], _) | (_, []) => 0,
            ([x, a @ ..], [y, b @ ..]) if x == y => 1 + longest(a, b),
            ([_, rest_a @ ..], [_, rest_b @ ..]) => longest(rest_a, b).max(longest(a, rest_b)),
        }
    }

    #[test]
    fn both_texts_are_kept_and_as_much_as_possible_is_common() {
        let mut random = SplitMix64(7);
        let mut differ = 0;
        for _ in 0..300 {
            let mut text = || -> Vec<&str> {
                (0..random.below(8)).map(|_| random.pick(&["a", "b", "c"])).collect()
            };
            let (a, b) = (text(), text());
            let lines = compared(&a, &b);
            assert_eq!(sides(&lines), (a.clone(), b.clone()));
            let common = lines.iter().filter(|line| matches!(line, DifferenceLine::Both(_)));
            assert_eq!(common.count(), longest(&a, &b), "{a:?} {b:?}");
            differ += u32::from(a != b);
        }
        assert!(differ > 100, "{differ}");
    }

    #[test]
    fn lines_far_from_a_difference_are_left_out() {
        let before: String = (0..20).map(|n| format!("{n}\n")).collect();
        let after = before.replace("10\n", "ten\n");
        let found = difference("text", &before, &after).expect("they differ");
        assert_eq!(found.lines.len(), 8, "{found:?}");
        assert_eq!(found.lines[0], DifferenceLine::Gap(8));
        assert_eq!(found.lines[7], DifferenceLine::Gap(7));
        assert_eq!(difference("text", &before, &before), None);
        let long: String = (0..3_000).map(|n| format!("{n}\n")).collect();
        let other: String = (0..3_000).map(|n| format!("x{n}\n")).collect();
        let found = difference("text", &long, &other).expect("they differ");
        assert_eq!((found.lines.len(), found.left_out), (160, 5_840));
    }
}
