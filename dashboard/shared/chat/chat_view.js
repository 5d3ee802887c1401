// A discussion as a chat: only the rows on screen exist in the document, so 5,000 messages scroll like 50.
// Put before it: elements.js, chat_rows.js, which draws a row, chat_steps.js, which goes from one failing message to the next,
// and chat_strip.js, which draws the strip beside the rows.

const GAP = 10;
const OVERSCAN = 800;
const NARROW = 700;
const MOST_MEMORIES = 20;
// Where people were in each conversation: Streamlit mounts a view again when an element above it comes or goes.
const memories = new Map();

// One game, or two beside each other below one finder and one stepper, which move both.
export default function ({ parentElement, data, setTriggerValue }) {
  const games = data.games ?? [data];
  const receive = (views) => views.forEach((view, place) => {
    view.send = (detail) => setTriggerValue("open", { ...detail, game: place });
    view.data = games[place];
    whenReleased(view, () => update(view));
  });
  return mount(parentElement, (root) => createViews(root, games.length), receive, (views) => views.forEach(remove));
}

function createViews(root, count) {
  const views = [];
  const box = count > 1 ? element("div", "pair") : root;
  if (count > 1) root.append(box);
  for (let place = 0; place < count; place += 1) createView(box, views);
  if (count > 1) {
    const bars = element("div", "bars");
    bars.append(...views[0].bars);
    bars.querySelector("input").placeholder = "Find in both conversations";
    box.prepend(bars);
  }
  return views;
}

function createView(root, peers) {
  const view = { drawn: new Map(), selected: null, frame: 0, focusCount: 0, found: [], at: -1, late: [], peers };
  peers.push(view);
  view.shell = element("div", "shell");
  view.scroller = region("scroller", "Conversation");
  view.canvas = element("div", "canvas");
  view.scroller.append(view.canvas);
  const stage = element("div", "stage");
  stage.append(view.scroller, createStrip(view));
  view.tally = element("span", "found", undefined, { role: "status" });
  view.picker = peers[0].picker ?? element("select", "", undefined, { "aria-label": "Which verdicts to step through" });
  if (peers[0] === view) view.bars = [createSearch(view), createStepper(view)];
  view.shell.append(...(view.bars ?? []), stage);
  root.append(view.shell);
  view.scroller.onscroll = () => schedule(view);
  view.canvas.onclick = (event) => act(view, event.target.closest("button"));
  holdWhilePressed(view);
  view.onkey = (event) => stepByKey(view, event);
  document.addEventListener("keydown", view.onkey);
  view.observer = new ResizeObserver(() => {
    if (Math.abs(view.scroller.clientWidth - view.width) >= 1) whenReleased(view, () => widen(view));
  });
  view.observer.observe(view.scroller);
  return view;
}

function remove(view) {
  memorise(view);
  view.isGone = true;
  view.observer.disconnect();
  view.stripObserver.disconnect();
  clearTimeout(view.timer);
  cancelAnimationFrame(view.frame);
  clearTimeout(view.sending);
  document.removeEventListener("keydown", view.onkey);
  window.removeEventListener("pointerup", view.release);
  window.removeEventListener("pointercancel", view.release);
  view.shell.remove();
}

// Rows must not move or vanish between the moment a button is pressed and its click.
function holdWhilePressed(view) {
  view.canvas.onpointerdown = (event) => {
    view.isHeld = event.button === 0 && Boolean(event.target.closest("button"));
  };
  view.release = () => {
    // The click comes after this event.
    setTimeout(() => {
      view.isHeld = false;
      for (const work of view.late.splice(0)) if (!view.isGone) work();
    });
  };
  window.addEventListener("pointerup", view.release);
  window.addEventListener("pointercancel", view.release);
}

function whenReleased(view, work) {
  if (view.isHeld) view.late.push(work);
  else work();
}

function update(view) {
  const { data } = view;
  if (view.version !== data.version) load(view, data);
  if (view.focusCount !== data.focus.count) {
    view.focusCount = data.focus.count;
    stepThrough(view, data.focus);
    goTo(view, data.focus);
  }
  // Streamlit calls this again when the theme changes.
  paintStrip(view);
}

function goTo(view, { row, metric, glance }) {
  if (!glance) select(view, row, metric);
  if (row < 0) return;
  view.shell.scrollIntoView({ block: "nearest" });
  scrollToRow(view, row);
  if (glance) flash(view, row);
}

function load(view, data) {
  const before = view.rows ? memorise(view) : memories.get(data.id);
  view.id = data.id;
  view.version = data.version;
  if (data.title) showTitle(view, data.title);
  Object.assign(view, JSON.parse(data.body));
  const places = new Map();
  view.rows.forEach((row, index) => row.k === "m" && places.set(row.i, index));
  const index = places.get(before?.message) ?? -1;
  view.selected = index < 0 ? null : { index, metric: before.metric };
  view.focusCount = before?.focusCount ?? 0;
  for (const node of view.drawn.values()) node.remove();
  view.drawn.clear();
  findFailing(view);
  loadStrip(view);
  measureAnew(view);
  view.scroller.scrollTop = (view.tops[places.get(before?.top)] ?? 0) + (before?.below ?? 0);
  schedule(view);
}

