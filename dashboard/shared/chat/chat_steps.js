// The way from one message that does not count to the next, for all metrics or for one: two buttons and the keys N and P.
// Part of the module chat_view.js.

const SETTLE_MS = 150;
const TYPING = "input:not([type='checkbox'], [type='radio']), textarea, select, [contenteditable]";

function createStepper(view) {
  const bar = element("div", "stepper");
  view.picker.onchange = () => {
    for (const one of view.peers) {
      findFailing(one);
      repaint(one);
    }
  };
  const previous = actionButton("step", "‹ Previous", "", "Previous message that counts against (key P)");
  const next = actionButton("step", "Next ›", "", "Next message that counts against (key N)");
  for (const [button, key] of [[previous, "P"], [next, "N"]]) button.append(element("kbd", "", key));
  previous.onclick = () => view.peers.forEach((one) => step(one, -1));
  next.onclick = () => view.peers.forEach((one) => step(one, 1));
  bar.append(view.picker, previous, next, view.tally);
  return bar;
}

// Whoever comes for a metric steps through that one.
function stepThrough(view, { metric, glance }) {
  if (glance || metric < 0) return;
  view.picker.value = String(metric);
  findFailing(view);
}

function findFailing(view) {
  if (!view.picker.length) {
    const names = view.metrics.map((metric, index) => new Option(`✗ ${metric.label}`, String(index)));
    view.picker.append(new Option("✗ Any metric", "-1"), ...names);
  }
  const metric = Number(view.picker.value);
  const isWanted = (badge) => badge[1] === FAILS && (metric < 0 || badge[0] === metric);
  view.failing = [];
  view.rows.forEach((row, index) => {
    const badge = row.k === "m" && row.b.find(isWanted);
    if (badge) view.failing.push({ index, metric: badge[0] });
  });
  showTally(view);
}

function showTally(view) {
  const count = view.failing.length;
  const at = view.failing.findIndex(({ index }) => index === view.selected?.index);
  const messages = count === 1 ? "1 message with ✗" : `${count} messages with ✗`;
  view.tally.textContent = at < 0 ? messages : `${at + 1} of ${messages}`;
}

function step(view, by) {
  if (!view.failing.length) return;
  const from = view.selected?.index ?? rowAt(view, view.scroller.scrollTop) - by;
  const further = by > 0 ? view.failing.find(({ index }) => index > from) : view.failing.findLast(({ index }) => index < from);
  const target = further ?? view.failing.at(by > 0 ? 0 : -1);
  goTo(view, { row: target.index, metric: target.metric });
  // Beside another game nothing opens before it is pressed.
  if (view.peers.length > 1) return;
  // Of several steps in a row the server is told the last.
  clearTimeout(view.sending);
  view.sending = setTimeout(() => tell(view, false), SETTLE_MS);
}

function stepByKey(view, event) {
  const by = { n: 1, p: -1 }[event.key];
  if (!by || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  const target = event.composedPath()[0];
  if (target.closest?.(TYPING) || document.querySelector("[role='dialog']")) return;
  event.preventDefault();
  step(view, by);
}
