//! The commutativity specifications of the objects in a trace.

use crate::failure::Failure;
use anyorder_common::text::{escape, shown};
use anyorder_commute::{Document, SpecError, built_in_types};
use anyorder_finding::OptionValues;
use anyorder_predict::Types;
use std::path::Path;

/// The types of objects whose methods are called in a trace, with their commutativity
/// specifications.
#[derive(Clone, Debug)]
pub struct Specifications {
    types: Types,
    file: Option<String>,
    objects: Vec<String>,
}

impl Specifications {
    /// Combines the built-in types with those of a file, given by its name and text. `objects`
    /// gives the types of objects as `NAME=TYPE`.
    ///
    /// ```
    /// use anyorder_drive::Specifications;
    /// assert!(Specifications::new(None, &["cart=set".to_owned()]).is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// Fails when the text has errors, or when a type is not known.
    pub fn new(file: Option<(&str, &str)>, objects: &[String]) -> Result<Specifications, Failure> {
        let document = match file {
            None => Document::default(),
            Some((name, text)) => Document::parse(text).map_err(|errors| {
                let name = shown(Path::new(name));
                let text = |error| format!("{name}:{}\n", multiline(error));
                Failure::rendered(errors.0.iter().map(text).collect())
            })?,
        };
        let failed = |error| Failure::new(format!("the specifications cannot be used: {error}"));
        let mut types = Types::with(&document).map_err(failed)?;
        objects.iter().try_for_each(|declared| declare(&mut types, declared))?;
        let file = file.map(|(name, _)| name.to_owned());
        Ok(Specifications { types, file, objects: objects.to_vec() })
    }

    /// Returns the types of specifications; `None` means the built-in types.
    pub(crate) fn types_of(of: Option<&Specifications>) -> Result<Types, Failure> {
        match of {
            Some(specifications) => Ok(specifications.types.clone()),
            None => Ok(Specifications::new(None, &[])?.types),
        }
    }

    /// Sets the options of a result.
    pub(super) fn set_options(&self, options: &mut OptionValues) {
        options.set_some("spec", self.file.clone());
        if !self.objects.is_empty() {
            options.set("object", self.objects.join(","));
        }
    }
}

/// Declares the type of an object.
fn declare(types: &mut Types, declared: &str) -> Result<(), Failure> {
    let Some((object, type_name)) = declared.rsplit_once('=').filter(|parts| !parts.0.is_empty())
    else {
        let failure = Failure::new(format!("--object {}: expected NAME=TYPE", escape(declared)));
        return Err(failure.with_hint("such as `--object cart=set`"));
    };
    types.declare(object, type_name).map_err(|_| {
        let known: Vec<&str> = built_in_types().iter().map(|built_in| built_in.name).collect();
        let name = escape(type_name);
        Failure::new(format!("--object {}: unknown type `{name}`", escape(declared)))
            .with_hint(format!("the built-in types are {}; `--spec` adds others", known.join(", ")))
    })
}

/// Makes a message of several lines safe to print.
fn multiline(error: &SpecError) -> String {
    let text = error.to_string();
    let lines: Vec<String> = text.lines().map(|line| escape(line).into_owned()).collect();
    lines.join("\n")
}
