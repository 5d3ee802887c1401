// Replay: the game message by message, with the graph of who addresses whom as it stands at that moment.
// Part of the module chat_view.js. Names are untrusted text: textContent and setAttribute("aria-label") alone.

const SVG = "http://www.w3.org/2000/svg";
const STEP_MS = 1200;
const SPEEDS = [0.5, 1, 2, 4, 8];
const GRAPH_HEIGHT = 210;
const DOT = 8;
const MOST_PAIRS_SAID = 6;

function createReplay(view) {
  const panel = element("div", "replay");
  panel.hidden = true;
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", "Replay");
  view.graph = document.createElementNS(SVG, "svg");
  view.graph.setAttribute("role", "img");
  view.playButton = actionButton("step", "▶ Play", "");
  const back = actionButton("icon", "‹", "", "One step back");
  const forth = actionButton("icon", "›", "", "One step on");
  view.speed = element("select");
  view.speed.setAttribute("aria-label", "Speed");
  view.speed.append(...SPEEDS.map((speed) => new Option(`${speed} ×`, String(speed), speed === 1, speed === 1)));
  view.range = element("input");
  view.range.type = "range";
  view.range.min = "0";
  view.range.setAttribute("aria-label", "Step of the game");
  view.stepWords = element("span", "step-words");
  view.stepWords.setAttribute("role", "status");
  view.playButton.onclick = () => (view.playing ? pause(view) : play(view));
  back.onclick = () => showStepByHand(view, view.replayAt - 1);
  forth.onclick = () => showStepByHand(view, view.replayAt + 1);
  view.range.oninput = () => showStepByHand(view, Number(view.range.value));
  panel.onkeydown = (event) => {
    if (event.key === "Escape") closeReplay(view);
  };
  const controls = element("div", "replay-controls");
  controls.append(view.playButton, back, forth, view.range, view.speed);
  const legend = element("p", "legend", "Arrows: who addresses whom so far, wider for more messages. Dashed: votes. ✕: left the game.");
  panel.append(controls, view.stepWords, view.graph, legend);
  view.panel = panel;
  view.replayAt = null;
  return panel;
}

function createReplayButton(view) {
  view.replayButton = actionButton("step", "▶ Replay", "", "Replay the game message by message");
  view.replayButton.setAttribute("aria-expanded", "false");
  view.replayButton.onclick = () => (view.replayAt === null ? openReplay(view) : closeReplay(view));
  return view.replayButton;
}

function openReplay(view) {
  if (!view.rows.length) return;
  view.panel.hidden = false;
  view.shell.classList.add("replaying");
  view.replayButton.setAttribute("aria-expanded", "true");
  view.range.max = String(view.rows.length - 1);
  view.mostAddressed = Math.max(1, ...talkUntil(view, view.rows.length - 1).counts.values());
  showStep(view, 0);
  view.shell.scrollIntoView({ block: "start" });
  view.playButton.focus({ preventScroll: true });
}

function closeReplay(view) {
  pause(view);
  const held = view.panel.contains(view.panel.getRootNode().activeElement);
  view.replayAt = null;
  view.panel.hidden = true;
  view.shell.classList.remove("replaying");
  view.replayButton.setAttribute("aria-expanded", "false");
  for (const [index, node] of view.drawn) hideLater(view, node, index);
  schedule(view);
  if (held) view.replayButton.focus();
}

function play(view) {
  if (view.replayAt >= view.rows.length - 1) showStep(view, 0);
  view.playing = true;
  view.playButton.textContent = "❚❚ Pause";
  waitForNextStep(view);
}

function pause(view) {
  view.playing = false;
  clearTimeout(view.timer);
  view.playButton.textContent = "▶ Play";
}

function waitForNextStep(view) {
  clearTimeout(view.timer);
  view.timer = setTimeout(() => {
    showStep(view, view.replayAt + 1);
    if (view.replayAt >= view.rows.length - 1) pause(view);
    else waitForNextStep(view);
  }, STEP_MS / Number(view.speed.value));
}

function showStepByHand(view, at) {
  pause(view);
  showStep(view, at);
}

function showStep(view, at) {
  view.replayAt = Math.max(0, Math.min(view.rows.length - 1, at));
  view.range.value = String(view.replayAt);
  for (const [index, node] of view.drawn) hideLater(view, node, index);
  scrollToRow(view, view.replayAt);
  const words = stepWords(view);
  view.range.setAttribute("aria-valuetext", words);
  view.stepWords.textContent = words;
  drawGraph(view);
}

// What is not said yet is neither seen nor reached by the keyboard.
function hideLater(view, node, index) {
  node.classList.toggle("later", view.replayAt !== null && index > view.replayAt);
  node.classList.toggle("current", index === view.replayAt);
}

