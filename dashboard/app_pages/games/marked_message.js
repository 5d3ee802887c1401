// One message with the words that a verdict rests on marked.

export default function ({ parentElement, data }) {
  const update = (view) => {
    const { speaker, role, text, spans } = data;
    const head = element("p", "head");
    head.append(element("b", "", speaker), element("span", "role", role));
    const body = element("p", "text");
    let from = 0;
    for (const [start, end] of spans) {
      body.append(text.slice(from, Math.max(from, start)));
      body.append(element("mark", "", text.slice(Math.max(from, start), Math.max(from, end))));
      from = Math.max(from, end);
    }
    body.append(text.slice(from));
    view.replaceChildren(head, body);
    view.scrollTop = 0;
  };
  return mount(parentElement, createBox, update, (view) => view.remove());
}

function createBox(root) {
  const box = element("div", "box");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Message to check");
  root.append(box);
  return box;
}
