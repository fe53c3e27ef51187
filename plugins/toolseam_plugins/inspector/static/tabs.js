// Tabs: one is open, the arrow keys go round, and a panel is made when it is first opened.

import { el, fill, rove, unique } from "./dom.js";

/**
 * Args: `label` for those who hear it; `tabs` as `[name, title, () => element]`; the name of the
 * `open` one; `opened(name)` is told of a change.
 */
export function tabs({ label, tabs: given, open, opened }) {
  const panel = el("div", { class: "tab-panel", role: "tabpanel", id: unique("panel"), tabindex: "0" });
  const list = el("div", { class: "tabs", role: "tablist", "aria-label": label });
  const heads = given.map(([name, title, make]) => {
    const head = el(
      "button",
      {
        type: "button",
        role: "tab",
        id: unique("tab"),
        "aria-controls": panel.id,
        "data-tab": name,
        on: { click: () => choose(head) },
      },
      title,
    );
    head.make = make;
    list.append(head);
    return head;
  });

  function choose(head, focus = true) {
    for (const each of heads) {
      each.setAttribute("aria-selected", each === head);
      each.tabIndex = each === head ? 0 : -1;
    }
    panel.setAttribute("aria-labelledby", head.id);
    fill(panel, head.make());
    panel.scrollTop = 0;
    if (focus) rove(heads, head);
    opened?.(head.dataset.tab);
  }

  list.addEventListener("keydown", (event) => {
    const at = heads.indexOf(event.target);
    const to = {
      ArrowRight: (at + 1) % heads.length,
      ArrowLeft: (at - 1 + heads.length) % heads.length,
      Home: 0,
      End: heads.length - 1,
    }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    choose(heads[to]);
  });
  const first = heads.find((head) => head.dataset.tab === open) ?? heads[0];
  const made = el("div", { class: "tabbed" }, list, panel);
  choose(first, false);
  return made;
}
