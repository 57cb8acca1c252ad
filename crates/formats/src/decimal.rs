//! Writes numbers without the formatting machinery.

/// Appends a number in decimal digits.
#[inline]
pub(super) fn push_decimal(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a number in hexadecimal digits after `0x`.
#[inline]
pub(super) fn push_hexadecimal(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"0x");
    let digits = (64 - number.leading_zeros()).div_ceil(4).max(1);
    for digit in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(number >> (4 * digit) & 15) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_standard_library_does() {
        for shift in 0..64 {
            for number in [1u64 << shift, (1 << shift) - 1, 10u64.pow(shift % 20), u64::MAX] {
                let mut out = Vec::new();
                push_decimal(number, &mut out);
                assert_eq!(out, number.to_string().as_bytes());
                out.clear();
                push_hexadecimal(number, &mut out);
                assert_eq!(out, format!("{number:#x}").as_bytes());
            }
        }
    }
}
