// A list of any length: only the rows in sight exist, and each is filled again as the list moves.

import { el, unique } from "./dom.js";

const SPARE = 8;

/**
 * Args (as one object):
 *   label: what the list is of, for those who hear it.
 *   height: of a row, in pixels.
 *   make: () => an element for a row, its cells inside.
 *   show: (element, item, index) => fill such an element.
 *   open: (item, index) => a row was chosen; an item has an `id`.
 *   near: () => the end is near; more may be fetched.
 */
export function rows({ label, height, make, show, open, near }) {
  const name = unique("row");
  const room = el("div", { class: "rows-room", role: "presentation" });
  const view = el(
    "div",
    { class: "rows", role: "grid", tabindex: "0", "aria-label": label, "aria-rowcount": "0" },
    room,
  );
  let items = [];
  let pool = [];
  let active = -1;
  let chosen = null;
  let asked = 0;

  view.addEventListener("scroll", soon, { passive: true });
  view.addEventListener("keydown", keyed);
  view.addEventListener("focus", () => active < 0 && items.length && activate(0));
  room.addEventListener("click", (event) => {
    const row = event.target.closest("[data-index]");
    if (!row) return;
    activate(Number(row.dataset.index), false);
    open(items[active], active);
  });
  new ResizeObserver(soon).observe(view);

  function soon() {
    if (!asked) asked = requestAnimationFrame(draw);
  }

  function draw() {
    asked = 0;
    const shown = Math.ceil(view.clientHeight / height);
    const wanted = Math.min(items.length, shown + 2 * SPARE);
    if (!shown) return;
    if (pool.length < wanted) grow(wanted);
    const first = Math.max(0, Math.min(Math.floor(view.scrollTop / height) - SPARE,
      items.length - pool.length));
    for (let index = first; index < first + pool.length; index += 1) {
      const row = pool[index % pool.length];
      if (row.index === index && row.item === items[index]) continue;
      place(row, index);
    }
    if (near && items.length && view.scrollTop + view.clientHeight > (items.length - 20) * height) {
      near();
    }
  }

  function grow(wanted) {
    while (pool.length < wanted) {
      const element = make();
      element.setAttribute("role", "row");
      room.append(element);
      pool.push({ element, index: -1, item: undefined });
    }
    for (const row of pool) row.item = undefined;
  }

  function place(row, index) {
    const { element } = row;
    row.index = index;
    row.item = items[index];
    element.hidden = index >= items.length;
    if (element.hidden) return;
    element.id = `${name}-${index}`;
    element.dataset.index = index;
    element.setAttribute("aria-rowindex", index + 1);
    element.style.transform = `translateY(${index * height}px)`;
    mark(row);
    show(element, row.item, index);
  }

  function mark(row) {
    row.element.classList.toggle("active", row.index === active);
    row.element.setAttribute("aria-selected", chosen !== null && row.item?.id === chosen);
  }

  function activate(index, scroll = true) {
    active = Math.max(0, Math.min(index, items.length - 1));
    if (scroll) {
      const above = active * height;
      if (above < view.scrollTop) view.scrollTop = above;
      if (above + height > view.scrollTop + view.clientHeight) {
        view.scrollTop = above + height - view.clientHeight;
      }
    }
    draw();
    for (const row of pool) mark(row);
    view.setAttribute("aria-activedescendant", `${name}-${active}`);
  }

  function keyed(event) {
    if (event.target !== view || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(view.clientHeight / height) - 1);
    const to = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: items.length - 1,
    }[event.key];
    if (to !== undefined && items.length) activate(to);
    else if ((event.key === "Enter" || event.key === " ") && active >= 0) open(items[active], active);
    else return;
    event.preventDefault();
  }

  return {
    view,
    /** Show other items, or the same ones and more. */
    set(given) {
      items = given;
      room.style.height = `${items.length * height}px`;
      view.setAttribute("aria-rowcount", items.length);
      if (pool.length > Math.max(items.length, 1)) {
        for (const row of pool.splice(items.length)) row.element.remove();
        for (const row of pool) row.item = undefined;
      }
      if (active >= items.length) active = items.length - 1;
      draw();
    },
    /** Mark the item that stands open beside the list. */
    choose(item) {
      // By its id: what is told anew of an item is another object.
      chosen = item?.id ?? null;
      const at = items.indexOf(item);
      if (at >= 0) activate(at);
      for (const row of pool) mark(row);
    },
    /** Fill all rows in sight again: what they are measured by has changed. */
    again() {
      for (const row of pool) row.item = undefined;
      draw();
    },
  };
}
