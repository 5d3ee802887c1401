// Elements of inline components, and the life of their views. It stands before the other parts of each component.
// Text is untrusted: it is only ever put in by textContent and setAttribute.

const views = new WeakMap();

function element(tag, className, text, attributes = {}) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(name, value);
  return node;
}

// A part that the keyboard scrolls.
function region(className, label) {
  return element("div", className, undefined, { role: "region", "aria-label": label, tabindex: 0 });
}

// A text whose `marks` (start, end, class), in order, are marked; of one that overlaps an earlier one what is left.
function paintText(node, content, marks) {
  const parts = [];
  let at = 0;
  for (const [start, end, css] of marks) {
    if (end <= at) continue;
    const from = Math.max(at, start);
    parts.push(content.slice(at, from), element("mark", css, content.slice(from, end)));
    at = end;
  }
  node.replaceChildren(...parts, content.slice(at));
}

// The one look of a verdict: its words in the colour of their sign, amber where it is held with care.
function makeVerdict(text, tag = "span") {
  return element(tag, `status ${text.includes(WITH_CARE) ? "orange" : COLORS[text[0]] ?? "gray"}`, text);
}

// Streamlit calls a component again when its data or the theme change, and cleans up after a call that was overtaken by
// the next one while the view is still in use: only the clean-up of the last call may take it down.
function mount(parentElement, create, update, remove) {
  let view = views.get(parentElement);
  if (!view) {
    view = create(parentElement);
    view.run = 0;
    views.set(parentElement, view);
  }
  view.run += 1;
  const run = view.run;
  update(view);
  return () => {
    if (view.run !== run) return;
    remove(view);
    views.delete(parentElement);
  };
}
