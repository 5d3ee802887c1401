// Why messages fail: reasons as bars by metric, each with messages as examples. Part of it is marks.js.

const BAR_HEIGHT = 22;

export default function (component) {
  return mountView(component, "Why messages fail", drawAtlas);
}

function drawAtlas(view) {
  const { groups, rows, legend } = view.data;
  const key = makeNode("div", "legend");
  key.append(...legend.map((text) => makeNode("span", "", text)));
  view.rows = rows.map(makeReason);
  const parts = [key];
  groups.forEach(({ title, words, first }, place) => {
    const heading = makeNode("h3", "", title);
    heading.append(makeNode("small", "", words));
    parts.push(heading, ...view.rows.slice(first, groups[place + 1]?.first));
  });
  view.box.replaceChildren(...parts);
  rows.forEach((row, place) => drawShare(view.rows[place].querySelector(".length"), row));
  setTabStops(view);
}

function makeReason(row, place) {
  const node = makeNode("div", "reason-row");
  node.setAttribute("role", "toolbar");
  node.setAttribute("aria-label", row.words);
  const bar = makeNode("button", "reason");
  bar.type = "button";
  bar.dataset.mark = `${place}:reason:0`;
  bar.setAttribute("aria-label", row.words);
  const what = makeNode("span", "what");
  what.append(makeNode("span", "label", row.label), makeNode("small", "", row.caption));
  bar.append(what, makeNode("span", "length"));
  if (row.trend) bar.append(makeNode("span", `status ${row.color}`, row.trend));
  const examples = makeNode("div", "examples");
  row.examples.forEach((text, index) => {
    const example = makeNode("button", "example", text);
    example.type = "button";
    example.dataset.mark = `${place}:example:${index}`;
    examples.append(example);
  });
  node.append(bar, examples);
  return node;
}

function drawShare(cell, row) {
  const width = cell.clientWidth;
  const svg = makeShape(cell, "svg", { height: BAR_HEIGHT, "aria-hidden": "true" });
  makeShape(svg, "line", { class: "axis-line", x1: 0, x2: width, y1: BAR_HEIGHT - 1, y2: BAR_HEIGHT - 1 });
  makeShape(svg, "rect", { class: "loss", x: 0, y: 4, width: Math.max(1, row.share * width), height: 14 });
  if (row.before === null) return;
  const at = Math.min(width - 1, Math.max(1, row.before * width));
  makeShape(svg, "line", { class: "reference", x1: at, x2: at, y1: 0, y2: BAR_HEIGHT });
}
