//! A program of the machine as a model: what every front end gets that lowers to the machine.

use crate::failure::{Failure, ModelWarning, Unusable};
use anyorder_system::{ProgramIdentity, Schedule};
use anyorder_vm::Machine;
use anyorder_vm::program::{Granularity, Program, ProgramError};
use std::sync::Arc;

/// A program of the machine: a compiled model, or what another front end built.
#[derive(Debug)]
pub struct Model {
    pub(crate) machine: Arc<Machine>,
    /// The identity of the program in schedules: of a model, the path and a hash of the text.
    pub(crate) program: ProgramIdentity,
    warnings: Vec<ModelWarning>,
    /// Whether the program asks for steps at shared accesses.
    access_steps: bool,
}

/// The option of a schedule whose steps are those of another granularity than the model asks for.
pub(crate) const GRANULARITY: &str = "granularity";

impl Model {
    /// Makes a model of a program that a front end built for the machine. `identity` names the
    /// program in messages and schedules; `warnings` are those of the front end.
    ///
    /// # Errors
    ///
    /// Fails with the first mistake of the program.
    ///
    /// ```
    /// use anyorder_drive::JobControl;
    /// use anyorder_drive::model::{Model, check_model};
    /// use anyorder_drive::states::CheckOptions;
    /// use anyorder_system::ProgramIdentity;
    /// use anyorder_vm::program::{Literal, Op, ProgramBuilder};
    ///
    /// let mut b = ProgramBuilder::new("lamp");
    /// let (lamp, message) = (b.global("lamp", Literal::Bool(false)), Literal::Str("dark".into()));
    /// let message = b.constant(message);
    /// let mut look = b.function("look", 0);
    /// let is_on = look.reg();
    /// look.emit(Op::GetGlobal { dst: is_on, global: lamp });
    /// look.emit(Op::Assert { cond: is_on, message });
    /// let look = b.add(look);
    /// b.event("look", look);
    ///
    /// let identity = ProgramIdentity::new("lamp.rules");
    /// let model = Model::from_program(b.finish()?, identity, Vec::new())?;
    /// let found = check_model(&model, &CheckOptions::default(), &JobControl::default())?.result;
    /// assert_eq!(found.findings[0].finding.title, "an assertion fails: dark");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_program(
        program: Program,
        identity: ProgramIdentity,
        warnings: Vec<ModelWarning>,
    ) -> Result<Model, Failure> {
        let access_steps = program.settings.granularity == Granularity::Access;
        let machine = machine_of(program, &identity)?;
        Ok(Model { machine, program: identity, warnings, access_steps })
    }

    /// Returns the model with steps at shared accesses, whatever its setting.
    ///
    /// # Errors
    ///
    /// None for a program that was accepted before.
    pub(crate) fn by_access(&self) -> Result<Model, Failure> {
        self.changed(|program| program.settings.granularity = Granularity::Access)
    }

    /// Returns the model with a step at each shared access and without its components: for whom a
    /// task works is no part of its states.
    pub(crate) fn by_access_for_nobody(&self) -> Result<Model, Failure> {
        self.changed(|program| {
            program.settings.granularity = Granularity::Access;
            program.components.clear();
        })
    }

    fn changed(&self, change: impl FnOnce(&mut Program)) -> Result<Model, Failure> {
        let mut program = self.machine.source_program();
        change(&mut program);
        let machine = machine_of(program, &self.program)?;
        let (program, access_steps) = (self.program.clone(), self.access_steps);
        Ok(Model { machine, program, warnings: Vec::new(), access_steps })
    }

    /// Returns whether the program itself asks for steps at shared accesses.
    pub(crate) fn has_access_steps(&self) -> bool {
        self.access_steps
    }

    /// Returns the model with the steps of a schedule, if these are not its own.
    ///
    /// # Errors
    ///
    /// None for a program that was accepted before.
    pub(crate) fn with_steps_of(&self, schedule: &Schedule) -> Result<Option<Model>, Failure> {
        let asked = schedule.options.get(GRANULARITY);
        let access = asked.is_some_and(|asked| asked == "access") && !self.access_steps;
        access.then(|| self.by_access()).transpose()
    }

    /// Returns the warnings of the compiler or of another front end.
    #[must_use]
    pub fn warnings(&self) -> &[ModelWarning] {
        &self.warnings
    }

    /// Returns the number of response properties, which only full search checks.
    #[must_use]
    pub fn responses(&self) -> usize {
        self.machine.program().responses.len()
    }
}

/// Makes the machine of a program.
fn machine_of(program: Program, identity: &ProgramIdentity) -> Result<Arc<Machine>, Failure> {
    let refused = |error: ProgramError| Failure::input(&identity.name, Unusable::Program(error));
    Ok(Arc::new(Machine::new(program).map_err(refused)?))
}
