// The strip beside the conversation: every message by metric, with rounds, votes and eliminations; a click opens it.
// Part of the module chat_view.js. A message's place is its number among the messages shown, not its height.

const GUTTER = 18;
const CELL = 14;
const SLANT = 36;
const NARROW_GUTTER = 12;
const THINNEST = 2;
const SNAP = 4;
const DRAG = 6;
const NOTHING = -1;
// Of several messages in one line the worst verdict is drawn; each is told by its width as well as by its colour.
const SEVERITY = [1, 0, 2];
const WIDTHS = [0.5, 0.92, 0.2];

function createStrip(view) {
  view.side = element("div", "side");
  view.names = element("div", "names", undefined, { "aria-hidden": "true" });
  view.strip = element("div", "strip", undefined, {
    role: "slider",
    tabindex: 0,
    "aria-label":
      "Messages by metric. Arrow keys move by message, Page keys by round, N and P open failing messages, Enter opens.",
  });
  view.paper = element("canvas");
  view.inView = element("div", "in-view");
  view.chosenLine = element("div", "chosen-line");
  view.cursor = element("div", "cursor");
  view.tip = element("div", "tip");
  view.tip.hidden = true;
  view.strip.append(view.paper, view.inView, view.chosenLine, view.cursor, view.tip);
  view.side.append(view.names, view.strip);
  view.strip.onpointerdown = (event) => {
    view.strip.setPointerCapture(event.pointerId);
    view.drag = { x: event.clientX, y: event.clientY, isMoved: false };
  };
  view.strip.onpointermove = (event) => dragOrHint(view, event);
  view.strip.onpointerup = (event) => {
    if (view.drag && !view.drag.isMoved) openFromStrip(view, pointOf(view, event));
    view.drag = null;
  };
  view.strip.onpointercancel = () => { view.drag = null; };
  view.strip.onpointerleave = () => { view.tip.hidden = true; };
  view.strip.onkeydown = (event) => moveOnStrip(view, event);
  view.stripObserver = new ResizeObserver(() => paintStrip(view));
  view.stripObserver.observe(view.strip);
  return view.side;
}

function loadStrip(view) {
  view.messages = [];
  view.marks = [];
  // The message in view at each row: an event belongs to the message after it.
  view.messageAt = view.rows.map((row, index) => {
    if (row.k === "m") return view.messages.push(index) - 1;
    view.marks.push({ at: view.messages.length, kind: row.k });
    return view.messages.length;
  });
  const last = view.messages.length - 1;
  view.messageAt = view.messageAt.map((at) => Math.max(0, Math.min(last, at)));
  const used = new Set(view.rows.flatMap((row) => (row.b ?? []).map((badge) => badge[0])));
  view.columns = [...used].sort((one, other) => one - other);
  view.verdicts = view.messages.map((index) => {
    const known = new Map(view.rows[index].b.map((badge) => [badge[0], badge[1]]));
    return view.columns.map((metric) => known.get(metric) ?? NOTHING);
  });
  let round = "";
  view.rounds = view.rows.map((row) => (row.k === "r" ? (round = row.x) : round));
  view.side.hidden = !view.messages.length;
  view.names.replaceChildren(...view.columns.map((metric, column) => {
    const name = element("span", "", view.metrics[metric].short);
    name.style.left = `${GUTTER + column * CELL + 9}px`;
    return name;
  }));
  view.strip.setAttribute("aria-valuemin", "1");
  view.strip.setAttribute("aria-valuemax", String(Math.max(1, view.messages.length)));
  setCursor(view, 0);
  view.painted = "";
}

function isStripWide(view) {
  return getComputedStyle(view.names).display !== "none";
}

// A canvas does not follow CSS variables: their values are part of what tells whether it must be painted anew.
function stripColours(view) {
  const style = getComputedStyle(view.shell);
  const read = (name) => style.getPropertyValue(`--st-${name}`).trim();
  return {
    verdicts: [read("green-color"), read("red-color"), read("gray-color")],
    grey: read("gray-color"), line: read("border-color"), text: read("text-color"),
  };
}

