// One message with the words that a verdict rests on marked, below those that were said just before it.

export default function ({ parentElement, data }) {
  const update = (view) => {
    const { speaker, role, text, spans, before } = data;
    const body = element("p", "text");
    paintText(body, text, spans);
    const asked = said(speaker, role, body);
    asked.classList.add("asked");
    view.replaceChildren(...before.map((one) => said(one.speaker, "", element("p", "text", one.text))), asked);
    view.scrollTop = asked.offsetTop;
  };
  return mount(parentElement, createBox, update, (view) => view.remove());
}

function said(speaker, role, body) {
  const node = element("div", "said");
  const head = element("p", "head");
  head.append(element("b", "", speaker), element("span", "role", role));
  node.append(head, body);
  return node;
}

function createBox(root) {
  const box = region("box", "Message to check");
  root.append(box);
  return box;
}
