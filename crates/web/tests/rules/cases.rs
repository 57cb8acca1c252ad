//! The pages.

use super::Broken::{Fault, Script, Text};
use super::Case;
use crate::sabotage::Sabotage;

const NONE: Case = Case {
    rule: (0, ""),
    page: "",
    files: &[],
    steps: "",
    says: &[],
    orders: 0,
    names: &[],
    dropped: Fault(Sabotage::None),
    strict: Fault(Sabotage::OnlyFirst),
};

const PICTURE: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>";

pub(super) const CASES: &[Case] = &[
    Case {
        rule: (1, "a document is parsed in order"),
        page: "<script src=/a.js async></script><script>say('one')</script><!-- hold -->
            <script>say('two')</script>",
        files: &[("/a.js", "say('a')")],
        says: &["one a two", "one two a"],
        orders: 2,
        dropped: Text("<script src=\"/__anyorder", "<script async src=\"/__anyorder"),
        strict: Text(" async", ""),
        ..NONE
    },
    Case {
        rule: (2, "a script element is created before its script runs"),
        page: "<script>setTimeout(() => { const made = document.createElement('script');
            made.src = '/a.js'; document.body.append(made); say('made') }, 1);
            setTimeout(() => say('t'), 2)</script>",
        files: &[("/a.js", "say('a')")],
        says: &["made a t", "made t a"],
        orders: 2,
        names: &["load/timeout@(page):2/script@%2Fa.js"],
        dropped: Fault(Sabotage::NoCreator),
        strict: Fault(Sabotage::LastCreator),
        ..NONE
    },
    Case {
        rule: (2, "a script that blocks the parser runs before what follows it"),
        page: "<script>setTimeout(() => say('t'), 1)</script><script src=/a.js></script>
            <script>say('inline')</script>",
        files: &[("/a.js", "say('a')")],
        says: &["a inline t", "t a inline"],
        orders: 2,
        dropped: Text("<script src=/a.js>", "<script async src=/a.js>"),
        ..NONE
    },
    Case {
        rule: (3, "deferred scripts run in order"),
        page: "<script>document.addEventListener('DOMContentLoaded', () => say('ready'))</script>
            <script defer src=/a.js></script><script defer src=/b.js></script>
            <script>say('parsed')</script>",
        files: &[("/a.js", "say('a')"), ("/b.js", "say('b')")],
        says: &["parsed a b ready"],
        orders: 2,
        dropped: Text("defer", "async"),
        ..NONE
    },
    Case {
        rule: (4, "an async or inserted script only comes after its creation"),
        page: "<script async src=/a.js></script><script async src=/b.js></script>",
        files: &[
            (
                "/a.js",
                "say('a'); const made = document.createElement('script'); made.src = '/c.js';
                document.body.append(made)",
            ),
            ("/b.js", "say('b')"),
            ("/c.js", "say('c')"),
        ],
        says: &["a b c", "a c b", "b a c"],
        orders: 3,
        names: &["load/script@%2Fa.js/script@%2Fc.js"],
        dropped: Fault(Sabotage::NoCreator),
        strict: Fault(Sabotage::LastCreator),
        ..NONE
    },
    Case {
        rule: (5, "what a document loads comes before its load event"),
        page: "<script>addEventListener('load', () => say('load'));
            fetch('/f.txt').then(() => say('f'))</script>
            <img src=/i.svg onload=\"say('i')\">",
        files: &[("/f.txt", "f"), ("/i.svg", PICTURE)],
        says: &["f i load", "i load f"],
        orders: 2,
        dropped: Text(
            "<img src=/i.svg onload=\"say('i')\">",
            "<script>fetch('/i.svg').then(() => say('i'))</script>",
        ),
        ..NONE
    },
    Case {
        rule: (6, "an element is created before an event is dispatched at it"),
        page: "<script>fetch('/f.txt').then(() => { const b = document.createElement('button');
            b.id = 'b'; b.textContent = 'b'; b.onclick = () => say('clicked');
            document.body.append(b); say('made') }); setTimeout(() => say('t'), 1)</script>",
        files: &[("/f.txt", "f")],
        steps: r##"{"click": "#b"}"##,
        says: &["made clicked t", "made t clicked", "t made clicked"],
        orders: 3,
        dropped: Fault(Sabotage::StepsAtOnce),
        strict: Fault(Sabotage::StepsLast),
        ..NONE
    },
    Case {
        rule: (7, "dispatches of one event at one target are in order"),
        page: "<button id=b>b</button><script>let n = 0; const b = document.getElementById('b');
            b.addEventListener('click', () => { n++; say('one' + n) });
            b.addEventListener('click', () => say('two' + n));
            setTimeout(() => say('t'), 1)</script>",
        steps: r##"{"click": "#b"}, {"click": "#b"}"##,
        says: &[
            "one1 two1 one2 two2 t",
            "one1 two1 t one2 two2",
            "t one1 two1 one2 two2",
        ],
        orders: 3,
        dropped: Script(
            "{ const add = EventTarget.prototype.addEventListener;
            EventTarget.prototype.addEventListener = function (type, run) {
              return add.call(this, type, type === 'click' ? () => setTimeout(run) : run) } }",
        ),
        ..NONE
    },
    Case {
        rule: (8, "a synchronous dispatch is a part of the running event"),
        page: "<script>addEventListener('own', () => say('own'));
            setTimeout(() => { say('before'); dispatchEvent(new Event('own')); say('after') }, 9);
            setTimeout(() => say('t'), 1)</script>",
        says: &["before own after t", "t before own after"],
        orders: 2,
        dropped: Script(
            "{ const native = EventTarget.prototype.dispatchEvent;
            EventTarget.prototype.dispatchEvent = function (event) {
              queueMicrotask(() => native.call(this, event)) } }",
        ),
        ..NONE
    },
    Case {
        rule: (9, "a request is sent before its response comes"),
        page: "<button id=b>b</button><script>document.getElementById('b').onclick = () => {
            say('sent'); fetch('/f.txt').then(() => say('f')) };
            fetch('/g.txt').then(() => say('g'))</script>",
        files: &[("/f.txt", "f"), ("/g.txt", "g")],
        steps: r##"{"click": "#b"}"##,
        says: &["g sent f", "sent f g", "sent g f"],
        orders: 3,
        names: &["click@%23b/fetch@%2Ff.txt"],
        dropped: Fault(Sabotage::NoCreator),
        strict: Fault(Sabotage::LastCreator),
    },
    Case {
        rule: (9, "a synchronous request is a part of the running event"),
        page: "<script>setTimeout(() => { say('ask'); const x = new XMLHttpRequest();
            x.open('GET', '/f.txt', false); x.send(); say(x.responseText) }, 9);
            setTimeout(() => say('t'), 1)</script>",
        files: &[("/f.txt", "f")],
        says: &["ask f t", "t ask f"],
        orders: 2,
        dropped: Script(
            "{ const native = XMLHttpRequest.prototype.open;
            XMLHttpRequest.prototype.open = function (method, url) {
              return native.call(this, method, url, true) } }",
        ),
        ..NONE
    },
    Case {
        rule: (10, "a timer is set before it fires"),
        page: "<script>setTimeout(() => { say('set'); setTimeout(() => say('fired'), 1) }, 9);
            let n = 0; const ticks = setInterval(() => { say('i' + ++n);
            if (n === 2) clearInterval(ticks) }, 8)</script>",
        says: &[
            "i1 set fired i2",
            "i1 set i2 fired",
            "set i1 fired i2",
            "set i1 i2 fired",
        ],
        orders: 4,
        names: &[
            "load/timeout@(page):2/timeout@(page):2",
            "load/interval@(page):3/interval@(page):3",
        ],
        dropped: Fault(Sabotage::NoCreator),
        strict: Fault(Sabotage::Chained),
        ..NONE
    },
    Case {
        rule: (11, "of two timers, the first set with no longer delay fires first"),
        page: "<script>setTimeout(() => say('a10'), 10); setTimeout(() => say('b5'), 5);
            setTimeout(() => say('c10'), 10)</script>",
        says: &["a10 b5 c10", "b5 a10 c10"],
        orders: 2,
        dropped: Fault(Sabotage::Free),
        strict: Fault(Sabotage::Chained),
        ..NONE
    },
    Case {
        rule: (11, "of two transitions, the first begun with no later end ends first"),
        page: "<style>p { opacity: 1; transition: opacity 1s } .out { opacity: 0 !important }
            #b { transition-duration: 0.1s } #c { transition-duration: 2s }</style>
            <p id=a>a</p><p id=b>b</p><p id=c>c</p>
            <script>const out = (id) => { const e = document.getElementById(id);
              getComputedStyle(e).opacity; e.ontransitionend = () => say(id); e.className = 'out' };
            out('a'); out('c'); setTimeout(() => { say('t'); out('b') }, 10)</script>",
        says: &["a c t b", "a t b c", "a t c b", "t a b c", "t a c b", "t b a c"],
        orders: 6,
        dropped: Fault(Sabotage::Free),
        strict: Fault(Sabotage::Chained),
        ..NONE
    },
    Case {
        rule: (12, "a cleared timer, an aborted request and a removed frame are disabled"),
        page: "<script>const late = setTimeout(() => say('late'), 50);
            const given = new AbortController();
            fetch('/f.txt', { signal: given.signal }).then(() => say('f'), () => {});
            setTimeout(() => { clearTimeout(late); given.abort(); say('cancel') }, 10);
            setTimeout(() => say('other'), 60)</script>",
        files: &[("/f.txt", "f")],
        says: &[
            "cancel other",
            "f cancel other",
            "f late cancel other",
            "late cancel other",
            "late f cancel other",
        ],
        orders: 5,
        dropped: Fault(Sabotage::KeepsCancelled),
        strict: Fault(Sabotage::CancelsMore),
        ..NONE
    },
    Case {
        rule: (12, "a cleared timer, an aborted request and a removed frame are disabled"),
        page: "<iframe id=i srcdoc=\"<script>setTimeout(() => parent.say('inner'), 5)</script>\">
            </iframe><script>const late = setTimeout(() => say('late'), 50);
            setTimeout(() => { document.getElementById('i').remove(); clearTimeout(late);
              say('removed') }, 10);
            setTimeout(() => say('other'), 60)</script>",
        says: &[
            "inner late removed other",
            "inner removed other",
            "late inner removed other",
            "late removed other",
            "removed other",
        ],
        orders: 5,
        dropped: Fault(Sabotage::KeepsCancelled),
        strict: Fault(Sabotage::CancelsMore),
        ..NONE
    },
    Case {
        rule: (13, "the user's steps keep their order, and wait for their elements"),
        page: "<button id=a onclick=\"say('a')\">a</button>
            <script>fetch('/f.txt').then(() => { const b = document.createElement('button');
            b.id = 'b'; b.textContent = 'b'; b.onclick = () => say('b');
            document.body.append(b); say('f') })</script>",
        files: &[("/f.txt", "f")],
        steps: r##"{"click": "#a"}, {"click": "#b"}"##,
        says: &["a f b", "f a b"],
        orders: 2,
        dropped: Fault(Sabotage::StepsAtOnce),
        strict: Fault(Sabotage::StepsLast),
        ..NONE
    },
    Case {
        rule: (14, "a script or image that is cached is loaded before it is used again"),
        page: "<script>setTimeout(() => say('t'), 1); const show = (url, then) => {
              const i = new Image(); i.onload = then; i.src = url };
            show('/i.svg', () => { say('first'); show('/i.svg', () => say('again')) })</script>",
        files: &[("/i.svg", PICTURE), ("/i.svg?2", PICTURE)],
        says: &["first again t", "t first again"],
        orders: 2,
        dropped: Text("show('/i.svg', () => say", "show('/i.svg?2', () => say"),
        ..NONE
    },
    Case {
        rule: (15, "promise jobs and mutation observers belong to the event that queued them"),
        page: "<p id=p></p><script>const p = document.getElementById('p');
            new MutationObserver(() => say('seen')).observe(p, { childList: true });
            setTimeout(() => { queueMicrotask(() => say('job')); p.textContent = 'x';
              Promise.resolve().then(() => say('then')); say('end') }, 9);
            setTimeout(() => say('t'), 1)</script>",
        says: &["end job seen then t", "t end job seen then"],
        orders: 2,
        dropped: Script("globalThis.queueMicrotask = (run) => setTimeout(run)"),
        ..NONE
    },
    Case {
        rule: (16, "animation frame callbacks, idle callbacks and posted tasks are in order"),
        page: "<script>requestAnimationFrame(() => say('f1'));
            requestAnimationFrame(() => say('f2')); requestIdleCallback(() => say('i'))</script>",
        says: &["f1 f2 i", "f1 i f2", "i f1 f2"],
        orders: 3,
        dropped: Fault(Sabotage::Free),
        strict: Fault(Sabotage::Chained),
        ..NONE
    },
    Case {
        rule: (16, "animation frame callbacks, idle callbacks and posted tasks are in order"),
        page: "<script>requestIdleCallback(() => say('i1')); requestIdleCallback(() => say('i2'));
            scheduler.postTask(() => say('p1')); scheduler.postTask(() => say('p2'))</script>",
        says: &[
            "i1 i2 p1 p2",
            "i1 p1 i2 p2",
            "i1 p1 p2 i2",
            "p1 i1 i2 p2",
            "p1 i1 p2 i2",
            "p1 p2 i1 i2",
        ],
        orders: 6,
        dropped: Fault(Sabotage::Free),
        strict: Fault(Sabotage::Chained),
        ..NONE
    },
    Case {
        rule: (16, "resize and intersection observers belong to the event before them"),
        page: "<div id=d style='width: 9px; height: 9px'></div>
            <script>const d = document.getElementById('d'); let n = 0;
            new ResizeObserver(() => { if (n++) say('size') }).observe(d);
            setTimeout(() => { d.style.width = '99px'; say('a') }, 9);
            setTimeout(() => say('b'), 1)</script>",
        says: &["a size b", "b a size"],
        orders: 2,
        dropped: Script(
            "{ const Native = ResizeObserver; globalThis.ResizeObserver = class extends Native {
            constructor(run) { super(() => setTimeout(run)) } } }",
        ),
        ..NONE
    },
    Case {
        rule: (17, "messages of one port, worker, channel or window are in order"),
        page: "<script>const listen = (word) => { const c = new MessageChannel();
              c.port1.onmessage = (e) => say(word + e.data); return c.port2 };
            const [a, b] = [listen('a'), listen('b')];
            a.postMessage(1); a.postMessage(2); b.postMessage(1)</script>",
        says: &["a1 a2 b1", "a1 b1 a2", "b1 a1 a2"],
        orders: 3,
        dropped: Fault(Sabotage::Free),
        strict: Fault(Sabotage::Chained),
        ..NONE
    },
    Case {
        rule: (17, "messages of one port, worker, channel or window are in order"),
        page: "<script>onmessage = (e) => say('w' + e.data); postMessage(1, '*');
            postMessage(2, '*'); const [one, other] = [new BroadcastChannel('c'),
              new BroadcastChannel('c')];
            other.onmessage = (e) => say('c' + e.data); one.postMessage(1); one.postMessage(2)
            </script>",
        says: &[
            "c1 c2 w1 w2",
            "c1 w1 c2 w2",
            "c1 w1 w2 c2",
            "w1 c1 c2 w2",
            "w1 c1 w2 c2",
            "w1 w2 c1 c2",
        ],
        orders: 6,
        dropped: Fault(Sabotage::Free),
        strict: Fault(Sabotage::Chained),
        ..NONE
    },
    Case {
        rule: (17, "timers of one worker are in order"),
        page: "<script>new Worker('/w.js').onmessage = (e) => say(e.data)</script>",
        files: &[(
            "/w.js",
            "let all = ''; const at = (word, time) => setTimeout(() => { all += word;
              if (all.length === 3) postMessage(all) }, time); at('a', 10); at('b', 5); at('c', 10)",
        )],
        says: &["abc", "bac"],
        orders: 2,
        dropped: Fault(Sabotage::Free),
        strict: Fault(Sabotage::Chained),
        ..NONE
    },
    Case {
        rule: (18, "a socket or stream opens, gives its messages in order, and closes"),
        page: "<script>const s = new WebSocket('ws://localhost/chat');
            s.onopen = () => say('open'); s.onmessage = (e) => say(e.data);
            s.onclose = () => say('closed'); scheduler.postTask(() => say('t'))</script>",
        says: &[
            "open one two closed t",
            "open one two t closed",
            "open one t two closed",
            "open t one two closed",
            "t open one two closed",
        ],
        orders: 5,
        dropped: Fault(Sabotage::Free),
        strict: Fault(Sabotage::Chained),
        ..NONE
    },
    Case {
        rule: (19, "a navigation to another document ends the run"),
        page: "<a id=a href=/next.html>next</a><script>setTimeout(() => say('t'), 5)</script>",
        files: &[("/next.html", "next")],
        steps: r##"{"click": "#a"}"##,
        says: &[""],
        orders: 3,
        dropped: Fault(Sabotage::StaysAfterLeaving),
        strict: Fault(Sabotage::LeavesLast),
        ..NONE
    },
];