function stepWords(view) {
  const row = view.rows[view.replayAt];
  const step = `Step ${view.replayAt + 1} of ${view.rows.length}`;
  if (row.k !== "m") return `${step}: ${row.x}`;
  const to = row.a.map((place) => view.speakers[place].name).join(", ");
  return `${step}: #${row.n} ${view.speakers[row.s].name}${to ? ` to ${to}` : ""}`;
}

function talkUntil(view, last) {
  const counts = new Map();
  const gone = new Set();
  for (const row of view.rows.slice(0, last + 1)) {
    if (row.k === "e") gone.add(row.p);
    for (const to of row.a ?? []) counts.set(`${row.s}>${to}`, (counts.get(`${row.s}>${to}`) ?? 0) + 1);
  }
  return { counts, gone };
}

function drawGraph(view) {
  const width = Math.max(240, view.panel.clientWidth - 20);
  const { counts, gone } = talkUntil(view, view.replayAt);
  const row = view.rows[view.replayAt];
  const spots = view.speakers.map((_, place) => spotOf(place, view.speakers.length, width));
  view.graph.setAttribute("viewBox", `0 0 ${width} ${GRAPH_HEIGHT}`);
  view.graph.setAttribute("width", width);
  view.graph.setAttribute("height", GRAPH_HEIGHT);
  view.graph.setAttribute("aria-label", graphWords(view, counts));
  view.graph.replaceChildren(arrowTips());
  for (const [pair, count] of counts) {
    const [from, to] = pair.split(">").map(Number);
    const isNow = row.s === from && (row.a ?? []).includes(to);
    const wide = 1 + 5 * Math.sqrt(count / view.mostAddressed);
    drawArrow(view, spots[from], spots[to], isNow ? "arrow now" : "arrow", wide);
  }
  for (const [from, to] of row.v ?? []) drawArrow(view, spots[from], spots[to], "arrow vote", 2);
  const letters = Math.max(5, Math.floor(width / view.speakers.length / 4));
  view.speakers.forEach(({ name }, place) => drawPlayer(view, name, place, spots[place], letters, gone.has(place), row.s === place));
}

function spotOf(place, count, width) {
  const turn = (2 * Math.PI * place) / count - Math.PI / 2;
  return [width / 2 + (width / 2 - 60) * Math.cos(turn), GRAPH_HEIGHT / 2 + (GRAPH_HEIGHT / 2 - 28) * Math.sin(turn)];
}

function shape(parent, tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent.append(node);
  return node;
}

function arrowTips() {
  const tips = document.createElementNS(SVG, "defs");
  for (const kind of ["arrow", "now", "vote"]) {
    const tip = shape(tips, "marker", {
      id: `tip-${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9,
      markerUnits: "userSpaceOnUse", orient: "auto", class: `tip-${kind}`,
    });
    shape(tip, "path", { d: "M0 0L8 4L0 8Z" });
  }
  return tips;
}

function drawArrow(view, [x1, y1], [x2, y2], css, wide) {
  const away = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / away, (y2 - y1) / away];
  const [bendX, bendY] = [(x1 + x2) / 2 - dy * 0.12 * away, (y1 + y2) / 2 + dx * 0.12 * away];
  const [endX, endY] = [x2 - dx * (DOT + 4) - dy * 3, y2 - dy * (DOT + 4) + dx * 3];
  shape(view.graph, "path", {
    d: `M${x1} ${y1}Q${bendX} ${bendY} ${endX} ${endY}`, class: css, "stroke-width": wide,
    "marker-end": `url(#tip-${css.split(" ").pop()})`,
  });
}

function drawPlayer(view, name, place, [x, y], letters, isGone, isSpeaking) {
  const dot = shape(view.graph, "circle", { cx: x, cy: y, r: DOT, class: `player${isGone ? " gone" : ""}${isSpeaking ? " speaking" : ""}` });
  shape(dot, "title", {}).textContent = name;
  const label = shape(view.graph, "text", { x, y: y < GRAPH_HEIGHT / 2 ? y - DOT - 5 : y + DOT + 13, "text-anchor": "middle", class: isGone ? "gone" : "" });
  const letter = [...name];
  label.textContent = `${isGone ? "✕ " : ""}${letter.length > letters ? `${letter.slice(0, letters - 1).join("")}…` : name}`;
}

function graphWords(view, counts) {
  const ranked = [...counts].sort((one, other) => other[1] - one[1]).slice(0, MOST_PAIRS_SAID);
  const said = ranked.map(([pair, count]) => {
    const [from, to] = pair.split(">").map((place) => view.speakers[place].name);
    return `${from} to ${to} ${count}`;
  });
  return said.length ? `Messages so far: ${said.join(", ")}` : "Nobody has addressed anybody yet";
}
