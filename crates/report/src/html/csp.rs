//! The content security policy: hashes of our own style and scripts, and nothing else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Returns a policy that allows exactly these style sheets and scripts, pictures that are part of
/// the page if there are any, and no request at all.
pub(super) fn policy(styles: &[&str], scripts: &[&str], has_pictures: bool) -> String {
    let sources = |texts: &[&str]| {
        let source = |text: &&str| format!(" 'sha256-{}'", hash(text));
        texts.iter().map(source).collect::<String>()
    };
    format!(
        "default-src 'none'; style-src{}; script-src{}{}; base-uri 'none'; form-action 'none'",
        sources(styles),
        sources(scripts),
        if has_pictures { "; img-src data:" } else { "" }
    )
}

/// Returns the SHA-256 of a text, in padded Base64.
fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text))
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
            assert_eq!(hash(text), expected, "{text}");
        }
    }
}
