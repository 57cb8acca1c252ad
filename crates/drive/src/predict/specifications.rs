//! The commutativity specifications of the objects in a trace.

use crate::failure::{Failure, Request, SpecificationMistakes};
use anyorder_commute::{Document, SpecErrors, built_in_types};
use anyorder_finding::{OptionValues, option};
use anyorder_predict::Types;

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
                Failure::Specification(SpecificationMistakes::new(name, errors))
            })?,
        };
        let failed = |error: SpecErrors| Request::Specifications(error.to_string());
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
    pub(crate) fn set_options(&self, options: &mut OptionValues) {
        options.set_some(option::SPEC, self.file.clone());
        if !self.objects.is_empty() {
            options.set(option::OBJECT, self.objects.join(","));
        }
    }
}

/// Declares the type of an object.
fn declare(types: &mut Types, declared: &str) -> Result<(), Request> {
    let given = declared.to_owned();
    let Some((object, type_name)) = declared.rsplit_once('=').filter(|parts| !parts.0.is_empty())
    else {
        return Err(Request::NoType { declared: given });
    };
    types.declare(object, type_name).map_err(|_| {
        let built_in = built_in_types().iter().map(|built_in| built_in.name).collect();
        Request::UnknownType { declared: given, type_name: type_name.to_owned(), built_in }
    })
}
