//! The libraries for other languages write task names as this crate does, for all characters.

use super::children::Language;
use anyorder_system::{Choice, SystemFactory, TaskName, TaskSystem};
use std::path::Path;

#[test]
fn names_are_spelled_alike_in_all_languages() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (language, folder, script) in
        [(Language::Python, "python", "names.py"), (Language::Node, "node", "names.js")]
    {
        let path = here.join("tests/programs").join(script);
        let Some(mut factory) = language.program(&path, &[]) else { continue };
        let library = here.join("../../examples/pipe").join(folder);
        factory.command.environment.push(("ANYORDER_EXAMPLES".into(), library.into()));
        let mut system = factory.make().expect("the program starts");
        let tasks = system.enabled().expect("roots");
        assert_eq!(tasks.len(), 20);
        let mut escaped = 0;
        for task in &tasks {
            // The child compares with our text of the name: a different spelling would not be
            // found.
            let step = system.execute(&Choice::of(task.task.clone())).expect("a root runs");
            let expected = [0, 1].map(|ordinal| {
                let kind = &task.task.segment().kind;
                task.task.child("x").with_label(kind).with_ordinal(ordinal)
            });
            let posted: Vec<&TaskName> = step.posted.iter().map(|posted| &posted.task).collect();
            assert_eq!(posted, expected.iter().collect::<Vec<_>>(), "{language:?}");
            escaped += usize::from(task.task.to_string().contains('%'));
            system.execute(&Choice::of(expected[1].clone())).expect("a child of it runs");
        }
        assert_eq!(escaped, 18, "{language:?}: names that need no escape are not escaped");
    }
}
