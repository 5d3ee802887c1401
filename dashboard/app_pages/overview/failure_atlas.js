// Why messages fail: reasons as bars by metric, each with messages as examples. Part of it is marks.js.

const BAR_HEIGHT = 22;

export default function (component) {
  return mountView(component, "Why messages fail", drawAtlas);
}

function drawAtlas(view) {
  const { groups, rows, legend } = view.data;
  view.rows = rows.map(makeReason);
  const parts = [makeLegend(legend)];
  groups.forEach(({ title, words, first }, place) => {
    const heading = element("h3", "", title);
    heading.append(element("small", "", words));
    parts.push(heading, ...view.rows.slice(first, groups[place + 1]?.first));
  });
  view.box.replaceChildren(...parts);
  rows.forEach((row, place) => drawShare(view.rows[place].querySelector(".length"), row, view.data.most));
  setTabStops(view);
}

function makeReason(row, place) {
  const node = makeMarkRow("reason-row", row.words);
  const bar = makeMarkButton("reason", undefined, `${place}:reason:0`, row.words);
  const what = element("span", "what");
  what.append(element("span", "label", row.label), element("small", "", row.caption));
  bar.append(what, element("span", "length"));
  if (row.trend) bar.append(element("small", "trend", row.trend));
  const [first, ...others] = row.examples.map((text, index) => makeMarkButton("example", text, `${place}:example:${index}`));
  node.append(bar, ...(first ? [first] : []));
  if (others.length) node.append(makeFold(others));
  return node;
}

// The marks of a fold are reached by the arrow keys when it is open; it is itself a stop of the Tab key.
function makeFold(examples) {
  const fold = element("details");
  fold.append(element("summary", "", `${examples.length} more ${examples.length === 1 ? "example" : "examples"}`), ...examples);
  fold.onclick = (event) => event.target.tagName === "SUMMARY" && event.stopPropagation();
  return fold;
}

// All bars end where the largest share does, so that small ones can be told apart.
function drawShare(cell, row, most) {
  const width = cell.clientWidth;
  const at = (share) => Math.min(width - 1, Math.max(1, (share / most) * width));
  const svg = makeShape(cell, "svg", { height: BAR_HEIGHT, "aria-hidden": "true" });
  makeShape(svg, "line", { class: "axis-line", x1: 0, x2: width, y1: BAR_HEIGHT - 1, y2: BAR_HEIGHT - 1 });
  makeShape(svg, "rect", { class: "loss", x: 0, y: 4, width: at(row.share), height: 14 });
  if (row.before === null) return;
  makeShape(svg, "line", { class: "reference", x1: at(row.before), x2: at(row.before), y1: 0, y2: BAR_HEIGHT });
}
