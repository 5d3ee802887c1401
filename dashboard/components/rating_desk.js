// The rating desk: a discussion beside the rubric's form. Keys answer at once, without the server.
// What is typed is kept in this browser first and in the database soon after; a form is sent until it is acknowledged.
// All text comes from strangers: it enters the page through textContent alone.

const RESEND_MS = 2500;
const MOST_SENDS = 24;
const DRAFT_MS = 250;
const views = new WeakMap();

export default function (component) {
  const { parentElement, data, setStateValue, setTriggerValue } = component;
  let view = views.get(parentElement);
  if (!view) {
    view = createView(parentElement);
    views.set(parentElement, view);
    view.onkey = (event) => onKey(view, event);
    document.addEventListener("keydown", view.onkey);
  }
  view.saveDraft = (draft) => setStateValue("draft", draft);
  view.send = (name, value) => setTriggerValue(name, value);
  receive(view, data);
  view.run += 1;
  const run = view.run;
  // Streamlit also cleans up after a call that was overtaken by the next one, while the desk is still in use.
  return () => {
    if (view.run !== run) return;
    document.removeEventListener("keydown", view.onkey);
    view.desk.remove();
    clearTimeout(view.resend);
    clearTimeout(view.drafting);
    views.delete(parentElement);
  };
}

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function button(className, text, onclick) {
  const node = element("button", className, text);
  node.type = "button";
  node.onclick = onclick;
  return node;
}

function createView(root) {
  const view = { run: 0, token: null, pending: null, sends: 0, errorCount: 0 };
  const desk = element("div", "desk");
  view.desk = desk;
  view.talk = element("div", "talk");
  view.talk.tabIndex = 0;
  view.talk.setAttribute("role", "region");
  view.talk.setAttribute("aria-label", "Conversation to rate");
  view.form = element("div", "form");
  view.form.setAttribute("role", "region");
  view.form.setAttribute("aria-label", "Your rating");
  view.form.tabIndex = 0;
  view.help = createHelp();
  desk.append(view.talk, view.form, view.help);
  root.append(desk);
  return view;
}

function createHelp() {
  const dialog = element("dialog");
  dialog.setAttribute("aria-label", "Keys");
  dialog.append(element("h3", "", "Keys"));
  const list = element("dl");
  const keys = [
    ["1 to 5", "the score"],
    ["y, n", "yes or no to the marked question, then on to the next"],
    ["Ctrl + Enter", "save and go to the next conversation"],
    ["s", "skip this conversation"],
    ["?", "this help"],
  ];
  for (const [key, meaning] of keys) list.append(element("dt", "", key), element("dd", "", meaning));
  dialog.append(list, element("p", "", "Keys rest while you type a comment. What you enter is kept if you reload."));
  dialog.append(button("plain", "Close", () => dialog.close()));
  return dialog;
}

function receive(view, data) {
  view.data = data;
  if (view.pending && data.token !== view.pending.token) acknowledge(view);
  if (view.token !== data.token) {
    view.token = data.token;
    view.draft = newestDraft(view);
    drawTalk(view);
    drawForm(view);
  }
  view.progress.textContent = data.progress;
  if (data.error && data.error.count !== view.errorCount) {
    view.errorCount = data.error.count;
    stopSending(view);
    say(view, data.error.text, true);
  }
}

function acknowledge(view) {
  forget(view, view.pending.token);
  stopSending(view);
}

// Drafts ------------------------------------------------------------------------------------------------------------

function draftKey(view, token) {
  return `dramaturg-draft:${view.data.storage}:${token}`;
}

function newestDraft(view) {
  const empty = { rev: 0, score: null, answers: [null, null, null, null, null], comment: "" };
  const candidates = [view.data.draft, readLocal(view)].filter(Boolean);
  return candidates.reduce((best, draft) => (draft.rev > best.rev ? { ...empty, ...draft } : best), empty);
}

