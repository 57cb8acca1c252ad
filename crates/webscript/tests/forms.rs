//! What each form of syntax becomes.

use crate::outside::rewrite;
use anyorder_webscript::{Access, Kind, Origin, Sites, SyntaxError, rewrite_script};

/// Compares the body of a function with locals `a`, `k` and a captured `c` with what it becomes.
fn check(body: &str, expected: &str) {
    let before = "(function(a,k){let c=0;()=>c++;";
    let text = rewrite(&format!("{before}{body}}})"), Kind::Classic);
    let (_, rest) = text.split_once("c++);").expect("the beginning");
    let without_sites = strip(rest.strip_suffix("})").expect("the end"));
    assert_eq!(without_sites, expected, "{body}");
}

/// Replaces numbers of sites, which end arguments, by `_`.
fn strip(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, after) = rest.split_at(at);
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        out.push_str(before);
        let is_site = before.ends_with(',') && after[end..].starts_with([')', ',']);
        out.push_str(if is_site { "_" } else { &after[..end] });
        rest = &after[end..];
    }
    out + rest
}

#[test]
fn members() {
    check("a.b", "__aoR(a,\"b\",_).b");
    check("a.b=k", "__aoW(a,\"b\",_).b=k");
    check("a.b+=k", "__aoB(a,\"b\",_).b+=k");
    check("a.b++", "__aoB(a,\"b\",_).b++");
    check("delete a.b", "delete __aoD(a,\"b\",_).b");
    check("a.b.d()", "__aoR(__aoR(a,\"b\",_).b,\"d\",_).d()");
    check("a[k]", "__aoR(a,k,_)[k]");
    check("a['x']", "__aoR(a,'x',_)['x']");
    check("a[k+1]", "__aoO(a,_)[__aoK(k+1,_,_)]");
    check("a[k,k]", "__aoO(a,_)[__aoK((k,k),_,_)]");
    check("for(k in k,a);", "for(k in __aoJ((k,a),_));");
    check("delete a[k+1]", "delete __aoO(a,_)[__aoK(k+1,_,_)]");
    check("new a.b(k)", "new (__aoR(a,\"b\",_).b)(k)");
    check("new a.b", "new (__aoR(a,\"b\",_).b)");
    check("typeof(a).b", "typeof __aoR((a),\"b\",_).b");
    check("a.b`x`", "__aoR(a,\"b\",_).b`x`");
    check("a .b", "__aoR(a,\"b\",_) .b");
    check("'x' in a", "'x' in __aoR(a,'x',_)");
    check("k in a", "__aoY(k,_) in __aoX(a,_)");
}

#[test]
fn optional_chains() {
    check("a?.b", "__aoR(a,\"b\",_)?.b");
    check("a?.b.d", "__aoZ(__aoC(__aoP(a,\"b\",_)?.b,\"d\",_)?.d)");
    check("a?.b/*.*/ .d", "__aoZ(__aoC(__aoP(a,\"b\",_)?.b,\"d\",_)/*.*/ ?.d)");
    check("a?.[k+1].d", "__aoZ(__aoC(__aoPo(a,_)?.[__aoK(k+1,_,_)],\"d\",_)?.d)");
    check("a?.b[k]", "__aoZ(__aoCo(__aoP(a,\"b\",_)?.b,_)?.[__aoK(k,_,_)])");
    check("a?.b.d()", "__aoZ(__aoC(__aoP(a,\"b\",_)?.b,\"d\",_)?.d())");
    check("(a?.b.d)()", "(__aoR(a,\"b\",_)?.b.d)()");
    check("delete a?.b.d", "delete __aoR(a,\"b\",_)?.b.d");
}

