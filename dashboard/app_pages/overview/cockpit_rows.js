// Seven metrics before and after, a row each.

const HEIGHT = 40;
const UPPER = 12;
const AXIS = 33;

export default function (component) {
  return mountView(component, "Seven metrics, before and after", drawRows);
}

function drawRows(view) {
  const { rows, history } = view.data;
  const head = makeNode("div", "row head");
  const axis = makeNode("div", "axis");
  head.setAttribute("aria-hidden", "true");
  head.append(makeNode("span"), axis, makeNode("span", "now", "now"), makeNode("span", "", history), makeNode("span"));
  view.rows = rows.map(makeRow);
  view.box.replaceChildren(head, ...view.rows);
  // The widths of the pictures are known only now that they are laid out.
  drawAxis(axis);
  rows.forEach((row, place) => {
    drawMarks(view.rows[place].querySelector(".picture"), row, place);
    drawHistory(view.rows[place].querySelector(".history"), row, place);
  });
  setTabStops(view);
}

function makeRow(row, place) {
  const node = makeNode("div", "row");
  node.setAttribute("role", "toolbar");
  node.setAttribute("aria-label", row.words);
  const title = makeNode("div", "title");
  const name = makeNode("button", "name", row.label);
  name.type = "button";
  name.dataset.mark = `${place}:metric:0`;
  const aim = makeNode("small", "", row.texts.threshold);
  if (row.isTarget) aim.append(" · ", makeNode("span", "target", "◎ target"));
  title.append(name, aim);
  const now = makeNode("div", "now", row.texts.current);
  now.append(makeNode("small", "", row.texts.change));
  const end = makeNode("div", "end");
  end.append(makeNode("span", `status ${row.status.color}`, row.status.text), makeNode("small", "chance", row.texts.chance));
  node.append(title, makeNode("div", "picture"), now, makeNode("div", "history"), end);
  return node;
}

function drawAxis(cell) {
  const width = cell.clientWidth;
  const svg = makeShape(cell, "svg", { height: 16 });
  [0, 25, 50, 75, 100].forEach((share) => {
    const anchor = { 0: "start", 100: "end" }[share] ?? "middle";
    const x = share === 0 ? 0 : share === 100 ? width : placeOf(share / 100, width);
    makeShape(svg, "text", { x, y: 12, "text-anchor": anchor }).textContent = share === 100 ? "100 %" : share;
  });
}

function drawMarks(cell, row, place) {
  const width = cell.clientWidth;
  const at = (share) => placeOf(share, width);
  const svg = makeShape(cell, "svg", { height: HEIGHT });
  makeShape(svg, "rect", { class: "below", x: at(0), y: 3, width: at(row.threshold) - at(0), height: AXIS - 3 });
  makeShape(svg, "line", { class: "axis-line", x1: at(0), x2: at(1), y1: AXIS, y2: AXIS });
  makeShape(svg, "line", { class: "threshold", x1: at(row.threshold), x2: at(row.threshold), y1: 1, y2: AXIS + 2 });
  if (row.chance !== null) {
    const x = at(row.chance);
    makeShape(svg, "path", { class: "by-chance", d: `M${x - 4} ${AXIS + 6}L${x} ${AXIS}L${x + 4} ${AXIS + 6}Z` });
  }
  if (row.interval) {
    const [low, high] = row.interval.map(at);
    makeShape(svg, "line", { class: "interval", x1: low, x2: high, y1: UPPER, y2: UPPER });
  }
  if (row.before !== null && row.after !== null) {
    makeShape(svg, "line", { class: "change", x1: at(row.before), x2: at(row.after), y1: UPPER, y2: UPPER });
  }
  addGames(svg, row.games, place, at, AXIS - 3);
  if (row.before !== null) {
    const group = addMark(svg, `${place}:before:0`, at(row.before), UPPER, row.texts.before, 10);
    makeShape(group, "circle", { class: "before", cx: at(row.before), cy: UPPER, r: 5 });
  }
  if (row.after !== null) {
    const group = addMark(svg, `${place}:after:0`, at(row.after), UPPER, row.texts.after, 10);
    makeShape(group, "circle", { class: "after", cx: at(row.after), cy: UPPER, r: 6.5 });
  } else {
    // Beside the threshold's line, on the side that has room.
    const x = row.threshold < 0.6 ? at(row.threshold) + 8 : at(0) + 6;
    makeShape(svg, "text", { x, y: UPPER + 12 }).textContent = row.texts.no_score;
  }
}

function drawHistory(cell, row, place) {
  const width = cell.clientWidth;
  const svg = makeShape(cell, "svg", { height: 36 });
  const step = (width - 2 * MARGIN) / Math.max(1, row.history.length - 1);
  const x = (index) => (row.history.length === 1 ? width / 2 : MARGIN + index * step);
  const y = (share) => 30 - 24 * share;
  const level = y(row.threshold);
  makeShape(svg, "line", { class: "limit", x1: 2, x2: width - 2, y1: level, y2: level });
  let path = "";
  row.history.forEach((one, index) => {
    const joins = index > 0 && row.history[index - 1].place !== null;
    if (one.place !== null) path += `${joins ? "L" : "M"}${x(index)} ${y(one.place)}`;
  });
  makeShape(svg, "path", { class: "line", d: path });
  row.history.forEach((one, index) => {
    if (one.place !== null) drawPoint(svg, `${place}:history:${index}`, one, x(index), y(one.place), index === row.history.length - 1);
  });
}

// A point that passes is round, one that fails is square; the last one is larger.
function drawPoint(svg, mark, one, x, y, isLast) {
  const group = addMark(svg, mark, x, y, one.label, 6);
  const radius = isLast ? 3.6 : 2.4;
  if (one.passes) makeShape(group, "circle", { class: "passes", cx: x, cy: y, r: radius });
  else makeShape(group, "rect", { class: "fails", x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius });
}