function paintStrip(view) {
  if (!view.messages?.length) return;
  const isWide = isStripWide(view);
  view.strip.style.width = isWide ? `${GUTTER + CELL * view.columns.length + SLANT}px` : "";
  const [width, height] = [view.strip.clientWidth, view.strip.clientHeight];
  const colours = stripColours(view);
  const state = JSON.stringify([view.version, width, height, isWide, devicePixelRatio, colours]);
  if (!width || !height || state === view.painted) return;
  view.painted = state;
  const along = isWide ? height : width;
  const gutter = isWide ? GUTTER : NARROW_GUTTER;
  const cell = isWide ? CELL : (height - gutter) / Math.max(1, view.columns.length);
  view.scale = { isWide, along, gutter, cell, unit: along / view.messages.length };
  const pen = preparePen(view, width, height);
  const box = (from, to, across, wide) =>
    isWide ? pen.fillRect(across, from, wide, to - from) : pen.fillRect(from, across, to - from, wide);
  paintVerdicts(view, pen, box, colours);
  paintMarks(view, pen, box, colours);
  placeOnStrip(view, view.cursor, view.cursorAt, view.cursorAt);
  showChosen(view);
  followScroll(view);
}

function preparePen(view, width, height) {
  const density = devicePixelRatio || 1;
  view.paper.width = Math.round(width * density);
  view.paper.height = Math.round(height * density);
  view.paper.style.width = `${width}px`;
  view.paper.style.height = `${height}px`;
  const pen = view.paper.getContext("2d");
  pen.scale(density, density);
  return pen;
}

function paintVerdicts(view, pen, box, colours) {
  const { along, gutter, cell } = view.scale;
  const count = view.messages.length;
  const lines = Math.max(1, Math.min(count, Math.floor(along / THINNEST)));
  const size = along / lines;
  const gap = size >= 5 ? 1 : 0;
  for (let line = 0; line < lines; line += 1) {
    const from = Math.floor((line * count) / lines);
    const to = Math.max(from + 1, Math.floor(((line + 1) * count) / lines));
    view.columns.forEach((_, column) => {
      const worst = worstOf(view, from, to, column);
      if (worst === NOTHING) return;
      pen.fillStyle = colours.verdicts[worst];
      const across = gutter + column * cell + (cell * (1 - WIDTHS[worst])) / 2;
      box(line * size, (line + 1) * size - gap, across, cell * WIDTHS[worst]);
    });
  }
}

function worstOf(view, from, to, column) {
  let worst = NOTHING;
  for (let at = from; at < to; at += 1) {
    const code = view.verdicts[at][column];
    if (code !== NOTHING && (worst === NOTHING || SEVERITY[code] < SEVERITY[worst])) worst = code;
  }
  return worst;
}

function paintMarks(view, pen, box, colours) {
  const { gutter, cell, unit, isWide } = view.scale;
  for (const { at, kind } of view.marks) {
    const place = at * unit;
    if (kind === "r") {
      pen.fillStyle = colours.grey;
      box(place - 0.5, place + 0.5, 0, gutter + cell * view.columns.length);
    } else if (kind === "v") {
      pen.fillStyle = colours.grey;
      box(place - 1, place + 1, gutter - 9, 7);
    } else {
      const [x, y] = isWide ? [5, place] : [place, 5];
      pen.fillStyle = colours.text;
      pen.beginPath();
      pen.moveTo(x - 4, y - 4);
      pen.lineTo(x + 4, y);
      pen.lineTo(x - 4, y + 4);
      pen.fill();
    }
  }
}

function placeOnStrip(view, node, first, last) {
  const { unit, isWide } = view.scale ?? {};
  if (!unit) return;
  const [from, size] = [first * unit, (last - first + 1) * unit];
  node.style.cssText = isWide ? `top:${from}px;height:${size}px` : `left:${from}px;width:${size}px`;
}

function followScroll(view) {
  if (!view.messages?.length) return;
  const top = view.scroller.scrollTop;
  const first = view.messageAt[rowAt(view, top)];
  const last = view.messageAt[rowAt(view, top + view.scroller.clientHeight)];
  placeOnStrip(view, view.inView, first, last);
}

function showChosen(view) {
  const chosen = view.selected;
  view.chosenLine.hidden = !chosen;
  if (chosen) placeOnStrip(view, view.chosenLine, view.messageAt[chosen.index], view.messageAt[chosen.index]);
}

