//! The content security policy: hashes of our own style and scripts, and nothing else.

/// Returns a policy that allows exactly these style sheets and scripts, and no request at all.
pub(super) fn policy(styles: &[&str], scripts: &[&str]) -> String {
    let sources = |texts: &[&str]| {
        let hash = |text: &&str| format!(" 'sha256-{}'", base64(&sha256(text.as_bytes())));
        texts.iter().map(hash).collect::<String>()
    };
    format!(
        "default-src 'none'; style-src{}; script-src{}; base-uri 'none'; form-action 'none'",
        sources(styles),
        sources(scripts)
    )
}

/// Returns the standard Base64 of 32 bytes, padded.
fn base64(bytes: &[u8; 32]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(44);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * position) & 63) as usize];
            out.push(if position <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

/// SHA-256 after FIPS 180-4 section 6.2. Its speed does not matter: it hashes four constants.
fn sha256(message: &[u8]) -> [u8; 32] {
    let mut state: [u32; 8] = root_bits(2);
    let rounds: [u32; 64] = root_bits(3);
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        compress(&mut state, &rounds, block);
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

/// Returns the constants of the standard: the first 32 bits of the fractional parts of the roots of
/// the first primes. Square roots give the start (5.3.3), cube roots the rounds (4.2.2).
fn root_bits<const COUNT: usize>(degree: u32) -> [u32; COUNT] {
    let mut primes = (2_u128..).filter(|number| (2..*number).all(|other| number % other != 0));
    [(); COUNT].map(|()| {
        let prime = primes.next().unwrap_or_default();
        // The root of this number is the root of the prime with 32 more bits before the point.
        let scaled = prime << (32 * degree);
        let (mut low, mut high) = (0, 1_u128 << 40);
        while high - low > 1 {
            let middle = u128::midpoint(low, high);
            if middle.pow(degree) <= scaled {
                low = middle;
            } else {
                high = middle;
            }
        }
        low as u32
    })
}

/// Adds one block of 64 bytes to the state.
fn compress(state: &mut [u32; 8], rounds: &[u32; 64], block: &[u8]) {
    let mut w = [0_u32; 64];
    for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for t in 16..64 {
        let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
        let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
        w[t] = w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for t in 0..64 {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(rounds[t]).wrapping_add(w[t]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let t2 = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2));
    }
    for (old, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *old = old.wrapping_add(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        for (text, expected) in [
            ("", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
            ("abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=",
            ),
        ] {
            assert_eq!(base64(&sha256(text.as_bytes())), expected, "{text}");
        }
    }
}
