// The runs of this host and of the audit, newest first.

import { get } from "./api.js";
import { el, fill, visible } from "./dom.js";
import { later } from "./later.js";
import { rows } from "./rows.js";
import { badged, count, moment, seconds, spoken } from "./words.js";

const STATUSES = [
  ["", "All"],
  ["running", "Running"],
  ["waiting_for_approval", "Waiting"],
  ["held", "Held"],
  ["completed", "Completed"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
  ["session", "Sessions"],
];

export function runsView() {
  const said = el("p", { class: "list-said", role: "status" });
  const pick = el(
    "select",
    { "aria-label": "Status" },
    STATUSES.map(([value, word]) => el("option", { value }, word)),
  );
  const list = rows({ label: "Runs", height: 56, make, show, open, near });
  const empty = el("p", { class: "none", hidden: true }, "No runs yet. Run a tool in the playground, or a loop with ",
    el("code", {}, "toolseam ask"), ".");
  const notice = el("p", { class: "notice", hidden: true, role: "alert" });
  const head = el(
    "div",
    { class: "run-row row-head", "aria-hidden": "true" },
    ["Run", "Status", "Began", "Took", "Steps", "Tokens"].map((each) => el("span", {}, each)),
  );
  const node = el(
    "div",
    { class: "column" },
    el("div", { class: "bar" }, el("h1", {}, "Runs"), said, pick),
    notice,
    empty,
    el("div", { class: "list-frame" }, head, list.view),
  );
  let found = [];
  let next = null;
  let asking = false;
  const { soon, never } = later(load);

  pick.addEventListener("change", () => {
    found = [];
    load();
  });

  async function load() {
    const page = await ask(null);
    if (!page) return;
    const known = new Set(page.runs.map((each) => each.id));
    // Older ones that were fetched already stay where they are; of a status, they may have left it.
    const older = pick.value ? [] : found.filter((each) => !known.has(each.id));
    if (!older.length) next = page.next;
    found = [...page.runs, ...older];
    draw();
  }

  async function ask(before) {
    const query = new URLSearchParams({ limit: "100" });
    if (pick.value) query.set("status", pick.value);
    if (before) query.set("before", before);
    try {
      notice.hidden = true;
      return await get(`api/runs?${query}`);
    } catch (refused) {
      fill(notice, refused.message).hidden = false;
      return null;
    }
  }

  async function near() {
    if (!next || asking) return;
    asking = true;
    const page = await ask(next);
    asking = false;
    if (!page) return;
    const known = new Set(found.map((each) => each.id));
    found = [...found, ...page.runs.filter((each) => !known.has(each.id))];
    next = page.next;
    draw();
  }

  function draw() {
    list.set(found);
    empty.hidden = found.length > 0;
    said.textContent = next ? `the newest ${found.length}` : count(found.length, "run");
  }

  load();
  return {
    node,
    moved: (path) => path.length === 0,
    told(event) {
      if (event.kind === "run") {
        if (pick.value) {
          soon();
          return;
        }
        const at = found.findIndex((each) => each.id === event.run.id);
        found = at < 0 ? [event.run, ...found] : found.with(at, event.run);
        draw();
      } else if (event.kind === "stored" || event.kind === "lost") soon();
      else if (event.kind === "step") soon();
    },
    left: never,
  };
}

function open(run) {
  location.hash = `#/runs/${encodeURIComponent(run.id)}`;
}

function make() {
  const cell = (name) => el("span", { class: name, role: "gridcell" });
  const status = cell("cell-status");
  const sign = el("span");
  const why = el("span", { class: "hint" });
  status.append(sign, why);
  const who = cell("cell-run");
  const title = el("span", { class: "run-title" });
  const about = el("span", { class: "hint" });
  who.append(title, about);
  const made = el("div", { class: "run-row" }, who, status, cell("began"), cell("number"), cell("number"), cell("number"));
  made.parts = { title, about, sign, why, cells: [...made.children] };
  return made;
}

function show(element, run) {
  const { title, about, sign, why, cells } = element.parts;
  title.textContent = run.id.slice(0, 12);
  const said = [run.owner ?? "nobody", run.provider ?? spoken(run.kind), spoken(run.zone)];
  about.textContent = visible(said.filter(Boolean).join(" · "));
  badged(sign, run.status);
  why.textContent = run.reason && run.reason !== run.status ? spoken(run.reason) : "";
  cells[2].textContent = moment(run.began);
  cells[3].textContent = seconds(run.duration_s);
  cells[4].textContent = run.failures ? `${run.steps}, ${run.failures} failed` : String(run.steps);
  const tokens = (run.input_tokens ?? 0) + (run.output_tokens ?? 0);
  cells[5].textContent = tokens ? tokens.toLocaleString("en") : "–";
}
