//! Real libraries compute the same: in node those that need no document, in Chromium the others.
//!
//! They lie unpacked in `~/.cache/anyorder-libraries`, or where `ANYORDER_LIBRARIES` says. With
//! `ANYORDER_EFFORT` the missing ones are fetched by `npm pack`; without, they are skipped.

use super::runner;
use crate::outside::{chromium, rewrite};
use anyorder_testkit::effort::effort;
use anyorder_webscript::{HtmlOptions, Kind, LOG_JS, Origin, Sites, rewrite_html};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn cache() -> Option<PathBuf> {
    let given = std::env::var_os("ANYORDER_LIBRARIES").map(PathBuf::from);
    given.or_else(|| {
        Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/anyorder-libraries"))
    })
}

/// Returns a file of a package of npm; `None`, with a word, if it is not there.
fn library(package: &str, file: &str) -> Option<String> {
    let cache = cache()?;
    let folder = cache.join(package.replace('@', "-"));
    if !folder.exists() && effort() > 1 {
        let _ = fetch(&cache, package, &folder);
    }
    let text = fs::read_to_string(folder.join(file));
    if text.is_err() {
        eprintln!("skipped: {package}/{file} is not in {}", cache.display());
    }
    text.ok()
}

fn fetch(cache: &Path, package: &str, folder: &Path) -> Option<()> {
    fs::create_dir_all(cache).ok()?;
    let output = Command::new("timeout")
        .args(["-k", "1", "60", "npm", "pack", "--silent", package])
        .current_dir(cache)
        .output()
        .ok()?;
    let archive = String::from_utf8(output.stdout).ok()?;
    fs::create_dir_all(folder).ok()?;
    let mut tar = Command::new("tar");
    tar.arg("xzf").arg(archive.trim()).arg("-C").arg(folder).arg("--strip-components=1");
    tar.current_dir(cache).status().ok().filter(std::process::ExitStatus::success).map(drop)
}

/// A library that needs no document, and what is done with it (as `L`).
const IN_NODE: &[(&str, &str, &str)] = &[
    (
        "lodash@4.18.1",
        "lodash.js",
        "out(L.chain([3,1,2]).sortBy().map(x=>x*2).value(), L.template('hi <%= a %> <% if (b) { %>y<% } %>')({a:1,b:2}), L.merge({},{a:{b:1}},{a:{c:2}}), L.groupBy([1.2,1.5,2.1],Math.floor), L.cloneDeep({a:[1,{b:new Map([[1,2]])}]}), L.words('fooBar baz'), L.orderBy([{a:2},{a:1}],'a'), L.isEqual({a:[1]},{a:[1]}), L.curry((a,b)=>a+b)(1)(2), L.memoize(x=>x*2)(4), L.uniqBy([1,1.5,2],Math.floor), L.range(5), L.chunk([1,2,3],2), L.get({a:[{b:1}]},'a[0].b'))",
    ),
    (
        "lodash@4.18.1",
        "lodash.min.js",
        "out(L.template('<% L.each(x, v => { %><%- v %><% }) %>',{imports:{L}})({x:['<',2]}), L.set({},'a.b[1]',2), L.kebabCase('aB'), L.intersection([1,2],[2]), L.flow(x=>x+1,x=>x*2)(1))",
    ),
    (
        "d3@7.9.2",
        "dist/d3.js",
        "out(L.scaleLinear([0,10],[0,100])(3), L.format(',.2f')(12345.678), L.line()([[0,1],[2,3]]), L.csvParse('a,b\\n1,2'), L.utcFormat('%Y-%m-%d')(new Date(0)), L.extent([3,1,2]), L.hierarchy({children:[{},{children:[{}]}]}).count().value, L.tree()(L.hierarchy({children:[{},{}]})).descendants().map(n=>[n.x,n.y])); const s=L.forceSimulation([{},{},{}]).force('c',L.forceManyBody()).stop(); s.tick(50); out(s.nodes().map(n=>n.x.toFixed(6))); out(L.geoMercator()([10,20]), L.interpolateRgb('red','blue')(.5), L.rollup([1,2,3],v=>v.length,d=>d%2), L.contours().size([3,3])([1,2,3,4,5,6,7,8,9]).length)",
    ),
    (
        "moment@2.31.0",
        "min/moment.min.js",
        "const m=L.utc('2020-02-29T12:00:00Z'); out(m.format(), m.clone().add(1,'year').format('LLLL'), m.diff(L.utc(0),'days'), m.isLeapYear(), L.duration(90,'minutes').humanize(), m.startOf('week').toISOString(), L.utc('2013 Feb 08','YYYY MMM DD').fromNow !== undefined)",
    ),
    (
        "immutable@4.3.9",
        "dist/immutable.js",
        "out(L.fromJS({a:[1,{b:2}]}).setIn(['a',1,'b'],3).toJS(), L.Range(0,50).filter(x=>x%7===0).map(x=>x*x).toArray(), L.Map().withMutations(m=>{for(let i=0;i<100;i++)m.set('k'+i,i)}).reduce((a,b)=>a+b), L.is(L.Set([1,2]),L.Set([2,1])), L.OrderedMap({a:1}).merge({b:2}).toString(), L.List([3,1,2]).sort().toJS(), L.Record({a:1})({a:2}).a)",
    ),
    (
        "acorn@8.19.0",
        "dist/acorn.js",
        "const t='class A{#x=1;static{let y=a.b`c${d}`?.e}async*m({a,...b}=c){for await(const x of y)yield*x}} /re[/]/gu; x=>({...y}); label: for(;;)break label'; out(JSON.stringify(L.parse(t,{ecmaVersion:2022})).length, [...L.tokenizer(t,{ecmaVersion:2022})].length, (()=>{try{L.parse('a b')}catch(e){return e.message}})())",
    ),
    (
        "svelte@4.2.20",
        "compiler.cjs",
        "const r=L.compile('<script>export let a=1; let b; $: b=a*2; let m=[1]</script>{#each m as x,i (x)}<p on:click={()=>a++} class:z={b}>{x}{b}</p>{:else}no{/each}<style>p{color:red}</style>',{generate:'dom'}); out(r.js.code, r.css.code, r.warnings.length)",
    ),
    (
        "three@0.160.0",
        "build/three.cjs",
        "const g=new L.BoxGeometry(1,2,3).toNonIndexed(); const m=new L.Mesh(g,new L.MeshBasicMaterial()); m.position.set(1,2,3); m.rotation.y=1; m.updateMatrixWorld(); const r=new L.Raycaster(new L.Vector3(1,2,20),new L.Vector3(0,0,-1)); out(m.matrixWorld.elements.map(x=>x.toFixed(5)), r.intersectObject(m).map(i=>i.distance.toFixed(5)), new L.Color('hsl(120,50%,50%)').getHexString(), new L.CatmullRomCurve3([new L.Vector3(),new L.Vector3(1,1,1)]).getPoints(4).length, g.attributes.position.count, new L.Quaternion().setFromEuler(new L.Euler(1,2,3)).toArray().map(x=>x.toFixed(5)))",
    ),
];

