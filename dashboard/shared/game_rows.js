// The list of games: a row for each, with its name, its verdict, and a cell for each metric.

export default function (component) {
  return mountView(component, "Games with verdict and scores", drawGames);
}

function drawGames(view) {
  const { metrics, rows } = view.data;
  const head = makeHead(...["", "Game", "Verdict", "Passed", "At chance", ...metrics.map((metric) => metric.join(", "))].map((text) => element("span", "", text)));
  view.rows = rows.map((row, place) => makeGame(row, place, metrics));
  // Above the first game of an iteration stand its name and its means, in the columns of their metrics.
  view.box.replaceChildren(head, ...view.rows.flatMap((node, place) => (rows[place].group ? [makeGroup(rows[place].group), node] : [node])));
  setTabStops(view);
}

function makeGroup([name, ...means]) {
  const node = element("div", "group");
  node.append(element("span"), element("span", "", name), element("span", "", "mean"), element("span"), element("span"), ...means.map((mean) => element("span", "number", mean)));
  return node;
}

function makeGame(row, place, metrics) {
  const node = makeMarkRow("row", row.words);
  const name = makeMarkButton("name", row.label, `${place}:game:0`);
  name.title = row.details;
  const game = element("div", "game");
  game.append(name, element("small", "facts", row.facts), element("small", "passes", row.passes));
  const verdict = element("div", "verdict");
  verdict.append(makeVerdict(row.verdict));
  verdict.title = row.chance;
  const counts = [row.passed, row.atChance].map((text) => element("span", "number", text));
  const cells = row.cells.map((cell, index) => makeScore(cell, metrics[index], `${place}:cell:${index}`));
  node.append(game, verdict, ...counts, ...cells);
  if (row.ticked === null) return node;
  const tick = makeMarkButton("tick", row.ticked ? "☑" : "☐", `${place}:tick:0`, `Set beside another game: ${row.label}`);
  tick.title = "Tick two games to read them side by side";
  tick.ariaPressed = String(row.ticked);
  node.append(tick);
  return node;
}

function makeScore(cell, [metric, unit], mark) {
  const node = makeMarkButton(cell.color === "red" ? "cell fails" : "cell", undefined, mark, cell.label);
  node.title = cell.label;
  const score = element("span", `status ${cell.color}`, cell.text);
  score.append(element("span", "unit", ` ${unit}`));
  node.append(element("span", "metric", metric), score, element("small", "", cell.word));
  return node;
}
