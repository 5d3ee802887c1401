// The form of the rating desk and its dialogs: drawn here, sent by rating_desk.js, to which this is appended.

// Form --------------------------------------------------------------------------------------------------------------

const COMMENT = "Comment, if you like";

function drawForm(view) {
  view.message = element("p", "message-line", undefined, { role: "status" });
  view.comment = element("textarea", "", undefined, { rows: 2, placeholder: COMMENT, "aria-label": COMMENT });
  view.comment.value = view.draft.comment;
  view.comment.oninput = () => {
    view.draft.comment = view.comment.value;
    changed(view);
  };
  const label = element("label", "comment");
  label.append(view.comment);
  view.current = view.draft.answers.indexOf(null);
  view.lastAnswered = -1;
  const fields = (view.fields = element("div", "fields"));
  fields.append(drawHead(view), drawScale(view), drawQuestions(view), label);
  view.form.replaceChildren(fields, drawFooter(view, fields));
  shorten(view, view.isShort);
  mark(view);
  say(view, "", false);
}

function drawHead(view) {
  const head = element("div", "head");
  view.progress = element("p", "progress", view.data.progress);
  const track = element("div", "track", undefined, { "aria-hidden": "true" });
  view.bar = element("div", "bar");
  track.append(view.bar);
  view.detail = button("link", "", () => shorten(view, !view.isShort));
  head.append(view.progress, view.detail, track);
  return head;
}

function drawScale(view) {
  const set = element("fieldset");
  set.append(element("legend", "legend", "How good was it to watch?"));
  for (const point of view.data.scale) {
    const choice = radio("score", point.score, false, () => setScore(view, point.score));
    const words = element("span", "words");
    words.append(element("b", "", `${point.score}  ${point.name}`), document.createTextNode(` ${point.summary}.`));
    words.append(element("small", "", point.signs.join(" · ")));
    const card = element("label", "point");
    card.append(choice, words);
    set.append(card);
  }
  view.half = element("input", "", undefined, { type: "checkbox" });
  view.half.onchange = () => addHalf(view, view.half.checked);
  view.halfWords = element("span");
  const half = element("label", "half");
  half.append(view.half, view.halfWords);
  set.append(half);
  view.scale = set;
  showScore(view);
  return set;
}

function setScore(view, score) {
  view.draft.score = score;
  showScore(view);
  changed(view);
}

function addHalf(view, isHalf) {
  const { score } = view.draft;
  if (score !== null && Math.floor(score) < 5) setScore(view, Math.floor(score) + (isHalf ? 0.5 : 0));
}

function showScore(view) {
  const { score } = view.draft;
  const point = score === null ? null : Math.floor(score);
  for (const input of view.scale.querySelectorAll("input[name='score']")) input.checked = Number(input.value) === point;
  view.half.checked = score !== point;
  view.half.disabled = point === null || point === 5;
  view.halfWords.textContent = view.half.disabled ? "add a half" : `add a half: ${point + 0.5}`;
}

function shorten(view, isShort) {
  view.isShort = isShort;
  remember(SHORT_KEY, isShort ? "1" : "0");
  view.form.classList.toggle("short", isShort);
  view.detail.textContent = isShort ? "Full descriptions" : "Short descriptions";
}

function drawQuestions(view) {
  const set = element("fieldset");
  set.append(element("legend", "legend", "Five questions"));
  view.questions = view.data.questions.map((text, index) => {
    const row = element("div", "question", undefined, { role: "radiogroup", "aria-label": text });
    row.append(element("span", "asked", `${index + 1}. ${text}`));
    for (const [word, value] of [["yes", true], ["no", false]]) {
      const label = element("label", "answer");
      const input = radio(`question${index}`, word, view.draft.answers[index] === value, () => answer(view, index, value));
      // A second click takes the answer back: untouched is an answer, too.
      input.onclick = () => {
        if (view.draft.answers[index] === value) takeBack(view, index);
      };
      label.append(input, element("span", "", word));
      row.append(label);
    }
    set.append(row);
    return row;
  });
  return set;
}

function radio(name, value, checked, onchange) {
  const input = element("input", "", undefined, { type: "radio", name, value });
  input.checked = checked;
  input.onchange = onchange;
  return input;
}

