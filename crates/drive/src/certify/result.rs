//! The certificates in the findings of a result.

use super::fields::Fields;
use crate::failure::Hint;
use crate::verdict::{
    CertificateFault, CertificateKind, CertificateVerdict, Certified, CertifiedFile,
};
use serde_json::Value;

/// Checks the certificate of each finding of a result with `check`, which takes the format and the
/// certificate. `input` is the path of the input: a finding that names another one is left out.
///
/// Of a finding, only the `witness` is the certificate; its `form` must be that of the witness.
pub(super) fn check_all(
    value: &Value,
    input: &str,
    mut check: impl FnMut(&str, &Value) -> (Option<CertificateKind>, CertificateVerdict),
) -> CertifiedFile {
    let unreadable = |what: String| {
        CertifiedFile::one(None, CertificateVerdict::unreadable(format!("not a result: {what}")))
    };
    if value.get("schema").and_then(Value::as_u64) != Some(1) {
        return unreadable("expected `\"schema\": 1`".to_owned());
    }
    let Some(findings) = value.get("findings").and_then(Value::as_array) else {
        return unreadable("expected a list of `findings`".to_owned());
    };
    let mut file = CertifiedFile::default();
    for (number, finding) in (1..).zip(findings) {
        let of = finding.get("input").and_then(Value::as_str);
        if of.is_some_and(|of| of != input) {
            file.elsewhere += 1;
            continue;
        }
        let Some(witness) = finding.get("witness") else {
            file.without += 1;
            continue;
        };
        let (kind, verdict) = match placed(witness) {
            Err(fault) => (None, CertificateVerdict::Unreadable(fault)),
            Ok((format, inline)) => {
                let form = |value: &Value| value.get("form").cloned();
                let (claimed, shown) = (form(inline), form(finding));
                if shown.is_some() && shown != claimed {
                    let verdict = CertificateVerdict::fails(
                        "`form`",
                        "the finding has another form than its witness",
                    );
                    (Some(CertificateKind::Reordering), verdict)
                } else {
                    check(format, inline)
                }
            }
        };
        file.certificates.push(Certified { finding: Some(number), kind, verdict });
    }
    if file.certificates.is_empty() {
        let found = findings.len() as u64;
        let fault = match file.elsewhere {
            0 => {
                CertificateFault::new("a result without certificates").with_hint(Hint::Certificates)
            }
            elsewhere if elsewhere == found => {
                CertificateFault::new("a result whose findings are about other inputs")
                    .with_hint(Hint::OwnInput)
            }
            _ => CertificateFault::new("a result without certificates about this input"),
        };
        let verdict = CertificateVerdict::Unreadable(fault);
        file.certificates.push(Certified { finding: None, kind: None, verdict });
    }
    file
}

/// Returns the format of a witness, and the witness.
fn placed(witness: &Value) -> Result<(&str, &Value), CertificateFault> {
    let read = || -> Result<(&str, Option<&Value>, Option<&str>), String> {
        let mut fields = Fields::of(witness, "`witness`")?;
        let format = fields.text("format")?;
        let (inline, path) = (fields.get("inline"), fields.text_if("path")?);
        fields.end()?;
        Ok((format, inline, path))
    };
    match read().map_err(CertificateFault::new)? {
        (format, Some(inline), None) => Ok((format, inline)),
        // Paths inside inputs are never opened.
        (_, None, Some(_)) => {
            Err(CertificateFault::new("the certificate is in another file")
                .with_hint(Hint::OwnFile))
        }
        _ => Err(CertificateFault::new("`witness`: expected either `inline` or `path`")),
    }
}