function setCursor(view, at) {
  view.cursorAt = at;
  placeOnStrip(view, view.cursor, at, at);
  view.strip.setAttribute("aria-valuenow", String(at + 1));
  view.strip.setAttribute("aria-valuetext", view.messages.length ? describeMessage(view, at) : "No messages");
}

function describeMessage(view, at) {
  const index = view.messages[at];
  const round = view.rounds[index] ? `, ${view.rounds[index].toLowerCase()}` : "";
  const failing = view.columns.filter((_, column) => view.verdicts[at][column] === FAILS);
  const verdicts = failing.map((metric) => `${view.metrics[metric].label} counts against`).join(", ");
  const speaker = view.speakers[view.rows[index].s].name;
  return `Message ${at + 1} of ${view.messages.length}, ${speaker}${round}: ${verdicts || "nothing fails"}`;
}

function pointOf(view, event) {
  const { isWide, unit, gutter, cell } = view.scale;
  const box = view.strip.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const column = Math.floor(((isWide ? x : y) - gutter) / cell);
  const at = Math.floor((isWide ? y : x) / unit);
  return {
    at: Math.max(0, Math.min(view.messages.length - 1, at)),
    column: column >= 0 && column < view.columns.length ? column : NOTHING,
  };
}

function dragOrHint(view, event) {
  if (!view.scale) return;
  const point = pointOf(view, event);
  if (view.drag) {
    view.drag.isMoved ||= Math.hypot(event.clientX - view.drag.x, event.clientY - view.drag.y) > DRAG;
    if (view.drag.isMoved) showMessage(view, point.at);
  }
  const number = view.rows[view.messages[point.at]].n;
  const code = point.column === NOTHING ? NOTHING : view.verdicts[point.at][point.column];
  const verdict = code === NOTHING ? "does not apply" : VERDICTS[code].word;
  const metric = point.column === NOTHING ? "" : view.metrics[view.columns[point.column]].label;
  view.tip.textContent = metric ? `#${number} · ${metric}: ${verdict}` : `#${number} · ${view.rounds[view.messages[point.at]]}`;
  view.tip.hidden = false;
  const { isWide, along, unit } = view.scale;
  if (isWide) view.tip.style.top = `${Math.min(along - 26, point.at * unit)}px`;
}

function showMessage(view, at) {
  setCursor(view, at);
  scrollToRow(view, view.messages[at]);
}

// A message may be thinner than a pixel: a failing one of that metric close to the pointer is meant.
function openFromStrip(view, { at, column }) {
  const reach = Math.round(SNAP / view.scale.unit);
  for (let away = 0; column !== NOTHING && away <= reach; away += 1) {
    const near = [at - away, at + away].find((one) => view.verdicts[one]?.[column] === FAILS);
    if (near !== undefined) return openMessage(view, near, view.columns[column]);
  }
  const metric = column === NOTHING || view.verdicts[at][column] === NOTHING ? -1 : view.columns[column];
  return openMessage(view, at, metric);
}

function openMessage(view, at, metric) {
  goTo(view, { row: view.messages[at], metric });
  tell(view, window.innerWidth < NARROW);
}

function firstFailing(view, at) {
  const column = view.verdicts[at].indexOf(FAILS);
  return column < 0 ? -1 : view.columns[column];
}

function nextRound(view, by) {
  const starts = view.marks.filter((mark) => mark.kind === "r").map((mark) => mark.at);
  const further = by > 0 ? starts.find((at) => at > view.cursorAt) : starts.findLast((at) => at < view.cursorAt);
  return further ?? (by > 0 ? view.messages.length - 1 : 0);
}

// N and P go from one failing message to the next wherever the focus is: chat_steps.js.
function moveOnStrip(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !view.messages.length) return;
  const at = view.cursorAt;
  const goals = {
    ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1,
    Home: 0, End: view.messages.length - 1, PageDown: nextRound(view, 1), PageUp: nextRound(view, -1),
  };
  if (event.key === "Enter") openMessage(view, at, firstFailing(view, at));
  else if (event.key in goals) showMessage(view, Math.max(0, Math.min(view.messages.length - 1, goals[event.key])));
  else return;
  event.preventDefault();
}
