// What all pictures made of marks share: rows, buttons and marks, redrawing when data or width change, and opening marks
// by mouse, touch and keyboard: one Tab stop a row, arrow keys between the marks, Enter or Space opens.
// Names are untrusted text: they are only ever put in by textContent and setAttribute("aria-label").

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 8;
const REACH = 24;

function makeShape(parent, tag, attributes) {
  const shape = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  parent.append(shape);
  return shape;
}

// A row whose marks the arrow keys move between.
function makeMarkRow(className, words) {
  return element("div", className, undefined, { role: "toolbar", "aria-label": words });
}

function makeMarkButton(className, text, mark, label) {
  return element("button", className, text, { type: "button", "data-mark": mark, "aria-label": label });
}

function makeLegend(texts) {
  const key = element("div", "legend");
  key.append(...texts.map((text) => element("span", "", text)));
  return key;
}

// The heading above the columns, which screen readers leave out.
function makeHead(...cells) {
  const head = element("div", "row head", undefined, { "aria-hidden": "true" });
  head.append(...cells);
  return head;
}

// The place of a value (a share of the scale, from 0 to 1) in a picture that is so wide.
function placeOf(share, width) {
  return MARGIN + share * (width - 2 * MARGIN);
}

// The numbers of the scale above the pictures, which begins at the first and ends at the last of them.
function drawAxis(cell, ticks) {
  const width = cell.clientWidth;
  const svg = makeShape(cell, "svg", { height: 16 });
  const [least, most] = [ticks[0], ticks.at(-1)];
  ticks.forEach((tick) => {
    const anchor = { [least]: "start", [most]: "end" }[tick] ?? "middle";
    const x = tick === least ? 0 : tick === most ? width : placeOf((tick - least) / (most - least), width);
    makeShape(svg, "text", { x, y: 12, "text-anchor": anchor }).textContent = tick === 100 ? "100 %" : tick;
  });
}

// Drawn anew only when the data or the width differ: nodes replaced between press and release would lose the click.
// `draw` fills `view.box` and sets `view.rows`; a mark says by `data-mark` which row, kind and index it has.
function mountView({ parentElement, data, setTriggerValue }, label, draw) {
  const update = (view) => {
    view.data = data;
    view.open = (row, kind, index) => setTriggerValue("open", { row, kind, index });
    redraw(view, draw);
  };
  return mount(parentElement, (root) => createPicture(root, label, draw), update, removePicture);
}

function createPicture(root, label, draw) {
  const view = { width: 0, drawn: "", focus: new Map() };
  view.box = element("div", "picture-box", undefined, { role: "group", "aria-label": label });
  root.append(view.box);
  view.observer = new ResizeObserver(() => redraw(view, draw));
  view.observer.observe(view.box);
  view.box.onclick = (event) => openNearest(view, event);
  view.box.onkeydown = (event) => moveOrOpen(view, event);
  return view;
}

function removePicture(view) {
  view.observer.disconnect();
  view.box.remove();
}

function redraw(view, draw) {
  const text = JSON.stringify(view.data);
  const width = view.box.clientWidth;
  if (!width || (text === view.drawn && width === view.width)) return;
  view.drawn = text;
  view.width = width;
  const held = view.box.getRootNode().activeElement?.dataset?.mark;
  draw(view);
  if (held) view.box.querySelector(`[data-mark="${held}"]`)?.focus({ preventScroll: true });
}

function addMark(svg, mark, x, y, label, radius) {
  const group = makeShape(svg, "g", { role: "button", tabindex: -1, "data-mark": mark, "aria-label": label });
  group.dataset.x = x;
  group.dataset.y = y;
  makeShape(group, "title", {}).textContent = label;
  makeShape(group, "circle", { class: "ring", cx: x, cy: y, r: radius });
  return group;
}

// Equal games stand above each other, so that three at 100 % do not look like one.
function addGames(svg, games, row, at, bottom) {
  const drawn = [];
  games.forEach((game, index) => {
    const x = at(game.place);
    const y = bottom - 5 * Math.min(2, drawn.filter((other) => Math.abs(other - x) < 5).length);
    drawn.push(x);
    const group = addMark(svg, `${row}:game:${index}`, x, y, game.label, 5);
    makeShape(group, "circle", { class: game.isBefore ? "game open" : "game", cx: x, cy: y, r: 2.7 });
  });
}

