// What all pictures made of marks share: elements, the life of a view, and redrawing when data or width change.
// Names are untrusted text: they are only ever put in by textContent and setAttribute("aria-label").

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 8;
const views = new WeakMap();

function makeNode(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function makeShape(parent, tag, attributes) {
  const shape = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  parent.append(shape);
  return shape;
}

// The place of a value (a share of the scale, from 0 to 1) in a picture that is so wide.
function placeOf(share, width) {
  return MARGIN + share * (width - 2 * MARGIN);
}

// Drawn anew only when the data or the width differ: nodes replaced between press and release would lose the click.
function mountView({ parentElement, data, setTriggerValue }, label, draw, listen) {
  let view = views.get(parentElement);
  if (!view) {
    view = { runs: 0, width: 0, drawn: "", focus: new Map() };
    view.box = makeNode("div", "picture-box");
    view.box.setAttribute("role", "group");
    view.box.setAttribute("aria-label", label);
    parentElement.append(view.box);
    view.observer = new ResizeObserver(() => redraw(view, draw));
    view.observer.observe(view.box);
    listen(view);
    views.set(parentElement, view);
  }
  view.runs += 1;
  const run = view.runs;
  view.data = data;
  view.open = (row, kind, index) => setTriggerValue("open", { row, kind, index });
  redraw(view, draw);
  // A call that was overtaken by the next one must not take the view down.
  return () => {
    if (view.runs !== run) return;
    view.observer.disconnect();
    view.box.remove();
    views.delete(parentElement);
  };
}

function redraw(view, draw) {
  const text = JSON.stringify(view.data);
  const width = view.box.clientWidth;
  if (!width || (text === view.drawn && width === view.width)) return;
  view.drawn = text;
  view.width = width;
  const held = view.box.getRootNode().activeElement?.dataset?.mark;
  draw(view);
  if (held) view.box.querySelector(`[data-mark="${held}"]`)?.focus({ preventScroll: true });
}
