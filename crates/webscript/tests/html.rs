//! Pages: what is rewritten, and that the tree stays as Chromium builds it.

use crate::outside::chromium;
use anyorder_webscript::{Holds, HtmlOptions, Origin, Sites, Unlogged, rewrite_html, rewrite_page};
use proptest::prelude::*;
use std::fs;

fn rewritten(text: &str, options: HtmlOptions<'_>) -> (String, Vec<Unlogged>, Sites, u32) {
    let mut sites = Sites::new();
    let origin = Origin::start_of(sites.add_source("page"));
    let html = rewrite_html(text, options, origin, &mut sites);
    let unlogged = html.unlogged.into_iter().map(|(_, why)| why).collect();
    (html.page, unlogged, sites, html.holds)
}

/// Checks a fragment without injection and hold points.
fn check(text: &str, expected: &str) {
    let (page, unlogged, ..) = rewritten(text, HtmlOptions::default());
    assert_eq!(page, expected, "{text}");
    assert_eq!(unlogged, [], "{text}");
}

#[test]
fn scripts_by_type() {
    let log = "__aoR([],\"x\",0).x";
    for (attributes, is_run) in [
        ("", true),
        (" type=text/javascript", true),
        (" type=''", true),
        (" TYPE=\" Text/ECMAScript \"", true),
        (" type=module", true),
        (" type=application/json", false),
        (" type=importmap", false),
        (" type=text/template", false),
        (" src=a.js", false),
        (" language=javascript1.2", true),
        (" language=vbscript", false),
        (" nomodule", false),
    ] {
        let page = |code: &str| format!("<script{attributes}>{code}</script>");
        check(&page("[].x"), &page(if is_run { log } else { "[].x" }));
    }
    check(
        "<script>[].x<!-- <script> </script> --></script>",
        &format!("<script>{log}<!-- <script> </script> --></script>"),
    );
    check(
        "<style>[].x</style><!-- <script>[].x</script> --><title><script>[].x</script></title>",
        "<style>[].x</style><!-- <script>[].x</script> --><title><script>[].x</script></title>",
    );
    check(
        "<textarea><script>[].x</script></textarea><plaintext><script>[].x</script>",
        "<textarea><script>[].x</script></textarea><plaintext><script>[].x</script>",
    );
}

#[test]
fn attributes_with_code() {
    check(
        "<a onclick='a.b()'>",
        "<a onclick=\"__aoR(__aoQ(__aoT(this,&quot;a&quot;,1),a),&quot;b&quot;,0).b()\">",
    );
    check(
        "<a onclick=f() ONLOAD = \"f()&amp;&amp;1\">",
        "<a onclick=\"__aoQ(__aoT(this,&quot;f&quot;,0),f())\" onload=\"__aoQ(__aoT(this,&quot;f&quot;,1),f())&amp;&amp;1\">",
    );
    check("<a href='javascript:f()'>", "<a href=\"javascript:__aoQ(__aoG(&quot;f&quot;,0),f)()\">");
    check(
        "<a href=x.html onclick='return false' on='a.b' on-x='a.b' onclick='a.b'>",
        "<a href=x.html onclick='return false' on='a.b' on-x='a.b' onclick='a.b'>",
    );
    check(
        "<script src=a integrity='sha256-x' crossorigin></script>",
        "<script src=a  crossorigin></script>",
    );
    check(
        "<meta http-equiv=Content-Security-Policy content=\"x\">",
        "<meta http-equiv=\"x-removed-policy\" content=\"x\">",
    );
    let (page, unlogged, ..) =
        rewritten("<a onclick='&copy;()' href='javascript:%20f()'>", HtmlOptions::default());
    assert_eq!(page, "<a onclick='&copy;()' href='javascript:%20f()'>");
    assert_eq!(unlogged, [Unlogged::Escapes, Unlogged::Escapes]);
    let (_, unlogged, ..) =
        rewritten("<svg><script>a.b</script></svg><script>a.</script>", HtmlOptions::default());
    assert!(matches!(&unlogged[..], [Unlogged::Foreign, Unlogged::Syntax(_)]), "{unlogged:?}");
}

#[test]
fn places_in_pages() {
    let (_, _, sites, _) =
        rewritten("<p>\n<script>\n a.b</script> <i onclick='c.d'>", HtmlOptions::default());
    let places: Vec<_> = (0..)
        .map_while(|id| sites.get(id))
        .map(|site| (site.name, site.line, site.column))
        .collect();
    assert_eq!(places, [("b", 3, 4), ("a", 3, 2), ("d", 3, 29), ("c", 3, 27)]);
}