// The games, and above them the mean with its interval and the mean before.
function addMarks(svg, row, place, at, upper, bottom) {
  for (const [className, ends] of [["interval", row.interval], ["change", [row.before, row.after]]]) {
    if (!ends || ends.includes(null)) continue;
    const [x1, x2] = ends.map(at);
    makeShape(svg, "line", { class: className, x1, x2, y1: upper, y2: upper });
  }
  addGames(svg, row.games, place, at, bottom);
  for (const [kind, value, r] of [["before", row.before, 5], ["after", row.after, 6.5]]) {
    if (value === null) continue;
    const group = addMark(svg, `${place}:${kind}:0`, at(value), upper, row.texts[kind], 10);
    makeShape(group, "circle", { class: kind, cx: at(value), cy: upper, r });
  }
}

// A line over the points that are known; `drawPoint(mark, point, x, y, isLast)` draws each.
function drawLine(svg, width, history, place, y, drawPoint) {
  const step = (width - 2 * MARGIN) / Math.max(1, history.length - 1);
  const x = (index) => (history.length === 1 ? width / 2 : MARGIN + index * step);
  const isKnown = (index) => index >= 0 && history[index].place !== null;
  const known = [...history.keys()].filter(isKnown);
  const d = known.map((index) => `${isKnown(index - 1) ? "L" : "M"}${x(index)} ${y(history[index].place)}`).join("");
  makeShape(svg, "path", { class: "line", d });
  for (const index of known) {
    const point = history[index];
    drawPoint(`${place}:history:${index}`, point, x(index), y(point.place), index === history.length - 1);
  }
}

function setTabStops(view) {
  view.rows.forEach((_, place) => setTabStop(view, place));
}

function marksIn(view, place) {
  return [...view.rows[place].querySelectorAll("[data-mark]")].filter((mark) => !mark.closest("details:not([open])"));
}

function setTabStop(view, place) {
  const marks = marksIn(view, place);
  const chosen = marks.find((mark) => mark.dataset.mark === view.focus.get(place)) ?? marks[0];
  for (const mark of marks) mark.setAttribute("tabindex", mark === chosen ? 0 : -1);
}

function openMark(view, mark) {
  const [row, kind, index] = mark.dataset.mark.split(":");
  view.focus.set(Number(row), mark.dataset.mark);
  setTabStop(view, Number(row));
  view.open(Number(row), kind, Number(index));
}

// Dots are smaller than a finger: a press takes the mark under it, the nearest one within reach, else the metric's name.
function openNearest(view, event) {
  const place = view.rows.findIndex((row) => row.contains(event.target));
  if (place < 0) return;
  const svg = event.target.closest("svg");
  const name = marksIn(view, place)[0];
  if (!svg) return openMark(view, event.target.closest("button[data-mark]") ?? name);
  const box = svg.getBoundingClientRect();
  const away = (mark) => Math.hypot(event.clientX - box.left - mark.dataset.x, event.clientY - box.top - mark.dataset.y);
  const [nearest] = [...svg.querySelectorAll("[data-mark]")].sort((one, other) => away(one) - away(other));
  openMark(view, nearest && away(nearest) <= REACH ? nearest : name);
}

function moveOrOpen(view, event) {
  const mark = event.target.closest("[data-mark]");
  if (!mark || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    openMark(view, mark);
    return;
  }
  const place = Number(mark.dataset.mark.split(":")[0]);
  const marks = marksIn(view, place);
  const index = marks.indexOf(mark);
  const steps = { ArrowRight: [place, index + 1], ArrowLeft: [place, index - 1], ArrowDown: [place + 1, index] };
  const jumps = { ArrowUp: [place - 1, index], Home: [place, 0], End: [place, marks.length - 1] };
  const [row, at] = { ...steps, ...jumps }[event.key] ?? [-1, 0];
  if (row < 0 || row >= view.rows.length) return;
  event.preventDefault();
  const others = marksIn(view, row);
  const next = others[Math.max(0, Math.min(others.length - 1, at))];
  view.focus.set(row, next.dataset.mark);
  setTabStop(view, row);
  next.focus();
}
