// All metrics over iterations: a cell for each mean, coloured by its distance from the threshold.

export default function (component) {
  return mountView(component, "Means of all metrics over iterations", drawCells);
}

function drawCells(view) {
  const { iterations, rows } = view.data;
  const table = makeNode("div", "cells");
  table.style.setProperty("--iterations", iterations.length);
  const head = makeNode("div", "row head");
  head.setAttribute("aria-hidden", "true");
  head.append(makeNode("span"), ...iterations.map((text) => makeNode("span", "iteration", text)));
  view.rows = rows.map(makeRow);
  table.append(head, ...view.rows);
  view.box.replaceChildren(table);
  setTabStops(view);
}

function makeRow(row, place) {
  const node = makeNode("div", "row");
  node.setAttribute("role", "toolbar");
  node.setAttribute("aria-label", row.words);
  const name = makeNode("button", "name", row.label);
  name.type = "button";
  name.dataset.mark = `${place}:metric:0`;
  node.append(name, ...row.cells.map((cell) => makeCell(cell, place)));
  return node;
}

function makeCell(cell, place) {
  const isMark = cell.mark !== null;
  const node = makeNode(isMark ? "button" : "span", `cell ${cell.color}`, cell.text);
  node.style.setProperty("--depth", `${cell.depth}%`);
  node.title = cell.label;
  if (isMark) {
    node.type = "button";
    node.setAttribute("aria-label", cell.label);
    node.dataset.mark = `${place}:cell:${cell.mark}`;
  }
  return node;
}
