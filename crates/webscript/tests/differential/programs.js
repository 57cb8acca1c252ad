//// members
const a = { b: 1, get g() { out("get"); return this.b; }, set g(v) { out("set", v); this.b = v; }, m() { return this.b; } };
out(a.b, a["b"], a.g, a.m(), a["m"](), (a.m)(), (0, a.m) === a.m, (() => { try { return (0, a.m)(); } catch (e) { return e; } })() === undefined);
a.g = 5; a.g += 2; a.g++; ++a.b; a.b **= 2; a["b"] -= 1; out(a.b--, a.b, delete a.b, delete a["zz"], "b" in a, "g" in a);
a.x ??= 1; a.x ||= out("no"); a.x &&= 7; out(a.x, a?.x, a?.["x"], a.nope?.x.y.z, a.nope?.[out("never")].q);
//// order of evaluation
const t = (n, v) => { out(n); return v; };
const o = { k: { z: 3 } };
out(t(1, o)[t(2, "k")][t(3, "z")] + t(4, o)[t(5, "k")].z);
t(6, o)[t(7, "w")] = t(8, 9); t(9, o)[t(10, "w")] += t(11, 1); out(o.w);
t(12, o)[t(13, "f")] = function () { return this === o; }; out(o[t(14, "f")](t(15, 1)));
out(t(16, "w") in t(17, o), delete t(18, o)[t(19, "w")], t(20, null)?.[t(21, 1)]);
try { t(22, undefined)[t(23, "k")]; } catch (e) { out(e); }
try { t(24, null)[t(25, "k")] = t(26, 1); } catch (e) { out(e); }
//// lists where an expression is one
const o = { a: 1, b: 2 }, t = (v) => { out(v); return v; }; let c = 0; const f = () => c++;
out(o[t("x"), "a"], o[f(), "b"] = 5, delete o[c, "a"], o?.[t(1), "b"].toFixed(f(), 1)); for (const k in t(1), o) out(k); for (c in t(2), f(), o) out(c); with (t(3), o) out(b); switch (t(4), c) { case (t(5), "b"): out("case"); } if (f(), o.b) out(`${t(6), o.b}`); while (f(), c < 0) ; do { } while (t(7), !o.b); for (t(8), c = 0; t(9), c < 1; t(10), c++) ; const g = () => (t(11), o.b); return (g(), c);
//// keys that are objects
const o = {}; let n = 0;
const key = { toString() { out("toString"); return "k" + n++; } };
o[key] = 1; o[key]; o[key] += 1; o[key]++; delete o[key]; out(o, key in o, n);
o[[1, 2]] = 3; o[Symbol.iterator] = 4; o[1n] = 5; o[null] = 6; o[undefined] = 7; o[true] = 8; o[1.5] = 9; o[-0] = 10; out(o);
try { null[key]; } catch (e) { out(e, n); }
//// names of functions
let a1 = function () {}, b1 = () => 1, c1 = class {}, d1 = (function () {}), e1 = (() => 1), f1 = async () => 1;
const keep = () => [a1, b1, c1, d1, e1, f1]; out(keep());
a1 = function () {}; b1 = () => 2; c1 = class { static x = 1 }; d1 = (function () {}); out(keep().map((f) => f.name));
a1 ||= function () {}; let g1; g1 ??= () => 1; const h = () => g1; out(h().name);
var { i1 = () => 1, j1 = class {} } = {}; [i1 = function () {}] = []; ({ j1 = () => 1 } = {}); const k = () => [i1, j1]; out(k().map((f) => f.name));
const obj = { p: () => 1, ["q" + 1]: () => 2, r() {}, get s() { return 1; } }; out(obj.p.name, obj.q1.name, obj.r.name);
for (let l1 = () => 1, once = true; once; once = false) { const m = () => (l1, once); out(l1.name, m()); }
//// closures in loops
const fs = []; for (let i = 0; i < 3; i++) { fs.push(() => i++); } out(fs.map((f) => f()), fs.map((f) => f()));
const gs = []; for (var j = 0; j < 3; j++) gs.push(() => j); out(gs.map((f) => f()));
const hs = []; for (const k of [1, 2]) { let q = k; hs.push(() => q += k); } out(hs.map((f) => f()), hs.map((f) => f()));
const is = []; for (let k in { a: 1, b: 2 }) { is.push(() => k += "!"); } out(is.map((f) => f()), is.map((f) => f()));
let w = 0; while (w < 2) { let v = w++; fs.push(() => v++); } do { let v = w--; fs.push(() => v++); } while (w); out(fs.map((f) => f()));
lab: for (let x = 0; ; x++) { const c = () => x++; for (;;) { if (c() > 4) break lab; if (x % 2) continue lab; } } out(w);
//// optional chains
const o = { a: { b: { c() { return this === o.a.b; }, d: null } }, f: null }; const n = null;
out(o?.a.b.c(), o?.a?.b?.c(), n?.a.b.c(out("never")), o.a?.b.d?.e.f, o.z?.(), o.a.b.c?.(), (o?.a.b.c)(), (o?.a.b).c());
try { o?.f.g; } catch (e) { out(e); } try { o.f?.g.h; o?.f.g.h; } catch (e) { out(e); }
try { o?.a.z.y; } catch (e) { out(e); } try { (n?.a).b; } catch (e) { out(e); } try { o?.a.zz(); } catch (e) { out(e); }
out(delete o?.a.b.d, delete n?.a.b, o?.a.b, o?.["a"]["b"]["c"](), n?.["a"][out("never")], typeof n?.a.b, !o?.a.b.q);
const deep = (v) => v?.[deep(null)?.x.y ?? "a"].b?.c(); out(deep(o));
class P { #p = { q: 1 }; static t(v) { return [v?.#p.q, v?.#p?.q, #p in (v ?? {})]; } } out(P.t(new P()), P.t(null));
out(o ?.a /* . */ .b // .
  .c());
//// destructuring
let a, b, c; const seen = () => [a, b, c]; const src = { a: 1, b: { c: [2, 3] }, get g() { out("g"); return 4; } };
({ a, b: { c: [b, c = 9] } } = src); out(seen()); [a, [b] = [5], ...c] = [1, undefined, 3, 4]; out(seen());
[a, b] = [b, a]; out(seen()); ({ ["a" + ""]: a = 1, ...b } = src); out(seen()); const t = {}; [t.x, t["y"], ...t.z] = "abc"; ({ a: t.w = 3, g: t[out("k")] } = src); out(t);
function f({ a, b: { c } = {} }, [d, e = a] = [7], ...[g]) { const h = () => (a++, c, d++, e, g); h(); return [a, c, d, e, g, arguments.length]; } out(f(src, undefined, 1), f(src, [1, 2], 3), f.length);
const ar = ({ a, ...r }, b = () => a) => { a++; return [a, r, b()]; }; out(ar(src)); for (const { a, b } of [src]) out(a, b); for ([a, b] of [[1, 2]]) ; for ({ a } of [src]) ; for (t.q in { zz: 1 }) ; out(seen(), t.q);
try { const { x } = null; } catch (e) { out(e); } try { ({ x: a } = undefined); } catch (e) { out(e); } try { [a] = 5; } catch (e) { out(e); }
out((({ a }) => a)({ a: 3 }), (([a]) => a)("x")); var { length } = "four"; out(length); try { throw { m: 1, n: [2] }; } catch ({ m, n: [o] }) { const z = () => m++ + o; out(z(), m); }
//// parameters
let x = 1; function f(a = x, b = () => a, c = (x, a++)) { var a; a = 10; const g = () => a++; g(); return [a, b(), c]; } out(f(), f(5));
function g(p, q) { const h = () => { p++; return arguments[0]; }; out(h(), p, arguments[0]); arguments[1] = 9; return q; } out(g(1, 2));
const e = (p = x++, q = eval("p + 1")) => { const r = () => p++ + q; return r() + r(); }; out(e(), e(1), x);
const u = x => y => () => x++ + y++; const v = u(1)(2); out(v(), v()); const w = async x => { const y = () => x++; y(); return x; }; out(typeof w(1).then);
const obj = x => ({ x, inc: () => ++x }); const m = obj(1); m.inc(); out(m.x, m.inc()); (function (a, b) { "use strict"; a = 2; const z = () => a; out(arguments[0], z(), b); })(1);
//// classes strict
let counter = 0; const base = { Base: class { constructor(v) { this.v = v; } m() { return "base" + this.v; } get g() { return this.v; } static s() { return this.name; } } };
class A extends base.Base { #p = counter++; static #q = 1; f = this.v; [`k${counter}`] = () => this.#p; static st = counter; static { let z = counter; this.zz = () => z++; counter++; } constructor(...a) { super(...a); super.m(); this.n = new.target === A; } m() { return super.m() + super["m"]() + this.#p; } get g() { return super.g + 1; } set p(v) { this.#p = v; super.zzz = v; } bump() { this.#p++; this.#p += 2; A.#q **= 3; return [this.#p, A.#q]; } #priv() { return 1; } static call(o) { return o.#priv() + (#p in o); } async *gen() { yield* [this.#p]; } }
const i = new A(4); i.p = 7; out(i, i.m(), i.g, i.bump(), A.call(i), A.s(), A.st, A.zz(), A.zz(), A.zz(), counter, i.k1?.());
out(class { static n = counter++ }.n, new (class { x = counter })().x, new base.Base(1).m(), new base["Base"](2).v, new (base.Base)(3).v, new base.Base, typeof new base.Base().m);
try { class B extends null { constructor() { } } new B(); } catch (e) { out(e); } try { A(); } catch (e) { out(e); } const C = class D { static me = () => D; }; out(C.me() === C, C.name);
//// generators
function* g(n) { let s = 0; const add = (v) => s += v; try { while (n--) add((yield s) ?? 1); const o = { k: 5 }; out(o[yield "key"], o[(yield 1, "k")]); yield* [s, ...[1]]; return s; } finally { out("fin", s); } }
const it = g(2); out([it.next(), it.next(3), it.next(), it.next("k"), it.next(), it.next(), it.next(), it.next()]); for (const v of g(5)) { if (v > 2) break; out(v); } out([...g(1)].length);
const o = { *[Symbol.iterator]() { yield 1; yield 2; } }; out([...o], Math.max(...o), new Set(o), Array.from(o)); const [p, ...q] = o; out(p, q);
//// async
let x = 0; const inc = async () => { x++; await null; x += 10; return x; }; const o = { async m() { return this === o; }, k: Promise.resolve("z"), z: 4 };
out(await inc(), await Promise.all([inc(), inc()]), x, await o.m(), o[await o.k], await o.k in o); o[await "w"] = await 5; o[await "w"] += await 1; out(o.w, delete o[await "w"]);
for await (const v of [1, Promise.resolve(2)]) { const f = () => x += v; f(); } out(x); const ag = async function* () { let s = 0; for (let i = 0; i < 3; i++) { yield () => s += i; } }; const fs = []; for await (const f of ag()) fs.push(f); out(fs.map((f) => f()));
try { await Promise.reject(new TypeError("t")); } catch (e) { out(e); } finally { out("finally"); } const r = await (async () => { try { return await inc(); } finally { x = 0; } })(); out(r, x);
//// semicolons are missing
let a = 1, b = { c: 2, f() { return 3 } }
const g = () => a++
a
++b.c
b.f
(a)
b.c
out(a, b)
var c = b
;[a, b.c] = [b.c, a]
out(a
, b)
if (a) b.c
else a = 1
do a++
while (a < 5) b.c = a
out(a)
return
a
//// words that touch
const a = { b: [1], c: { d: 1 } }; let k = "b"; const f = () => k += "";
f(); out(typeof(a).b, void[0].length, typeof[1].length, "b"in(a), k in(a), delete(a).b, !(a).b); for (const x of[a].map(y => y)) out(x); switch (k) { case"x".b: out(0); break; case(a).c: out(1); default: out(2) }
const g = function* () { yield[a].length; yield(a).c; return(a).c.d }; out([...g()]); if (a.z) ; else(a).z = 1; out(a instanceof(a.c.constructor), -a.c.d, +a.c.d, - -a.c.d); throw(a).c
//// typeof and globals
out(typeof nothing, typeof out, typeof undefined); try { nothing; } catch (e) { out(e); } try { nothing(); } catch (e) { out(e); } try { typeof tdz; let tdz = 1; const z = () => tdz++; } catch (e) { out(e); }
made1 = 5; out(made1, typeof made1, "made1" in globalThis, delete made1, typeof made1); globalThis.made2 = 1; made2++; made2 += 2; out(made2--, made2, globalThis.made2); delete globalThis.made2; (made3) = function () {}; out(made3.name); delete globalThis.made3;
try { later(); let later = 1; const z = () => later = 2; } catch (e) { out(e); } try { k = 1; const k = 2; } catch (e) { out(e); } out(((a) => typeof a)(), NaN !== NaN, Infinity);
//// globals strict
try { undeclared = out("evaluated"); } catch (e) { out(e); } try { Object.freeze([1])[0] = 2; } catch (e) { out(e); } try { undefined = 1; } catch (e) { out(e); } (function () { out(this); })(); const o = Object.freeze({ a: 1 }); try { o.a = 2; } catch (e) { out(e); } try { delete o.a; } catch (e) { out(e); } try { o.b = 1; } catch (e) { out(e); }
//// eval
let a = 1; const f = () => a++; out(eval("a + 1"), eval("a = 5, f()"), a, eval("var q = 3; q"), q, eval(7), eval?.("typeof a"), (0, eval)("1 + 1"), eval("({a: 2}).a"), eval("function z(){return 3}"), z()); { const eval = (x) => x + "!"; out(eval("no")); }
out(new Function("x", "return x + 1")(2), Function("return typeof a")(), eval("let l = 1; l"), eval("'use strict'"), typeof l); (function () { "use strict"; eval("var s = 1"); out(typeof s); })(); try { eval("}"); } catch (e) { out(e); } out(eval("a.b?.c.d"), eval());
//// with
const o = { x: 1, f() { return this === o; } }; let x = 2, y = 3; const g = () => x++; with (o) { out(x, f(), y); x = 5; y = 6; out(x); let z = x; const h = () => z++; h(); out(z, o.x); var v = 4; (() => { x++; })(); } out(o, x, y, v);
with (new Proxy({}, { has: (t, k) => { if (typeof k === "string" && !k.startsWith("__ao")) out("has", k); return k === "p"; }, get: (t, k) => k === "p" ? 1 : undefined })) { out(p, p.q); }
//// proxies
const log = []; const p = new Proxy({ a: 1, b: { c: 2 } }, { get(t, k, r) { log.push("get " + String(k)); return Reflect.get(t, k, r); }, set(t, k, v) { log.push("set " + String(k)); t[k] = v; return true; }, has(t, k) { log.push("has " + String(k)); return k in t; }, deleteProperty(t, k) { log.push("delete " + String(k)); return delete t[k]; }, getOwnPropertyDescriptor(t, k) { log.push("own " + String(k)); return Reflect.getOwnPropertyDescriptor(t, k); }, ownKeys(t) { log.push("keys"); return Reflect.ownKeys(t); }, getPrototypeOf(t) { log.push("proto"); return Object.prototype; } });
p.a; p.z = 1; "a" in p; delete p.z; p.b.c++; ({ ...p }); const { a, ...r } = p; for (const k in p) out(k); Object.keys(p); JSON.stringify(p); out(log, r); const child = Object.create(p); child.a; child.q = 1; out(log.length, child.a); const rv = Proxy.revocable({}, {}); rv.revoke(); try { rv.proxy.x; } catch (e) { out(e); } try { rv.proxy.x = 1; } catch (e) { out(e); } out(typeof Proxy, Proxy.name, Proxy.length); try { Proxy({}, {}); } catch (e) { out(e); }
class Q extends Array { constructor(...a) { super(...a); return new Proxy(this, { get: (t, k, r) => { log.push(k); return Reflect.get(t, k, r); } }); } } const q = new Q(); q.push(1); q.map((x) => x); out(q.length, log.length > 12);
//// arrays
const a = [3, 1, 2]; a.push(5, 4); out(a.pop(), a.shift(), a.unshift(9), a.splice(1, 1, 7, 8), a.sort(), a.reverse(), a.concat([1], 2), a.slice(1), a.join("-"), a.indexOf(8), a.includes(7), a.map((x) => x * 2), a.reduce((s, x) => s + x), a.find((x) => x > 7), [...a.entries()], a.at(-1), a.fill(0, 1, 2), a.copyWithin(0, 1), a.flat(), a.some((x) => x), a.length = 1, a);
Array.prototype.push.apply(a, [1, 2]); Array.prototype.push.call({ length: 0 }, 1); out(a, [].slice.call({ 0: "x", length: 1 }), Array.prototype.map.call("ab", (c) => c + c), a[a.length - 1], a[a.length] = 5, a[-1] = 6, a["0"], a[0.5]); a[10] = 1; out(a, 5 in a, a.length, [, 1, , 2], [...[, 1]], Object.keys(a)); delete a[0]; out(a); try { [].reduce(() => 1); } catch (e) { out(e); } try { null[0]; } catch (e) { out(e); } const fz = Object.freeze([1]); try { fz.push(2); } catch (e) { out(e); } fz[0] = 3; out(fz);
//// collections
const k = {}, m = new Map([[k, 1], ["a", 2]]), s = new Set([1, k]), w = new WeakMap([[k, 3]]), ws = new WeakSet([k]); m.set("b", 3).set(NaN, 4); out(m.get(k), m.get(NaN), m.has("z"), m.delete("a"), m.size, [...m], [...m.keys()].length, [...s.values()].length, s.add(2).size, s.has(2), s.delete(9), w.get(k), w.has(k), w.set(k, 4) === w, ws.has(k), w.delete(k), w.get(k)); m.forEach((v, kk) => out(v, kk)); s.forEach((v) => out(v)); for (const [x, y] of m) out(x, y); m.clear(); out(m.size, new Map(m), new Set("aab").size);
try { Map.prototype.get.call({}, 1); } catch (e) { out(e); } try { Map(); } catch (e) { out(e); } class MM extends Map { get(x) { return super.get(x) ?? "d"; } } out(new MM([[1, 2]]).get(1), new MM().get(1)); try { w.set(1, 1); } catch (e) { out(e); } out(w.get(1), ws.has(1));
//// objects
const o = { a: 1, get b() { out("getter"); return 2; } }; out(Object.keys(o), Object.values(o), Object.entries(o), Object.assign({}, o, null, "xy"), { ...o, ..."hi", ...null }, Object.hasOwn(o, "a"), o.hasOwnProperty("z"), Object.getOwnPropertyNames(o), JSON.stringify({ o, d: [1, { toJSON() { out("toJSON"); return 5; } }] }), Reflect.get(o, "a"), Reflect.set(o, "a", 3), Reflect.has(o, "a"), Reflect.ownKeys(o), Reflect.deleteProperty(o, "a")); Object.defineProperty(o, "d", { get: () => 4, configurable: true }); Object.defineProperties(o, { e: { value: 5, writable: false } }); out(o.d, o.e, o); for (const k in o) out(k); for (const k in Object.create({ inh: 1 })) out(k); for (const k in null) out(k); for (var z in "ab") ; out(z); const __proto__ = { x: 1 }; const q = () => __proto__; out(Object.getPrototypeOf({ __proto__ }) === Object.prototype, Object.getPrototypeOf({ __proto__: __proto__ }) === __proto__);
let sh = 1, up = () => sh++; up(); out({ sh, up: up(), ["c" + sh]: sh, sh2: { sh } }); let pr = { y: 1 }; const cp = () => pr = { z: 2 }; cp(); { let __proto__ = pr; const cc = () => __proto__ = 1; out({ __proto__ }); cc(); }
//// native looks
out(Array.prototype.push.toString(), Map.prototype.get.toString(), Function.prototype.toString.toString(), Array.prototype.push.name, Array.prototype.push.length, Object.keys(Array.prototype), "prototype" in Array.prototype.push, Object.getOwnPropertyDescriptor(Map.prototype, "size").get.toString(), Object.getOwnPropertyNames(Array.prototype.push).sort()); try { new Array.prototype.push(); } catch (e) { out(e); } for (const k in globalThis) if (/anyorder|__ao/.test(k)) out(k); out(Function.prototype.toString.call(class { }), (() => 1).toString().length > 0, String(function f() { }));
//// labels and switch
let n = 0; const bump = () => n++; outer: for (const a of [1, 2, 3]) { inner: { if (a === 2) break inner; switch (a) { case 1: let v = a; const f = () => v += n; f(); bump(); out(v); continue outer; case n + 2: out("three"); break; default: out("default"); } } out(a); } a: b: { break a; } if (n) { function hoisted() { return n++; } } out(hoisted(), n); switch (n) { case 2: function inSwitch() { return ++n; } } out(inSwitch(), n); l: out(n); { function f2() { return 1; } f2 = 5; } out(typeof f2);
//// hoisting and sloppy functions
out(typeof h1, h1(), typeof v1); function h1() { return typeof v1; } var v1 = 3; var v1; const g = () => v1++; g(); out(v1); { out(typeof h2); function h2() { return v1; } v1 = 9; } out(h2()); (function rec(n) { if (n) rec(n - 1); try { rec = 1; } catch (e) { out(e); } })(2); var fx = function fy() { return typeof fy; }; out(fx()); h1 = 5; out(h1); try { (function () { "use strict"; q = 1; })(); } catch (e) { out(e); } out((function () { return typeof this; })(), (function () { return arguments.length; })(1, 2)); var arguments_ = 1; function args() { var arguments = [7]; return arguments[0]; } out(args()); function arg2(arguments) { return arguments; } out(arg2(3)); function arg3({ a }) { var arguments = 2; return [a, arguments]; } out(arg3({ a: 1 }));
//// templates and tags
let c = { t(s, ...v) { return [this === c, s.raw.join("|"), v]; }, u: (s) => s }; const k = () => c; k(); out(c.t`a${c.t`x`}b${1}`, c["t"]`q`, `a${c.u`z` === c.u`z`}${`n${`m${c.x}`}`}`, c?.t.call(1, { raw: [] })); const same = () => c.u`s`; out(same() === same()); let cc = c; const w = () => (cc = c).u`${1}`; out(w().length); let tag = (s, v) => s[0] + v; const z = () => tag = tag; z(); out(tag`a${2}`, new tag.constructor("return 1")()); out(`${c.t}`.length > 1, `\u{41}${"\n"}`);
//// regular expressions and division
let a = 6, g = 2, o = { i: 3 }; const f = () => a /= g; f(); out(a / g / o.i, /a/g.test("a"), a++ / 2, o.i / g, [/[/\]]+/.source], "x".replace(/x/, "$&$&"), a /o.i/ g); if (a) /re/.exec("re"); out((a) / 2, +/1/.source);
//// numbers and literals
out(0x10, 0b1, 0o7, 1_000, 1n, .5, 5..toFixed(1), 5.0.toString(), 1.5.toFixed(), "\u2028", '\x41\
b', 010, "\01", 0.1.constructor.name, [1, , 2].length, 1e3.toString(), (5).a, "s".length, "s"[0], "s"["at"](0), true.x, Symbol.iterator.description, (1, 2), [..."ab"], null ?? 1, 2 ** -1, (-2) ** 2);
//// in loops without blocks
let s = 0; const add = (v) => s += v; for (let i = 0; i < 3; i++) add(i); for (let i = 0; i < 3; i++) (() => { i++; add(i); })(); for (const x of [1, 2]) setTimeoutLike(() => add(x)); function setTimeoutLike(f) { f(); } for (let y of [1]) if (y) (() => y++)(); for (var q of [1, 2]) var r = () => q++; r(); out(s, q); for (let z = 0, f = () => z++; z < 2; f(), z++) ; while (s > 5) s--; do s++; while (s < 8); out(s); if (s) add(1); else add(2); for (let a in { x: 1 }) (() => a += 1)(); for (; ;) { break; } out(s);
//// scripts inside strings
const html = "<script>x</script><!-- " + "]]>"; out(html, html.length); let s = "</scr" + "ipt>"; const f = () => s += 1; f(); out(s); /* </script> */ out({ "<!--": 1 }["<!--"], { "</script>": 2 }["</script>"]);
<!-- a comment of HTML a.b.c (
out(1);
--> and its end a.b.c (
//// getters on prototypes
class A { get x() { out("get x"); return this._x; } set x(v) { out("set x"); this._x = v; } static get y() { out("get y"); return 1; } } const a = new A(); a.x = 1; a.x++; a.x ||= 2; a["x"] += 1; ({ x: a.x } = { x: 5 }); const { x } = a; out(x, A.y, { ...a }, "x" in a, a?.x, delete a.x); class B extends A { get x() { return super.x + 1; } set x(v) { super.x = v; } m() { super.x++; super["x"] = 3; return super.x; } } const b = new B(); b.x = 3; out(b.x, b.m(), b._x);
//// exceptions in keys
const o = { a: { b: 1 } }, p = { x: 2 }; const bad = () => { throw new Error("k"); }; let n = 0; for (let i = 0; i < 3; i++) { try { o[bad()]; } catch (e) { n++; } } out(n, p[(() => { try { o[bad() + 1]; } catch (e) { } return "x"; })()], o["a" + ""][(() => "b")()]); const r = (d) => d ? o[(() => { try { return r(d - 1), "a"; } catch { return "a"; } })()] : bad(); out(r(3)); try { bad()[1 + 1]; } catch (e) { out(e); } try { o[1 + 1][2 + 2]; } catch (e) { out(e); } try { (bad() + "") in o; } catch (e) { out(e); } try { "a" + 1 in 5; } catch (e) { out(e); }
//// async strict
const log = []; class Store { #v = 0; async add(d) { const before = this.#v; await d; this.#v = before + await d; log.push(this.#v); return this; } get v() { return this.#v; } } const s = new Store(); await Promise.all([s.add(1), s.add(Promise.resolve(2))]); out(s.v, log, (await s.add(1)).v, (await s)?.v.toFixed(1)); const o = { n: 0, async *g() { while (this.n < 3) yield this.n++; } }; for await (const x of o.g()) out(x); let cb; const p = new Promise((r) => cb = r); cb(3); out(await p, await (async () => await p)()); let { x = await p, ...y } = { z: await 1 }; const cap = () => x++; cap(); out(x, y); await using_(); async function using_() { let t = 0; const f = () => t++; await f(); await f(); out(t); } return await p;
