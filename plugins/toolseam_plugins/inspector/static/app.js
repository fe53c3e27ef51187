// The page: entering, the views, and the one stream that keeps them true.

import { enter, follow, get } from "./api.js";
import { el, fill, say } from "./dom.js";
import { errorsView } from "./errors.js";
import { later } from "./later.js";
import { playgroundView } from "./playground.js";
import { runView } from "./run.js";
import { runsView } from "./runs.js";
import { toolsView } from "./tools.js";
import { waitingView } from "./waiting.js";

const VIEWS = [
  ["tools", "Tools", toolsView],
  ["try", "Playground", playgroundView],
  ["runs", "Runs", (host, path) => (path.length ? runView(host, path) : runsView(host))],
  ["waiting", "Waiting", waitingView],
  ["errors", "Errors", errorsView],
];

const main = document.getElementById("main");
const pulse = document.getElementById("pulse");
const links = new Map();
let host = null;
let shown = null;

async function begin() {
  const token = location.hash.slice(1);
  if (token && !token.startsWith("/")) {
    // Out of the address, and of the history, before anything else can go wrong.
    history.replaceState(null, "", location.pathname);
    try {
      await enter(token);
    } catch (refused) {
      locked(refused.message);
      return;
    }
  }
  try {
    host = await get("api/host");
  } catch (refused) {
    if (refused.status !== 401) locked(refused.message);
    return;
  }
  navigation();
  addEventListener("hashchange", () => (location.hash === "" || location.hash.startsWith("#/")) && route());
  if (!location.hash.startsWith("#/")) history.replaceState(null, "", "#/tools");
  route();
  countWaiting();
  follow(told, beat);
}

function locked(message) {
  pulse.hidden = true;
  main.removeAttribute("aria-busy");
  const shell = el("code", {}, "toolseam inspect");
  fill(
    main,
    el(
      "section",
      { class: "locked" },
      el("h1", {}, "This page is locked"),
      el("p", {}, message || "It opens by a link that works once."),
      el("p", {}, "Run ", shell, " again for a new link."),
    ),
  );
}

function navigation() {
  const list = document.getElementById("views");
  for (const [name, title] of VIEWS) {
    const number = el("span", { class: "number-badge", hidden: true });
    const link = el("a", { href: `#/${name}` }, title, number);
    links.set(name, { link, number });
    list.append(link);
  }
}

function route() {
  const [name, ...path] = location.hash.slice(2).split("/").map(decoded);
  const found = VIEWS.find(([known]) => known === name) ?? VIEWS[0];
  for (const [known, { link }] of links) {
    if (known === found[0]) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (shown?.name === found[0] && shown.view.moved?.(path)) return;
  shown?.view.left?.();
  const view = found[2](host, path);
  shown = { name: found[0], view };
  main.className = `view-${found[0]}`;
  document.title = `${found[1]} · toolseam`;
  fill(main, view.node);
  main.removeAttribute("aria-busy");
  say(found[1]);
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function beat(state) {
  pulse.className = `pulse ${state}`;
  pulse.textContent = { live: "live", waiting: "reconnecting", ended: "ended" }[state];
}

function told(event) {
  shown?.view.told?.(event);
  if (event.kind === "run" || event.kind === "stored") countWaiting();
}

const { soon: countWaiting } = later(async () => {
  try {
    const { runs } = await get("api/waiting");
    const { number } = links.get("waiting");
    number.hidden = runs.length === 0;
    fill(number, String(runs.length), el("span", { class: "unseen" }, " waiting"));
  } catch {
    // Who looks at the view itself is told why.
  }
}, 150);

addEventListener("locked", () => locked());
addEventListener("hashchange", () => {
  // A new link, into a page that is open or locked: it begins anew.
  if (location.hash.length > 1 && !location.hash.startsWith("#/")) location.reload();
});
addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select");
  if (event.key === "/" && !typing) {
    const search = main.querySelector('input[type="search"]');
    if (search) {
      event.preventDefault();
      search.focus();
    }
  } else if (event.key === "Escape") {
    if (typing) typing.blur();
    else shown?.view.escaped?.();
  }
});
document.querySelector(".skip").addEventListener("click", (event) => {
  // The address holds the view, so the link itself may not.
  event.preventDefault();
  main.focus();
});
begin();
