//! What a child says its tasks stand for.

use crate::convert::Bad;
use crate::options::PipeOptions;
use crate::protocol::RoleWord;
use anyorder_system::{TaskName, TaskRole};
use std::collections::HashMap;

/// The roles that were told so far, over all runs: a name keeps its role.
#[derive(Debug, Default)]
pub(crate) struct Roles {
    told: HashMap<TaskName, TaskRole>,
    /// The bytes of the names, about.
    bytes: usize,
}

impl Roles {
    /// Returns the role of a task; that of most is not told.
    pub(crate) fn of(&self, task: &TaskName) -> TaskRole {
        self.told.get(task).copied().unwrap_or_default()
    }

    /// Takes in what a reply says of a task. Saying nothing, now or earlier, contradicts nothing.
    pub(crate) fn tell(
        &mut self,
        task: &TaskName,
        word: Option<RoleWord>,
        options: &PipeOptions,
    ) -> Result<(), Bad> {
        let Some(word) = word else { return Ok(()) };
        let role = TaskRole::from(word);
        match self.told.get(task) {
            Some(before) if *before == role => Ok(()),
            Some(_) => Err(format!("`{task}` has another role than before")),
            None => {
                // A child can choose as many names as it likes.
                self.bytes += task.to_string().len() + size_of::<(TaskName, TaskRole)>();
                if self.bytes > options.tables_bytes_max {
                    let most = options.tables_bytes_max;
                    return Err(format!(
                        "all tasks with roles together take more than {most} bytes"
                    ));
                }
                self.told.insert(task.clone(), role);
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
        roles.tell(&click, None, &options).unwrap();
        roles.tell(&click, Some(RoleWord::Input), &options).unwrap();
        roles.tell(&click, None, &options).unwrap();
        roles.tell(&click, Some(RoleWord::Input), &options).unwrap();
        assert_eq!(roles.of(&click), TaskRole::Input);
        let error = roles.tell(&click, Some(RoleWord::Timer), &options).unwrap_err();
        assert_eq!(error, "`click` has another role than before");
        let small = PipeOptions { tables_bytes_max: 10, ..options };
        let error = Roles::default().tell(&click, Some(RoleWord::Timer), &small).unwrap_err();
        assert_eq!(error, "all tasks with roles together take more than 10 bytes");
    }
}
