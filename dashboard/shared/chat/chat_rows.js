// How the rows of the chat view look: messages with their badges and marks, and what happens between them.
// Part of the module chat_view.js. All text is untrusted: it enters the page through textContent alone.

const VERDICTS = [
  { mark: "✓", word: "counts", css: "counts green" },
  { mark: "✗", word: "counts against", css: "fails red" },
  { mark: "○", word: "not counted", css: "excluded" },
];
const FAILS = 1;

function actionButton(className, text, action, label) {
  return element("button", className, text, { type: "button", "data-action": action, "aria-label": label });
}

function drawRow(view, index) {
  const row = view.rows[index];
  const node = row.k === "m" ? drawMessage(view, row, index) : drawEvent(row);
  node.style.top = `${view.tops[index]}px`;
  node.dataset.row = String(index);
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
  const about = { "aria-label": `Message ${row.n}`, "data-message": row.i };
  const node = element("article", `message${row.c ? " aside" : ""}`, undefined, about);
  const avatar = element("span", "avatar", initials(speaker.name), { "aria-hidden": "true" });
  avatar.style.setProperty("--hue", String((row.s * 137 + 250) % 360));
  const body = element("div", "body");
  body.append(drawHead(view, row, speaker), element("p", "text"));
  if (row.b.length) body.append(drawBadges(view, row));
  node.append(avatar, body);
  paintRow(view, node, index);
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
  if (row.w) head.append(element("span", "role", "⚑ suspicious text"));
  head.append(actionButton("number", `#${row.n}`, "open", `Message ${row.n}: all verdicts`));
  if (row.q >= 0) head.append(jumpButton(view, row.q, "answers"));
  if (row.f) drawLink(view, row, head);
  return head;
}

// Which earlier message this one answers, and how close it is to what others just said: a number and a bar.
function drawLink(view, row, head) {
  const [place, strength] = row.f;
  const words = strength < 0 ? "" : `link strength ${strength} of 100, where 50 is chance`;
  const target = place < 0 ? null : jumpButton(view, place, "answers");
  if (target && place !== row.q) {
    if (words) target.setAttribute("aria-label", `Answers message ${view.rows[place].n}, ${words}. Go there.`);
    head.append(target);
  }
  if (!words) return;
  const link = element("span", "link", `link ${strength}`);
  link.title = `${words[0].toUpperCase()}${words.slice(1)}: how close it is to what others just said`;
  const bar = element("span", "bar");
  bar.append(element("span", "fill"));
  bar.firstChild.style.width = `${strength}%`;
  link.append(bar);
  head.append(link);
}

function jumpButton(view, target, words) {
  const button = actionButton("jump", `↪ ${words} #${view.rows[target].n}`, "jump");
  button.dataset.target = String(target);
  return button;
}

function drawBadges(view, row) {
  const line = element("div", "badges");
  for (const [metric, code, , , , tally] of row.b) {
    const { label, short } = view.metrics[metric];
    const verdict = VERDICTS[code];
    const button = actionButton(`badge ${verdict.css}`, undefined, "open", `${label}: ${verdict.word}. Show why.`);
    button.dataset.metric = String(metric);
    button.append(element("span", "sign", verdict.mark), document.createTextNode(` ${short}${tally ? ` ${tally}` : ""}`));
    line.append(button);
  }
  return line;
}

// What a selection or a search changes about a row that is drawn. The row and its buttons stay the same elements, so
// that a pointer that is over one of them, or goes down on it, still has it when it comes up.
function paintRow(view, node, index) {
  const row = view.rows[index];
  if (row.k !== "m") return;
  const chosen = view.selected && view.selected.index === index ? view.selected : null;
  node.classList.toggle("chosen", Boolean(chosen));
  paintText(node.querySelector(".text"), row.x, marksOf(view, row, index));
  for (const extra of node.querySelectorAll(".badges .jump, .copy")) extra.remove();
  if (chosen) node.querySelector(".head").append(actionButton("jump copy", "Copy link", "copy", `Copy a link to message ${row.n}`));
  for (const badge of node.querySelectorAll(".badge")) {
    const isPressed = Boolean(chosen) && Number(badge.dataset.metric) === chosen.metric;
    badge.setAttribute("aria-pressed", String(isPressed));
    if (isPressed) {
      const references = row.b.find((candidate) => candidate[0] === chosen.metric)[4];
      badge.parentElement.append(...references.map((target) => jumpButton(view, target, "rests on")));
    }
  }
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
