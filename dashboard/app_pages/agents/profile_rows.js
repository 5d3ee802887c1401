// An agent's dimensions, a row each: score, games, and earlier runs.

const HEIGHT = 50;
const UPPER = 12;
const AXIS = 37;

export default function (component) {
  return mountView(component, "Dimensions of an agent", drawRows);
}

function drawRows(view) {
  const { rows } = view.data;
  view.rows = rows.map(makeRow);
  view.box.replaceChildren(...view.rows);
  rows.forEach((row, place) => {
    drawMarks(view.rows[place].querySelector(".picture"), row, place);
    drawHistory(view.rows[place].querySelector(".history"), row, place);
  });
  setTabStops(view);
}

function makeRow(row, place) {
  const node = makeMarkRow("row", row.words);
  const title = element("div", "title");
  const name = makeMarkButton("name", row.label, `${place}:metric:0`);
  title.append(name, element("small", "", row.texts.judged));
  const now = element("div", "now", row.texts.score);
  now.append(element("small", "", row.texts.change));
  node.append(title, element("div", "picture"), now, element("div", "history"));
  return node;
}

function drawMarks(cell, row, place) {
  const at = (share) => placeOf(share, cell.clientWidth);
  const svg = makeShape(cell, "svg", { height: HEIGHT });
  makeShape(svg, "line", { class: "axis-line", x1: at(0), x2: at(1), y1: AXIS, y2: AXIS });
  makeShape(svg, "text", { x: at(0), y: AXIS + 11 }).textContent = "0";
  makeShape(svg, "text", { x: at(1), y: AXIS + 11, "text-anchor": "end" }).textContent = row.texts.top;
  addMarks(svg, row, place, at, UPPER, AXIS - 3);
  if (row.after === null) makeShape(svg, "text", { x: at(0) + 20, y: UPPER + 14 }).textContent = row.texts.no_score;
}

function drawHistory(cell, row, place) {
  const width = cell.clientWidth;
  const svg = makeShape(cell, "svg", { height: 40 });
  drawLine(svg, width, row.history, place, (share) => 33 - 26 * share, (mark, one, x, y, isLast) => {
    const group = addMark(svg, mark, x, y, one.label, 7);
    makeShape(group, "circle", { class: "after", cx: x, cy: y, r: isLast ? 4.5 : 3.2 });
  });
}
