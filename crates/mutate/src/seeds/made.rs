//! Seeds that are no files of the checkout.

use super::Seeds;
use crate::kind::Kind;
use crate::process;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A log with the operations of `docs/formats/droidracer.md`.
const LOG: &str = "Android bug-checker log messages \n\
    \n\
    1 START\n\
    2 THREADINIT tid:1\n\
    3 ENABLE-LIFECYCLE tid:1 component: id:0 state:BIND-APP\n\
    4 ATTACH-Q tid:1\t queue:1090957864\n\
    5 NATIVE-ENTRY tid:2thread-name:Binder Thread #1\n\
    6 POST src:2 msg:1 dest:-1 delay:0\n\
    7 NATIVE-EXIT tid:2thread-name:Binder Thread #1\n\
    8 LOOP tid:1\t queue:1090957864\n\
    9 CALL tid:1\t msg:1\n\
    10 TRIGGER-LIFECYCLE tid:1 component: id:0 state:BIND-APP\n\
    rwId:1 WRITE tid:1\t obj:0x4105e5f8 class:Lapp/Main; field:8\n\
    11 ACCESS tid:1 accessId:1\n\
    12 FORK par-tid:1\t child-tid:3\n\
    13 ENABLE-EVENT tid:1 view:77 event:0\n\
    14 POST src:1 msg:2 dest:1 delay:50\n\
    15 RET tid:1\t msg:1\n\
    16 THREADINIT tid:3\n\
    17 LOCK tid:3\t lock-obj:0x41\n\
    rwId:2 READ tid:3\t obj:0x4105e5f8 class:Lapp/Main; field:8\n\
    rwId:3 WRITE-STATIC tid:3\t class:Lapp/Main; field:9\n\
    18 UNLOCK tid:3\t lock-obj:0x41\n\
    19 POST src:3 msg:3 dest:1 delay:-1\n\
    20 THREADEXIT tid:3\n\
    21 CALL tid:1\t msg:3\n\
    22 TRIGGER-EVENT tid:1 view:77 event:0\n\
    rwId:4 WRITE-STATIC tid:1\t class:Lapp/Main; field:9\n\
    23 RET tid:1\t msg:3\n\
    24 CALL tid:1\t msg:2\n\
    rwId:5 WRITE tid:1\t obj:0x4105e5f8 class:Lapp/Main; field:8\n\
    25 JOIN tid:1\t child-tid:3\n\
    26 RET tid:1\t msg:2\n";

/// Logs of other tools, one each (`docs/formats/logs.md`), and a run that hung.
const LOGS: [(&str, &str); 4] = [
    (
        "speedygo",
        "1,WR,1,A.java:1:1,1\n1,LK,3,nil,1\n1,RD,2,A.java:2:1,2\n1,UK,3,nil,0\n1,SIG,0,nil,1\n\
         2,WT,0,nil,1\n2,LK,3,nil,1\n2,WR,2,A.java:3:1,3\n2,UK,3,nil,0\n2,ARD,1,A.java:4:1,4\n",
    ),
    (
        "tsan-log",
        "Thread 0: |Thread Create (Thread 1)|0x7f|\nThread 1: |ACQ |0x55| at line 3 in file /a.cpp\n\
         Thread 1: |Write|0x10| at line 4 in file /a.cpp\nThread 1: |REL |0x55| at line 5 in file /a.cpp\n\
         Thread 0: |Read|0x10| at line 9 in file /a.cpp\nThread 0: |Join (Thread 1)|0x7f|\n",
    ),
    (
        "roadrunner",
        "[main: RoadRunner Agent Loaded.]\n@   Start(0,1)\n@   Enter(1,Main.run()V)\n@   Acquire(1,@03)\n\
         @   Rd(1,Main.f_I)  SHADOW  Main.java:50:7\n@   Release(1,@03)\n@   AWr(0,Main.g_I)  S  Main.java:7:1\n\
         @   Join(0,1)\n",
    ),
    (
        "rapid-csv",
        "w(x),,\n,acq(l),\n,w(x),\n,rel(l),\n,,sync(z)\nfork(-unknown-thread-),,\nr(z),,\n",
    ),
];

