// The rating desk: a discussion beside the rubric's form. Keys answer at once, without the server.
// What is typed is kept in this browser first and in the database soon after; a form is sent until it is acknowledged.
// All text is untrusted: it enters the page through textContent alone.

const RESEND_MS = 2500;
const KEPT_RESEND_MS = 10000;
const MOST_SENDS = 24;
const DRAFT_MS = 250;
const READ_MS = 500;
const MOST_OFFERED = 20;
const MOST_REFUSED = 24;
const SHORT_KEY = "dramaturg-short-scale";

export default function (component) {
  const { parentElement, data, setStateValue, setTriggerValue } = component;
  const update = (view) => {
    view.saveDraft = (draft) => setStateValue("draft", draft);
    view.send = (name, value) => setTriggerValue(name, value);
    receive(view, data);
  };
  return mount(parentElement, createView, update, remove);
}

function remove(view) {
  window.removeEventListener("keydown", view.onkey, true);
  document.removeEventListener("dramaturg-kept", view.onkept);
  view.desk.remove();
  for (const timer of [view.resend, view.drafting, view.waking]) clearTimeout(timer);
}

function button(className, text, onclick, key) {
  const node = element("button", className, text, { type: "button" });
  node.onclick = onclick;
  if (key) node.append(element("kbd", "", key, { "aria-hidden": "true" }));
  return node;
}

function createView(root) {
  const view = { token: null, refused: "", toldAt: -Infinity, toldOpen: null, left: null, offered: null, pending: null, sends: 0, error: null };
  view.desk = element("div", "desk");
  view.talk = region("talk", "Conversation to rate");
  view.form = region("form", "Your rating");
  view.help = createHelp();
  view.discard = element("dialog", "", undefined, { "aria-label": "Cannot be rated" });
  view.isShort = remembered(SHORT_KEY, "1") === "1";
  view.desk.append(view.talk, view.form, view.help, view.discard);
  root.append(view.desk);
  // A double click is one press: it takes no answer back, and what the first one shows is read before the next.
  view.desk.addEventListener("click", once, true);
  view.onkey = (event) => onKey(view, event);
  view.onkept = (event) => kept(view, event.detail);
  // Before any other part of the page: Streamlit's tabs keep the keys that are pressed on them to themselves.
  window.addEventListener("keydown", view.onkey, true);
  document.addEventListener("dramaturg-kept", view.onkept);
  return view;
}

function once(event) {
  if (event.detail < 2) return;
  event.preventDefault();
  event.stopPropagation();
}

function receive(view, data) {
  view.data = data;
  const isSaved = view.pending && (view.pending.isKept || data.kept === view.pending.token) && data.token !== view.pending.token;
  if (isSaved) acknowledge(view);
  const fault = data.error && data.error.id !== view.error ? data.error : null;
  if (fault) {
    view.error = fault.id;
    stopSending(view);
  }
  // Its game was deleted, or the rater went on or back: what was typed is kept, and another one may be drawn.
  if (data.left === view.token) view.left = view.token;
  // Another game alone does not say that the form is stored: a server that was restarted may begin with any. The form
  // stays on the screen and is sent until the server has it, or the rater leaves it. One that was only begun stays too,
  // and the server is asked to put its game back on the desk.
  if (view.token !== data.token && !view.pending) {
    if (isBegun(view)) {
      offer(view, [{ token: view.token, ...view.draft }]);
    } else {
      draw(view);
      if (isSaved) sayComing(view, "Saved. This is the next conversation.");
    }
  }
  view.progress.textContent = data.progress;
  view.bar.style.width = `${100 * data.share}%`;
  if (fault) say(view, fault.text, true);
}

function draw(view) {
  const isFirst = view.token === null;
  view.token = view.data.token;
  view.draft = newestDraft(view);
  // Of a game that was rated before, open questions were left open on purpose.
  if (!view.data.discards.length) view.toldOpen = view.token;
  drawTalk(view);
  drawForm(view);
  drawDiscard(view);
  takeFocus(view, isFirst);
  if (!isFirst) {
    rest(view, READ_MS);
    view.coming = "This conversation came just now.";
    if (view.refused) sayComing(view, view.coming);
  }
  if (view.draft.isSent) say(view, "This one was not saved yet: save it again.", true);
  if (isFirst && view.draft.rev === 0) offer(view, otherDrafts(view));
}

