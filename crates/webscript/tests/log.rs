//! The log: what each construct reports, against lists written by hand, and random accesses
//! against a twin that watches objects by proxies.

use crate::outside::{node, rewrite};
use anyorder_common::random::{Random, Rng};
use anyorder_testkit::effort::seeds;
use anyorder_webscript::{Kind, LOG_JS};
use std::fmt::Write;
use std::fs;

/// Runs programs, each a function of `mark` (which begins the event), and returns the records of
/// each: `location:r`, `:w`, or `:s` for a write of the same value, sorted.
fn records(programs: &[String]) -> Option<Vec<Vec<String>>> {
    let folder = tempfile::tempdir().expect("a folder");
    let (runtime, list) = (folder.path().join("log.js"), folder.path().join("list.json"));
    fs::write(&runtime, LOG_JS).expect("the runtime");
    let texts: Vec<String> = programs.iter().map(|text| rewrite(text, Kind::Classic)).collect();
    fs::write(&list, serde_json::to_string(&texts).expect("JSON")).expect("the programs");
    let script = "const fs=require('fs');const [runtime,list]=process.argv.slice(2).map(p=>fs.readFileSync(p,'utf8'));
        (0,eval)(runtime); const all=[];
        JSON.parse(list).forEach((text,i)=>{ __anyorder.begin('c'+i); let lines=[];
          const mark=()=>{__anyorder.end();__anyorder.begin('c'+i)};
          try { (0,eval)(text)(mark); } catch (e) { lines.push('error '+e); }
          for (const [where,flags] of __anyorder.end()) { const name=where.replace(/#c\\d+:/g,'#');
            if (flags&1) lines.push(name+':r'); if (flags&2) lines.push(name+(flags&4?':s':':w')); }
          all.push(lines.sort()); });
        fs.writeFileSync(1, JSON.stringify(all)); process.exit(0);";
    let text = node(script, &[&runtime, &list])?;
    Some(serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}")))
}

/// What is set up, what is done in the event, and the records, of the names in `O`, `P` and of
/// captured variables.
const CASES: &[(&str, &str, &str)] = &[
    ("", "o.a", "O.a:r"),
    ("", "o.a=2", "O.a:w"),
    ("", "o.a=1", "O.a:s"),
    ("", "o.a=2;o.a=1", "O.a:s"),
    ("", "o.a+=1", "O.a:r O.a:w"),
    ("", "o.a++;o.a--", "O.a:r O.a:s"),
    ("", "o.z=1", "O.z:w O.{keys}:w"),
    ("", "o.z=1;delete o.z", "O.z:s"),
    ("", "delete o.a", "O.a:w O.{keys}:w"),
    ("", "o['a'];o['a']=3", "O.a:r O.a:w"),
    ("const k='a'", "o[k]", "O.a:r"),
    ("", "o['a'+'']=3", "O.a:w"),
    ("", "o[{toString:()=>'a'}]", "O.a:r"),
    ("", "'a' in o", "O.a:r"),
    ("", "'a'+'' in o", "O.a:r"),
    ("", "o?.a", "O.a:r"),
    ("", "o?.p.b", "O.p:r P.b:r"),
    ("", "o.q?.b.c", "O.q:r"),
    ("", "o.p?.['b'+''].x", "O.p:r P.b:r"),
    ("", "({a:o.a})", "O.a:r"),
    ("", "const {a,p:{b}}=o", "O.a:r O.p:r P.b:r"),
    ("let a,b;", "({a,p:{b}}=o)", "O.a:r O.p:r P.b:r"),
    ("", "[o.a]=[5]", "O.a:w A.0:r A.length:r"),
    ("", "({x:o.a}={x:5})", "O.a:w"),
    ("", "(function({a}){})(o)", "O.a:r"),
    ("", "for(o.a of [7]);", "O.a:w A.0:r A.length:r"),
    ("", "for(const k in o);", "O.{keys}:r"),
    ("", "({...o})", "O.a:r O.p:r O.{keys}:r"),
    ("", "Object.keys(o)", "O.{keys}:r"),
    ("", "Object.assign(o,{a:1,z:2})", "O.a:s O.z:w O.{keys}:w"),
    ("", "Object.defineProperty(o,'a',{value:4})", "O.a:w"),
    ("", "Reflect.get(o,'a');Reflect.set(o,'a',1)", "O.a:r O.a:s"),
    ("", "o.hasOwnProperty('a')", "O.a:r O.hasOwnProperty:r"),
    ("", "JSON.stringify(o.p)", "O.p:r P.b:r P.{keys}:r"),
    ("", "o.i", "O.i:r I:prototype.i:r"),
    ("", "I.prototype.i=1", "I:prototype.i:w"),
    ("", "v.push(4)", "A.3:w A.length:r A.length:w A.push:r A.{keys}:w"),
    ("", "v[0]", "A.0:r"),
    ("", "v[3]=1", "A.3:w A.length:w A.{keys}:w"),
    ("", "v.length=1", "A.0:s A.1:w A.2:w A.length:w A.{keys}:w"),
    (
        "",
        "v.shift()",
        "A.0:r A.0:w A.1:r A.1:w A.2:r A.2:w A.length:r A.length:w A.shift:r A.{keys}:w",
    ),
    ("", "for(const x of v);", "A.0:r A.1:r A.2:r A.length:r"),
    ("", "const [x]=v", "A.0:r A.1:r A.2:r A.length:r"),
    ("", "f(...v)", "A.0:r A.1:r A.2:r A.length:r"),
    ("", "v.sort()", "A.0:r A.0:s A.1:r A.1:s A.2:r A.2:s A.length:r A.sort:r"),
    ("", "m.get('k')", "M.get(k):r M.get:r"),
    ("", "m.set('k',1)", "M.get(k):s M.set:r"),
    ("", "m.set('l',1)", "M.get(l):w M.set:r M.{keys}:w"),
    ("", "m.delete('k')", "M.delete:r M.get(k):w M.{keys}:w"),
    ("", "m.size", "M.size:r M.{keys}:r"),
    ("", "for(const x of m);", "M.get(k):r M.{keys}:r"),
    ("let c=0;const g=()=>c++;", "c", "S.c:r"),
    ("let c=0;const g=()=>c;", "c=1", "S.c:w"),
    ("let c=0;const g=()=>c;", "c=1;c=0", "S.c:s"),
    ("let c=0;const g=()=>c;", "c++;--c", "S.c:r S.c:s"),
    ("let c=0;const g=()=>c;", "[c]=[0]", "S.c:w A.0:r A.length:r"),
    ("let c=0;const g=()=>c++;", "g()", "S.c:r S.c:w"),
    ("let c=0;const g=()=>c;", "c=()=>1", "S.c:w"),
    ("let c=0;const g=()=>c;", "for(c of [1]);", "S.c:w A.0:r A.length:r"),
    ("let c=0;const g=()=>c++;", "typeof c;({c})", "S.c:r"),
    ("const c=0;const g=()=>c;let d=1;d=2", "g();d", ""),
    (
        "class C{#x=1;g(){return this.#x}s(){this.#x=2}}const i=new C;",
        "i.g();i.s()",
        "C.#x:r C.#x:w C.g:r C.s:r",
    ),
    ("", "gl1=1", "G.gl1:w"),
    ("", "typeof gl2", "G.gl2:r"),
    ("globalThis.gl3=1", "gl3;gl3=1", "G.gl3:r G.gl3:s"),
    ("globalThis.gl4=1", "globalThis.gl4", "G.gl4:r"),
    ("", "eval('o.a')", ""),
    ("", "new Proxy(o,{}).a", "Proxy.a:r"),
];

#[test]
fn constructs_are_reported() {
    let setup = "function O(){this.a=1;this.p=new P} function P(){this.b=2} function I(){} I.prototype.i=0;\
        O.prototype=Object.create(I.prototype,{constructor:{value:O}}); const o=new O,v=[1,2,3],m=new Map([['k',1]]),f=()=>{};";
    let program = |(before, body, _): &(&str, &str, &str)| {
        format!("(function(mark){{{setup}{before};mark();{body}}})")
    };
    let programs: Vec<String> = CASES.iter().map(program).collect();
    let Some(all) = records(&programs) else { return };
    let short = |record: &String| {
        let (name, rest) = record.split_once('.').unwrap_or((record, ""));
        let name = name.split_once('#').map_or(name, |(name, _)| name);
        let name = match name {
            "Array" => "A",
            "Map" => "M",
            "global" => "G",
            "scope@0:1:16" => "S",
            name if name.starts_with("scope@") => "S",
            name => name,
        };
        format!("{name}.{rest}")
    };
    let is_asked = |record: &String| {
        let natives =
            ["function", "Object", "Symbol", "Iterator", "Generator", "Array:", "Map:", "C:"];
        let home = [
            "M.get:r",
            "M.set:r",
            "M.delete:r",
            "M.size:r",
            "A.push:r",
            "A.shift:r",
            "A.sort:r",
            "C.g:r",
            "C.s:r",
        ];
        !natives.iter().any(|name| record.starts_with(name))
            && !home.contains(&&**record)
            && *record != "G.eval:r"
            && *record != "G.Map:r"
            && *record != "G.Proxy:r"
    };
    let mut wrong = String::new();
    for ((before, body, expected), found) in CASES.iter().zip(&all) {
        let mut found: Vec<String> = found.iter().map(short).filter(is_asked).collect();
        found.sort();
        found.dedup();
        let mut expected: Vec<String> = expected
            .split(' ')
            .map(str::to_owned)
            .filter(|it| !it.is_empty() && is_asked(it))
            .collect();
        expected.sort();
        if found != expected {
            let _ =
                writeln!(wrong, "{before} | {body}\n  found    {found:?}\n  expected {expected:?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Returns a random program over five objects whose accesses a proxy sees too.
fn accesses(seed: u64) -> String {
    let mut rng = Rng::for_purpose(seed, *b"logs");
    let mut text = String::new();
    for _ in 0..8 {
        let name = |rng: &mut Rng| rng.pick(&["n0", "n1", "n2", "n3", "n4"]);
        let key = |rng: &mut Rng| rng.pick(&["a", "b", "c", "d"]);
        let (o, p, k, l) = (name(&mut rng), name(&mut rng), key(&mut rng), key(&mut rng));
        let number = rng.below(3);
        let _ = match rng.below(14) {
            0 => write!(text, "{o}.{k};"),
            1 => write!(text, "{o}.{k}={number};"),
            2 => write!(text, "{o}['{k}']={p}.{l};"),
            3 => write!(text, "{o}['{k}'+'']+={number};"),
            4 => write!(text, "{o}.{k}++;"),
            5 => write!(text, "delete {o}.{k};"),
            6 => write!(text, "'{k}' in {o};"),
            7 => write!(text, "({{{k}:{o}.{l}}}={p});"),
            8 => write!(text, "if({o}?.{k}?.{l}!=={number}){p}.{l}={number};"),
            9 => write!(text, "const f{}=()=>{o}.{k};[{p}.{l}]=[1];", text.len()),
            10 => write!(text, "{o}.{k}??={number};"),
            11 => write!(text, "for({o}.{k} of [{number}]);"),
            12 => write!(text, "{o}.{k}&&={p}?.{l};"),
            _ => write!(text, "Reflect.get({o},'{k}');Reflect.has({p},'{l}');"),
        };
    }
    text
}

#[test]
fn random_accesses_are_those_that_proxies_see() {
    let seeds = seeds(600);
    println!("seeds {seeds:?}");
    let bodies: Vec<String> = seeds.into_iter().map(accesses).collect();
    let classes: String = (0..5)
        .map(|i| format!("class N{i}{{constructor(){{this.a={i};this.b=1}}}}const n{i}=new N{i};"))
        .collect();
    let programs: Vec<String> =
        bodies.iter().map(|body| format!("(function(mark){{{classes}mark();{body}}})")).collect();
    let Some(mine) = records(&programs) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("list.json");
    fs::write(&list, serde_json::to_string(&bodies).expect("JSON")).expect("the programs");
    let script = "const fs=require('fs');const all=[];for(const body of JSON.parse(fs.readFileSync(process.argv[2]))){const seen=new Set();
        const first=new Map(),make=(i)=>{const t={a:i,b:1};const note=(k,f)=>{if(typeof k==='string')seen.add('N'+i+'.'+k+f)};
          const old=(k)=>{const n='N'+i+'.'+k;if(!first.has(n))first.set(n,[t,k,k in t,t[k]])};
          return new Proxy(t,{get(t,k){note(k,':r');return t[k]},has(t,k){note(k,':r');return k in t},
            set(t,k,v){old(k);note(k,':w');t[k]=v;return true},deleteProperty(t,k){old(k);note(k,':w');return delete t[k]}})};
        let lines=[]; try{new Function('n0','n1','n2','n3','n4',body)(...[0,1,2,3,4].map(make))}catch(e){lines.push('error '+e)}
        for(const [n,[t,k,had,v]] of first) if((k in t)===had&&Object.is(t[k],v)){seen.delete(n+':w');seen.add(n+':s')}
        all.push([...lines,...seen].sort())} fs.writeFileSync(1,JSON.stringify(all));";
    let Some(text) = node(script, &[&list]) else { return };
    let theirs: Vec<Vec<String>> = serde_json::from_str(&text).expect("JSON");
    let mut count = [0, 0, 0];
    for ((body, mine), theirs) in bodies.iter().zip(&mine).zip(&theirs) {
        let plain = |record: &String| {
            let (name, rest) = record.split_once('.')?;
            let (name, _) = name.split_once('#')?;
            (name.len() == 2 && !rest.starts_with('{')).then(|| format!("{name}.{rest}"))
        };
        // A logical assignment that does not assign is reported as a write of the same value.
        let is_real = |record: &String| {
            let target = record.trim_end_matches(":s").to_ascii_lowercase();
            let maybe =
                body.contains(&format!("{target}&&=")) || body.contains(&format!("{target}??="));
            theirs.contains(record) || !(maybe && record.ends_with(":s"))
        };
        let mut mine: Vec<String> = mine.iter().filter_map(plain).filter(is_real).collect();
        mine.sort();
        for record in &mine {
            let kind = [":r", ":w", ":s"].iter().position(|end| record.ends_with(end));
            count[kind.expect("a kind")] += 1;
        }
        assert_eq!(&mine, theirs, "{body}");
    }
    assert!(count.iter().all(|count| *count > 100), "{count:?}");
}
