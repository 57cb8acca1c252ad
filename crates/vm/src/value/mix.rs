//! Hashing of small things into 128 bits, such that sums of hashes are hashes of multisets.
//!
//! The content hash of a container is a sum of mixed element hashes, and the fingerprint of a state
//! a sum of mixed slot hashes, so that changing one element or slot costs a subtraction and an
//! addition. Sums keep their quality only if the terms are well mixed: each half of a term is a
//! folded product of 64 by 64 bits over both halves of the input.

// Fractions of the square roots of small primes, made odd.
const K: [u64; 6] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
];

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Mixes a key and a hash.
#[inline(always)]
pub(crate) fn mix(key: u64, hash: u128) -> u128 {
    let (low, high) = (hash as u64, (hash >> 64) as u64);
    let key = (key ^ K[0]).wrapping_mul(K[1]);
    let key = key ^ (key >> 32);
    let a = fold(low ^ key, high ^ K[2]);
    let b = fold(high.wrapping_add(key) ^ K[3], low ^ K[4]);
    // One more round: a product with an input that happens to be small is not mixed well.
    let c = fold(a ^ K[5], b ^ key ^ K[3]);
    (u128::from(a.wrapping_add(c.rotate_left(17))) << 64) | u128::from(b ^ c)
}

/// Hashes a number that belongs to a kind of things.
#[inline(always)]
pub(crate) fn number(kind: u64, number: u64) -> u128 {
    let x = (number ^ kind.wrapping_mul(K[4])).wrapping_mul(K[1]);
    let x = (x ^ (x >> 31)).wrapping_mul(K[3]);
    let y = (number.rotate_left(32) ^ kind.wrapping_mul(K[2])).wrapping_mul(K[5]);
    let y = (y ^ (y >> 29)).wrapping_mul(K[0]);
    (u128::from(x ^ (x >> 32)) << 64) | u128::from(y ^ (y >> 33))
}

/// Hashes bytes.
pub(crate) fn bytes(kind: u64, bytes: &[u8]) -> u128 {
    let mut hash = number(kind, bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = mix(u64::from_le_bytes(*word), hash);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(u64::from_le_bytes(last), hash)
}
