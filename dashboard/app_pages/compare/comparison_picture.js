// Two iterations in one picture: every metric with both means and their intervals, and what moved the scores as bars.

const HEIGHT = 44;
const BASE = 40;
const LANES = { before: 15, after: 28 };
const GAMES = { before: 5, after: 36 };
const ROOM = 108;

export default function (component) {
  return mountView(component, "Every metric, and what moved the scores", drawAll);
}

function drawAll(view) {
  const { rows, movers, titles, legend } = view.data;
  const metricRows = rows.map(makeRow);
  const bars = movers.map((mover, place) => makeBar(mover, rows.length + place));
  const axis = element("div", "axis");
  const parts = [makeLegend(legend), makeHead(element("span"), axis, element("span"), element("span")), ...metricRows];
  titles.forEach(({ text, first }) => {
    const before = bars.slice(first, titles.find((other) => other.first > first)?.first);
    parts.push(element("h3", "", text), ...before);
  });
  view.rows = [...metricRows, ...bars];
  view.box.replaceChildren(...parts);
  // The widths of the pictures are known only now that they are laid out.
  drawAxis(axis);
  rows.forEach((row, place) => drawDumbbell(metricRows[place].querySelector(".picture"), row, place));
  const low = Math.min(0, ...movers.map((mover) => mover.change));
  const high = Math.max(0, ...movers.map((mover) => mover.change));
  movers.forEach((mover, place) => drawBar(bars[place].querySelector(".length"), mover, low, high));
  setTabStops(view);
}

function makeRow(row, place) {
  const node = makeMarkRow("row", row.words);
  const title = element("div", "title");
  const name = makeMarkButton("name", row.label, `${place}:metric:0`);
  title.append(name);
  if (row.isTarget) title.append(element("small", "target", "◎ target"));
  if (row.texts.games) title.append(element("small", "", row.texts.games));
  const change = element("div", "difference", row.texts.difference);
  change.append(element("small", "", row.texts.values));
  const end = element("div", "end");
  end.append(element("span", `status ${row.color}`, row.texts.outcome), element("small", "", row.texts.interval));
  node.append(title, element("div", "picture"), change, end);
  return node;
}

// Two lanes, and the games above and below them: on one line they would cover each other.
function drawDumbbell(cell, row, place) {
  const width = cell.clientWidth;
  const at = (share) => placeOf(share, width);
  const svg = makeShape(cell, "svg", { height: HEIGHT });
  makeShape(svg, "rect", { class: "below", x: at(0), y: 3, width: at(row.threshold) - at(0), height: BASE - 3 });
  makeShape(svg, "line", { class: "axis-line", x1: at(0), x2: at(1), y1: BASE, y2: BASE });
  makeShape(svg, "line", { class: "threshold", x1: at(row.threshold), x2: at(row.threshold), y1: 1, y2: BASE + 2 });
  const { before, after } = row;
  if (before.mean !== null && after.mean !== null) {
    const [x1, x2] = [at(before.mean), at(after.mean)];
    makeShape(svg, "line", { class: "link", x1, x2, y1: LANES.before, y2: LANES.after });
  }
  for (const [kind, side] of [["before", before], ["after", after]]) drawSide(svg, place, kind, side, at);
}

function drawSide(svg, place, kind, side, at) {
  const y = LANES[kind];
  side.games.forEach((game, index) => {
    const dot = addMark(svg, `${place}:${kind}_game:${index}`, at(game.place), GAMES[kind], game.label, 5);
    makeShape(dot, "circle", { class: "game", cx: at(game.place), cy: GAMES[kind], r: 2.7 });
  });
  if (side.mean === null) return;
  const group = addMark(svg, `${place}:${kind}:0`, at(side.mean), y, side.label, 10);
  makeShape(group, "circle", { class: kind, cx: at(side.mean), cy: y, r: 5.5 });
}

function makeBar(mover, row) {
  const node = element("div", "bar-row");
  const bar = makeMarkButton("bar", undefined, `${row}:mover:0`, mover.words);
  const what = element("span", "what");
  what.append(element("span", "label", mover.label), element("small", "", mover.caption));
  bar.append(what, element("span", "length"));
  node.append(bar);
  return node;
}

function drawBar(cell, mover, low, high) {
  const left = low < 0 ? ROOM : 2;
  const span = cell.clientWidth - left - (high > 0 ? ROOM : 2);
  const at = (value) => left + ((value - low) / (high - low || 1)) * span;
  const svg = makeShape(cell, "svg", { height: 26, "aria-hidden": "true" });
  const [zero, end] = [at(0), at(mover.change)];
  const isLoss = mover.change < 0;
  const size = { x: Math.min(zero, end), y: 6, width: Math.max(1, Math.abs(end - zero)), height: 14 };
  makeShape(svg, "rect", { class: isLoss ? "loss" : "gain", ...size });
  makeShape(svg, "line", { class: "zero", x1: zero, x2: zero, y1: 1, y2: 25 });
  const place = { x: isLoss ? end - 5 : end + 5, y: 17, "text-anchor": isLoss ? "end" : "start", class: "number" };
  makeShape(svg, "text", place).textContent = mover.text;
}
