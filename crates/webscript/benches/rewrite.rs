//! How fast libraries are rewritten, and how much slower they run.
//!
//! `cargo bench -p anyorder-webscript --bench rewrite`. The libraries lie in
//! `~/.cache/anyorder-libraries` (see the tests); node runs the rewritten programs.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use anyorder_webscript::{Kind, LOG_JS, Origin, Sites, rewrite_script};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

const LIBRARIES: &[&str] = &[
    "jquery-3.7.1/dist/jquery.js",
    "react-dom-18.3.1/umd/react-dom.development.js",
    "react-dom-18.3.1/umd/react-dom.production.min.js",
    "vue-3.5.45/dist/vue.global.js",
    "lodash-4.18.1/lodash.js",
    "d3-7.9.2/dist/d3.js",
    "three-0.160.0/build/three.js",
];

/// Programs that run for a while, with the library as `L`.
const RUNS: &[(&str, &str, &str)] = &[
    (
        "acorn parses itself",
        "acorn-8.19.0/dist/acorn.js",
        "const t=TEXT;for(let i=0;i<5;i++)L.parse(t,{ecmaVersion:2022});",
    ),
    (
        "svelte compiles",
        "svelte-4.2.20/compiler.cjs",
        "for(let i=0;i<20;i++)L.compile('<script>let a=1</script>'+'{#each [1] as x}<p on:click={()=>a++}>{x}{a}</p>{/each}'.repeat(10));",
    ),
    (
        "lodash",
        "lodash-4.18.1/lodash.js",
        "for(let i=0;i<300;i++){L.sortBy(L.range(500).map(x=>({x:x*7%13})),'x');L.cloneDeep({a:L.range(100).map(x=>({x}))});}",
    ),
    (
        "d3 simulates forces",
        "d3-7.9.2/dist/d3.js",
        "L.forceSimulation(L.range(200).map(()=>({}))).force('c',L.forceManyBody()).stop().tick(100);",
    ),
];

fn main() {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cache = home.join(".cache/anyorder-libraries");
    for name in LIBRARIES {
        let Ok(text) = std::fs::read_to_string(cache.join(name)) else { continue };
        let mut best = f64::MAX;
        let mut length = (0, 0);
        for _ in 0..7 {
            let mut sites = Sites::new();
            let origin = Origin::start_of(sites.add_source(name));
            let start = Instant::now();
            let out = rewrite_script(&text, Kind::Classic, origin, &mut sites).expect("it parses");
            best = best.min(start.elapsed().as_secs_f64());
            length = (out.len(), sites.len());
        }
        let (size, out) = (text.len(), length.0);
        println!(
            "{name}: {size} -> {out} bytes, {} sites, {:.1} ms, {:.0} MB/s",
            length.1,
            best * 1e3,
            size as f64 / best / 1e6
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (name, file, work) in RUNS {
        let Ok(text) = std::fs::read_to_string(cache.join(file)) else { continue };
        let quoted = serde_json::to_string(&text).expect("JSON");
        let program = format!(
            "(function(){{const require=()=>({{}}),process=undefined,module={{exports:{{}}}},L=(function(module,exports){{{text}\n;return module.exports}})(module,module.exports);return function(TEXT){{{work}}}}})()"
        );
        let mut sites = Sites::new();
        let origin = Origin::start_of(sites.add_source(file));
        let mine = rewrite_script(&program, Kind::Classic, origin, &mut sites).expect("it parses");
        let mut times = Vec::new();
        for (runtime, program) in [("", &program), (LOG_JS, &mine)] {
            let path = folder.path().join("run.js");
            // With the log, node did not end by itself; the reason is not known.
            let script = format!(
                "{runtime};const work={program};const t={quoted};let best=1e9;for(let i=0;i<4;i++){{const s=performance.now();work(t);globalThis.__anyorder?.end();best=Math.min(best,performance.now()-s)}}require('fs').writeFileSync(1,String(best));process.exit(0)"
            );
            std::fs::write(&path, script).expect("a script");
            let Ok(output) = Command::new("node").arg(&path).output() else { return };
            let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            times.push(text.parse::<f64>().unwrap_or(f64::NAN));
        }
        println!("{name}: {:.0} -> {:.0} ms, {:.1} times", times[0], times[1], times[1] / times[0]);
    }
}