const HUNG: &str = "T0|fork(1)|1\nT0|acq(A)|1\nT1|acq(B)|2\nT1|rel(B)|2\nT1|wait(B)|2\nT0|notify(B)|3\n\
    T1|req(B)|4\nT1|acq(B)|4\nT1|rd(0x10)|5\n    /src/a.c:7\nT0|req(B)|6\nT1|req(A)|7\nT0|end|8\n";

const SITES: &str = "1\tmain\tmain.c:10\n2\tworker\tmain.c:20\n3\thelper\tlib/x.c:3:4\n";

const SITED: &str = "main|fork(T1)|1\nT1|acq(m)|2\nT1|w(x)|3\nT1|rel(m)|2\nmain|w(x)|1\n";

const SPECIFICATION: &str = "spec set {\n    \
    add(v1)/r1 ~ contains(v2)/r2 when v1 != v2 || !r1;\n    \
    add(v1)/r1 ~ add(v2)/r2 when v1 != v2 || (!r1 && !r2);\n    \
    contains(_) ~ contains(_);\n}\n\
    spec counter {\n    inc(a) ~ inc(b);\n    get()/x ~ inc(a) when a == 0 || x % 2 < 1 + 3 * a;\n}\n";

const CONFIG: &str = "[[suppress]]\nkind = \"race\"\nlocation = \"editor.*\"\nreason = \"any\"\n\n\
    [[suppress]]\nid = \"271d077b44911372\"\n\n[[suppress]]\ncategory = \"delayed\"\n";

/// A child that answers a hello, and what is asked of a recording after it.
const REPLIES: &str = r##"{"id":1,"ok":{"version":1,"program":{"name":"x"},"capabilities":{"enabled":"exact","deterministic":true,"values":true,"accesses":"list"}}}
{"id":2,"ok":{}}
{"id":3,"ok":{"tasks":[{"task":"a","handler":"h"},{"task":"b","handler":"h","alternatives":2}]}}
{"id":4,"ok":{"accesses":[{"location":"x","kind":"rmw","read":1,"written":2,"site":{"file":"f","line":3}}],"posted":[{"task":"a/b","handler":"h","delay":7}]}}
{"id":5,"ok":{"tasks":[{"task":"b","handler":"h","alternatives":2},{"task":"a/b","handler":"h"}]}}
{"id":6,"ok":{"accesses":[{"location":"x","kind":"write","written":3}],"failures":["f"]}}
{"id":7,"ok":{"tasks":[]}}
{"id":8,"ok":{"parts":[{"path":["a","b"],"level":"heap","content":"c"}]}}
{"id":9,"ok":{}}
"##;

/// Adds seeds that no command writes.
pub(super) fn by_hand(seeds: &mut Seeds) {
    let mut add = |kind, name: &str, text: &str, of| seeds.add(kind, name, text.into(), of);
    add(Kind::DroidRacer, "log", LOG, None);
    for (name, log) in LOGS {
        add(Kind::Log, name, log, None);
    }
    add(Kind::Std, "hung", HUNG, None);
    let sited = add(Kind::Std, "sited", SITED, None);
    add(Kind::Sites, "sites", SITES, Some(sited));
    add(Kind::Specification, "specification", SPECIFICATION, None);
    add(Kind::Config, "config", CONFIG, None);
    add(Kind::Replies, "replies", REPLIES, None);
}

/// A command that makes files of an input: `IN` is the input, other names are the files.
struct Recipe {
    of: Kind,
    /// How many inputs of that kind it is applied to.
    inputs: usize,
    arguments: &'static [&'static str],
    /// The kind of the file or of the files in the folder `out` that it writes.
    makes: Kind,
}

const fn recipe(
    of: Kind,
    inputs: usize,
    makes: Kind,
    arguments: &'static [&'static str],
) -> Recipe {
    Recipe { of, inputs, arguments, makes }
}

