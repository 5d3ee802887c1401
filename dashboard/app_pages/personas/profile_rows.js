// An agent's dimensions, a row each: score, interval over games, games, and earlier runs.

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
  const node = makeNode("div", "row");
  node.setAttribute("role", "toolbar");
  node.setAttribute("aria-label", row.words);
  const title = makeNode("div", "title");
  const name = makeNode("button", "name", row.label);
  name.type = "button";
  name.dataset.mark = `${place}:metric:0`;
  title.append(name, makeNode("small", "", row.texts.judged));
  const now = makeNode("div", "now", row.texts.score);
  now.append(makeNode("small", "", row.texts.change));
  node.append(title, makeNode("div", "picture"), now, makeNode("div", "history"));
  return node;
}

function drawMarks(cell, row, place) {
  const at = (share) => placeOf(share, cell.clientWidth);
  const svg = makeShape(cell, "svg", { height: HEIGHT });
  makeShape(svg, "line", { class: "axis-line", x1: at(0), x2: at(1), y1: AXIS, y2: AXIS });
  makeShape(svg, "text", { x: at(0), y: AXIS + 11 }).textContent = "0";
  makeShape(svg, "text", { x: at(1), y: AXIS + 11, "text-anchor": "end" }).textContent = row.texts.top;
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
  if (row.after === null) {
    makeShape(svg, "text", { x: at(0) + 20, y: UPPER + 14 }).textContent = row.texts.no_score;
    return;
  }
  const group = addMark(svg, `${place}:after:0`, at(row.after), UPPER, row.texts.after, 10);
  makeShape(group, "circle", { class: "after", cx: at(row.after), cy: UPPER, r: 6.5 });
}

function drawHistory(cell, row, place) {
  const width = cell.clientWidth;
  const svg = makeShape(cell, "svg", { height: 40 });
  const step = (width - 2 * MARGIN) / Math.max(1, row.history.length - 1);
  const x = (index) => (row.history.length === 1 ? width / 2 : MARGIN + index * step);
  const y = (share) => 33 - 26 * share;
  let path = "";
  row.history.forEach((one, index) => {
    const joins = index > 0 && row.history[index - 1].place !== null;
    if (one.place !== null) path += `${joins ? "L" : "M"}${x(index)} ${y(one.place)}`;
  });
  makeShape(svg, "path", { class: "line", d: path });
  row.history.forEach((one, index) => {
    if (one.place === null) return;
    const group = addMark(svg, `${place}:history:${index}`, x(index), y(one.place), one.label, 7);
    makeShape(group, "circle", { class: "after", cx: x(index), cy: y(one.place), r: index === row.history.length - 1 ? 4.5 : 3.2 });
  });
}