function takeFocus(view, isFirst) {
  // So that arrows and Page keys scroll the conversation. Nobody is pulled away from what they are doing elsewhere; the
  // field of the name, which may still be there while the desk comes, is done with.
  const active = document.activeElement;
  if (!isFirst || isNowhere(active) || active.type === "text") view.talk.focus({ preventScroll: true });
}

function isNowhere(element) {
  return !element || element === document.body;
}

function kept(view, token) {
  // The server stored the form and is about to draw the next conversation. It is asked again only if that is lost.
  if (!view.pending || view.pending.token !== token) return;
  view.pending.isKept = true;
  remember(draftKey(view, token), null);
  clearTimeout(view.resend);
  view.resend = setTimeout(() => sendPending(view), KEPT_RESEND_MS);
  sayComing(view, "Saved. The next conversation is coming.");
}

function acknowledge(view) {
  remember(draftKey(view, view.pending.token), null);
  stopSending(view);
}

// Drafts ------------------------------------------------------------------------------------------------------------

function remembered(key, otherwise) {
  try {
    return localStorage.getItem(key) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Storage may be full or forbidden; the database still gets the draft.
  }
}

function draftKey(view, token) {
  return `dramaturg-draft:${view.data.storage}:${token}`;
}

function newestDraft(view) {
  const empty = { rev: 0, score: null, answers: [null, null, null, null, null], comment: "" };
  // The browser's own first, which knows whether it was sent.
  const candidates = [readLocal(view), view.data.draft].filter(Boolean);
  return candidates.reduce((best, draft) => (draft.rev > best.rev ? { ...empty, ...draft } : best), empty);
}

function readLocal(view) {
  return parseDraft(remembered(draftKey(view, view.token), "null"));
}

function parseDraft(text) {
  try {
    const draft = JSON.parse(text);
    return draft && Number.isInteger(draft.rev) && Array.isArray(draft.answers) ? draft : null;
  } catch {
    return null;
  }
}

function isBegun(view) {
  return view.token !== null && view.token !== view.left && readLocal(view) !== null;
}

function otherDrafts(view) {
  // Forms of other games that were begun at this browser, the latest last: a server that was away knows nothing of them.
  const prefix = draftKey(view, "");
  const found = [];
  try {
    for (const key of Object.keys(localStorage)) {
      const token = key.slice(prefix.length);
      const draft = key.startsWith(prefix) && token !== view.token ? parseDraft(localStorage.getItem(key)) : null;
      if (draft) found.push({ token, ...draft });
    }
  } catch {
    return [];
  }
  return found.sort((one, other) => (one.at ?? 0) - (other.at ?? 0)).slice(-MOST_OFFERED);
}

function offer(view, drafts) {
  // Once for each game that the server shows instead: it may have a reason, such as a rating from another window.
  if (!drafts.length || view.offered === view.data.token) return;
  view.offered = view.data.token;
  // Later: Streamlit takes no event while it hands over data.
  setTimeout(() => view.send("begun", drafts));
}

function changed(view) {
  view.warned = false;
  view.toldAt = -Infinity;
  view.left = null;
  delete view.draft.isSent;
  view.draft.rev += 1;
  view.draft.at = Date.now();
  remember(draftKey(view, view.token), JSON.stringify(view.draft));
  clearTimeout(view.drafting);
  const token = view.token;
  view.drafting = setTimeout(() => saveDraft(view, token), DRAFT_MS);
  say(view, "", false);
}

function saveDraft(view, token) {
  view.drafting = null;
  if (view.token === token && !view.pending) view.saveDraft({ token, ...view.draft });
}