function readLocal(view) {
  try {
    const draft = JSON.parse(localStorage.getItem(draftKey(view, view.token)));
    return draft && Number.isInteger(draft.rev) && Array.isArray(draft.answers) ? draft : null;
  } catch {
    return null;
  }
}

function forget(view, token) {
  try {
    localStorage.removeItem(draftKey(view, token));
  } catch {
    // A browser without storage has nothing to forget.
  }
}

function changed(view) {
  view.warned = false;
  view.draft.rev += 1;
  try {
    localStorage.setItem(draftKey(view, view.token), JSON.stringify(view.draft));
  } catch {
    // Storage may be full or forbidden; the database still gets the draft.
  }
  clearTimeout(view.drafting);
  const token = view.token;
  view.drafting = setTimeout(() => {
    if (view.token === token && !view.pending) view.saveDraft({ token, ...view.draft });
  }, DRAFT_MS);
  say(view, "", false);
}

// Conversation ------------------------------------------------------------------------------------------------------

function drawTalk(view) {
  const rows = view.data.rows.map((row) => (row.k === "m" ? drawMessage(view, row) : drawEvent(row)));
  view.talk.replaceChildren(...rows, element("p", "event", "End of the conversation"));
  view.talk.scrollTop = 0;
}

function drawMessage(view, row) {
  const node = element("article", "message");
  const name = element("span", "name", view.data.speakers[row.s]);
  name.style.setProperty("--hue", String((row.s * 137 + 250) % 360));
  node.append(name, element("p", "text", row.x));
  return node;
}

function drawEvent(row) {
  return element("p", `event ${row.k}`, row.x);
}

// Form --------------------------------------------------------------------------------------------------------------

function drawForm(view) {
  view.progress = element("p", "progress", view.data.progress);
  view.message = element("p", "message-line");
  view.message.setAttribute("role", "status");
  view.comment = element("textarea");
  view.comment.rows = 2;
  view.comment.maxLength = 20000;
  view.comment.value = view.draft.comment;
  view.comment.oninput = () => {
    view.draft.comment = view.comment.value;
    changed(view);
  };
  const label = element("label", "comment");
  label.append(element("span", "legend", "Comment, if you like"), view.comment);
  view.current = view.draft.answers.indexOf(null);
  const scroll = element("div", "fields");
  scroll.append(view.progress, drawScale(view), drawQuestions(view), label);
  view.form.replaceChildren(scroll, drawFooter(view));
  mark(view);
}

function drawScale(view) {
  const set = element("fieldset");
  set.append(element("legend", "legend", "How good was it to watch?"));
  for (const point of view.data.scale) {
    const choice = radio("score", point.score, view.draft.score === point.score, () => {
      view.draft.score = point.score;
      changed(view);
    });
    const words = element("span", "words");
    words.append(element("b", "", `${point.score}  ${point.name}`), document.createTextNode(` ${point.summary}.`));
    words.append(element("small", "", point.signs.join(" · ")));
    const card = element("label", "point");
    card.append(choice, words);
    set.append(card);
  }
  return set;
}

function drawQuestions(view) {
  const set = element("fieldset");
  set.append(element("legend", "legend", "Five questions"));
  view.questions = view.data.questions.map((text, index) => {
    const row = element("div", "question");
    row.setAttribute("role", "radiogroup");
    row.setAttribute("aria-label", text);
    row.append(element("span", "asked", `${index + 1}. ${text}`));
    for (const [word, value] of [["yes", true], ["no", false]]) {
      const label = element("label", "answer");
      label.append(radio(`question${index}`, word, view.draft.answers[index] === value, () => answer(view, index, value)), element("span", "", word));
      row.append(label);
    }
    set.append(row);
    return row;
  });
  return set;
}

function radio(name, value, checked, onchange) {
  const input = element("input");
  input.type = "radio";
  input.name = name;
  input.value = String(value);
  input.checked = checked;
  input.onchange = onchange;
  return input;
}

