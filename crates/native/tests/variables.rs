//! The names of variables against those that a compiled program prints with their addresses.

use anyorder_native::variables::Variables;
use std::path::Path;
use std::process::Command;

/// A program that prints the address of each expression below, and its text.
const SOURCE: &str = r#"
#include <cstdio>
struct base { long id; };
struct pair { int key; struct { long head, tail; } ends[3]; char rest[5]; };
struct node : base { pair pairs[2][3]; union { int number; char bytes[4]; } value; static int made; };
int node::made = 1;
typedef const volatile node alias;
namespace outer { namespace inner { node work[2] = {}; int plain = 2; } }
static alias hidden = {};
int matrix[2][3][4];
char letters[7];
int *pointer = nullptr;
#define SHOW(what) printf("%lx %zu %s\n", (unsigned long)&what, sizeof(what), #what)
int main() {
    static pair local;
    SHOW(outer::inner::plain);
    SHOW(outer::inner::work[1].pairs[1][2].ends[1].tail);
    SHOW(outer::inner::work[0].pairs[0][1].key);
    SHOW(outer::inner::work[1].value.number);
    SHOW(outer::inner::work[1].id);
    SHOW(outer::inner::work[1]);
    SHOW(outer::inner::work[1].pairs[1][2]);
    SHOW(hidden.pairs[1][0].rest[4]);
    SHOW(node::made);
    SHOW(matrix[1][2][3]);
    SHOW(matrix[0][1][0]);
    SHOW(letters[6]);
    SHOW(pointer);
    SHOW(local.ends[2].head);
    printf("%lx 8 pointer+3\n", (unsigned long)&pointer + 3);
    printf("%lx 4 matrix[0][0][1]+2\n", (unsigned long)&matrix[0][0][1] + 2);
}
"#;

#[test]
fn members_are_named_as_their_author_wrote_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("names.cc"), folder.path().join("names"));
    std::fs::write(&source, SOURCE).expect("a file");
    for options in [&["-gdwarf-5"][..], &["-gdwarf-4", "-O2"]] {
        // Without PIE, addresses are those of the file.
        let mut cc = Command::new("c++");
        cc.args(["-no-pie", "-o"]).arg(&program).arg(&source).args(options);
        let built = cc.output().expect("a C++ compiler");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let printed = Command::new(&program).output().expect("the program runs").stdout;
        let printed = String::from_utf8(printed).expect("text");
        let variables = Variables::read(&program).expect("debugging information");
        let mut count = 0;
        for line in printed.lines() {
            let (address, rest) = line.split_once(' ').expect("three words");
            let (size, expected) = rest.split_once(' ').expect("three words");
            let address = u64::from_str_radix(address, 16).expect("an address");
            // A byte in the middle of something is no whole.
            let bytes = if expected.contains('+') { 1 } else { size.parse().expect("a number") };
            let found =
                variables.find(address, bytes).unwrap_or_else(|| panic!("{options:?}: {line}"));
            assert_eq!(found.name, expected, "{options:?}");
            assert_eq!(found.size.to_string(), size, "{options:?}: {expected}");
            assert_eq!(Path::new(&found.file), source, "{options:?}: {expected}");
            let name = expected.split(['.', '[', '+']).next().unwrap_or_default();
            let name = name.rsplit(':').next().unwrap_or_default();
            let declared = SOURCE.lines().nth(found.line as usize - 1).expect("a line");
            assert!(declared.contains(name), "{options:?}: {expected}: {declared}");
            count += 1;
        }
        assert_eq!(count, 16);
        assert_eq!(variables.find(1, 1), None);
    }
}

#[test]
fn what_is_no_program_has_no_variables() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("text");
    for bytes in [&b""[..], b"\x7fELF\x02\x01", b"some text"] {
        std::fs::write(&path, bytes).expect("a file");
        assert!(Variables::read(&path).is_none());
    }
}
