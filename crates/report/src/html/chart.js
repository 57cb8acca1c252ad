// Draws tasks on their handlers over the positions of their events. What to draw is in `state`; who changes
// it calls `draw`.
"use strict";
const anyorderChart = (data, canvas) => {
  const context = canvas.getContext("2d");
  const tasks = data.tasks;
  const count = tasks.lane.length;
  const LANE = data.lanes.length <= 4 ? 60 : data.lanes.length <= 8 ? 48 : 38;
  const AXIS = 24, BOX = 20, CODE = 4, PAD = (LANE - BOX - CODE - 3) / 2, HEIGHT_MAX = 480, POSTS_MAX = 300;
  const colours = {};

  // The part of the trace in view, the scroll of the lanes in pixels, what is selected or pointed at, and
  // the size in pixels.
  const state = {
    from: 0, to: data.events, scroll: 0, selected: null, pointed: -1,
    width: 0, height: 0, gutter: 150, full: AXIS + data.lanes.length * LANE + 4, LANE, AXIS,
  };

  const inFinding = new Uint8Array(count);
  for (const mark of data.marks) for (const site of mark.sites) for (const task of site.chain) inFinding[task] = 1;

  const number = (n) => n.toLocaleString("en");
  const nameOf = (i) => data.names[tasks.name[i]];
  const xOf = (position) => state.gutter + (position - state.from) / (state.to - state.from) * (state.width - state.gutter);
  const yOf = (lane) => AXIS + lane * LANE - state.scroll;

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["text", "dim", "line", "card", "soft", "a", "b", "a-soft", "b-soft", "box", "box-edge", "box-hit", "lane", "lane-alt", "arrow", "link"]) {
      colours[name] = style.getPropertyValue("--" + name).trim();
    }
  }

  function resize() {
    state.width = canvas.parentElement.clientWidth;
    state.gutter = state.width < 640 ? 92 : 160;
    state.height = Math.min(state.full, HEIGHT_MAX);
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(state.width * ratio);
    canvas.height = Math.round(state.height * ratio);
    canvas.style.height = state.height + "px";
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw();
  }

  function clipped(text, room) {
    if (context.measureText(text).width <= room) return text;
    let low = 0, high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (context.measureText(text.slice(0, middle) + "…").width <= room) low = middle; else high = middle - 1;
    }
    return low === 0 ? "" : text.slice(0, low) + "…";
  }

  // Where a task is drawn: code outside posted tasks is a bar below the boxes.
  function rectangle(i) {
    const top = yOf(tasks.lane[i]);
    const left = xOf(tasks.first[i]);
    const right = Math.max(xOf(tasks.last[i] + 1), left + 1.5);
    return tasks.kind[i] === 0
      ? { left, right, top: top + PAD + BOX + 3, bottom: top + PAD + BOX + 3 + CODE }
      : { left, right, top: top + PAD, bottom: top + PAD + BOX };
  }

  function draw() {
    context.clearRect(0, 0, state.width, state.height);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, AXIS, state.width, state.height - AXIS);
    context.clip();
    drawLanes();
    context.beginPath();
    context.rect(state.gutter, AXIS, state.width - state.gutter, state.height - AXIS);
    context.clip();
    drawDensity();
    drawTasks();
    drawPosts();
    if (state.selected) drawSelection();
    if (state.pointed >= 0) outline(state.pointed, colours.text, 1.5);
    context.restore();
    drawNames();
    drawAxis();
  }

  function drawLanes() {
    data.lanes.forEach((lane, i) => {
      const top = yOf(i);
      if (top > state.height || top + LANE < AXIS) return;
      context.fillStyle = i % 2 ? colours["lane-alt"] : colours.lane;
      context.fillRect(0, top, state.width, LANE);
    });
  }

  function drawNames() {
    context.save();
    context.beginPath();
    context.rect(0, AXIS, state.gutter, state.height - AXIS);
    context.clip();
    data.lanes.forEach((lane, i) => {
      const top = yOf(i);
      if (top > state.height || top + LANE < AXIS) return;
      context.fillStyle = i % 2 ? colours["lane-alt"] : colours.lane;
      context.fillRect(0, top, state.gutter, LANE);
      context.fillStyle = colours.text;
      context.fillText(clipped(lane.name, state.gutter - 16), 10, top + LANE / 2 - 6);
      context.fillStyle = colours.dim;
      context.font = "10.5px system-ui, sans-serif";
      context.fillText(lane.mailbox === "none" ? "thread" : lane.mailbox, 10, top + LANE / 2 + 9);
      context.font = "12px system-ui, sans-serif";
    });
    const below = Math.floor((AXIS + data.lanes.length * LANE - state.scroll - state.height + LANE / 2) / LANE);
    if (below > 0) {
      context.fillStyle = colours.card;
      context.fillRect(0, state.height - 18, state.gutter, 18);
      context.fillStyle = colours.link;
      context.font = "11px system-ui, sans-serif";
      context.fillText("▼ " + below + " more (drag or ↓)", 10, state.height - 9);
    }
    context.restore();
    context.fillStyle = colours.line;
    context.fillRect(state.gutter - 1, 0, 1, state.height);
  }

  function drawAxis() {
    context.fillStyle = colours.card;
    context.fillRect(0, 0, state.width, AXIS);
    context.fillStyle = colours.line;
    context.fillRect(0, AXIS - 1, state.width, 1);
    const room = Math.max(2, Math.floor((state.width - state.gutter) / 110));
    const rough = (state.to - state.from) / room;
    const power = Math.pow(10, Math.floor(Math.log10(Math.max(rough, 1))));
    const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) || power * 10);
    context.fillStyle = colours.dim;
    context.font = "11px system-ui, sans-serif";
    for (let at = Math.ceil(state.from / step) * step; at <= state.to; at += step) {
      const x = xOf(at);
      context.fillStyle = colours.line;
      context.fillRect(Math.round(x), AXIS - 5, 1, 5);
      context.fillStyle = colours.dim;
      const text = number(at);
      if (x + 4 + context.measureText(text).width < state.width) context.fillText(text, x + 4, AXIS / 2 - 1);
    }
    context.fillText("position", 10, AXIS / 2 - 1);
  }

  function drawDensity() {
    context.fillStyle = colours["box-edge"];
    for (const density of data.density) {
      const most = density.running.reduce((a, b) => Math.max(a, b), 1);
      const top = yOf(density.lane) + PAD;
      const part = data.events / density.running.length;
      density.running.forEach((n, i) => {
        if (!n) return;
        const left = xOf(i * part), right = xOf((i + 1) * part);
        if (right < state.gutter || left > state.width) return;
        const tall = Math.max(2, BOX * n / most);
        context.globalAlpha = .45;
        context.fillRect(left, top + BOX - tall, Math.max(1, right - left), tall);
      });
    }
    context.globalAlpha = 1;
  }

  function drawTasks() {
    context.globalAlpha = state.selected ? .45 : 1;
    for (let i = 0; i < count; i++) {
      if (tasks.last[i] + 1 < state.from || tasks.first[i] > state.to) continue;
      const box = rectangle(i);
      if (box.top > state.height || box.bottom < AXIS) continue;
      if (tasks.kind[i] === 0) {
        context.fillStyle = colours["box-edge"];
        context.fillRect(box.left, box.top, box.right - box.left, CODE);
        continue;
      }
      fillBox(box, inFinding[i] ? colours["box-hit"] : colours.box);
      label(i, box, colours.text);
    }
    context.globalAlpha = 1;
  }

  function fillBox(box, colour) {
    context.fillStyle = colour;
    const wide = box.right - box.left;
    if (wide < 6) { context.fillRect(box.left, box.top, Math.max(1, wide - .5), BOX); return; }
    context.beginPath();
    context.roundRect(box.left, box.top, wide - 1, BOX, 3);
    context.fill();
  }

  function label(i, box, colour) {
    const left = Math.max(box.left, state.gutter);
    const room = Math.min(box.right, state.width) - left - 10;
    if (room < 22) return;
    context.fillStyle = colour;
    context.fillText(clipped(nameOf(i), room), left + 5, box.top + BOX / 2 + .5);
  }

  // From the post on the poster's lane to the beginning of the task.
  function arrow(i, colour, wide) {
    const poster = tasks.poster[i];
    if (poster < 0 || tasks.post[i] < 0) return;
    const from = rectangle(poster), to = rectangle(i);
    const x0 = xOf(tasks.post[i] + .5), x1 = to.left;
    if (Math.max(x0, x1) < state.gutter || Math.min(x0, x1) > state.width) return;
    const down = tasks.lane[i] > tasks.lane[poster], same = tasks.lane[i] === tasks.lane[poster];
    const y0 = down ? from.bottom : from.top;
    const y1 = same ? to.top : down ? to.top : to.bottom;
    const bend = same ? Math.min(y0, y1) - 9 : (y0 + y1) / 2;
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = wide;
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0, bend, x1, bend, x1, y1);
    context.stroke();
    const tail = (down || same) ? -1 : 1;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 3.2, y1 + tail * 6);
    context.lineTo(x1 + 3.2, y1 + tail * 6);
    context.fill();
  }

  function drawPosts() {
    if (state.selected) return;
    const visible = [];
    for (let i = 0; i < count && visible.length <= POSTS_MAX; i++) {
      if (tasks.poster[i] >= 0 && tasks.first[i] <= state.to && tasks.post[i] >= state.from) visible.push(i);
    }
    if (visible.length > POSTS_MAX) {
      if (state.pointed >= 0) arrow(state.pointed, colours.text, 1.5);
      return;
    }
    context.globalAlpha = .75;
    for (const i of visible) arrow(i, colours.arrow, 1);
    context.globalAlpha = 1;
    if (state.pointed >= 0) arrow(state.pointed, colours.text, 1.5);
  }

  function outline(i, colour, wide) {
    const box = rectangle(i);
    context.strokeStyle = colour;
    context.lineWidth = wide;
    context.strokeRect(box.left, box.top, Math.max(1, box.right - box.left - 1), box.bottom - box.top);
  }

  // A task of both chains is drawn half in the one colour and half in the other.
  function drawSelection() {
    const colourOf = [colours.a, colours.b], softOf = [colours["a-soft"], colours["b-soft"]];
    const owners = new Map();
    state.selected.sites.slice(0, 2).forEach((site, which) => {
      for (const i of site.chain) owners.set(i, (owners.get(i) || 0) | (1 << which));
    });
    for (const [i, owner] of owners) {
      const box = rectangle(i), wide = Math.max(1, box.right - box.left - 1), middle = (box.top + box.bottom) / 2;
      const plain = tasks.kind[i] === 0, first = owner & 1 ? 0 : 1, second = owner & 2 ? 1 : 0;
      context.fillStyle = plain ? colourOf[first] : softOf[first];
      context.fillRect(box.left, box.top, wide, middle - box.top);
      context.fillStyle = plain ? colourOf[second] : softOf[second];
      context.fillRect(box.left, middle, wide, box.bottom - middle);
      if (plain) continue;
      for (const [colour, top] of [[colourOf[first], box.top], [colourOf[second], middle]]) {
        context.save();
        context.beginPath();
        context.rect(box.left - 2, top - (top === box.top ? 2 : 0), wide + 4, BOX / 2 + 2);
        context.clip();
        outline(i, colour, 1.5);
        context.restore();
      }
      label(i, box, colours.text);
    }
    const drawn = new Set();
    state.selected.sites.slice(0, 2).forEach((site, which) => {
      for (const i of site.chain) {
        if (drawn.has(i)) continue;
        drawn.add(i);
        arrow(i, colourOf[which], 1.75);
      }
    });
    const points = state.selected.sites.map((site, which) =>
      ({ x: xOf(site.event + .5), y: rectangle(site.chain[0]).bottom, colour: colourOf[Math.min(which, 1)] }));
    if (points.length === 2) {
      context.strokeStyle = colours.text;
      context.lineWidth = 1.25;
      context.setLineDash([4, 3]);
      context.beginPath();
      context.moveTo(points[0].x, points[0].y);
      context.lineTo(points[1].x, points[1].y);
      context.stroke();
      context.setLineDash([]);
    }
    for (const point of points) {
      context.fillStyle = point.colour;
      context.strokeStyle = colours.card;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(point.x, point.y, 5.5, 0, 7);
      context.fill();
      context.stroke();
    }
  }

  return { state, nameOf, number, rectangle, readColours, resize, draw };
};
