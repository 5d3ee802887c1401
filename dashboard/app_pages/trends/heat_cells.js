// All metrics over iterations: a cell for each mean, coloured by its distance from the threshold.

export default function (component) {
  return mountView(component, "Means of all metrics over iterations", drawCells);
}

function drawCells(view) {
  const { iterations, rows } = view.data;
  const table = element("div", "cells");
  table.style.setProperty("--iterations", iterations.length);
  const head = makeHead(element("span"), ...iterations.map((text) => element("span", "iteration", text)));
  view.rows = rows.map(makeRow);
  table.append(head, ...view.rows);
  view.box.replaceChildren(table);
  setTabStops(view);
}

function makeRow(row, place) {
  const node = makeMarkRow("row", row.words);
  const name = makeMarkButton("name", row.label, `${place}:metric:0`);
  node.append(name, ...row.cells.map((cell) => makeCell(cell, place)));
  return node;
}

function makeCell(cell, place) {
  const css = `cell ${cell.color}`;
  const node =
    cell.mark === null
      ? element("span", css, cell.text)
      : makeMarkButton(css, cell.text, `${place}:cell:${cell.mark}`, cell.label);
  node.style.setProperty("--depth", `${cell.depth}%`);
  node.title = cell.label;
  return node;
}
