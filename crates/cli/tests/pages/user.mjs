// Uses a page that another program shows: `node --experimental-websocket user.mjs PORT STEPS [close]`.
// STEPS is a list of `{"click": selector, "keys": text, "press": key, "eval": code}`.
const wait = (ms) => new Promise((r) => setTimeout(r, ms));
const base = 'http://127.0.0.1:' + process.argv[2];
let page;
for (let i = 0; i < 400 && !page; i++) {
  try { page = (await (await fetch(base + '/json/list')).json()).find((t) => t.type === 'page' && t.url.startsWith('http')); } catch {}
  if (!page) await wait(100);
}
const ws = new WebSocket(page.webSocketDebuggerUrl);
await new Promise((r) => { ws.onopen = r; });
let last = 0; const waiting = new Map();
ws.onmessage = (m) => { const d = JSON.parse(m.data); if (waiting.has(d.id)) waiting.get(d.id)(d.result || d); };
const send = (method, params = {}) => new Promise((r) => { ws.send(JSON.stringify({ id: ++last, method, params })); waiting.set(last, r); });
const ev = async (expression) => (await send('Runtime.evaluate', { expression, returnByValue: true })).result.value;
for (let i = 0; i < 100 && (await ev('document.readyState')) !== 'complete'; i++) await wait(100);
const click = async (selector) => {
  const b = await ev(`(() => { const b = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`);
  for (const type of ['mousePressed', 'mouseReleased']) await send('Input.dispatchMouseEvent', { type, x: b[0], y: b[1], button: 'left', buttons: type === 'mousePressed' ? 1 : 0, clickCount: 1 });
};
for (const step of JSON.parse(process.argv[3])) {
  if (step.click) await click(step.click);
  for (const c of step.keys || '') { await send('Input.dispatchKeyEvent', { type: 'keyDown', key: c, text: c }); await send('Input.dispatchKeyEvent', { type: 'keyUp', key: c }); }
  if (step.press) { await send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key: step.press, windowsVirtualKeyCode: step.code || 0 }); await send('Input.dispatchKeyEvent', { type: 'keyUp', key: step.press }); }
  if (step.eval) await ev(step.eval);
  await wait(200);
}
console.log('driven');
if (process.argv[4] === 'close') { await fetch(base + '/json/close/' + page.id); }
process.exit(0);
