// A discussion as a chat: only the rows on screen exist in the document, so 5,000 messages scroll like 50.
// All text comes from strangers: it enters the page through textContent alone.

const GAP = 10;
const OVERSCAN = 800;
const VERDICTS = [
  { mark: "✓", word: "counts", css: "counts" },
  { mark: "✗", word: "does not count", css: "fails" },
  { mark: "○", word: "left out", css: "excluded" },
];
const views = new WeakMap();

export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  let view = views.get(parentElement);
  if (!view) {
    view = createView(parentElement);
    views.set(parentElement, view);
  }
  view.send = (detail) => setTriggerValue("open", detail);
  if (view.version !== data.version) {
    load(view, data);
  }
  if (data.focus && view.focusCount !== data.focus.count) {
    view.focusCount = data.focus.count;
    select(view, data.focus.row, data.focus.metric);
    scrollToRow(view, data.focus.row);
  }
  return () => {
    view.observer.disconnect();
    cancelAnimationFrame(view.frame);
    views.delete(parentElement);
  };
}

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function createView(root) {
  const view = { drawn: new Map(), selected: null, frame: 0, version: null, focusCount: 0, width: 0, found: [], at: -1 };
  const shell = element("div", "shell");
  view.bar = createSearch(view);
  view.scroller = element("div", "scroller");
  view.scroller.tabIndex = 0;
  view.scroller.setAttribute("role", "region");
  view.scroller.setAttribute("aria-label", "Conversation");
  view.canvas = element("div", "canvas");
  view.scroller.append(view.canvas);
  shell.append(view.bar, view.scroller);
  root.append(shell);
  view.scroller.onscroll = () => schedule(view);
  view.observer = new ResizeObserver(() => {
    if (Math.abs(view.scroller.clientWidth - view.width) < 1 || !view.rows) return;
    const anchor = rowAt(view, view.scroller.scrollTop);
    measureAnew(view);
    view.scroller.scrollTop = view.tops[anchor] ?? 0;
    schedule(view);
  });
  view.observer.observe(view.scroller);
  return view;
}

function createSearch(view) {
  const bar = element("div", "search");
  const input = element("input");
  input.type = "search";
  input.placeholder = "Find in this conversation";
  input.setAttribute("aria-label", "Find in this conversation");
  const count = element("span", "found", "");
  count.setAttribute("role", "status");
  const step = (by) => {
    if (!view.found.length) return;
    view.at = (view.at + by + view.found.length) % view.found.length;
    count.textContent = `${view.at + 1} of ${view.found.length}`;
    scrollToRow(view, view.found[view.at]);
    redraw(view);
  };
  input.oninput = () => {
    view.needle = input.value.trim().toLowerCase();
    view.found = view.needle ? matches(view) : [];
    view.at = -1;
    count.textContent = view.needle ? (view.found.length ? `${view.found.length} found` : "nothing found") : "";
    if (view.found.length) step(1);
    else redraw(view);
  };
  input.onkeydown = (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  };
  const previous = iconButton("↑", "Previous match", () => step(-1));
  const next = iconButton("↓", "Next match", () => step(1));
  bar.append(input, count, previous, next);
  return bar;
}

function iconButton(text, label, onclick) {
  const button = element("button", "icon", text);
  button.type = "button";
  button.setAttribute("aria-label", label);
  button.onclick = onclick;
  return button;
}

function matches(view) {
  const found = [];
  view.rows.forEach((row, index) => {
    if (row.k === "m" && row.x.toLowerCase().includes(view.needle)) found.push(index);
  });
  return found;
}

function load(view, data) {
  view.version = data.version;
  view.rows = data.rows;
  view.speakers = data.speakers;
  view.metrics = data.metrics;
  view.selected = null;
  measureAnew(view);
  view.scroller.scrollTop = 0;
  schedule(view);
}

