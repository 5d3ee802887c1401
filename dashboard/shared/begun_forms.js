// What was begun in forms is kept for this tab of the browser: a reload begins a session that knows nothing of it.
const PLACE = "dramaturg-begun";
const met = new Set();

// A reload may come before the server was told what was typed.
document.addEventListener("input", ({ target }) => {
  const key = [...met].find((one) => target === inputOf(one));
  if (key) keep({ ...readKept(), [key]: target.value });
});

export default function ({ data, setTriggerValue }) {
  const kept = readKept();
  const lost = {};
  for (const [key, value] of Object.entries(data)) {
    // Empty where this page meets it first, it is lost; later, it was emptied.
    if (!value && !met.has(key) && kept[key]) lost[key] = kept[key];
    else kept[key] = met.has(key) ? (inputOf(key)?.value ?? value) : value;
    met.add(key);
  }
  keep(kept);
  if (Object.keys(lost).length) setTriggerValue("lost", lost);
}

function inputOf(key) {
  return document.querySelector(`.st-key-${CSS.escape(key)} :is([data-testid="stTextInputRootElement"] input, textarea)`);
}

function readKept() {
  try {
    return Object(JSON.parse(sessionStorage.getItem(PLACE)));
  } catch {
    return {}; // Not of ours: as if nothing had been kept.
  }
}

function keep(kept) {
  sessionStorage.setItem(PLACE, JSON.stringify(kept));
}
