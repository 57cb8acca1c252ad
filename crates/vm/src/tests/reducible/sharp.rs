//! Small models, each about one thing.

/// Mailboxes, threads, objects, time: what the gallery has little of.
pub(crate) const SHARP: &[(&str, &str)] = &[
    (
        "fifo",
        "model m\nvar x = 0; handler f: fifo; task t(n: int) on f { x = x * 3 % 7 + n; if n > 0 { post t(n - 1); } }\n\
         once event a { post t(1); } once event b { post t(2); } once event c { post t(0); } final: true;\n",
    ),
    (
        "delayed",
        "model m\nvar x = 0; handler f: delayed; handler g: delayed; task t(n: int) on f { x = x * 3 % 7 + n; }\n\
         task u(n: int) on g { x = x + n; } once event a { post t(1) after 5; } once event b { post t(2) after 3; }\n\
         once event c { post u(3) after 4; } once event d { post t(4); } final: true;\n",
    ),
    (
        "front",
        "model m\nvar x = 0; handler f: bag; task t(n: int) on f { x = x * 3 % 7 + n; }\n\
         once event a { post t(1); } once event b { post t(2); } once event c { post t(3) front; } final: true;\n",
    ),
    (
        "cancel",
        "model m\nvar p: task? = null; var x = 0; handler f: fifo; handler g: bag; task t(n: int) on f { x += n; } task u() on g { x = 0; }\n\
         once event a { p = post t(1); } once event b after a { if p != null { cancel p; } } once event c { post t(2); } once event d { post u(); }\n\
         final: true;\n",
    ),
    (
        "twins",
        "model m\nclass Box { var n = 0; } var x = 0; handler f: bag; task t(b: Box) on f { b.n += 1; x += b.n; }\n\
         once event a { let b = new Box(); post t(b); post t(b); } once event c { let b = new Box(); post t(b); } final: true;\n",
    ),
    (
        "threads",
        "model m\nsetting granularity = access;\nlock l; cond c; var n = 0; handler f: fifo; task t() on f { n = n + 1; n = n + 1; }\n\
         thread w[i in 0..2] { with l { while n == 0 { wait c with l; } n -= 1; } } thread s { with l { n += 1; notify c; } post t(); post t(); }\n\
         event e on f when n > 2 { n = 0; } final: true;\n",
    ),
    (
        "joins",
        "model m\nvar x = 0; fn f() { x = x + 1; } thread a { let t = fork f(); let u = fork f(); join t; join u; x = 0; } thread b { x = 5; } final: true;\n",
    ),
    (
        "arrays",
        "model m\nvar a: [int; 3]; var m: map<int, int>; once event e[i in 0..3] { a[i] = i; } once event f { a[0] = a[1]; } once event g { m[1] = 2; }\n\
         once event h { m[2] = 2; } once event k { if m.has(1) { a[2] = m[1]; } } once event l { a = [0, 0, 0]; } final: true;\n",
    ),
    // Handles: what was compared, cancelled or joined has ended, before the first step or later;
    // who ends is not referred to any more.
    (
        "both ended",
        "model m\nvar p: task? = null, q: task? = null, z = 0; handler h: bag; task t() on h { z += 1; } task u() on h { }\n\
         init { p = post t(); q = post u(); } once event x { p = null; } once event j { if p != null { if p == q { fail \"both ended\"; } } }\n\
         once event k { z += 1; } final: true;\n",
    ),
    (
        "ended in init",
        "model m\nvar p: task? = null, q: task? = null; handler h: bag; task t() on h { } init { p = post t(); q = post t(); cancel q; }\n\
         once event j { if p == q { fail \"both ended\"; } } final: true;\n",
    ),
    (
        "handle in a guard",
        "model m\nvar p: task? = null, q: task? = null; handler h: bag; task t() on h { } init { p = post t(); q = post t(); cancel q; }\n\
         once event j when p == q { fail \"both ended\"; } invariant i: p != q; final: true;\n",
    ),
    (
        "handles in values",
        "model m\nrecord R { p: task?, n: int } var p: task? = null, q: task? = null, ps: list<task?> = [], r = R { p: null, n: 0 };\n\
         handler h: bag; task t() on h { } init { p = post t(); q = post t(); ps = [p, null]; r = R { p: p, n: 1 }; cancel q; }\n\
         once event a { if [p] == [q] { fail \"lists\"; } } once event b { if ps.contains(q) { fail \"contains\"; } }\n\
         once event c { if q in ps { fail \"in\"; } } once event d { let w = R { p: q, n: 1 }; if r == w { fail \"records\"; } }\n\
         once event e { if ps.index_of(q) == 0 { fail \"index_of\"; } } once event f { if map[1: p] == map[1: q] { fail \"maps\"; } } final: true;\n",
    ),
    (
        "too late to cancel",
        "model m\nvar p: task? = null, x = 0; handler h: bag; task t() on h { x = 1; } init { p = post t(); }\n\
         once event c { cancel p; } once event n { p = null; } final: x == 1;\n",
    ),
    (
        "handle in a message",
        "model m\nvar x = 0; handler h: bag; handler g: fifo; task t() on h { x += 1; } task u(p: task?, n: int) on g { cancel p; x += n; }\n\
         task v(ps: list<task?>) on h { if ps == [null] { x = 0; } }\n\
         init { let p = post t(); let q = post t(); post u(p, 1); post u(q, 2); post v([p]); } once event e { x = 7; } final: true;\n",
    ),
    (
        "overwritten handle",
        "model m\nvar p: task? = null, q: task? = null; handler h: bag; task t() on h { } task u() on h { }\n\
         init { p = post t(); q = post u(); } once event e { p = q; } once event f { p = null; } final: true;\n",
    ),
    (
        "joined and compared",
        "model m\nvar h: thread? = null, x = 0; fn f() { x = x + 1; } thread a { h = fork f(); let k = fork f(); join k; join h; }\n\
         thread b { let l = h; if l != null { join l; x = 9; } } thread c { h = null; } final: true;\n",
    ),
    (
        "any in steps",
        "model m\nsetting granularity = access;\nvar p: task? = null, q: task? = null, x = 0; task t() { x = x + 1; }\n\
         event e when x < 2 { p = post any t(); } once event f { q = p; p = post any t(); } once event g { cancel q; if p == q { x = 0; } } final: true;\n",
    ),
    (
        "fifo of three",
        "model m\nvar x = 0; handler f: fifo; task t(n: int) on f { x = x * 3 % 7 + n; }\n\
         init { post t(1); post t(2); } once event a { post t(3); } once event b { post t(4); } final: true;\n",
    ),
    (
        "cancels in a fifo",
        "model m\nvar p: task? = null, q: task? = null, x = 0; handler f: fifo; handler d: delayed; task t(n: int) on f { x = x * 3 % 7 + n; }\n\
         init { post t(1); p = post t(2); q = post t(3) to d after 3; post t(4) to d; } once event a { cancel p; } once event b { cancel q; }\n\
         once event c { post t(5); post t(6) to d after 1; } final: true;\n",
    ),
    (
        "limits",
        "model m\nsetting steps = 60;\nvar x = 0, xs: list<int> = [1, 2]; handler b: bag; task t(n: int) on b { x += 1; }\n\
         once event a { for i in 0..9 { post t(i); } } once event c { for i in 0..5 { xs.push(i); } } once event d { post t(9); } final: true;\n",
    ),
    // What fails depends on what it looked at in vain.
    (
        "out of range",
        "model m\nvar xs: list<int> = [], m: map<int, int>, n = 0; class B { var ys: list<int> = []; } var b = new B();\n\
         once event a { n = xs[0]; } once event c { xs.push(4); } once event d { n = m[1]; } once event e { m[1] = 1; } once event f { n = b.ys[0]; }\n\
         once event g { b.ys.push(2); } once event h { xs[1] = 2; } once event i { b.ys[1] = 2; } final: true;\n",
    ),
    (
        "maps by key",
        "model m\nvar m: map<int, int>, n = 0; class B { var m: map<int, int>; } var b = new B();\n\
         once event a { m[1] = 5; } once event c { m[1] = 6; } once event d { m.remove(1); } once event e { n = m.len(); } once event f { m[2] = 0; }\n\
         once event g { b.m[1] = 5; } once event h { b.m[1] = 6; } once event i { b.m.clear(); } final: true;\n",
    ),
    (
        "objects in words",
        "model m\nclass N { var v = 0; } var a: N? = null, b: N? = null, s = \"\", n = 0;\n\
         once event x { a = new N(); } once event y { b = new N(); } once event z { s = [b].to_str(); } once event w { b = null; }\n\
         once event u { let any1: any = [b]; n = any1 + 1; } final: true;\n",
    ),
    (
        "locks of what has ended",
        "model m\nsetting granularity = access;\nlock l, k; var x = 0; fn f() { acquire l; x = 1; } fn g() { acquire l; x = 2; release l; }\n\
         thread a { fork f(); fork g(); } thread b { with k { x = 3; } } final: true;\n",
    ),
    (
        "notified",
        "model m\nlock l; cond c; var n = 0; fn w(i: int) { with l { wait c with l; n = n + i; } }\n\
         thread a { fork w(1); fork w(2); } thread b { with l { notify c; } with l { notify_all c; } } thread d { n = 5; } final: true;\n",
    ),
    (
        "events",
        "model m\nsetting granularity = access;\nvar x = 0; handler h: fifo; task t() on h { x = 1; x = 2; }\n\
         once event a on h { x = 3; enable c; x = 4; } once event b after a { disable c; x = 5; } disabled once event c after a on h { x = 6; }\n\
         event d on h when enabled(c) { if x == 5 { disable c; } } once event e { post t(); } event f[i in 0..2] when x < i { x = i; } driver a, e; final: true;\n",
    ),
    (
        "choices",
        "model m\nvar x = 0, y = 0; once event a { choose { \"p\" => { x = 1; } \"q\" => { x = 2; assume y == 0; } } } once event b { y = 1; }\n\
         once event c { let v = choose [0, x]; y = v; } once event d { if y == 1 { let v = choose 0..2; x = v; } } final: true;\n",
    ),
    (
        "toggles",
        "model m\nvar x = 0; event e when x < 2 { x += 1; } once event f { disable e; } once event g { enable e; } event h { disable k; } event k { }\n\
         once event l when !enabled(k) { x = 7; } event m { } once event n after m { x = 5; } once event o { } event p when enabled(o) { x = 3; } final: true;\n",
    ),
    (
        "toggles and objects",
        "model m\nclass N { var v = 0; } var a = new N(), x = 0; event e { a.v = 1; } once event f { disable e; } once event g { enable e; } event h { disable k; }\n\
         event k { } once event l when !enabled(k) { x = 7; } event m { } once event n after m { x = 5; } once event o { } event p when enabled(o) { x = 3; } final: true;\n",
    ),
    (
        "notified without the lock",
        "model m\nlock l; cond c; var n = 0; thread a { with l { wait c with l; n = 1; } } thread b { notify c; } thread d { notify_all c; } final: true;\n",
    ),
    (
        "equal times",
        "model m\nvar x = 0; handler f: delayed; handler g: delayed; task t(n: int) on f { x = x * 3 % 7 + n; } task u(n: int) on g { }\n\
         once event a { post t(1) after 2; } once event b { post t(2) after 2; } once event c { post u(1) after 4; } once event d { post t(3) after 2; }\n\
         final: true;\n",
    ),
    (
        "equal times and handles",
        "model m\nvar x = 0, p: task? = null; handler f: delayed; handler g: delayed; task t(n: int) on f { x = x * 3 % 7 + n; } task u(n: int) on g { }\n\
         once event a { p = post t(1) after 2; } once event b { post t(2) after 2; } once event c { post u(1) after 4; } once event d { post t(3) after 2; }\n\
         once event e { cancel p; } final: true;\n",
    ),
    (
        "front and handles",
        "model m\nvar x = 0, p: task? = null; handler f: bag; handler g: fifo; task t(n: int) on f { x = x * 3 % 7 + n; } task u(n: int) on g { x += n; }\n\
         once event a { p = post t(1); post u(1); } once event b { post t(2) front; } once event c { post t(3) front; } once event d { post u(2) front; }\n\
         once event e { cancel p; } final: true;\n",
    ),
    (
        "parts and wholes",
        "model m\nvar a: [int; 2], m: map<int, int>, x = 0, y = 0; once event e { if a[1] == 1 { x = 1; } } once event f { a = [1, 1]; } once event g { a[1] = 2; }\n\
         once event h { m[1] = 5; } once event i { m[1] = 6; } once event j { if m == map[1: 6] { y = 3; } } final: true;\n",
    ),
    (
        "parts and wholes with objects",
        "model m\nclass B { var a: [int; 2]; } var a: [int; 2], m: map<int, int>, x = 0, y = 0, b = new B();\n\
         once event e { if a[1] == 1 { x = 1; } } once event f { a = [1, 1]; b.a = [1, 1]; } once event g { a[1] = 2; } once event k { b.a[1] = 2; }\n\
         once event h { m[1] = 5; } once event i { m[1] = 6; } once event j { if m == map[1: 6] { y = 3; } if b.a == [1, 2] { y = 4; } } final: true;\n",
    ),
    (
        "init in two ways",
        "model m\nvar x = 0, y = 0; handler h: fifo; task t() on h { x = 2; } init { let v = choose 0..2; y = v; post t(); }\n\
         event e when y < 3 { y += 1; } thread a { x = 1; } invariant i: x == 1; invariant j: y < 9; final: true;\n",
    ),
    (
        "init in two ways, with objects",
        "model m\nclass N { var v = 0; } var x = 0, y = 0, a: N? = null; init { let v = choose 0..2; y = v; a = new N(); }\n\
         event e when y < 3 { y += 1; } thread a1 { x = 1; } invariant i: x == 1; final: true;\n",
    ),
    (
        "elements by index",
        "model m\nindex I = 2; var a: [int; I], m: map<I, int>, last: I? = null; handler h[I]: fifo; once event e[i in I] on h[i] when a[i] < 2 { a[i] += 1; m.set(i, 1); post t(i); }\n\
         task t(i: I) on h[i] { a[i] = 0; last = i; } thread r { if a.any(fn(v) v == 1) { for k in I { a[k] = 1; } } } invariant s: a.sum() < 4; final: true;\n",
    ),
    // Who copies the whole conflicts with who writes an element.
    (
        "handles by index",
        "model m\nindex I = 2; var hs: [task?; I], ks: [task?; I]; handler h[I]: bag; task w(i: I) on h[i] { }\n\
         once event e[i in I] { hs[i] = post w(i); } once event c { ks = hs; } final: true;\n",
    ),
    (
        "locks by index",
        "model m\nclass Box { var at: [int; I]; } index I = 2; lock ls[I]; cond cs[I]; var box = new Box(), who: I? = null;\n\
         thread t[i in I] { with ls[i] { box.at[i] += 1; who = i; } let w = who; if w != null { with ls[w] { notify cs[w]; } } } final: true;\n",
    ),
];