function showTitle(view, title) {
  view.title?.remove();
  view.title = element("div", "title");
  const open = actionButton("jump", "Open game", "");
  open.onclick = () => view.send({ message: null });
  view.title.append(element("span", "name", title), view.tally, open);
  view.shell.prepend(view.title);
}

function memorise(view) {
  if (!view.rows) return undefined;
  let top = rowAt(view, view.scroller.scrollTop);
  while (top > 0 && view.rows[top].k !== "m") top -= 1;
  const chosen = view.selected;
  const memory = {
    message: chosen?.index === undefined ? null : view.rows[chosen.index].i,
    metric: chosen?.metric ?? -1,
    top: view.rows[top]?.i,
    below: view.scroller.scrollTop - (view.tops[top] ?? 0),
    focusCount: view.focusCount,
  };
  memories.delete(view.id);
  memories.set(view.id, memory);
  if (memories.size > MOST_MEMORIES) memories.delete(memories.keys().next().value);
  return memory;
}

function createSearch(view) {
  const bar = element("div", "search");
  const asked = "Find in this conversation";
  const input = element("input", "", undefined, { type: "search", placeholder: asked, "aria-label": asked });
  const count = element("span", "found", "", { role: "status" });
  const tell = (words) => {
    count.textContent = input.value.trim() ? view.peers.map(words).join(" · ") : "";
  };
  const step = (by) => {
    for (const one of view.peers.filter(({ found }) => found.length)) {
      one.at = (one.at + by + one.found.length) % one.found.length;
      scrollToRow(one, one.found[one.at]);
    }
    tell(({ at, found }) => (found.length ? `${at + 1} of ${found.length}` : "nothing found"));
  };
  input.oninput = () => {
    for (const one of view.peers) {
      one.needle = input.value.trim().toLowerCase();
      one.found = one.rows.flatMap((row, index) => (one.needle && row.k === "m" && row.x.toLowerCase().includes(one.needle) ? [index] : []));
      one.at = -1;
      repaint(one);
    }
    step(1);
  };
  input.onkeydown = (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  };
  const previous = actionButton("icon", "↑", "", "Previous match");
  const next = actionButton("icon", "↓", "", "Next match");
  previous.onclick = () => step(-1);
  next.onclick = () => step(1);
  bar.append(input, count, previous, next);
  return bar;
}

function act(view, button) {
  if (!button) return;
  const index = Number(button.closest("[data-row]").dataset.row);
  if (button.dataset.action === "jump") {
    const target = Number(button.dataset.target);
    scrollToRow(view, target);
    flash(view, target);
  } else if (button.dataset.action === "open") {
    select(view, index, Number(button.dataset.metric ?? -1));
    tell(view, window.innerWidth < NARROW);
  } else if (button.dataset.action === "copy") {
    copyLink(view, button);
  }
}

function tell(view, isNarrow) {
  const { index, metric } = view.selected;
  view.send({ message: view.rows[index].i, metric: view.metrics[metric]?.name ?? null, narrow: isNarrow });
}

// The address of what is chosen: the server puts it into the browser's address line a moment later.
function linkTo(view) {
  const { index, metric } = view.selected;
  const link = new URL(window.location.href);
  link.searchParams.set("message", view.rows[index].i);
  if (metric < 0) link.searchParams.delete("metric");
  else link.searchParams.set("metric", view.metrics[metric].name);
  return link.href;
}

async function copyLink(view, button) {
  const link = linkTo(view);
  try {
    await navigator.clipboard.writeText(link);
    button.textContent = "Link copied";
  } catch {
    // Browsers give no access to the clipboard on a page without https, or where the person refused it.
    window.prompt("Copy this link:", link);
  }
}

function select(view, index, metric) {
  view.selected = index < 0 ? null : { index, metric };
  if (index >= 0) setCursor(view, view.messageAt[index]);
  showChosen(view);
  repaint(view);
}

function repaint(view) {
  showTally(view);
  for (const [index, node] of view.drawn) paintRow(view, node, index);
  schedule(view);
}

function widen(view) {
  if (!view.rows) return;
  const anchor = rowAt(view, view.scroller.scrollTop);
  const below = view.scroller.scrollTop - view.tops[anchor];
  measureAnew(view);
  for (const [index, node] of view.drawn) view.heights[index] = node.offsetHeight;
  place(view, 0);
  view.scroller.scrollTop = view.tops[anchor] + below;
  draw(view);
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
  place(view, 0);
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
  view.frame = requestAnimationFrame(() => whenReleased(view, () => draw(view)));
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
  let above = null;
  for (let index = first; index <= last; index += 1) {
    if (!view.drawn.has(index)) {
      const node = drawRow(view, index);
      view.drawn.set(index, node);
      // In reading order, for the tab key and screen readers.
      if (above) above.after(node);
      else view.canvas.prepend(node);
    }
    above = view.drawn.get(index);
  }
  correctHeights(view, first, last);
  followScroll(view);
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
