// Messages that a search found: a row for each, with its game, place and speaker, and what was found marked.

export default function (component) {
  return mountView(component, "Messages found", drawFound);
}

function drawFound(view) {
  view.rows = view.data.rows.map(makeFound);
  view.box.replaceChildren(...view.rows);
  setTabStops(view);
}

function makeFound(row, place) {
  const node = makeMarkRow("row", row.words);
  const text = element("span", "text");
  text.append(...row.parts.map(([part, isHit]) => (isHit ? element("mark", "", part) : part)));
  node.append(makeMarkButton("name", row.place, `${place}:message:0`), text);
  return node;
}