// Heights are guessed from the length of the text and corrected once a row has been drawn.
function measureAnew(view) {
  view.width = view.scroller.clientWidth;
  const perLine = Math.max(24, (view.width - 90) / 7.4);
  view.heights = view.rows.map((row) => {
    if (row.k !== "m") return 34 + 20 * (row.l ? row.l.length : 0);
    const lines = row.x.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / perLine)), 0);
    return 62 + 23 * lines + (row.b.length ? 30 : 0);
  });
  clear(view);
  place(view, 0);
}

function clear(view) {
  for (const node of view.drawn.values()) node.remove();
  view.drawn.clear();
}

function place(view, from) {
  const tops = from === 0 ? new Array(view.heights.length) : view.tops;
  let top = from === 0 ? 4 : tops[from];
  for (let index = from; index < view.heights.length; index += 1) {
    tops[index] = top;
    top += view.heights[index] + GAP;
  }
  view.tops = tops;
  view.canvas.style.height = `${top}px`;
}

function rowAt(view, y) {
  let low = 0;
  let high = view.rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (view.tops[middle] <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

function schedule(view) {
  cancelAnimationFrame(view.frame);
  view.frame = requestAnimationFrame(() => draw(view));
}

function redraw(view) {
  clear(view);
  schedule(view);
}

function draw(view) {
  if (!view.rows || !view.rows.length) return;
  const top = view.scroller.scrollTop;
  const first = rowAt(view, top - OVERSCAN);
  const last = rowAt(view, top + view.scroller.clientHeight + OVERSCAN);
  for (const [index, node] of view.drawn) {
    if (index < first || index > last) {
      node.remove();
      view.drawn.delete(index);
    }
  }
  for (let index = first; index <= last; index += 1) {
    if (!view.drawn.has(index)) {
      const node = drawRow(view, index);
      view.drawn.set(index, node);
      view.canvas.append(node);
    }
  }
  correctHeights(view, first, last);
}

function correctHeights(view, first, last) {
  const anchor = rowAt(view, view.scroller.scrollTop);
  const before = view.tops[anchor];
  let changed = -1;
  for (let index = first; index <= last; index += 1) {
    const height = view.drawn.get(index).offsetHeight;
    if (Math.abs(height - view.heights[index]) > 0.5) {
      view.heights[index] = height;
      if (changed < 0) changed = index;
    }
  }
  if (changed >= 0) place(view, changed);
  for (const [index, node] of view.drawn) node.style.top = `${view.tops[index]}px`;
  const shift = view.tops[anchor] - before;
  if (shift) view.scroller.scrollTop += shift;
}

function drawRow(view, index) {
  const row = view.rows[index];
  const node = row.k === "m" ? drawMessage(view, row, index) : drawEvent(row);
  node.style.top = `${view.tops[index]}px`;
  return node;
}

function drawEvent(row) {
  const node = element("div", `event ${row.k}`);
  node.append(element("span", "title", row.x));
  for (const line of row.l ?? []) node.append(element("span", "line", line));
  return node;
}

function drawMessage(view, row, index) {
  const speaker = view.speakers[row.s];
  const chosen = view.selected && view.selected.index === index ? view.selected : null;
  const node = element("article", `message${chosen ? " chosen" : ""}${row.c ? " aside" : ""}`);
  node.setAttribute("aria-label", `Message ${row.n}`);
  node.dataset.message = row.i;
  const avatar = element("span", "avatar", initials(speaker.name));
  avatar.style.setProperty("--hue", String((row.s * 137 + 250) % 360));
  avatar.setAttribute("aria-hidden", "true");
  const body = element("div", "body");
  body.append(drawHead(view, row, speaker), drawText(view, row, index));
  if (row.b.length) body.append(drawBadges(view, row, index, chosen));
  node.append(avatar, body);
  return node;
}

function initials(name) {
  const words = name.split(/[\s_-]+/).filter(Boolean);
  const last = words[words.length - 1] ?? "?";
  return words.length > 1 ? [...words[0]][0] + [...last][0] : [...last].slice(0, 2).join("");
}

function drawHead(view, row, speaker) {
  const head = element("div", "head");
  head.append(element("span", "name", speaker.name));
  if (speaker.role) head.append(element("span", `role ${speaker.side ?? ""}`, speaker.role));
  if (row.c) head.append(element("span", "role", row.c));
  head.append(element("span", "number", `#${row.n}`));
  if (row.q >= 0) head.append(jumpButton(view, row.q, "replies to"));
  return head;
}

function jumpButton(view, target, words) {
  const button = element("button", "jump", `↪ ${words} #${view.rows[target].n}`);
  button.type = "button";
  button.onclick = () => {
    scrollToRow(view, target);
    flash(view, target);
  };
  return button;
}

function drawText(view, row, index) {
  const text = element("p", "text");
  let at = 0;
  for (const [start, end, css] of marksOf(view, row, index)) {
    if (start < at) continue;
    text.append(document.createTextNode(row.x.slice(at, start)));
    text.append(element("mark", css, row.x.slice(start, end)));
    at = end;
  }
  text.append(document.createTextNode(row.x.slice(at)));
  return text;
}

function marksOf(view, row, index) {
  const marks = [];
  const chosen = view.selected;
  const badge = chosen && view.rows[chosen.index].b.find((candidate) => candidate[0] === chosen.metric);
  if (badge) {
    if (chosen.index === index) for (const [start, end] of badge[2]) marks.push([start, end, VERDICTS[badge[1]].css]);
    for (const [place, start, end] of badge[3]) if (place === index) marks.push([start, end, "cited"]);
  }
  if (view.needle) {
    const lower = row.x.toLowerCase();
    // Lower-casing changes the length of a few letters; then the hit is found but not painted.
    if (lower.length === row.x.length) {
      for (let at = lower.indexOf(view.needle); at >= 0; at = lower.indexOf(view.needle, at + view.needle.length)) {
        marks.push([at, at + view.needle.length, "hit"]);
      }
    }
  }
  return marks.sort((one, other) => one[0] - other[0]);
}

function drawBadges(view, row, index, chosen) {
  const line = element("div", "badges");
  for (const badge of row.b) {
    const [metric, code, , , references, tally] = badge;
    const verdict = VERDICTS[code];
    const button = element("button", `badge ${verdict.css}`);
    button.type = "button";
    button.append(element("span", "sign", verdict.mark), document.createTextNode(` ${view.metrics[metric].short}${tally ? ` ${tally}` : ""}`));
    button.setAttribute("aria-label", `${view.metrics[metric].label}: ${verdict.word}. Show why.`);
    const pressed = Boolean(chosen && chosen.metric === metric);
    button.setAttribute("aria-pressed", String(pressed));
    button.onclick = () => {
      select(view, index, metric);
      view.send({ message: row.i, metric: view.metrics[metric].name, narrow: window.innerWidth < 700 });
    };
    line.append(button);
    if (pressed) for (const target of references) line.append(jumpButton(view, target, "rests on"));
  }
  return line;
}

function select(view, index, metric) {
  const focused = view.scroller.getRootNode().activeElement;
  const refocus = focused && focused.classList.contains("badge");
  view.selected = { index, metric };
  clear(view);
  draw(view);
  if (refocus) view.drawn.get(index)?.querySelector('.badge[aria-pressed="true"]')?.focus({ preventScroll: true });
}

function scrollToRow(view, index) {
  // The first jump lands on guessed heights; drawing there corrects them, so aim again until it holds.
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const aim = view.tops[index] - (view.scroller.clientHeight - Math.min(view.heights[index], 300)) / 3;
    view.scroller.scrollTop = Math.max(0, aim);
    draw(view);
  }
}

function flash(view, index) {
  const node = view.drawn.get(index);
  if (!node) return;
  node.classList.remove("flash");
  void node.offsetWidth;
  node.classList.add("flash");
}
