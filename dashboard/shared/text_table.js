// A table of texts that are shown whole: they wrap, and in a narrow place each row becomes a card with its labels.

const FEW = 30;
const MORE = 200;
const CHANGED = { "+": "green", "−": "red" };

export default function ({ parentElement, data, setStateValue, setTriggerValue }) {
  const update = (view) => {
    view.tell = data.keeps ? (chosen) => setStateValue("chosen", chosen) : (chosen) => setTriggerValue("chosen", chosen);
    const text = JSON.stringify(data);
    if (text === view.drawn) return;
    const chosen = data.atFirst === null ? [] : [[data.atFirst]];
    const { drawn, data: { atFirst: before } = {} } = view;
    Object.assign(view, { drawn: text, data, chosen, shown: 0 });
    drawTable(view);
    // The line that was opened or closed has the focus.
    if (data.pick === "line" && data.hasHead && drawn && before !== data.atFirst) {
      view.body.querySelectorAll("button")[data.atFirst ?? view.pressed]?.focus({ preventScroll: true });
    }
  };
  return mount(parentElement, createTable, update, (view) => view.box.remove());
}

function createTable(root) {
  const view = { box: element("div", "box"), drawn: "" };
  root.append(view.box);
  return view;
}

function drawTable(view) {
  const { alt, atFirst, columns, hasHead, pick, rows } = view.data;
  // What is cut has one width of columns above and below the row that is open.
  const size = pick === "line" ? (columns[1].isNumber ? "many folds" : "lines folds") : columns.length > 8 ? "many wide" : columns.length > 3 ? "many" : "";
  // On a phone few short columns stay columns.
  const isEven = columns.length < 7 && !size.includes("folds") && rows.every((cells) => cells.slice(1).every(([text]) => lengthOf(text) !== "long"));
  const kind = view.data.isCode ? "code" : view.data.isMatrix ? "matrix" : size && isEven ? `${size} even` : size;
  // The roles are said, as a table that is drawn as cards is none to a screen reader.
  const table = element("table", kind, undefined, { role: "table", "aria-label": alt });
  const head = element("tr", "", undefined, { role: "row" });
  for (const { label, isNumber } of columns) {
    head.append(element("th", isNumber ? "number" : "", label, { role: "columnheader" }));
  }
  const top = element("thead", "", undefined, { role: "rowgroup" });
  top.append(head);
  view.body = element("tbody", "", undefined, { role: "rowgroup" });
  const widths = element("colgroup");
  widths.append(...columns.map(({ isNumber }) => element("col", isNumber ? "number" : "")));
  table.append(widths, ...(hasHead ? [top] : []), view.body);
  view.box.replaceChildren(table);
  // What is scrolled sideways is reached by the keyboard.
  if (view.data.isMatrix && !pick) view.box.tabIndex = 0;
  // A list below headings that is only read is looked through as a whole.
  const isWhole = view.data.groups.length > 0 && !pick;
  addRows(view, rows.length > FEW + 5 && !isWhole ? Math.max(FEW, (atFirst ?? 0) + 1) : rows.length);
}

function addRows(view, number) {
  const { rows, columns, groups } = view.data;
  const until = Math.min(rows.length, view.shown + number);
  for (let place = view.shown; place < until; place += 1) {
    const group = groups[place];
    if (group && group !== groups[place - 1]) view.body.append(makeGroup(group, columns.length));
    view.body.append(makeRow(view, rows[place], place));
  }
  view.shown = until;
  if (until === rows.length) return;
  const next = Math.min(MORE, rows.length - until);
  const more = element("button", "more", `Show ${next} more of ${rows.length}`, { type: "button" });
  more.onclick = () => {
    more.remove();
    addRows(view, next);
  };
  view.box.append(more);
}

function makeGroup(words, width) {
  const row = element("tr", "group", undefined, { role: "row" });
  const head = element("th", "", words, { role: "rowheader", colspan: width });
  row.append(head);
  return row;
}

function makeRow(view, cells, place) {
  const { columns, groups, pick, rows } = view.data;
  const row = element("tr", pick && pick !== "cell" ? "pick" : "", undefined, { role: "row" });
  cells.forEach(([text, share, marks], at) => {
    const isNumber = columns[at].isNumber;
    const about = { role: "cell", "data-label": columns[at].label };
    const cell = element("td", `${lengthOf(text)}${isNumber ? " number" : ""}`, undefined, about);
    // A card leaves out what says nothing.
    cell.classList.toggle("empty", !text);
    const isButton = pick === "cell" ? at >= view.data.heads && text : pick && at === 0;
    const tag = isButton ? "button" : "span";
    const held = isVerdict(text, columns[at].label) ? makeVerdict(text, tag) : element(tag, "", text);
    held.classList.add("text", ...(view.data.isCode && CHANGED[text[0]] ? [CHANGED[text[0]]] : []));
    const isChosen = view.chosen.some(([row]) => row === place);
    if (pick === "line" && at === 0) cell.classList.toggle("same", text === rows[place - 1]?.[0][0] && groups[place] === groups[place - 1]);
    if (isButton) Object.assign(held, { type: "button", ariaPressed: String(isChosen) });
    if (isButton && pick === "cell") {
      held.classList.toggle("add", text === "+");
      held.setAttribute("aria-label", `${cells[0][0]}, ${columns[at].label}: ${text}`);
      held.onclick = () => choose(view, [place, at], held);
    }
    cell.append(held);
    if (marks) paintText(held, text, marks);
    if (share !== undefined && share !== null) {
      if (pick === "cell") cell.style.setProperty("--share", `${Math.round(45 * share)}%`);
      else cell.append(makeBar(share));
    }
    row.append(cell);
  });
  if (pick && pick !== "cell") row.onclick = () => choose(view, [place], row.querySelector("button"));
  return row;
}

// A sentence may begin with the same sign where its start is left out.
function isVerdict(text, column) {
  const isShort = lengthOf(text) !== "long";
  const isSigned = text[1] === " " && text[0] in COLORS && (text[0] !== "…" || isShort);
  return Boolean(text) && (column === "Verdict" || isSigned || (isShort && text.includes(WITH_CARE)));
}

function lengthOf(text) {
  return text.length > 24 ? "long" : text.length > 16 ? "short" : "tiny";
}

function makeBar(share) {
  const bar = element("div", "bar");
  const full = element("div", "full");
  full.style.width = `${100 * share}%`;
  bar.append(full);
  return bar;
}

// Choosing a row again gives it back; of several rows each stays until it is chosen again.
function choose(view, place, button) {
  const key = String(place);
  const isOn = view.chosen.some((one) => String(one) === key);
  view.pressed = place[0];
  if (isOn && view.data.keeps && view.data.atFirst !== null) return;
  if (view.data.pick !== "rows") {
    for (const other of view.body.querySelectorAll('[aria-pressed="true"]')) other.ariaPressed = "false";
    view.chosen = [];
  }
  view.chosen = isOn ? view.chosen.filter((one) => String(one) !== key) : [...view.chosen, place];
  if (view.data.keeps) button.ariaPressed = String(!isOn);
  view.tell(view.data.keeps ? view.chosen : [place]);
}