function press(view, name, value) {
  // What was typed goes first: sent after the press, it would carry the address from before it, and undo it.
  if (view.drafting) {
    clearTimeout(view.drafting);
    saveDraft(view, view.token);
  }
  view.refused = "";
  rest(view, RESEND_MS, "The server has not answered yet. What you enter is kept; press again.");
  sayComing(view, "Another conversation is coming.");
  view.send(name, value);
}

// From the press that leaves a conversation until the next one was seen, what is struck counts for neither: the form is
// closed, and names it.
function rest(view, ms, words) {
  clearTimeout(view.waking);
  closeForm(view, true);
  if (ms) view.waking = setTimeout(() => wake(view, words), ms);
}

function wake(view, words) {
  clearTimeout(view.waking);
  closeForm(view, false);
  if (words) say(view, words, true);
}

function closeForm(view, isClosed) {
  view.fields.inert = view.submit.disabled = view.skip.disabled = isClosed;
}

function refuse(view, key) {
  view.refused = `${view.refused} ${key}`.slice(-MOST_REFUSED);
  sayComing(view, view.coming);
  return true;
}

function sayComing(view, words) {
  view.coming = words;
  const refused = view.refused && ` Did not count, as the next conversation was not on the screen:${view.refused}`;
  say(view, words + refused, refused !== "");
}

// Conversation ------------------------------------------------------------------------------------------------------

function drawTalk(view) {
  const rows = view.data.rows.map((row) => (row.k === "m" ? drawMessage(view, row) : element("p", `event ${row.k}`, row.x)));
  view.talk.replaceChildren(...greeting(view), ...rows, element("p", "event", "End of the conversation"));
  view.talk.scrollTop = 0;
  // On a phone the whole page scrolls: the next game begins at its first message, not where the form before it ended.
  if (innerWidth <= 760 && view.talk.getBoundingClientRect().top < 0) view.talk.scrollIntoView();
}

function greeting(view) {
  if (view.data.seen) {
    const note = element("p", "note", view.data.seen);
    note.append(button("link", "Cannot rate", () => view.discard.showModal()));
    return [note];
  }
  // For somebody who has not rated yet, until it is dismissed; inside the conversation, where it takes nothing from the form.
  const key = `dramaturg-greeted:${view.data.storage}`;
  if (!view.data.isNew || remembered(key, "")) return [];
  const note = element("p", "note", "New here? The guide begins with a short game to practise on.");
  const dismiss = () => {
    remember(key, "1");
    note.remove();
  };
  note.append(button("link", "How to rate", () => press(view, "guide", true)), button("link", "Dismiss", dismiss));
  return [note];
}

function drawMessage(view, row) {
  const node = element("article", "message");
  const name = element("span", "name", view.data.speakers[row.s]);
  name.style.setProperty("--hue", String((row.s * 137 + 250) % 360));
  node.append(name, element("p", "text", row.x));
  return node;
}

// Sending -----------------------------------------------------------------------------------------------------------

function submit(view) {
  // A key that is pressed twice is one press, as a double click is: what it shows is read before the next.
  if (view.fields.inert) return void (view.pending || refuse(view, "save"));
  if (performance.now() - view.toldAt < READ_MS) return;
  if (view.draft.score === null) {
    say(view, "Choose a score from 1 to 5 first.", true);
    return;
  }
  const tooLong = beyond(view.draft.comment, view.data.longest.comment);
  if (tooLong) {
    say(view, tooLong, true);
    return;
  }
  const doubt = nextDoubt(view);
  if (doubt) {
    say(view, doubt, true);
    view.toldAt = performance.now();
    return;
  }
  const { score, answers, comment } = view.draft;
  deliver(view, "submit", { token: view.token, score, answers, comment });
}

// What the rater should look at again before the form is saved, once each and one at a time: a press saves nothing that
// was not shown before it.
function nextDoubt(view) {
  const { score, answers } = view.draft;
  const yes = answers.filter((value) => value === true).length;
  if (yes >= 4 && score < 3 && !view.warned) {
    view.warned = true;
    return `${yes} of 5 answers are yes, but the score is below 3. Look again, or save once more to keep ${score}.`;
  }
  const open = answers.filter((value) => value === null).length;
  // Once a form, also when other answers follow: a rater may leave questions open.
  if (!open || view.toldOpen === view.token) return "";
  view.toldOpen = view.token;
  return `${open} of 5 questions ${open === 1 ? "has" : "have"} no answer. Answer, or save once more where you cannot say.`;
}