/// Every recipe writes `out`, a file or a folder.
const RECIPES: &[Recipe] = &[
    recipe(Kind::Text, 4, Kind::Binary, &["convert", "IN", "out", "--to", "binary"]),
    recipe(Kind::Std, 4, Kind::Binary, &["convert", "IN", "out", "--to", "binary"]),
    recipe(Kind::DroidRacer, 1, Kind::Binary, &["convert", "IN", "out", "--to", "binary"]),
    recipe(Kind::Text, 20, Kind::Result, &["predict", "IN", "--format", "json", "-o", "out"]),
    recipe(Kind::Text, 3, Kind::Result, &["check", "IN", "--format", "json", "-o", "out"]),
    recipe(Kind::Model, 60, Kind::Schedule, &["check", "IN", "--schedules", "out"]),
    recipe(Kind::Model, 60, Kind::Result, &["check", "IN", "--format", "json", "-o", "out"]),
    recipe(Kind::Std, 20, Kind::Witness, &["predict", "IN", "--schedules", "out"]),
    recipe(Kind::Text, 20, Kind::Witness, &["predict", "IN", "--schedules", "out"]),
    recipe(Kind::Edtrace, 10, Kind::Order, &["consistency", "IN", "--witness", "out"]),
    recipe(Kind::Edtrace, 10, Kind::Proof, &["consistency", "IN", "--certificate", "out"]),
    recipe(Kind::Text, 5, Kind::Baseline, &["check", "IN", "--write-baseline", "out"]),
    recipe(Kind::Std, 5, Kind::Baseline, &["predict", "IN", "--write-baseline", "out"]),
    recipe(
        Kind::Model,
        60,
        Kind::Checkpoint,
        &["check", "IN", "--no-reduction", "--max-states", "20", "--checkpoint", "out"],
    ),
];

/// Traces of families, in one format each.
const GENERATED: &[(&str, &str, &str, Kind)] = &[
    ("flat", "2", "edtrace", Kind::Edtrace),
    ("messageloop", "1", "edtrace", Kind::Edtrace),
    ("knot", "3", "edtrace", Kind::Edtrace),
    ("sat3", "5", "edtrace", Kind::Edtrace),
    ("shuffle", "4", "edtrace", Kind::Edtrace),
    ("android", "100", "text", Kind::Text),
    ("buyers", "1", "text", Kind::Text),
];

/// Adds what the binary makes of the seeds that are there.
pub(super) fn by_binary(seeds: &mut Seeds, binary: &Path, folder: &Path) -> io::Result<()> {
    for (family, size, format, kind) in GENERATED {
        let arguments = ["generate", family, "--size", size, "--to", format, "-o", "out"];
        for bytes in made(binary, folder, &arguments, &[])? {
            seeds.add(*kind, &format!("{family}-{size}"), bytes, None);
        }
    }
    for (number, recipe) in RECIPES.iter().enumerate() {
        let inputs: Vec<usize> =
            seeds.of_kind(recipe.of).iter().copied().take(recipe.inputs).collect();
        for input in inputs {
            let seed = seeds.get(input).clone();
            let files = made(binary, folder, recipe.arguments, &seed.bytes)?;
            for (part, bytes) in files.into_iter().enumerate() {
                let name = format!("{}-{number}-{part}", seed.name);
                seeds.add(recipe.makes, &name, bytes, Some(input));
            }
        }
    }
    Ok(())
}

/// Runs a command in `folder`, which holds the input as `IN`; returns the files that it wrote.
fn made(
    binary: &Path,
    folder: &Path,
    arguments: &[&str],
    input: &[u8],
) -> io::Result<Vec<Vec<u8>>> {
    let (place, streams) = (folder.join("make"), folder.join("streams"));
    fs::create_dir_all(&place)?;
    fs::create_dir_all(&streams)?;
    fs::write(place.join("IN"), input)?;
    let mut arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
    arguments.push("--quiet".to_owned());
    if arguments[0] == "check" || arguments[0] == "predict" {
        arguments.extend(["--time-limit".to_owned(), "1s".to_owned()]);
    }
    process::run(binary, &arguments, &place, None, &streams, Duration::from_secs(60))?;
    let out = place.join("out");
    let mut files = Vec::new();
    if out.is_dir() {
        let entries: io::Result<Vec<_>> = fs::read_dir(&out)?.collect();
        let mut paths: Vec<_> = entries?.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths.iter().take(3) {
            files.push(fs::read(path)?);
        }
    } else if out.exists() {
        files.push(fs::read(&out)?);
    }
    fs::remove_dir_all(&place)?;
    Ok(files)
}
