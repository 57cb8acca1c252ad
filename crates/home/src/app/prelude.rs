//! Functions of the platform that take closures, in Groovy. A host cannot call a closure.

use anyorder_groovy::ast::Script;
use anyorder_groovy::parse;
use std::cell::OnceCell;

const TEXT: &str = r"
def preferences(Closure c) { c() }
def preferences(Map m, Closure c) { c() }
def section(Closure c) { c() }
def section(a, Closure c) { c() }
def section(a, b, Closure c) { c() }
def page(Map m, Closure c) { c() }
def page(Map m, String a, Closure c) { c() }
def page(Map m, String a, String b, Closure c) { c() }
def page(String a, Closure c) { c() }
def page(String a, String b, Closure c) { c() }
def dynamicPage(Map m, Closure c) { c() }
def input(Map m, String a, String b, Closure c) { homeInput(m, a, b); c() }
def input(String a, String b, Closure c) { homeInput([:], a, b); c() }
def metadata(Closure c) { }
def metadata(Map m, Closure c) { }
def mappings(Closure c) { c() }
def path(String p, Closure c) { homeRequests(c()) }
def path(Map m, String p, Closure c) { homeRequests(c()) }
def definition(Map m, Closure c) { homeDefinition(m) }
def httpGet(p, Closure c) { if (homeAnswer('httpGet')) { c(homeResponse()) } }
def httpPost(p, Closure c) { if (homeAnswer('httpPost')) { c(homeResponse()) } }
def httpPost(p, q, Closure c) { if (homeAnswer('httpPost')) { c(homeResponse()) } }
def httpPut(p, Closure c) { if (homeAnswer('httpPut')) { c(homeResponse()) } }
def httpPostJson(p, Closure c) { if (homeAnswer('httpPostJson')) { c(homeResponse()) } }
def httpPostJson(p, q, Closure c) { if (homeAnswer('httpPostJson')) { c(homeResponse()) } }
def httpPutJson(p, Closure c) { if (homeAnswer('httpPutJson')) { c(homeResponse()) } }
def httpDelete(p, Closure c) { if (homeAnswer('httpDelete')) { c(homeResponse()) } }
def httpHead(p, Closure c) { if (homeAnswer('httpHead')) { c(homeResponse()) } }
";

thread_local! {
    /// The tree of the text. A tree is not shared between threads, since its methods are counted.
    static PRELUDE: OnceCell<&'static Script> = const { OnceCell::new() };
}

/// Returns the functions.
pub(crate) fn prelude() -> &'static Script {
    PRELUDE.with(|cell| *cell.get_or_init(|| Box::leak(Box::new(parse(TEXT).script))))
}
