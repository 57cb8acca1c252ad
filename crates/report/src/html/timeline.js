// Moves the timeline by wheel, pointer and keys, and ties it to the list of findings.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("timeline-data").textContent);
  if (!data || !data.events || !data.lanes.length) return;
  const section = document.getElementById("timeline");
  const canvas = document.getElementById("chart");
  const tip = document.getElementById("tip");
  const says = document.getElementById("chart-says");
  const unselect = document.getElementById("unselect");
  const tasks = data.tasks;
  const count = tasks.lane.length;
  section.hidden = false;
  const { state, nameOf, number, rectangle, readColours, resize, draw } = anyorderChart(data, canvas);
  const { LANE, AXIS } = state;

  // Posted tasks of each lane in order, for finding the one under the pointer.
  const byLane = data.lanes.map(() => []);
  for (let i = 0; i < count; i++) if (tasks.kind[i] !== 0) byLane[tasks.lane[i]].push(i);
  const marks = new Map(data.marks.map((mark) => [mark.finding, mark]));

  const positionOf = (x) => state.from + (x - state.gutter) / (state.width - state.gutter) * (state.to - state.from);
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

  // Keeps the view inside the trace and no closer than ten events.
  function show(from, to) {
    const least = Math.min(10, data.events);
    const span = clamp(to - from, least, data.events);
    state.from = clamp((from + to - span) / 2, 0, data.events - span);
    state.to = state.from + span;
    request();
  }

  function zoom(factor, at) {
    const centre = at === undefined ? (state.from + state.to) / 2 : at;
    const span = clamp((state.to - state.from) * factor, Math.min(10, data.events), data.events);
    const share = (centre - state.from) / (state.to - state.from);
    show(centre - share * span, centre + (1 - share) * span);
  }

  function pan(share) {
    const step = (state.to - state.from) * share;
    const span = state.to - state.from;
    const from = clamp(state.from + step, 0, data.events - span);
    state.from = from;
    state.to = from + span;
    request();
  }

  function scrollLanes(pixels) {
    const most = Math.max(0, state.full - state.height);
    state.scroll = clamp(state.scroll + pixels, 0, most);
    request();
  }

  let requested = false;
  function request() {
    if (requested) return;
    requested = true;
    requestAnimationFrame(() => { requested = false; draw(); });
  }

  // The task under a point, -1 for none. A lane's tasks are ordered by their first events.
  function taskAt(x, y) {
    const lane = Math.floor((y - AXIS + state.scroll) / LANE);
    if (x < state.gutter || y < AXIS || lane < 0 || lane >= data.lanes.length) return -1;
    const list = byLane[lane];
    const reach = 3 / (state.width - state.gutter) * (state.to - state.from);
    const at = positionOf(x);
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tasks.first[list[middle]] <= at + reach) low = middle + 1; else high = middle;
    }
    // Bursts may overlap, so a few before the last one are tried too.
    for (let k = low - 1; k >= 0 && k >= low - 8; k--) {
      if (at <= tasks.last[list[k]] + 1 + reach) return list[k];
    }
    return -1;
  }

  function describe(i) {
    const first = tasks.first[i], last = tasks.last[i];
    const lines = [
      nameOf(i) + (tasks.kind[i] === 0 ? " (outside posted tasks)" : ""),
      "on " + data.lanes[tasks.lane[i]].name,
      "positions " + number(first + 1) + "–" + number(last + 1) + ", " + number(last - first + 1) + (last === first ? " event long" : " events long"),
    ];
    if (tasks.time[i] >= 0) lines.push("virtual time " + number(tasks.time[i]));
    if (tasks.poster[i] >= 0) lines.push("posted by " + nameOf(tasks.poster[i]) + " at " + number(tasks.post[i] + 1));
    return lines;
  }

  function point(i, x, y) {
    if (i !== state.pointed) { state.pointed = i; request(); }
    tip.hidden = i < 0;
    if (i < 0) return;
    tip.textContent = describe(i).join("\n");
    const left = clamp(x + 14, 0, Math.max(0, state.width - tip.offsetWidth - 4));
    const below = y + 16 + tip.offsetHeight < state.height;
    tip.style.left = left + "px";
    tip.style.top = (below ? y + 16 : Math.max(0, y - tip.offsetHeight - 10)) + "px";
  }

  function select(finding) {
    state.selected = marks.get(finding) || null;
    unselect.disabled = !state.selected;
    if (!state.selected) { says.textContent = ""; request(); return; }
    // Long chains mostly share their beginning: what is shown first begins where they part, and at most
    // eight posts back.
    const [one, two] = state.selected.sites;
    const shared = new Set(two ? one.chain.filter((i) => two.chain.includes(i)) : []);
    let low = Infinity, high = 0, lanes = [];
    for (const site of state.selected.sites) {
      low = Math.min(low, site.event);
      high = Math.max(high, site.event);
      const parting = site.chain.findIndex((i) => shared.has(i));
      for (const i of site.chain.slice(0, parting < 0 ? 8 : Math.min(8, parting + 1))) {
        lanes.push(tasks.lane[i]);
        if (tasks.kind[i] === 0) continue;
        low = Math.min(low, tasks.first[i], tasks.post[i] < 0 ? tasks.first[i] : tasks.post[i]);
        high = Math.max(high, tasks.last[i]);
      }
    }
    const margin = Math.max(4, (high - low) * .08);
    show(low - margin, high + margin);
    state.scroll = 0;
    scrollLanes(Math.max(0, Math.min(...lanes) * LANE - LANE));
    says.textContent = "Finding " + (finding + 1) + ": " + state.selected.sites.map((site) =>
      site.access + " at event " + site.label + " in " + nameOf(site.chain[0]) + " on " + data.lanes[tasks.lane[site.chain[0]]].name).join("; ") + ".";
  }

  // Goes to the next or previous task: of the selection if there is one, else of all in view.
  function step(direction) {
    let list = state.selected ? [...new Set(state.selected.sites.flatMap((site) => site.chain))] : Array.from({ length: count }, (_, i) => i);
    list = list.filter((i) => state.selected || (tasks.kind[i] !== 0 && tasks.last[i] >= state.from && tasks.first[i] <= state.to));
    list.sort((a, b) => tasks.first[a] - tasks.first[b] || a - b);
    if (!list.length) return;
    const here = list.indexOf(state.pointed);
    const next = list[here < 0 ? (direction > 0 ? 0 : list.length - 1) : (here + direction + list.length) % list.length];
    const lane = tasks.lane[next] * LANE;
    if (lane < state.scroll || lane + LANE > state.scroll + state.height - AXIS) scrollLanes(lane - state.scroll - LANE);
    const box = rectangle(next);
    point(next, clamp(box.left, state.gutter, state.width), box.bottom);
    says.textContent = describe(next).join(", ") + ".";
  }

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY };
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("dragging");
    point(-1);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      pan((drag.x - event.clientX) / (state.width - state.gutter));
      scrollLanes(drag.y - event.clientY);
      drag = { x: event.clientX, y: event.clientY };
      return;
    }
    const at = canvas.getBoundingClientRect();
    const x = event.clientX - at.left, y = event.clientY - at.top;
    point(taskAt(x, y), x, y);
  });
  const release = () => { drag = null; canvas.classList.remove("dragging"); };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { if (!drag) point(-1); });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = canvas.getBoundingClientRect();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / 800);
    else if (event.shiftKey) scrollLanes(event.deltaY);
    else zoom(Math.exp(clamp(event.deltaY, -200, 200) / 400), positionOf(Math.max(state.gutter, event.clientX - at.left)));
  }, { passive: false });

  const keys = {
    ArrowLeft: () => pan(-.15), ArrowRight: () => pan(.15), ArrowUp: () => scrollLanes(-LANE), ArrowDown: () => scrollLanes(LANE),
    "+": () => zoom(.7), "=": () => zoom(.7), "-": () => zoom(1 / .7), 0: () => show(0, data.events), Home: () => show(0, data.events),
    n: () => step(1), N: () => step(1), p: () => step(-1), P: () => step(-1),
    Escape: () => { point(-1); select(-1); },
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  canvas.addEventListener("blur", () => point(-1));
  document.getElementById("zoom-in").addEventListener("click", () => zoom(.6));
  document.getElementById("zoom-out").addEventListener("click", () => zoom(1 / .6));
  document.getElementById("zoom-all").addEventListener("click", () => show(0, data.events));
  unselect.addEventListener("click", () => select(-1));

  for (const card of document.querySelectorAll("details.finding")) {
    const index = Number(card.dataset.index);
    if (!marks.has(index)) continue;
    const button = card.querySelector("button.show");
    button.hidden = false;
    button.addEventListener("click", () => {
      select(index);
      section.scrollIntoView({ block: "start" });
      canvas.focus({ preventScroll: true });
    });
    card.addEventListener("toggle", () => { if (card.open) select(index); });
    if (card.open) select(index);
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
  new ResizeObserver(() => { if (canvas.parentElement.clientWidth !== state.width) resize(); }).observe(canvas.parentElement);
  readColours();
  resize();
})();
