// One run: its steps as a waterfall, live while it runs, and beside it the step that is open.

import { get } from "./api.js";
import { block, code, el, facts, fill, say, visible } from "./dom.js";
import { later } from "./later.js";
import { rows } from "./rows.js";
import { stepPanel } from "./step.js";
import { back } from "./tools.js";
import { aside, badge, badged, bytes, count, kind, moment, seconds, spoken, tone } from "./words.js";

const HEIGHT = 40;

export function runView(host, path) {
  const id = path[0];
  const address = `api/runs/${encodeURIComponent(id)}`;
  const head = el("header", { class: "run-head" });
  const notice = el("p", { class: "notice", hidden: true, role: "alert" });
  const said = el("p", { class: "list-said", role: "status" });
  const search = el("input", { type: "search", placeholder: "Filter: tool or status", "aria-label": "Filter steps", spellcheck: "false" });
  const axis = el("span", { class: "axis" });
  const list = rows({ label: "Steps", height: HEIGHT, make, show: (...row) => show(...row), open });
  const side = el("section", { class: "step-side", "aria-label": "Step", tabindex: "-1" });
  const progress = el("p", { class: "progress", hidden: true, role: "status" });
  const node = el(
    "div",
    { class: "run" },
    el(
      "div",
      { class: "column" },
      back("#/runs", "Runs"),
      head,
      notice,
      el("div", { class: "bar" }, search, said),
      progress,
      el(
        "div",
        { class: "list-frame" },
        el("div", { class: "step-row row-head", "aria-hidden": "true" },
          el("span", {}, "Step"), el("span", {}, "Status"), axis, el("span", {}, "Took"),
          el("span", {}, "To model"), el("span", {}, "Stays")),
        list.view,
      ),
    ),
    side,
  );
  let steps = [];
  let seen = new Map();
  let whole = 0.001;
  let opened = null;
  let tab = path[2];
  const { soon, never } = later(load);
  let drawn = 0;
  // What came by the stream while the run was being asked for: newer than the answer, or in it.
  let arrived = new Map();
  let asking = 0;

  search.addEventListener("input", draw);

  async function load() {
    asking += 1;
    const mine = asking;
    arrived = new Map();
    let after = 0;
    const found = [];
    try {
      for (;;) {
        const page = await get(`${address}?after=${after}&limit=2000`);
        if (mine !== asking) return;
        if (after === 0) summary(page.run);
        found.push(...page.steps);
        if (page.next === null) break;
        after = page.next;
        take(found);
      }
    } catch (refused) {
      fill(notice, refused.message).hidden = false;
      return;
    }
    take(found);
    if (path[1] && opened === null) openById(path[1]);
  }

  function take(found) {
    const all = new Map(found.map((each) => [each.id, each]));
    for (const [step, row] of arrived) all.set(step, row);
    steps = [...all.values()];
    seen = new Map(steps.map((each, at) => [each.id, at]));
    draw();
  }

  function summary(run) {
    fill(
      head,
      el("div", { class: "page-head" },
        el("h1", {}, el("span", { class: "hint" }, run.kind === "session" ? "Session" : "Run"), ` ${run.id.slice(0, 12)}`),
        badge(run.status),
        run.reason && run.reason !== run.status ? el("span", { class: "flag" }, spoken(run.reason)) : null,
        run.status === "waiting_for_approval"
          ? el("a", { class: "primary", href: `#/waiting/${encodeURIComponent(run.id)}` }, "Decide")
          : null),
      run.status === "held"
        ? el("p", { class: "notice" }, "A write was made, and nobody knows what came of it. See for yourself whether it was done, and put right what it left; the run asks the model nothing more. Then say so on a terminal: ", code(`toolseam held ${run.id}`))
        : null,
      facts([
        ["Owner", run.owner ?? "nobody"],
        ["Provider", run.provider],
        ["Zone", run.zone ? spoken(run.zone) : null],
        ["Began", moment(run.began)],
        ["Took", seconds(run.duration_s)],
        ["Rounds", run.rounds || null],
        ["Tokens", run.input_tokens ? `${run.input_tokens.toLocaleString("en")} in, ${(run.output_tokens ?? 0).toLocaleString("en")} out` : null],
        ["Read up to", run.mark ? spoken(run.mark) : null],
        ["Kept", run.level ? `at level ${run.level}` : "all, in memory"],
        ["Fault", run.fault ? spoken(run.fault) : null],
        ["Lost", run.lost || run.missing ? `${run.lost + run.missing} steps are missing` : null],
      ], { class: "facts tight" }),
      answer(run),
    );
  }

  function answer(run) {
    if (!run.answer_json) return null;
    const text = JSON.parse(run.answer_json);
    return text ? el("details", {}, el("summary", {}, "Answer"), block(text)) : null;
  }

  function draw() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (each) => `${each.tool ?? ""} ${each.kind} ${each.status} ${each.reason ?? ""} ${each.flags.join(" ")}`;
    const shown = words.length
      ? steps.filter((each) => words.every((word) => text(each).includes(word)))
      : steps;
    whole = steps.reduce((most, each) => Math.max(most, each.began + (each.duration_s ?? 0)), 0.001);
    axis.textContent = `0 to ${seconds(whole)}`;
    const failed = steps.filter((each) => each.kind === "tool" && tone(each.status) === "bad").length;
    said.textContent = words.length
      ? `${shown.length} of ${count(steps.length, "step")}`
      : count(steps.length, "step") + (failed ? `, ${failed} failed` : "");
    list.set(shown);
    list.again();
  }

  function make() {
    const sign = el("span");
    const what = el("span", { class: "step-name", role: "gridcell" });
    const bar = el("span", { class: "fall-bar" });
    const took = el("span", { class: "number", role: "gridcell" });
    const crosses = el("span", { class: "number", role: "gridcell" });
    const stays = el("span", { class: "number", role: "gridcell" });
    const made = el(
      "div",
      { class: "step-row" },
      what,
      el("span", { role: "gridcell", class: "cell-status" }, sign),
      el("span", { class: "fall", role: "gridcell" }, bar),
      took,
      crosses,
      stays,
    );
    made.parts = { sign, what, bar, took, crosses, stays };
    return made;
  }

  function show(element, step) {
    const { sign, what, bar, took, crosses, stays } = element.parts;
    element.dataset.kind = step.kind;
    const called = step.kind === "tool";
    what.textContent = visible(called ? (step.tool ?? "(no tool)") : kind(step));
    sign.hidden = !step.status;
    if (step.status) badged(sign, step.status, word(step), called ? "bad" : aside(step));
    bar.className = `fall-bar ${called ? tone(step.status) : "other"}`;
    bar.style.left = `${(100 * step.began) / whole}%`;
    bar.style.width = `${(100 * (step.duration_s ?? 0)) / whole}%`;
    took.textContent = seconds(step.duration_s);
    const { sizes } = step;
    size(crosses, sizes?.content, host.limits.content_bytes);
    const kept = sizes && sum(sizes.artifacts, sizes.data);
    size(stays, kept, host.limits.artifact_bytes + host.limits.data_bytes);
  }

  function open(step) {
    // The same address twice would open nothing.
    history.replaceState(null, "", `#/runs/${encodeURIComponent(id)}/${encodeURIComponent(step.id)}`);
    path = [id, step.id];
    openById(step.id);
  }

  async function openById(step) {
    opened = step;
    node.classList.add("opened");
    list.choose(steps[seen.get(step)]);
    try {
      const detail = await get(`api/steps/${encodeURIComponent(step)}`);
      if (opened !== step) return;
      fill(
        side,
        el("button", { type: "button", class: "close", on: { click: close } }, "Close"),
        stepPanel(host, detail, {
          open: tab,
          opened(name) {
            tab = name;
            const place = [id, step, name].map(encodeURIComponent).join("/");
            history.replaceState(null, "", `#/runs/${place}`);
          },
        }),
      );
      side.focus({ preventScroll: true });
      say(`${detail.tool ?? detail.kind}: ${spoken(detail.status ?? "")}`);
    } catch (refused) {
      fill(side, el("p", { class: "notice bad", role: "alert" }, refused.message));
    }
  }

  function close() {
    opened = null;
    // Or the next look at the run would open it again.
    path = [id];
    node.classList.remove("opened");
    fill(side);
    list.choose(null);
    history.replaceState(null, "", `#/runs/${encodeURIComponent(id)}`);
    list.view.focus();
  }

  load();
  return {
    node,
    moved(to) {
      if (to[0] !== id) return false;
      if (to[1] && (to[1] !== opened || (to[2] && to[2] !== tab))) {
        tab = to[2] ?? tab;
        openById(to[1]);
      } else if (!to[1] && opened) close();
      return true;
    },
    told(event) {
      const run = typeof event.run === "object" ? event.run?.id : event.run;
      if (event.kind === "stored" || event.kind === "lost") soon();
      if (run !== id) return;
      if (event.kind === "step") {
        arrived.set(event.step.id, event.step);
        const at = seen.get(event.step.id);
        if (at === undefined) {
          seen.set(event.step.id, steps.length);
          steps = [...steps, event.step];
        } else steps = steps.with(at, event.step);
        progress.hidden = true;
        drawn ||= requestAnimationFrame(() => {
          drawn = 0;
          draw();
        });
      } else if (event.kind === "run") soon();
      else if (event.kind === "undecided") {
        fill(notice, `The run did not go on: ${event.message}`).hidden = false;
        soon();
      }
      else if (event.kind === "progress") {
        const share = event.total ? `${event.done} of ${event.total}` : `${event.done}`;
        fill(progress, `${event.tool}: ${share} ${event.text}`).hidden = false;
      } else if (event.kind === "late" || event.kind === "dropped") {
        fill(progress, badge(event.kind), ` ${event.tool} ${event.text}`).hidden = false;
      }
    },
    escaped: () => opened && close(),
    left: never,
  };
}

/** A flag says more than the status it came with. */
function word(step) {
  if (step.flags.includes("withdrawn")) return "withdrawn";
  if (step.flags.includes("dropped")) return "dropped";
  if (step.flags.includes("late")) return "late";
  return undefined;
}

function sum(one, other) {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0);
}

function size(cell, given, cap) {
  const known = given !== null && given !== undefined;
  cell.textContent = known ? (given ? bytes(given) : "–") : "";
  cell.style.setProperty("--share", known ? `${Math.min(100, (100 * given) / cap)}%` : "0%");
  cell.classList.toggle("sized", known && given > 0);
}