#[test]
fn injection_comes_first() {
    for (text, expected) in [
        (
            "<!DOCTYPE html><html lang=a><head x><script>",
            "<!DOCTYPE html><html lang=a><head x>@<script>",
        ),
        ("<!DOCTYPE html> <!-- c --> <p>x", "<!DOCTYPE html> <!-- c --> @<p>x"),
        (" text", " @text"),
        ("<html> <body>", "<html> @<body>"),
        ("", "@"),
    ] {
        let options = HtmlOptions { inject: Some("@"), ..HtmlOptions::default() };
        assert_eq!(rewritten(text, options).0, expected);
    }
}

#[test]
fn encodings() {
    let page = |bytes: &[u8], charset: Option<&str>| {
        let mut sites = Sites::new();
        let origin = Origin::start_of(sites.add_source("page"));
        let page = rewrite_page(bytes, charset, HtmlOptions::default(), origin, &mut sites);
        (page.html.page, page.charset, sites.get(0).map(|site| site.name.to_owned()))
    };
    let in_latin = b"<meta charset=iso-8859-1><script>\xe9.x</script>";
    let (bytes, charset, name) = page(in_latin, None);
    assert_eq!((charset, name.as_deref()), ("windows-1252", Some("x")));
    assert!(bytes.windows(3).any(|it| it == b"\",1") && bytes.contains(&0xe9));
    assert_eq!(
        page(in_latin, Some("utf-8")).1,
        "UTF-8",
        "the header counts, and the bytes are wrong"
    );
    assert_eq!(
        page("\u{feff}\u{e9}".as_bytes(), Some("latin1")),
        ("\u{feff}\u{e9}".into(), "UTF-8", None)
    );
    assert_eq!(page(b"\xe9", None), (b"\xe9".to_vec(), "windows-1252", None));
    let content =
        b"<meta http-equiv='content-type' content='text/html; charset=shift_jis'>\x82\xa0";
    assert_eq!(page(content, None), (content.to_vec(), "Shift_JIS", None));
    let wide: Vec<u8> = "\u{feff}<p>\u{e9}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(page(&wide, None), ("<p>\u{e9}".as_bytes().to_vec(), "UTF-8", None));
}

/// Bodies of pages whose trees are hard to build.
const BODIES: &[&str] = &[
    "<div>a<p>b<p>c<div>d</p>e</div></div>f<br>g<hr>h",
    "<table><tr><td>a<td>b<tr><th>c</table>d<table>x<tr><p>y</table><div>e</div>",
    "<table><caption>a</caption><colgroup><col><tbody><tr><td><table><td>b</table>c</table><p>d",
    "<ul><li>a<ul><li>b</ul><li>c</li>d</li>e</ul><dl><dt>a<dd>b<dt>c</dl><ol><li>x</ol>",
    "<select><option>a<optgroup><option>b</select>x<select multiple><option>c</option></select><p>y</p>",
    "<svg><g><title>t</title><style>a{}</style><foreignObject><p>x</p></foreignObject></g></svg><p>y</p><svg/><i>z</i>",
    "<math><mi>x</mi><mtext><b>y</b></mtext></math><p>a</p><svg><p>out</p><b>x</b>",
    "<template><p>a</p><tr><td>b</template><p>c</p><template></template><i>d</i>",
    "<b>1<i>2</b>3</i>4<p>5<b>6</p>7</b>8<a>9<a>10</a>11</a>12",
    "<b>1<p>2</b>3</p>4<div><span>x</div>y</span>z<span>q</span>",
    "<pre>\n\n a\n<b>b</b>\nc</pre><textarea>\n<b>x</textarea><p>y</p><listing>\nx</listing><xmp><b></xmp><i>x</i>",
    "a</x>b</p>c</br>d<nobr>e<nobr>f</nobr><button>g<button>h</button>i</button>",
    "<form><input><form>x</form>y</form>z<fieldset><legend>l</legend><input type=hidden></fieldset><label>a<input>b</label>",
    "text<!-- c -->more<!x>and<?y?>so</>on<p>x",
    "<video><source src=a><track></video><picture><source><img></picture><object><param>x</object><p>y</p><audio></audio>",
    "<div>a</div>\n <span> b </span> <span>c</span>\n<em>d</em> e <a href=x>f</a> g<img><img> h",
    "<details><summary>a</summary>b<details>c</details></details><dialog open><p>x</p></dialog><ruby>a<rt>b<rp>c</ruby>d",
    "<iframe><p>x</p></iframe><noscript><p>x</p></noscript><style>p{}</style><p>y</p><link><meta><base><title>t</title>x",
    "<h1>a<h2>b</h1>c</h2><center>x<font color=red>y</center>z</font><marquee>m</marquee>n",
    "<p>a<table><tr><td>b</td></tr></table>c</p>d<image src=x>e<isindex>f",
    "<div>unclosed<section><p>deep<ul><li>a<li>b",
    "<body class=x><p>a</body><p>b</p></html><p>c",
    "<script>document.write('<b>w</b>')</script>t<script>document.write('<p>')</script>u</p>v",
    "<custom-el>a<custom-el>b</custom-el></custom-el>c<slot>d</slot><input><keygen>x<wbr>y<area>",
];

