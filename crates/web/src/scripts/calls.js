// The part that the driver calls, in frames and workers.
const background = N.postTask
  ? () => N.postTask(() => {}, { priority: 'background' })
  : () => new N.Promise((resolve) => N.setTimeout(resolve, 0));
// Nothing is drawn while a style sheet is held; a busy machine draws late.
const drawn = () => new N.Promise((resolve) => {
  N.requestAnimationFrame(() => N.requestAnimationFrame(resolve));
  N.setTimeout(resolve, 1000);
});
const ROUNDS_MAX = 40;

// Waits until nothing is left to run, then sends a request behind all that the page has sent. When
// the driver has seen it, it has seen all of them.
async function settle() {
  let before = -1;
  for (let round = 0; round < ROUNDS_MAX && before !== activity; round++) {
    before = activity;
    if (watchRefreshes) watchRefreshes();
    if (watchAnimations) watchAnimations();
    await background();
    await background();
    if (watchAnimations) watchAnimations();
    if (draws || drawsOnce) {
      drawsOnce = false;
      await drawn();
    }
    if (watchAnimations) watchAnimations();
    if (waitForAnimations) await waitForAnimations();
    if (waitForHistory) await waitForHistory();
    if (waitForDatabases) await waitForDatabases();
    await waitForNatives();
    if (tellSelection) tellSelection();
  }
  if (indexOf(W.origin, 'http') === 0) {
    try {
      await N.fetch(W.origin + config.barrier, { cache: 'no-store', priority: 'high' });
    } catch { /* the driver has seen it anyway */ }
  }
  await background();
}
// Empties a tab, so that another run can use it.
async function ended() {
  if (keeps || !W.document || W !== W.top) return false;
  if (N.apply(N.querySelector, W.document, ['video,audio,iframe,object,embed'])) return false;
  // Removes all listeners, and the parser.
  N.apply(N.openDocument, W.document, []);
  // What was told of that may have sent requests.
  await N.fetch(W.origin + config.barrier, { cache: 'no-store', priority: 'high' });
  empty();
  W.name = '';
  // The page of the next run takes the place of the last entry of the history.
  N.apply(N.replaceState, W.history, [null, '', config.page]);
  return W.name === '' && !keeps;
}
function empty() {
  N.apply(N.clear, W.localStorage, []);
  N.apply(N.clear, W.sessionStorage, []);
}
// A page begins without what the one before has stored when it was ended already, and with what
// is given for its origin.
if (W.document && indexOf(W.origin, 'http') === 0) {
  try {
    if (W === W.top) empty();
    const given = config.local[W.origin];
    const names = given && W.localStorage.length === 0 ? N.Object.keys(given) : '';
    for (let i = 0; i < names.length; i++) {
      N.apply(N.setItem, W.localStorage, [names[i], given[names[i]]]);
    }
  } catch { /* it has no storage */ }
}
let reported = 0;
function report(log) {
  const text = '{"created":[' + created + '],"cancelled":[' + cancelled + '],"now":' + now +
    ',"sent":[' + sent + '],"asks":[' + asks + '],"gaps":[' + gaps + '],"workers":[' + workersMade + '],"busy":' + (activity !== reported) +
    (log === null ? '' : ',"log":[' + log + ']') + '}';
  created = cancelled = sent = gaps = asks = workersMade = '';
  reported = activity;
  return text;
}
// The log of accesses, if the scripts are rewritten. The page cannot call it.
let log = null;
function recordsOf(list) {
  let text = '';
  for (let i = 0; i < list.length; i++) {
    const record = list[i];
    text = listed(text, '[' + quoted(record[0]) + ',' + N.Number(record[1]) + ',' +
      N.Number(record[2]) + ']');
  }
  return text;
}
// The document's own event comes before all others in every run, so its accesses conflict with none
// that could come first.
let isFirst = W.document !== undefined && W === W.top;
function recordsOfEvent() {
  const isSkipped = isFirst && log !== null && log.skip !== undefined;
  isFirst = false;
  if (isSkipped) log.skip();
  if (log === null || !log.end) return null;
  if (isSkipped) return '';
  const list = log.end();
  const now = log.counts ? log.counts().leftOut : 0;
  if (now > leftOut) gap('an event uses more than 40,000 locations: those of objects that it used first are left out');
  leftOut = now;
  return recordsOf(list);
}
let leftOut = 0;
// The number of the first entry that the running event has queued.
let firstNumber = 1;
const PASSED_MAX = 200;
const PASSING = ['timeout', 'interval', 'frame', 'idle', 'posted', 'message'];
async function passed(end) {
  for (let count = 0; count < PASSED_MAX; count++) {
    let next = null;
    for (let at = firstNumber; at <= lastNumber; at++) {
      const entry = queue.get(at);
      let passes = false;
      for (let kind = 0; entry && kind < PASSING.length; kind++) passes ||= entry.kind === PASSING[kind];
      if (passes && entry.due <= end && (!next || entry.due < next.due)) next = entry;
    }
    if (!next) return;
    remove(next);
    now = N.max(now, next.due);
    guarded(next.run);
    await background();
  }
}
const api = {
  // Begins an event: its random numbers are its own, and its accesses are logged.
  begin(seed, time, name) {
    state = (config.seed ^ seed) >>> 0;
    now = N.max(now, time);
    reads = 0;
    firstNumber = lastNumber + 1;
    if (log && log.begin) log.begin(name);
  },
  // Lets time pass in a step of the user that takes some: what the step itself has queued runs when
  // it is due.
  pass(time) {
    return kept(passed(now + time));
  },
  // Runs a queued event. Returns whether there is one.
  fire(number) {
    const entry = queue.get(number);
    if (!entry) return false;
    queue.delete(number);
    activity++;
    now = N.max(now, entry.due);
    guarded(entry.run);
    return true;
  },
  // Holds the transitions that an input has begun.
  hold() {
    if (watchAnimations) watchAnimations();
  },
  // Tells a socket whether it opens, if it was asked, and what it gets.
  socket(number, opens, protocol, messages) {
    activity++;
    sockets.get(number).answer(opens, protocol, messages);
  },
  // Opens the real socket behind one of the page. Returns whether it opens, and what comes.
  connect(number, most, opening) {
    return kept(connected(sockets.get(number), most, opening));
  },
  // Sends to the real socket what the page has sent next. Returns what comes.
  exchange(number, most) {
    return kept(exchanged(sockets.get(number), most));
  },
  // Ends the page: it is hidden, and goes away.
  leave() {
    activity++;
    N.define(W.document, 'visibilityState', { value: 'hidden', configurable: true });
    N.define(W.document, 'hidden', { value: true, configurable: true });
    const end = (type) => new (W.PageTransitionEvent || W.Event)(type);
    const tell = (target, event) => guarded(() => N.apply(N.dispatchEvent, target, [event]));
    tell(W, end('pagehide'));
    tell(W.document, new W.Event('visibilitychange', { bubbles: true }));
    tell(W, new W.Event('unload'));
  },
  // Ends the run: nothing of the page runs any more, and nothing is left of what it kept. Returns
  // whether that is so. A tab of which it is not is not used for another run.
  end() {
    return kept(ended().catch(() => false));
  },
  // The log, for the frames in this one.
  log: () => log || undefined,
  // Waits until the event is over; returns what it created, cancelled and accessed.
  settle() {
    const settled = (async () => {
      await settle();
      return report(recordsOfEvent());
    })();
    return kept(settled);
  },
};
// Who waits for a promise asks for these, which the page may have replaced.
function kept(promise) {
  N.define(promise, 'then', { value: N.then });
  N.define(promise, 'constructor', { value: N.Promise });
  return promise;
}
// The frame among those of the page: by the names of its frames, or their numbers.
function frameOf() {
  let way = '';
  for (let at = W; at !== W.top; at = at.parent) {
    let name = 0;
    while (name < at.parent.length && at.parent[name] !== at) name++;
    try { if (/^[\w-]{1,40}$/.test(at.name)) name = at.name; } catch { /* it is of another origin */ }
    way = name + (way && '/') + way;
  }
  return way;
}
// The log of the frame around this one, if this one can use its objects.
function logAbove() {
  try { return W.parent[config.name](config.key).log(); } catch { return undefined; }
}
// Only who knows the key gets the calls.
N.define(W, config.name, {
  value: (key) => (key === config.key ? api : undefined),
  enumerable: false, configurable: false, writable: false,
});
// The log gives itself to this function. Code that the page makes is rewritten by the driver.
N.define(W, '__anyorder_host', {
  value: (given) => {
    log = given;
    const Request = W.XMLHttpRequest;
    // The address of a blob is no base of others.
    const rewriteAt = (indexOf(W.origin, 'http') === 0 ? W.origin : '') + config.rewrite;
    if (Request) {
      const { open, send } = Request.prototype;
      try {
        log.rewrite = (text, kind) => {
          const request = new Request();
          N.apply(open, request, ['POST', rewriteAt, false]);
          N.apply(send, request, [kind + '\n' + text]);
          return request.status === 200 ? request.responseText : text;
        };
      } catch { /* it has an own one */ }
    }
    // The address of a blob has a random name.
    const way = isOwn(W.location.href) ? '(' + slice(W.location.protocol, 0, -1) + ')' : W.location.pathname;
    const first = !W.document ? 'worker ' + way : W === W.top ? 'load' : 'frame ' + way;
    if (log.join && first !== 'load') log.join(W.document ? 'frame ' + frameOf() : workerName, logAbove());
    if (log.begin) log.begin(first);
  },
  enumerable: false, configurable: true, writable: false,
});
