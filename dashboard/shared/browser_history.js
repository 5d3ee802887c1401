// Streamlit adds two entries to the browser's history for one change of page: the old page with the parameters of the
// new one, then the new page. One press of "back" would only show the first of the two. So what is written without a
// person's doing in between takes the place of the entry before. For a view that is chosen it adds none: "back" would
// leave the page. So what a person does adds one, whichever way it is written.
const WRAPPED = Symbol.for("dramaturg.history");

export default function () {
  if (history[WRAPPED]) return;
  history[WRAPPED] = true;
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  let isWritten = true;
  for (const kind of ["pointerdown", "keydown", "click"]) {
    addEventListener(kind, (event) => { if (event.isTrusted) isWritten = false; }, { capture: true });
  }
  // On a phone the menu lies over the page, and Streamlit leaves it open when one has chosen from it.
  addEventListener("click", (event) => {
    if (innerWidth > 768 || !event.target.closest?.('[data-testid="stSidebarNavLink"]')) return;
    setTimeout(() => document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click());
  });
  addEventListener("popstate", () => { isWritten = true; });
  const write = (held, title, url) => {
    const isSame = new URL(url ?? "", location).href === location.href;
    if (isWritten || isSame) replace(held, title, url);
    else push(held, title, url);
    isWritten = isWritten || !isSame;
  };
  history.pushState = write;
  history.replaceState = write;
}