function deliver(view, name, body) {
  if (view.pending) return;
  view.refused = "";
  rest(view);
  clearTimeout(view.drafting);
  view.pending = { name, token: view.token, body };
  // Whoever leaves the page before the server answers is told when they come back.
  if (name === "submit") remember(draftKey(view, view.token), JSON.stringify({ ...view.draft, isSent: true }));
  view.sends = 0;
  sendPending(view);
}

function sendPending(view) {
  if (!view.pending) return;
  if (view.pending.isKept) {
    view.send(view.pending.name, { ...view.pending.body, attempt: ++view.sends });
    view.resend = setTimeout(() => sendPending(view), KEPT_RESEND_MS);
    return;
  }
  if (view.sends >= MOST_SENDS) {
    stopSending(view);
    say(view, "Nothing was saved: the server does not answer. Your answers are kept here; try again.", true);
    return;
  }
  view.sends += 1;
  sayComing(view, view.sends === 1 ? "Saving." : `Saving, try ${view.sends} of ${MOST_SENDS}.`);
  view.send(view.pending.name, { ...view.pending.body, attempt: view.sends });
  view.resend = setTimeout(() => sendPending(view), RESEND_MS);
}

function stopSending(view) {
  clearTimeout(view.resend);
  view.pending = null;
  if (view.fields) wake(view);
}

function skip(view) {
  if (view.fields.inert) return;
  // The server has another game on the desk already, and kept this one waiting for its form.
  if (view.token !== view.data.token) draw(view);
  else {
    view.left = view.token;
    press(view, "skip", { token: view.token });
  }
}

// Keys --------------------------------------------------------------------------------------------------------------

function onKey(view, event) {
  // A dialog of Streamlit's own, such as the one about a lost connection, is not a reason to ignore a key.
  if (event.repeat || event.isComposing || event.altKey || event.metaKey || view.help.open || view.discard.open) return;
  // Somebody is choosing where to go.
  if (document.querySelector(".st-key-go_to_choice")) return;
  if (event.ctrlKey) {
    if (event.key === "Enter") {
      event.preventDefault();
      event.stopPropagation();
      submit(view);
    }
    return;
  }
  const target = event.composedPath()[0];
  if (target === view.comment && event.key === "Escape") {
    view.talk.focus({ preventScroll: true });
    return;
  }
  // What had the focus went away: the keys that scroll go to the conversation, before they do what they do.
  if (event.key !== "Tab" && isNowhere(document.activeElement)) view.talk.focus({ preventScroll: true });
  const typing = target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName) || (target.tagName === "INPUT" && !["radio", "checkbox"].includes(target.type));
  if (!typing && act(view, event.key)) event.preventDefault();
}

function act(view, key) {
  if (view.fields.inert && /^([1-5.,ynstd]|backspace)$/i.test(key)) return refuse(view, key);
  if (/^[1-5]$/.test(key)) {
    setScore(view, Number(key));
    showQuestion(view, view.questions.length - 1);
    return true;
  }
  if (key === "." || key === ",") {
    addHalf(view, !view.half.checked);
    return true;
  }
  const letter = key.toLowerCase();
  if ((letter === "y" || letter === "n") && view.current >= 0) {
    const word = letter === "y" ? "yes" : "no";
    const index = view.current;
    const input = view.form.querySelector(`input[name="question${index}"][value="${word}"]`);
    input.checked = true;
    answer(view, index, letter === "y");
    return true;
  }
  const acts = {
    s: () => skip(view),
    d: () => view.data.discards.length && view.discard.showModal(),
    f: () => shorten(view, !view.isShort),
    t: () => view.comment.focus(),
    "?": () => view.help.showModal(),
    backspace: () => view.lastAnswered >= 0 && takeBack(view, view.lastAnswered--),
  };
  if (!(letter in acts)) return false;
  acts[letter]();
  return true;
}
