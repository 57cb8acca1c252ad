//! Breaks text into lines of a given width. Lines after the first have their own indent.

/// Returns the text in lines of at most `width` characters, broken at blanks where possible. The
/// first line follows `first` existing characters; all others start with `indent` blanks.
pub(crate) fn wrap(text: &str, width: usize, first: usize, indent: usize) -> String {
    // For a smaller width, breaking would make the text harder to read.
    let width = width.max(indent + 20);
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = first;
    let mut line_is_empty = true;
    let break_line = |out: &mut String| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent));
        indent
    };
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let length = word.chars().count();
        if !line_is_empty {
            if column + 1 + length <= width {
                out.push(' ');
                column += 1;
            } else {
                column = break_line(&mut out);
            }
        } else if column + length > width && column > indent {
            column = break_line(&mut out);
        }
        for c in word.chars() {
            if column >= width {
                column = break_line(&mut out);
            }
            out.push(c);
            column += 1;
        }
        line_is_empty = false;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrap("one two three four five six", 22, 0, 2), "one two three four\n  five six");
        assert_eq!(wrap("one two", 22, 20, 2), "\n  one two");
        assert_eq!(wrap("", 80, 0, 2), "");
    }

    #[test]
    fn words_that_are_too_long_break_inside() {
        let text = wrap(&"x".repeat(50), 22, 0, 2);
        assert!(text.lines().all(|line| line.chars().count() <= 22), "{text}");
        assert_eq!(text.matches('x').count(), 50);
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        let text = "a bb ccc dddd eeeee ffffff ggggggg hhhhhhhh iiiiiiiii";
        for width in 24..60 {
            let lines = wrap(text, width, 0, 4);
            assert!(lines.lines().all(|line| line.chars().count() <= width), "{width}: {lines}");
            assert_eq!(lines.split_whitespace().collect::<Vec<_>>().join(" "), text);
        }
    }
}