#[test]
fn libraries_in_node() {
    let mut programs = Vec::new();
    for (package, file, work) in IN_NODE {
        let Some(text) = library(package, file) else { continue };
        let asks = "const require=()=>({}),process=undefined,";
        programs.push(format!(
            "(function(out){{{asks}module={{exports:{{}}}},L=(function(module,exports){{{text}\n;return module.exports}})(module,module.exports);{work}}})"
        ));
    }
    if programs.is_empty() {
        return;
    }
    if let Some(seen) = runner::compare(&programs) {
        let failed = "a workload ends in an error";
        assert!(seen.errors.is_empty(), "{failed}: {:?}", seen.errors);
        assert!(seen.records > 1000, "{}", seen.records);
    }
}

/// Packages, and a file of each.
type Files = &'static [(&'static str, &'static str)];

/// Libraries for a page, and what is done with them; the result goes to `show`.
const IN_CHROMIUM: &[(&str, Files, &str)] = &[
    (
        "jquery",
        &[("jquery@3.7.1", "dist/jquery.js")],
        "$('#app').append('<ul><li class=a>1</li><li>2</li></ul>').on('click','li',function(e){$(this).toggleClass('on').data('n',($(this).data('n')||0)+1)}); $('li').first().trigger('click').trigger('click').end().eq(1).click().css('color','red').attr('title','t').after($('<li>',{text:'3',id:'x'})); $('#app').find('li:even').hide().filter('.a').show(); $.Deferred().resolve(1).then(v=>v+1); show($('#app').html(), $('li').map((i,e)=>$(e).data('n')).get(), $.extend(true,{},{a:{b:1}},{a:{c:2}}), $('#x').is('li'), $.param({a:[1,2]}), $('li').length, $('<form><input name=q value=1></form>').serialize())",
    ),
    (
        "react production",
        &[
            ("react@18.3.1", "umd/react.production.min.js"),
            ("react-dom@18.3.1", "umd/react-dom.production.min.js"),
        ],
        REACT,
    ),
    (
        "react development",
        &[
            ("react@18.3.1", "umd/react.development.js"),
            ("react-dom@18.3.1", "umd/react-dom.development.js"),
        ],
        REACT,
    ),
    (
        "vue 3",
        &[("vue@3.5.45", "dist/vue.global.js")],
        "const app=Vue.createApp({data:()=>({n:0,l:[1,2],s:new Set([1])}),computed:{d(){return this.n*2}},watch:{n(v){this.l.push(v)}},methods:{inc(){this.n++;this.s.add(this.n)}},template:'<button @click=\"inc\" :class=\"{on:n>1}\">{{n}} {{d}} {{s.size}}</button><i v-for=\"x in l\" :key=\"x\" v-if=\"l.length\">{{x}}</i><input v-model=\"n\">'}).mount('#app'); const b=document.querySelector('#app button'); b.click(); Vue.nextTick(()=>{b.click(); Vue.nextTick(()=>show(document.querySelector('#app').innerHTML))})",
    ),
    (
        "vue 2",
        &[("vue@2.7.16", "dist/vue.js")],
        "new Vue({el:'#app',data:{n:0,l:[1,2]},computed:{d(){return this.n*2}},watch:{n(v){this.l.push(v)}},template:'<div id=app><button @click=\"n++\" :class=\"{on:n>1}\">{{n}} {{d}}</button><i v-for=\"x in l\">{{x}}</i><input v-model=\"n\"></div>'}); const b=document.querySelector('#app button'); b.click(); Vue.nextTick(()=>{b.click(); Vue.nextTick(()=>show(document.querySelector('#app').innerHTML))})",
    ),
];

