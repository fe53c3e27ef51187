// Trees that fold. A node's children are made when it is opened, and a long list piece by piece.

import { button, el, rove } from "./dom.js";
import { Exact } from "./api.js";
import { count } from "./words.js";

const PIECE = 200;

/**
 * Show nodes; a node is `{label: [children of its line], inner: () => [nodes] | null, open: bool}`.
 */
export function tree(label, nodes) {
  const root = el("ul", { class: "tree", role: "tree", "aria-label": label });
  add(root, nodes, 0);
  const first = root.querySelector('[role="treeitem"]');
  if (first) first.tabIndex = 0;
  root.addEventListener("keydown", keyed);
  root.addEventListener("click", (event) => {
    const line = event.target.closest(".tree-line");
    const item = line?.parentElement;
    if (!item || item.getAttribute("role") !== "treeitem") return;
    rove(root.querySelectorAll('[role="treeitem"]'), item);
    if (item.hasAttribute("aria-expanded") && !String(getSelection())) toggle(item);
  });
  return root;
}

function add(list, nodes, from) {
  for (const node of nodes.slice(from, from + PIECE)) list.append(itemOf(node));
  const left = nodes.length - from - PIECE;
  if (left <= 0) return;
  const more = el("li", { class: "tree-more", role: "none" });
  more.append(
    button(`Show ${Math.min(PIECE, left)} more of ${left}`, () => {
      more.remove();
      add(list, nodes, from + PIECE);
    }),
  );
  list.append(more);
}

function itemOf(node) {
  const item = el("li", { role: "treeitem", tabindex: "-1" }, el("div", { class: "tree-line" }, node.label));
  item.inner = node.inner;
  if (node.inner) {
    item.setAttribute("aria-expanded", "false");
    if (node.open) toggle(item);
  }
  return item;
}

function toggle(item) {
  const open = item.getAttribute("aria-expanded") !== "true";
  item.setAttribute("aria-expanded", open);
  let list = item.querySelector(":scope > ul");
  if (open && !list) {
    list = el("ul", { role: "group" });
    add(list, item.inner(), 0);
    item.append(list);
  }
  if (list) list.hidden = !open;
}

function keyed(event) {
  const item = event.target.closest('[role="treeitem"]');
  if (!item || event.target !== item) return;
  const root = event.currentTarget;
  const all = [...root.querySelectorAll('[role="treeitem"]')].filter(
    (each) => !each.parentElement.closest("[hidden]"),
  );
  const at = all.indexOf(item);
  const expanded = item.getAttribute("aria-expanded");
  let to = null;
  if (event.key === "ArrowDown") to = all[at + 1];
  else if (event.key === "ArrowUp") to = all[at - 1];
  else if (event.key === "Home") to = all[0];
  else if (event.key === "End") to = all.at(-1);
  else if (event.key === "ArrowRight" && expanded === "false") toggle(item);
  else if (event.key === "ArrowRight" && expanded === "true") to = all[at + 1];
  else if (event.key === "ArrowLeft" && expanded === "true") toggle(item);
  else if (event.key === "ArrowLeft") to = item.parentElement.closest('[role="treeitem"]');
  else if ((event.key === "Enter" || event.key === " ") && expanded) toggle(item);
  else return;
  event.preventDefault();
  if (to) rove(all, to);
}

/** Show a parsed JSON value as a tree; one that holds nothing is a line. */
export function json(label, value) {
  if (!holds(value)) return el("p", { class: "json-lone" }, scalar(value));
  return tree(label, inside(value, 0));
}

function holds(value) {
  return value !== null && typeof value === "object" && !(value instanceof Exact);
}

function inside(value, depth) {
  return Object.entries(value).map(([key, each]) => {
    const name = el("span", { class: Array.isArray(value) ? "json-at" : "json-key" }, key);
    if (!holds(each)) return { label: [name, scalar(each)], inner: null };
    const size = Object.keys(each).length;
    const said = Array.isArray(each) ? count(size, "item") : count(size, "member");
    const inner = size ? () => inside(each, depth + 1) : null;
    return {
      label: [name, el("span", { class: "json-size" }, size ? said : Array.isArray(each) ? "[]" : "{}")],
      inner,
      open: depth < 1 && size <= 30,
    };
  });
}

function scalar(value) {
  if (typeof value === "string") {
    return el("span", { class: "json-text" }, value === "" ? "(empty text)" : value);
  }
  const kind = value === null || typeof value === "boolean" ? "json-word" : "json-number";
  return el("span", { class: kind }, String(value));
}

/** Show an outline of `[depth, text]`, each at most one deeper than the one before. */
export function outline(label, nodes) {
  const starts = (from, to, depth) => {
    const found = [];
    for (let at = from; at < to; at += 1) if (nodes[at][0] === depth) found.push(at);
    return found.map((at, place) => {
      const end = found[place + 1] ?? to;
      const inner = end > at + 1 ? () => starts(at + 1, end, depth + 1) : null;
      const label_ = [el("span", { class: "tree-text" }, nodes[at][1])];
      if (inner) label_.push(el("span", { class: "json-size" }, `${end - at - 1}`));
      return { label: label_, inner, open: depth < 2 && nodes.length <= 400 };
    });
  };
  return tree(label, starts(0, nodes.length, 0));
}
