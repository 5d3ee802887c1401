// The list of games: a row for each, with its name, what it begins with, its verdict, and a cell for each metric.

export default function (component) {
  return mountView(component, "Games with verdict and scores", drawGames);
}

function drawGames(view) {
  const { metrics, rows } = view.data;
  const head = makeNode("div", "row head");
  head.setAttribute("aria-hidden", "true");
  head.append(...["Game", "Verdict", ...metrics].map((text) => makeNode("span", "", text)));
  view.rows = rows.map((row, place) => makeGame(row, place, metrics));
  view.box.replaceChildren(head, ...view.rows);
  setTabStops(view);
}

function makeGame(row, place, metrics) {
  const node = makeNode("div", "row");
  node.setAttribute("role", "toolbar");
  node.setAttribute("aria-label", row.words);
  const name = makeNode("button", "name", row.label);
  name.type = "button";
  name.title = row.details;
  name.dataset.mark = `${place}:game:0`;
  const game = makeNode("div", "game");
  const title = makeNode("div", "title");
  title.append(name, makeNode("span", "iteration", row.iteration));
  game.append(title, makeNode("span", "opening", row.opening), makeNode("small", "", row.facts));
  const verdict = makeNode("div", "verdict");
  verdict.append(makeNode("span", `status ${row.color}`, row.verdict), makeNode("small", "", row.passed));
  if (row.chance) verdict.append(makeNode("small", "", row.chance));
  const cells = row.cells.map((cell, index) => makeScore(cell, metrics[index], `${place}:cell:${index}`));
  node.append(game, verdict, ...cells);
  return node;
}

function makeScore(cell, metric, mark) {
  const node = makeNode("button", `cell ${cell.color}`);
  node.type = "button";
  node.title = cell.label;
  node.setAttribute("aria-label", cell.label);
  node.dataset.mark = mark;
  node.append(makeNode("span", "metric", metric), makeNode("span", "", cell.text));
  return node;
}
