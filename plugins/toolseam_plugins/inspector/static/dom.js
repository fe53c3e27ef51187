// Elements out of names and texts. Nothing here, or anywhere on the page, makes markup of a text.

const HIDDEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u2069\\ufeff\\ufff9-\\ufffb]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|" +
    "(?<![\\ud800-\\udbff])[\\udc00-\\udfff]|\\udb40[\\udc00-\\udc7f]",
  "g",
);

/** Return a text in which what a reader could not see, or what would turn his lines, is named. */
export function visible(text) {
  return String(text).replace(HIDDEN, (found) => {
    const code = found.codePointAt(0);
    if (code < 0x20 && code !== 0x0d) return String.fromCharCode(0x2400 + code);
    if (code === 0x0d) return "";
    return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}

/** Make an element: `on` holds listeners, `vars` CSS variables, all else is an attribute. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") {
      for (const [kind, listener] of Object.entries(value)) made.addEventListener(kind, listener);
    } else if (key === "vars") {
      for (const [variable, said] of Object.entries(value)) made.style.setProperty(variable, said);
    } else if (key === "value") {
      made.value = value;
    } else {
      made.setAttribute(key, value === true ? "" : String(value));
    }
  }
  put(made, children);
  return made;
}

function put(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
}

/** Put these children where others were. */
export function fill(parent, ...children) {
  parent.replaceChildren();
  put(parent, children);
  return parent;
}

export function button(text, act, attributes = {}) {
  return el("button", { type: "button", ...attributes, on: { click: act } }, text);
}

export function code(text, attributes = {}) {
  return el("code", attributes, text);
}

/** A block of text as it stands, in lines. */
export function block(text, attributes = {}) {
  return el("pre", { tabindex: "0", ...attributes }, text);
}

/** Pairs of a term and what it is; pairs without a value are left out. */
export function facts(pairs, attributes = {}) {
  const told = pairs.filter((pair) => pair && pair[1] !== null && pair[1] !== undefined);
  return el(
    "dl",
    { class: "facts", ...attributes },
    told.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))),
  );
}

/** Tell those who do not see the page what has changed. */
export function say(text) {
  document.getElementById("said").textContent = visible(text);
}

/** A name that no other element on the page has, for `aria-` references. */
let last = 0;
export function unique(word) {
  last += 1;
  return `${word}-${last}`;
}

/** Move the focus among elements of which one at a time can be reached by Tab. */
export function rove(elements, current) {
  for (const each of elements) each.tabIndex = each === current ? 0 : -1;
  current.focus();
}