function drawFooter(view, fields) {
  const footer = element("div", "footer");
  // On a telephone the form stands below a long game: the way to it, until it is in sight or where it was filled in before.
  const jump = button("jump", "To the score", () => fields.scrollIntoView({ block: "start" }));
  new IntersectionObserver((entries) => {
    const seen = entries.at(-1);
    footer.classList.toggle("away", view.data.discards.length > 0 && !seen.isIntersecting && seen.boundingClientRect.top > 0);
  }).observe(fields);
  const { mode, discards } = view.data;
  view.submit = button("primary", mode.submit, () => submit(view), "Ctrl ↵");
  view.skip = button("plain", mode.leave, () => skip(view), "s");
  const buttons = element("div", "buttons");
  buttons.append(view.submit, view.skip);
  if (discards.length) buttons.append(button("plain", "Cannot rate", () => view.discard.showModal(), "d"));
  const help = button("plain", "?", () => view.help.showModal());
  help.setAttribute("aria-label", "Keys");
  buttons.append(help);
  view.again = button("link", view.data.again, () => press(view, "change", { token: view.data.last }));
  const told = element("div", "told");
  told.append(view.message, view.again);
  footer.append(told, jump, buttons);
  return footer;
}

function answer(view, index, value) {
  view.draft.answers[index] = value;
  const later = view.draft.answers.indexOf(null, index + 1);
  view.current = later >= 0 ? later : view.draft.answers.indexOf(null);
  view.lastAnswered = index;
  changed(view);
  mark(view);
  showQuestion(view, Math.max(index, view.current));
}

function takeBack(view, index) {
  view.draft.answers[index] = null;
  for (const input of view.questions[index].querySelectorAll("input")) input.checked = false;
  view.current = index;
  changed(view);
  mark(view);
  showQuestion(view, index);
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

// What is too long is told at saving: a limit of the field would cut what is pasted without a word.
function beyond(text, longest) {
  const { length } = [...text];
  return length > longest ? `The text has ${length} characters, at most ${longest} can be kept. Shorten it.` : "";
}

function say(view, text, urgent) {
  view.message.textContent = text;
  view.message.classList.toggle("urgent", urgent);
  view.again.hidden = urgent || !!view.pending || !view.data.last || !view.data.discards.length;
}

// What cannot be rated ----------------------------------------------------------------------------------------------

function drawDiscard(view) {
  const dialog = view.discard;
  const set = element("fieldset");
  set.append(element("legend", "legend", "Why can this conversation not be rated?"));
  for (const { value, words } of view.data.discards) {
    const label = element("label", "reason");
    label.append(radio("reason", value, false, () => (fault.textContent = "")), element("span", "", words));
    set.append(label);
  }
  const note = element("textarea", "", undefined, { rows: 2 });
  const comment = element("label", "comment");
  comment.append(element("span", "legend", "More about it"), note);
  const fault = element("p", "message-line urgent", undefined, { role: "status" });
  const send = () => {
    const reason = dialog.querySelector("input[name='reason']:checked")?.value;
    if (!reason) fault.textContent = "Choose a reason first.";
    else if (reason === "other" && !note.value.trim()) fault.textContent = "Say the reason in a few words.";
    else if ((fault.textContent = beyond(note.value, view.data.longest.note))) note.focus();
    else {
      dialog.close();
      deliver(view, "discard", { token: view.token, reason, note: note.value });
    }
  };
  const buttons = element("div", "buttons");
  buttons.append(button("primary", "Take it out of my queue", send, "Ctrl ↵"), button("plain", "Cancel", () => dialog.close()));
  dialog.onkeydown = (event) => {
    if (!event.ctrlKey || event.key !== "Enter" || event.repeat || event.isComposing) return;
    // Nor does the key press the button that has the focus.
    event.preventDefault();
    send();
  };
  const head = element("h3", "", "Cannot be rated");
  const hint = element("p", "", "A boring conversation can be rated: with 1. What you take out can be taken back under My ratings.");
  dialog.replaceChildren(head, hint, set, comment, fault, buttons);
}

function createHelp() {
  const dialog = element("dialog", "", undefined, { "aria-label": "Keys" });
  dialog.append(element("h3", "", "Keys"));
  const list = element("dl");
  const keys = [
    ["1 to 5", "the score"],
    [".", "half a point more, or not"],
    ["y, n", "yes or no to the marked question, then on to the next"],
    ["Backspace", "take the last answer back"],
    ["t", "type a comment; Escape ends it"],
    ["Ctrl + Enter", "save and go on, also while you type"],
    ["s", "skip this conversation for now"],
    ["d", "say that it cannot be rated"],
    ["f", "full or short descriptions"],
    ["↑ ↓, Page, Space", "scroll the conversation"],
    ["?", "this help"],
  ];
  for (const [key, meaning] of keys) list.append(element("dt", "", key), element("dd", "", meaning));
  dialog.append(list, element("p", "", "Keys rest while you type. What you enter is kept if you reload."));
  dialog.append(button("plain", "Close", () => dialog.close()));
  return dialog;
}
