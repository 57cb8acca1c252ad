//! How recorders write locations: `Foo.bar@0x41` is a field of an object, `0x10+8` an address with
//! a size, `0x10` an address: that of a lock or of a condition variable.
//!
//! A location is a name in a trace, and any text is one. These forms are read only where findings
//! are compared between runs and where they are listed by class; no engine does so.

/// Returns a location without the identity of its object or its address: equal in every run.
pub(crate) fn of_all_objects(location: &str) -> String {
    if is_address(location) { String::new() } else { of_fields_and_ranges(location) }
}

/// Returns whether a location is an address alone.
pub(crate) fn is_address(location: &str) -> bool {
    let digits = location.strip_prefix("0x").unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// What [`of_all_objects`] was in earlier versions: an address alone is kept.
pub(crate) fn of_fields_and_ranges(location: &str) -> String {
    let is_identity = |text: &str| {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
    };
    match location.rsplit_once('@') {
        Some((rest, object)) if is_identity(object) => return rest.to_owned(),
        _ => {}
    }
    match location.split_once('+') {
        Some((address, size)) if address.starts_with("0x") && is_identity(address) => {
            format!("+{size}")
        }
        _ => location.to_owned(),
    }
}

/// Returns the class of a location that is a field: `a.Foo` of `a.Foo.bar@0x41`.
#[must_use]
pub fn class(location: &str) -> Option<&str> {
    let field = location.rsplit_once('@').map_or(location, |(field, _)| field);
    field.rsplit_once('.').map(|(class, _)| class).filter(|class| !class.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_and_an_address_are_left_out() {
        assert_eq!(of_all_objects("a.Foo.bar@0x41"), "a.Foo.bar");
        assert_eq!(of_all_objects("a.Foo.bar@home"), "a.Foo.bar@home");
        assert_eq!(of_all_objects("0x10+8"), "+8");
        assert_eq!(of_all_objects("0x55d0c0ffee"), "");
        assert_eq!(of_all_objects("0x"), "0x");
        assert_eq!(of_all_objects("0xlock"), "0xlock");
        assert_eq!(of_fields_and_ranges("0x10"), "0x10");
        assert_eq!(of_all_objects("x"), "x");
    }

    #[test]
    fn a_field_has_a_class() {
        assert_eq!(class("a.Foo.bar@0x41"), Some("a.Foo"));
        assert_eq!(class(".bar"), None);
        assert_eq!(class("x"), None);
    }
}