/// Adds scripts that print the tree with its text nodes, and returns the page.
fn with_print(body: &str, head: &str) -> String {
    format!("<!DOCTYPE html><html><head>{head}<title>t</title></head><body>{body}")
}

/// Compares the trees of pages with and without hold points.
#[test]
fn hold_points_keep_the_tree() {
    let folder = tempfile::tempdir().expect("a folder");
    let hold = "document.currentScript.remove()";
    let mut total = [0, 0];
    let mut frames = String::new();
    for (number, body) in BODIES.iter().enumerate() {
        let page = with_print(body, "");
        for (kind, holds) in [Holds::None, Holds::Blocks, Holds::Most].into_iter().enumerate() {
            let options = HtmlOptions { holds, ..HtmlOptions::default() };
            let (text, _, _, count) = rewritten(&page, options);
            if kind > 0 {
                total[kind - 1] += count;
            }
            let text = text.replace("/__anyorder/hold/", "./hold.js?");
            let name = format!("{number}-{kind}.html");
            fs::write(folder.path().join(&name), text).expect("a page");
            frames.push_str(&format!("<iframe src={name}></iframe>"));
        }
    }
    assert!(total[0] > 30 && total[1] > 90, "{total:?}");
    fs::write(folder.path().join("hold.js"), hold).expect("a script");
    let all = folder.path().join("all.html");
    fs::write(&all, format!("{frames}<script>{}</script>", include_str!("trees.js")))
        .expect("a page");
    let Some(tree) = chromium(&all) else { return };
    let (_, result) = tree.rsplit_once("RESULT:").expect("a result");
    let (result, _) = result.split_once(":END").expect("a result");
    assert_eq!(result, format!("{} compared", BODIES.len() * 2), "{}", tree.len());
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut sites = Sites::new();
        let origin = Origin::start_of(sites.add_source("page"));
        let options = HtmlOptions { inject: Some("<script></script>"), holds: Holds::Most, first_hold: 0 };
        rewrite_page(&bytes, None, options, origin, &mut sites);
    }

    #[test]
    fn pieces_of_pages_keep_their_text(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
        let text = pieces.concat();
        let options = HtmlOptions { holds: Holds::Most, ..HtmlOptions::default() };
        let (page, ..) = rewritten(&text, options);
        let mut without = page;
        while let Some((before, rest)) = without.split_once("<script src=\"/__anyorder/hold/") {
            let (_, after) = rest.split_once("</script>").expect("its end");
            without = format!("{before}{after}");
        }
        prop_assert_eq!(without, text);
    }
}

const PIECES: &[&str] = &[
    "<p>",
    "</p>",
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "a",
    " ",
    "\n",
    "<b>",
    "</b>",
    "<!--",
    "-->",
    "<svg>",
    "</svg>",
    "<style>",
    "</style>",
    "<title>",
    "</title>",
    "<div x='",
    "'>",
    "<br>",
    "<",
    ">",
    "<select>",
    "<option>",
    "</select>",
    "<template>",
    "</template>",
    "<!DOCTYPE html>",
    "<body>",
    "</body>",
    "<?",
    "</",
    "<![CDATA[",
    "]]>",
    "<pre>",
    "</pre>",
    "\u{e9}",
    "<foreignObject>",
    "=",
    "\"",
];
