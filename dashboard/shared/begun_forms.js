// What was begun in forms is kept for this tab of the browser: a reload begins a session that knows nothing of it.
const PLACE = "dramaturg-begun";
const met = new Set();

export default function ({ data, setTriggerValue }) {
  let kept = {};
  try {
    kept = Object(JSON.parse(sessionStorage.getItem(PLACE)));
  } catch {} // Not of ours: as if nothing had been kept.
  const lost = {};
  for (const [key, value] of Object.entries(data)) {
    // Empty where this page meets it first, it is lost; later, it was emptied.
    if (!value && !met.has(key) && kept[key]) lost[key] = kept[key];
    else kept[key] = value;
    met.add(key);
  }
  sessionStorage.setItem(PLACE, JSON.stringify(kept));
  if (Object.keys(lost).length) setTriggerValue("lost", lost);
}