const REACT: &str = "const h=React.createElement; function App(){const [n,set]=React.useState(0); const r=React.useRef(0); const l=React.useMemo(()=>[...Array(n+3).keys()],[n]); React.useEffect(()=>{r.current+=n; return ()=>{r.current--}},[n]); React.useLayoutEffect(()=>{document.title='n'+n}); return h('div',{onClick:()=>set(x=>x+1),className:'c'+n},l.map(x=>h('p',{key:x,style:{color:x%2?'red':'blue'}},x)),h('input',{value:n,onChange(){}}),h(React.Fragment,null,r.current))} class B extends React.Component{state={e:null}; static getDerivedStateFromError(e){return {e:e.message}} render(){return this.state.e?h('b',null,this.state.e):this.props.children}} function Bad(){throw new Error('bad')} const root=ReactDOM.createRoot(document.querySelector('#app')); ReactDOM.flushSync(()=>root.render(h(React.StrictMode,null,h(App),h(B,null,h(Bad))))); for(let i=0;i<3;i++)ReactDOM.flushSync(()=>document.querySelector('#app div').click()); setTimeout(()=>show(document.querySelector('#app').innerHTML,document.title),50)";

#[test]
fn libraries_in_chromium() {
    // A push takes two of them: each needs Chromium twice.
    let count = if effort() > 1 { IN_CHROMIUM.len() } else { 2 };
    for (name, files, work) in &IN_CHROMIUM[..count] {
        let texts: Option<Vec<String>> = files.iter().map(|(p, f)| library(p, f)).collect();
        let Some(texts) = texts else { continue };
        let folder = tempfile::tempdir().expect("a folder");
        let mut results = Vec::new();
        for logged in [false, true] {
            let mut head = String::new();
            if logged {
                fs::write(folder.path().join("log.js"), LOG_JS).expect("the runtime");
                head.push_str("<script src=log.js></script>");
            }
            for (number, text) in texts.iter().enumerate() {
                let text = if logged { rewrite(text, Kind::Classic) } else { text.clone() };
                let file = format!("{number}-{logged}.js");
                fs::write(folder.path().join(&file), text).expect("a library");
                head.push_str(&format!("<script src={file}></script>"));
            }
            let show = "function show(...v){document.querySelector('pre').textContent='RES'+'ULT:'+JSON.stringify(v)+':E'+'ND'} onerror=(m)=>show('error',m);";
            let page = format!(
                "<!DOCTYPE html><meta charset=utf-8>{head}<body><div id=app></div><pre></pre><script>{show}{work}</script>"
            );
            let mut sites = Sites::new();
            let origin = Origin::start_of(sites.add_source("page"));
            let page = if logged {
                rewrite_html(&page, HtmlOptions::default(), origin, &mut sites).page
            } else {
                page
            };
            let path = folder.path().join(format!("{logged}.html"));
            fs::write(&path, page).expect("a page");
            let Some(tree) = chromium(&path) else { return };
            let result = tree.rsplit_once("RESULT:").and_then(|(_, rest)| rest.split_once(":END"));
            results
                .push(result.unwrap_or_else(|| panic!("{name}, {logged}: no result")).0.to_owned());
        }
        assert!(results[0].len() > 40 && !results[0].contains("error\""), "{name}: {}", results[0]);
        assert_eq!(results[0], results[1], "{name}");
    }
}
