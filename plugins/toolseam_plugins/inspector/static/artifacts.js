// Artifacts: what people look at and no provider ever sees. A renderer for each shape; one that this
// version does not know is shown as the JSON it is.

import { Exact, Inexact, parse, save } from "./api.js";
import { block, button, code, el, fill, rove } from "./dom.js";
import { json, outline } from "./tree.js";
import { count } from "./words.js";

const PAGE = 50;

export function artifacts(step, given) {
  return el(
    "div",
    { class: "artifacts" },
    given.map((each) => artifact(step, each)),
  );
}

function artifact(step, { n, type, label, data_json: text }) {
  const renderer = Object.hasOwn(RENDERERS, type) ? RENDERERS[type] : strange;
  let shown;
  try {
    shown = renderer(parse(text), label, type);
  } catch (wrong) {
    shown =
      wrong instanceof Inexact
        ? [el("p", { class: "none" }, `${wrong.message} This is its JSON.`), block(text)]
        : strange(text, label, type);
  }
  const path = `api/steps/${encodeURIComponent(step)}/artifacts/${n}`;
  return el(
    "section",
    { class: "artifact", "aria-label": label, "data-type": type },
    el(
      "header",
      {},
      el("h4", {}, label || "(no label)"),
      code(type, { class: "kind" }),
      el(
        "span",
        { class: "actions" },
        button("CSV", () => save(`${path}.csv`, `artifact-${n}.csv`), { class: "small" }),
        button("JSON", () => save(`${path}.json`, `artifact-${n}.json`), { class: "small" }),
      ),
    ),
    shown,
  );
}

const RENDERERS = {
  table: ({ columns, rows }, label) => table(columns, rows, label),
  text: ({ text }) => block(text),
  tree: ({ nodes }, label) => (nodes.length ? outline(label, nodes) : empty()),
  key_value: ({ items }) =>
    items.length
      ? el("dl", { class: "pairs" }, items.map(([key, value]) => [
          el("dt", {}, key),
          el("dd", {}, value),
        ]))
      : empty(),
  code: source,
};

function empty() {
  return el("p", { class: "none" }, "Nothing in it.");
}

function strange(value, label, type) {
  return el(
    "div",
    {},
    el("p", { class: "none" }, `This version has no view for “${type}”; this is its JSON.`),
    block(typeof value === "string" ? value : pretty(value)),
  );
}

/** Return a value as indented JSON text with the digits it came with. */
export function pretty(value, indent = "") {
  const deeper = `${indent}  `;
  if (value instanceof Exact) return value.digits;
  if (Array.isArray(value)) {
    if (!value.length) return "[]";
    return `[\n${value.map((each) => deeper + pretty(each, deeper)).join(",\n")}\n${indent}]`;
  }
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value);
    if (!members.length) return "{}";
    const said = members.map(([key, each]) => `${deeper}${JSON.stringify(key)}: ${pretty(each, deeper)}`);
    return `{\n${said.join(",\n")}\n${indent}}`;
  }
  return JSON.stringify(value);
}

/** Return JSON text indented, or as it came where it cannot be read without loss. */
export function indented(text) {
  try {
    return pretty(parse(text));
  } catch {
    return text;
  }
}

function source({ language, first_line: first, lines, marked }) {
  const chosen = new Set(marked.map(String));
  const list = lines.map((line, at) => {
    const number = BigInt(String(first)) + BigInt(at);
    const is = chosen.has(String(number));
    return el(
      "div",
      { class: is ? "code-line marked" : "code-line" },
      el("span", { class: "code-number" }, String(number)),
      el("span", { class: "code-text" }, line, is ? el("span", { class: "unseen" }, " (marked)") : null),
    );
  });
  return el(
    "div",
    { class: "source", tabindex: "0", role: "group", "aria-label": `Source ${language}` },
    list,
  );
}

// -- tables ---------------------------------------------------------------------------------------

/** A table that sorts by a heading, pages, and is walked by the arrow keys. */
export function table(columns, given, label) {
  let sorted = given;
  let page = 0;
  let by = -1;
  let down = false;
  const body = el("tbody");
  const heads = columns.map((name, at) =>
    el(
      "th",
      { scope: "col", "aria-sort": "none" },
      button(name || "(no name)", () => sort(at), { class: "sort" }),
    ),
  );
  const said = el("span", { class: "page-said" });
  const back = button("Previous", () => turn(-1), { class: "small" });
  const on = button("Next", () => turn(1), { class: "small" });
  const numeric = columns.map((_, at) => given.length > 0 && given.every((row) => isNumber(row[at])));

  function draw() {
    const rows = sorted.slice(page * PAGE, (page + 1) * PAGE);
    fill(
      body,
      rows.map((row) =>
        el(
          "tr",
          {},
          row.map((cell, at) =>
            el("td", { tabindex: "-1", class: numeric[at] ? "number" : null }, el("div", {}, cell)),
          ),
        ),
      ),
    );
    const first = body.querySelector("td");
    if (first) first.tabIndex = 0;
    const from = page * PAGE;
    said.textContent = `${from + 1}–${from + rows.length} of ${count(given.length, "row")}`;
    back.disabled = page === 0;
    on.disabled = from + rows.length >= given.length;
  }

  function turn(by_) {
    page += by_;
    draw();
  }

  function sort(at) {
    down = by === at ? !down : false;
    by = at;
    const sign = down ? -1 : 1;
    const compare = numeric[at] ? byNumber : byText;
    sorted = given.toSorted((one, other) => sign * compare(one[at], other[at]));
    heads.forEach((head, place) =>
      head.setAttribute("aria-sort", place !== at ? "none" : down ? "descending" : "ascending"),
    );
    page = 0;
    draw();
  }

  body.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td");
    if (!cell) return;
    const row = cell.parentElement;
    const at = cell.cellIndex;
    const to = {
      ArrowRight: cell.nextElementSibling,
      ArrowLeft: cell.previousElementSibling,
      ArrowDown: row.nextElementSibling?.cells[at],
      ArrowUp: row.previousElementSibling?.cells[at],
      Home: row.cells[0],
      End: row.cells[row.cells.length - 1],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    rove(body.querySelectorAll("td"), to);
  });
  draw();
  if (!given.length) said.textContent = "No rows.";
  return el(
    "div",
    { class: "table" },
    el(
      "div",
      { class: "table-view", tabindex: "0", role: "group", "aria-label": label },
      el("table", {}, el("thead", {}, el("tr", {}, heads)), body),
    ),
    el(
      "p",
      { class: "pages" },
      said,
      given.length > PAGE ? el("span", { class: "actions" }, back, on) : null,
    ),
  );
}

function isNumber(cell) {
  return cell === "" || /^-?\d{1,15}(\.\d+)?$/.test(cell);
}

function byNumber(one, other) {
  return (one === "" ? -Infinity : Number(one)) - (other === "" ? -Infinity : Number(other)) || 0;
}

const COLLATOR = new Intl.Collator(undefined, { numeric: true });

function byText(one, other) {
  return COLLATOR.compare(one, other);
}
