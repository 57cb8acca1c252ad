//! The roles that a child assigns to its tasks.

use crate::convert::ReplyMistake;
use crate::options::PipeOptions;
use crate::protocol::RoleWord;
use anyorder_system::{TaskName, TaskRole};
use std::collections::HashMap;

/// The roles so far, over all runs: a name keeps its role.
#[derive(Debug, Default)]
pub(crate) struct Roles {
    roles: HashMap<TaskName, TaskRole>,
    /// The approximate bytes of the names.
    bytes: usize,
}

impl Roles {
    /// Returns the role of a task; most have none.
    pub(crate) fn of(&self, task: &TaskName) -> TaskRole {
        self.roles.get(task).copied().unwrap_or_default()
    }

    /// Records the role in a reply about a task. A missing role, now or earlier, contradicts
    /// nothing.
    pub(crate) fn record(
        &mut self,
        task: &TaskName,
        word: Option<RoleWord>,
        options: &PipeOptions,
    ) -> Result<(), ReplyMistake> {
        let Some(word) = word else { return Ok(()) };
        let role = TaskRole::from(word);
        match self.roles.get(task) {
            Some(before) if *before == role => Ok(()),
            Some(_) => Err(format!("`{task}` has another role than before")),
            None => {
                // A child can choose arbitrarily many names.
                self.bytes += task.to_string().len() + size_of::<(TaskName, TaskRole)>();
                if self.bytes > options.tables_bytes_max {
                    let most = options.tables_bytes_max;
                    return Err(format!(
                        "all tasks with roles together take more than {most} bytes"
                    ));
                }
                self.roles.insert(task.clone(), role);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_stays_and_takes_room() {
        let (mut roles, options) = (Roles::default(), PipeOptions::default());
        let click = TaskName::root("click");
        assert_eq!(roles.of(&click), TaskRole::Task);
        roles.record(&click, None, &options).unwrap();
        roles.record(&click, Some(RoleWord::Input), &options).unwrap();
        roles.record(&click, None, &options).unwrap();
        roles.record(&click, Some(RoleWord::Input), &options).unwrap();
        assert_eq!(roles.of(&click), TaskRole::Input);
        let error = roles.record(&click, Some(RoleWord::Timer), &options).unwrap_err();
        assert_eq!(error, "`click` has another role than before");
        let small = PipeOptions { tables_bytes_max: 10, ..options };
        let error = Roles::default().record(&click, Some(RoleWord::Timer), &small).unwrap_err();
        assert_eq!(error, "all tasks with roles together take more than 10 bytes");
    }
}
