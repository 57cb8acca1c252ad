//! The table in the gallery's README.

use crate::gallery::counts::states;
use crate::gallery::files;
use std::fs;

#[test]
fn the_table_lists_every_model() {
    let path = files::directory().join("README.md");
    let text = fs::read_to_string(path).expect("the README");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| [")).collect();
    let mut listed = 0;
    for file in files::all().iter().filter(|file| !file.is_fixed()) {
        let link = format!("| [{0}]({0}.any) |", file.name);
        let row = rows.iter().find(|row| row.starts_with(&link));
        let row = row.unwrap_or_else(|| panic!("{} is not in the table", file.name));
        assert!(row.contains(file.bug()), "{}: {row}", file.name);
        assert!(row.ends_with(&format!("| {} |", states(file))), "{}: {row}", file.name);
        listed += 1;
    }
    assert_eq!(rows.len(), listed, "the table lists models that are not there");
}