function drawFooter(view) {
  const footer = element("div", "footer");
  view.submit = button("primary", "Save and next", () => submit(view));
  view.skip = button("plain", "Skip", () => skip(view));
  const help = button("plain", "Keys", () => view.help.showModal());
  const buttons = element("div", "buttons");
  buttons.append(view.submit, view.skip, help);
  footer.append(view.message, buttons);
  return footer;
}

function answer(view, index, value) {
  view.draft.answers[index] = value;
  const later = view.draft.answers.indexOf(null, index + 1);
  view.current = later >= 0 ? later : view.draft.answers.indexOf(null);
  changed(view);
  mark(view);
  showQuestion(view, Math.max(index, view.current));
}

function mark(view) {
  view.questions.forEach((row, index) => row.classList.toggle("current", index === view.current));
}

function showQuestion(view, index) {
  // By hand: scrollIntoView would move the whole page along.
  const fields = view.questions[index].closest(".fields");
  const below = view.questions[index].getBoundingClientRect().bottom - fields.getBoundingClientRect().bottom + 12;
  if (below > 0) fields.scrollTop += below;
}

function say(view, text, urgent) {
  view.message.textContent = text;
  view.message.classList.toggle("urgent", urgent);
}

// Sending -----------------------------------------------------------------------------------------------------------

function submit(view) {
  if (view.pending) return;
  if (view.draft.score === null) {
    say(view, "Choose a score from 1 to 5 first.", true);
    return;
  }
  const yes = view.draft.answers.filter((value) => value === true).length;
  if (yes >= 4 && view.draft.score < 3 && !view.warned) {
    view.warned = true;
    say(view, `${yes} of 5 answers are yes, which promises a score of at least 3. Look again, or save once more to keep ${view.draft.score}.`, true);
    return;
  }
  clearTimeout(view.drafting);
  view.pending = { token: view.token, score: view.draft.score, answers: view.draft.answers, comment: view.draft.comment };
  view.sends = 0;
  view.submit.disabled = true;
  view.skip.disabled = true;
  sendPending(view);
}

function sendPending(view) {
  if (!view.pending) return;
  if (view.sends >= MOST_SENDS) {
    stopSending(view);
    say(view, "Nothing was saved: the server does not answer. Your answers are kept here; try again.", true);
    return;
  }
  view.sends += 1;
  say(view, view.sends === 1 ? "Saving" : `Saving, try ${view.sends} of ${MOST_SENDS}`, false);
  view.send("submit", { ...view.pending, attempt: view.sends });
  view.resend = setTimeout(() => sendPending(view), RESEND_MS);
}

function stopSending(view) {
  clearTimeout(view.resend);
  view.pending = null;
  if (view.submit) view.submit.disabled = false;
  if (view.skip) view.skip.disabled = false;
}

function skip(view) {
  if (!view.pending) view.send("skip", { token: view.token });
}

// Keys --------------------------------------------------------------------------------------------------------------

function onKey(view, event) {
  if (event.repeat || event.isComposing || event.altKey || event.metaKey || view.help.open) return;
  if (document.querySelector('[role="dialog"], dialog[open]')) return;
  if (event.ctrlKey) {
    if (event.key === "Enter") {
      event.preventDefault();
      submit(view);
    }
    return;
  }
  const target = event.composedPath()[0];
  const typing = target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName) || (target.tagName === "INPUT" && target.type !== "radio");
  if (!typing && act(view, event.key)) event.preventDefault();
}

function act(view, key) {
  if (/^[1-5]$/.test(key)) {
    view.draft.score = Number(key);
    view.form.querySelector(`input[name="score"][value="${key}"]`).checked = true;
    changed(view);
    return true;
  }
  const letter = key.toLowerCase();
  if ((letter === "y" || letter === "n") && view.current >= 0) {
    const word = letter === "y" ? "yes" : "no";
    const index = view.current;
    view.form.querySelector(`input[name="question${index}"][value="${word}"]`).checked = true;
    answer(view, index, letter === "y");
    return true;
  }
  if (letter === "s") {
    skip(view);
    return true;
  }
  if (key === "?") {
    view.help.showModal();
    return true;
  }
  return false;
}
