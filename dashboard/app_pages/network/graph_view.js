// Who addresses whom: dots and arrows at places that the server has computed, once for wide and once for narrow pages.
// Names are untrusted text: they are only ever put in by textContent and setAttribute("aria-label").

const SVG = "http://www.w3.org/2000/svg";
const NARROW = 700;
const RADIUS = 11;
const LABEL = 28;
const views = new WeakMap();

export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  let view = views.get(parentElement);
  if (!view) {
    view = createView(parentElement);
    views.set(parentElement, view);
  }
  view.data = data;
  view.send = (place) => setTriggerValue("open", place);
  view.run += 1;
  const run = view.run;
  draw(view);
  // A call that was overtaken by the next one must not take the view down.
  return () => {
    if (view.run === run) {
      view.observer.disconnect();
      view.shell.remove();
      views.delete(parentElement);
    }
  };
}

function createView(root) {
  const view = { run: 0, shape: -1, data: null, send: null };
  view.shell = document.createElement("div");
  view.shell.className = "graph";
  root.append(view.shell);
  view.observer = new ResizeObserver(() => {
    if (view.data && shapeOf(view) !== view.shape) draw(view);
  });
  view.observer.observe(view.shell);
  view.shell.onclick = (event) => choose(view, event.target.closest("[data-place]"));
  view.shell.onkeydown = (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(view, event.target.closest("[data-place]"));
    }
  };
  return view;
}

function shapeOf(view) {
  return view.shell.clientWidth < NARROW ? 1 : 0;
}

function choose(view, node) {
  if (!node) return;
  const place = Number(node.dataset.place);
  view.send(place === view.data.chosen ? -1 : place);
}

function draw(view) {
  const focused = view.shell.getRootNode().activeElement?.dataset?.place;
  view.shape = shapeOf(view);
  const { data } = view;
  const layout = data.layouts[view.shape];
  const picture = make("svg", { viewBox: `0 0 ${layout.width} ${layout.height}`, role: "group" });
  picture.setAttribute("aria-label", "Who addresses whom. Every player is a button; the tables below hold the same.");
  picture.style.maxWidth = `${layout.width * 1.25}px`;
  picture.append(tips());
  data.arrows.forEach((arrow, at) => picture.append(arrowOf(arrow, layout.paths[at], data.chosen)));
  data.players.forEach((player, place) => picture.append(playerOf(player, place, layout.spots[place], data)));
  data.arrows.forEach((arrow, at) => {
    if (layout.numbers[at]) picture.append(numberOf(arrow, layout.numbers[at], data.chosen));
  });
  view.shell.replaceChildren(picture);
  if (focused !== undefined) picture.querySelector(`[data-place="${focused}"]`)?.focus();
}

function sideOf(arrow, chosen) {
  if (chosen === null) return "";
  if (arrow.from === chosen) return "out";
  return arrow.to === chosen ? "back" : "aside";
}

function arrowOf(arrow, path, chosen) {
  const side = sideOf(arrow, chosen);
  return make("path", {
    d: path,
    class: `arrow ${side} ${arrow.mutual ? "mutual" : "one-way"}`,
    "stroke-width": arrow.width,
    "marker-end": `url(#tip-${side || "plain"})`,
  });
}

function numberOf(arrow, [x, y], chosen) {
  const side = sideOf(arrow, chosen);
  const number = make("text", { x, y: y + 4, class: `number ${side}`, "aria-hidden": "true" });
  number.textContent = String(arrow.count);
  return number;
}

function playerOf(player, place, spot, data) {
  const isChosen = place === data.chosen;
  const isNear = data.chosen === null || isChosen || data.arrows.some(
    (arrow) => (arrow.from === data.chosen && arrow.to === place) || (arrow.to === data.chosen && arrow.from === place),
  );
  const group = make("g", { class: `player ${player.side}${isNear ? "" : " aside"}`, role: "button", tabindex: 0, "data-place": place });
  group.setAttribute("aria-pressed", String(isChosen));
  const side = player.side && player.side !== "unknown" ? `${player.side}, ` : "";
  group.setAttribute("aria-label", `${player.name}, ${side}${counted(player.messages)}`);
  const label = make("text", { x: spot.x, y: spot.y + LABEL, "aria-hidden": "true" });
  label.textContent = spot.label;
  const title = make("title", {});
  title.textContent = `${player.name}: ${side}${counted(player.messages)}`;
  // Large enough for a finger.
  const area = make("circle", { cx: spot.x, cy: spot.y, r: 2 * RADIUS, class: "area" });
  group.append(title, area, make("circle", { cx: spot.x, cy: spot.y, r: RADIUS, class: "dot" }), label);
  return group;
}

function counted(messages) {
  return messages === 1 ? "1 message" : `${messages} messages`;
}

function tips() {
  const all = make("defs", {});
  for (const side of ["plain", "out", "back", "aside"]) {
    const tip = make("marker", {
      id: `tip-${side}`, viewBox: "0 0 8 8", refX: 1, refY: 4, markerWidth: 10, markerHeight: 10,
      markerUnits: "userSpaceOnUse", orient: "auto", class: `tip ${side}`,
    });
    tip.append(make("path", { d: "M0 0L8 4L0 8Z" }));
    all.append(tip);
  }
  return all;
}

function make(name, attributes) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}
