// The list of games: a row for each, with its name, what it begins with, its verdict, and a cell for each metric.

export default function (component) {
  return mountView(component, "Games with verdict and scores", drawGames);
}

function drawGames(view) {
  const { metrics, rows } = view.data;
  const head = makeHead(...["", "Game", "Verdict", ...metrics].map((text) => element("span", "", text)));
  view.rows = rows.map((row, place) => makeGame(row, place, metrics));
  view.box.replaceChildren(head, ...view.rows);
  setTabStops(view);
}

function makeGame(row, place, metrics) {
  const node = makeMarkRow("row", row.words);
  const name = makeMarkButton("name", row.label, `${place}:game:0`);
  name.title = row.details;
  const game = element("div", "game");
  const first = element("div", "first");
  first.append(name, element("span", "opening", row.opening));
  const facts = element("small", "facts");
  facts.append(element("span", "", row.facts), element("span", "", row.players));
  game.append(first, facts);
  const verdict = element("div", "verdict");
  verdict.append(element("span", `status ${row.color}`, row.verdict), element("small", "", row.passed));
  verdict.title = row.chance;
  const cells = row.cells.map((cell, index) => makeScore(cell, metrics[index], `${place}:cell:${index}`));
  const tick = makeMarkButton("tick", row.ticked ? "☑" : "☐", `${place}:tick:0`, `Set beside another game: ${row.label}`);
  tick.title = "Tick two games to read them side by side";
  tick.ariaPressed = String(row.ticked);
  node.append(game, verdict, ...cells, tick);
  return node;
}

function makeScore(cell, metric, mark) {
  const node = makeMarkButton(`cell ${cell.color}`, undefined, mark, cell.label);
  node.title = cell.label;
  node.append(element("span", "metric", metric), element("span", "", cell.text));
  return node;
}
