// Two discussions beside each other, to be read and compared; on a narrow page one below the other.
// Names and texts are untrusted: they enter the page through textContent alone.

const shown = new WeakMap();

export default function ({ parentElement, data }) {
  if (shown.get(parentElement) === data.version) return;
  shown.set(parentElement, data.version);
  parentElement.querySelector(".pair")?.remove();
  const pair = makePart("div", "pair");
  pair.append(...data.sides.map(makeSide));
  parentElement.append(pair);
}

function makePart(tag, className, text) {
  const node = document.createElement(tag);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function makeSide(side) {
  const node = makePart("section", "side");
  const title = makePart("h3", "title", side.title);
  const list = makePart("div", "discussion");
  list.tabIndex = 0;
  list.setAttribute("role", "region");
  list.setAttribute("aria-label", `${side.title}, discussion`);
  list.append(...side.rows.map(makeLine));
  node.append(title, list);
  return node;
}

function makeLine(row) {
  if (row.speaker === null) return makePart("p", "event", row.text);
  const line = makePart("article", "message");
  line.append(makePart("span", "speaker", row.speaker), makePart("p", "text", row.text));
  return line;
}
