// Scores before and after, a row each: of iterations, variants, the two sides of an experiment, or runs of an agent.

const HEIGHT = 38;
const UPPER = 12;
const AXIS = 32;

export default function (component) {
  return mountView(component, "Metrics, before and after", drawRows);
}

// What a row leaves out.
const NO_TEXTS = { outcome: "", range: "", threshold: "", no_score: "no score" };

function drawRows(view) {
  const { legend } = view.data;
  const rows = view.data.rows.map((row) => ({ threshold: null, ...row, texts: { ...NO_TEXTS, ...row.texts } }));
  const axis = element("div", "axis");
  const head = makeHead(element("span"), axis, element("span", "now", view.data.now), element("span"));
  view.rows = rows.map(makeRow);
  view.box.replaceChildren(makeLegend(legend), head, ...view.rows);
  // The widths of the pictures are known only now that they are laid out.
  drawAxis(axis, view.data.ticks ?? [0, 25, 50, 75, 100]);
  rows.forEach((row, place) => {
    drawMarks(view.rows[place].querySelector(".picture"), row, place, view.data.begin ?? 0);
    if (row.history) drawHistory(view.rows[place].querySelector(".history"), row, place);
  });
  setTabStops(view);
}

function makeRow(row, place) {
  const node = makeMarkRow(row.isTarget ? "row aimed" : "row", row.words);
  const title = element("div", "title");
  const name = makeMarkButton("name", row.label, `${place}:metric:0`);
  const aim = element("small", "", row.texts.threshold);
  if (row.isTarget) aim.append(" · ", element("span", "target", "target"));
  title.append(name, aim);
  const now = element("div", "now", row.texts.current);
  now.append(element("small", "", row.texts.change));
  const end = element("div", "end");
  const outcome = row.isNote ? element("small", "", row.texts.outcome) : makeVerdict(row.texts.outcome);
  outcome.title = row.texts.range;
  end.append(...(row.status ? [makeVerdict(row.status)] : []), ...(row.texts.outcome ? [outcome] : []));
  node.append(title, element("div", "picture"), now, row.history ? element("div", "end history") : end);
  return node;
}

function drawHistory(cell, row, place) {
  const svg = makeShape(cell, "svg", { height: HEIGHT });
  drawLine(svg, cell.clientWidth, row.history, place, (share) => AXIS - 24 * share, (mark, one, x, y, isLast) => {
    const group = addMark(svg, mark, x, y, one.label, 7);
    makeShape(group, "circle", { class: "after", cx: x, cy: y, r: isLast ? 4.5 : 3.2 });
  });
}

// The axis begins at a share of the scale below which nothing lies.
function drawMarks(cell, row, place, begin) {
  const width = cell.clientWidth;
  const at = (share) => placeOf((share - begin) / (1 - begin), width);
  const svg = makeShape(cell, "svg", { height: HEIGHT });
  if (row.threshold !== null) makeShape(svg, "rect", { class: "below", x: at(begin), y: 3, width: at(row.threshold) - at(begin), height: AXIS - 3 });
  makeShape(svg, "line", { class: "axis-line", x1: at(begin), x2: at(1), y1: AXIS, y2: AXIS });
  if (row.threshold !== null) makeShape(svg, "line", { class: "threshold", x1: at(row.threshold), x2: at(row.threshold), y1: 1, y2: AXIS + 2 });
  addMarks(svg, row, place, at, UPPER, AXIS - 3);
  if (row.after === null) {
    // Beside the threshold's line, on the side that has room.
    const x = row.threshold < 0.6 ? at(row.threshold) + 8 : at(begin) + 6;
    makeShape(svg, "text", { x, y: UPPER + 12 }).textContent = row.texts.no_score;
  }
}