#[test]
fn variables() {
    check("c", "__aoV(__ao_s1,_,_,c)");
    check("c=k", "__aoS(__ao_s1,_,_,_,c=k)");
    check("c=function(){}", "__aoS(__ao_s1,_,_,_,c=function(){})");
    check("c++", "__aoU(__ao_s1,_,_,_,c++)");
    check("--c", "__aoS(__ao_s1,_,_,_,--c)");
    check("({c})", "({c:__aoV(__ao_s1,_,_,c)})");
    check("[c]=a", "[c]=__aoA(__aoI(a,_),__aoL(__ao_s1,_,_))");
    check(
        "({c,b:{d:k}}=a)",
        "({c,b:{d:k}}=__aoA(__aoM(a,[\"c\",\"b\",[\"d\",],],_),__aoL(__ao_s1,_,_)))",
    );
    check("g", "__aoQ(__aoG(\"g\",_),g)");
    check("typeof g", "__aoQ(__aoG(\"g\",_),typeof g)");
    check("g=k", "__aoQ(__aoH(\"g\",_,_),g=k)");
    check("new c", "new (__aoV(__ao_s1,_,_,c))");
    check("eval(k)", "eval(__aoE(eval,k))");
    check("for(c of a);", "for(c of __aoA(__aoI(a,_),__aoL(__ao_s1,_,_)));");
    check("for(a.b in k);", "for(__aoW(a,\"b\",_).b in __aoJ(k,_));");
    check("with(a)c+g", "with(a)c+g");
    check("return[a].b", "return __aoR([a],\"b\",_).b");
}

#[test]
fn tops_of_scripts() {
    let hashbang = rewrite("#!x\n'use strict'\nfunction f(){}", Kind::Classic);
    assert_eq!(hashbang, "#!x\n'use strict';__aoF(\"f\",0);\nfunction f(){}");
    let module = rewrite("export let c=0;export function f(){c++}", Kind::Module);
    assert!(module.starts_with("var __ao_s0=__aoN("), "{module}");
    let handler = rewrite("go();return v", Kind::Handler);
    assert_eq!(handler, "__aoQ(__aoT(this,\"go\",0),go());return __aoQ(__aoT(this,\"v\",1),v)");
    // A method of the element keeps its element.
    let form = rewrite("submit(f(1));g?.(x)", Kind::Handler);
    let inner = "__aoQ(__aoT(this,\"f\",1),f(1))";
    let call = format!("__aoQ(__aoT(this,\"submit\",0),submit({inner}))");
    assert_eq!(form, format!("{call};g?.(__aoQ(__aoT(this,\"x\",2),x))"));
    let eval = rewrite("let x=1;var y=2", Kind::Eval);
    assert_eq!(eval, "let x=1;var y=__aoQ(__aoH(\"y\",0,2),2)");
    let name = rewrite("var f=()=>1", Kind::Classic);
    assert_eq!(name, "var {}=__aoH(\"f\",0,2),f=()=>1");
}

#[test]
fn sites_have_places() {
    let mut sites = Sites::new();
    let source = sites.add_source("a");
    let origin = Origin { source, line: 7, column: 11 };
    let text = "a.b;'\u{1F600}';\r\nx;/*\u{2028}*/ '\u{e9}\u{1F600}'.y";
    rewrite_script(text, Kind::Classic, origin, &mut sites).expect("it parses");
    let find = |name: &str| {
        let mut all = (0..).map_while(|id| sites.get(id));
        let site = all.find(|site| site.name == name).expect("a site");
        (site.line, site.column, site.access)
    };
    assert_eq!(find("a"), (7, 11, Access::Read));
    assert_eq!(find("b"), (7, 13, Access::Read));
    assert_eq!(find("x"), (8, 1, Access::Read));
    assert_eq!(find("y"), (9, 10, Access::Read));
}

#[test]
fn what_does_not_parse_has_an_error_and_no_sites() {
    let mut sites = Sites::new();
    let origin = Origin::start_of(sites.add_source("a"));
    let error = rewrite_script("a.b;\n c.d = ;", Kind::Classic, origin, &mut sites);
    assert!(matches!(error, Err(SyntaxError::Parse { line: 2, column: 8, .. })), "{error:?}");
    for text in ["return 1", "import 'a'", "export {}", "a.b = {"] {
        let result = rewrite_script(text, Kind::Classic, origin, &mut sites);
        assert!(result.is_err(), "{text}: {result:?}");
    }
    assert!(sites.is_empty());
}
