// Approvals: each call with all its arguments and what it would do, and one word on each of them.

import { get, parse, post } from "./api.js";
import { pretty } from "./artifacts.js";
import { block, button, code, el, facts, fill, say } from "./dom.js";
import { previewLines } from "./playground.js";
import { back } from "./tools.js";
import { badge, count, moment, spoken } from "./words.js";

/** Milliseconds in which a call that has just changed cannot be approved. */
const SETTLE = 700;

export function waitingView(host, path) {
  const list = el("ul", { class: "cards", "aria-label": "Runs that wait" });
  const said = el("p", { class: "list-said", role: "status" });
  const side = el("section", { class: "side" }, el("div", { class: "side-top" }, el("h1", {}, "Waiting"), said), list);
  const detail = el("section", { class: "detail", "aria-label": "Calls that wait" });
  const node = el("div", { class: "split" }, side, detail);
  let deciding = 0;

  async function look() {
    try {
      const { runs } = await get("api/waiting");
      said.textContent = runs.length ? count(runs.length, "run") : "";
      fill(
        list,
        runs.map((run) =>
          el(
            "li",
            {},
            el(
              "a",
              {
                class: "card",
                href: `#/waiting/${encodeURIComponent(run.run)}`,
                "aria-current": run.run === path[0] ? "true" : null,
              },
              el("span", { class: "card-name" }, run.tools.join(", ") || "(no tool)"),
              badge("waiting_for_approval", `${run.decided} of ${run.asked} decided`),
              el("span", { class: "card-about" }, `${run.owner ?? "nobody"} · since ${moment(run.since)} · ${run.run.slice(0, 12)}`),
            ),
          ),
        ),
        runs.length ? null : el("li", { class: "none" }, "Nothing waits for a person."),
      );
    } catch (refused) {
      fill(list, el("li", { class: "notice" }, refused.message));
    }
  }

  async function open() {
    node.classList.toggle("opened", Boolean(path[0]));
    if (!path[0]) {
      fill(detail, el("div", { class: "page intro" }, el("h1", {}, "Approvals"),
        el("p", { class: "lead" }, "A call that would change something waits here for a person. You see all its arguments and what it would do, and decide each call by itself.")));
      return;
    }
    const id = path[0];
    try {
      const run = await get(`api/waiting/${encodeURIComponent(id)}`);
      if (id !== path[0]) return;
      fill(detail, await page(run));
    } catch (refused) {
      fill(detail, el("div", { class: "page" }, back("#/waiting", "Waiting"),
        el("p", { class: "notice" }, refused.message)));
    }
  }

  async function page(run) {
    const asked = run.pending.filter((each) => each.needs_approval);
    const left = asked.filter((each) => !each.decided).length;
    const room = el("div", { class: "pendings" });
    for (const each of run.pending) room.append(await card(run, each));
    return el(
      "div",
      { class: "page" },
      back("#/waiting", "Waiting"),
      el("div", { class: "page-head" }, el("h1", {}, el("span", { class: "hint" }, "Run"), ` ${run.run.slice(0, 12)}`),
        badge("waiting_for_approval", `${left} of ${asked.length} to decide`)),
      facts([
        ["Owner", run.owner ?? "nobody"],
        ["Since", moment(run.since)],
        ["Asked", run.providers.join(", ")],
        ["Then", run.goes_on === "here" ? "the run goes on here" : "the program that began it goes on"],
        ["Steps so far", el("a", { href: `#/runs/${encodeURIComponent(run.run)}` }, "look at the run")],
      ], { class: "facts tight" }),
      el("p", { class: "hint" }, "Nothing runs before every call of the turn is decided."),
      room,
    );
  }

  async function card(run, pending) {
    const frame = el("article", { class: "pending", "data-position": pending.position, "aria-label": `Call ${pending.position}: ${pending.tool}` });
    if (!pending.needs_approval || pending.decided) {
      fill(frame, headOf(pending), pending.decided ? null : el("p", { class: "hint" }, "It needs no approval, and runs with the turn."),
        argumentsOf(run, pending).node);
      return frame;
    }
    try {
      const { pending: now, changed } = await post("api/revise", { run: run.run, position: pending.position, arguments_json: null });
      undecided(run, now, frame, { changed });
    } catch (refused) {
      fill(frame, headOf(pending), el("p", { class: "notice bad" }, refused.message), argumentsOf(run, pending).node);
      frame.append(denial(run, pending, frame));
    }
    return frame;
  }

  function undecided(run, pending, frame, { changed = false, edited = null } = {}) {
    const shown = argumentsOf(run, pending, () => settle());
    const problem = el("p", { class: "problem", role: "alert" });
    const approve = button(edited === null ? "Approve" : "Approve the edited call",
      () => decide({ verdict: edited === null ? "approve" : "edit", arguments_json: edited }),
      { class: "primary", disabled: true });
    const edit = button("Edit", () => editing(run, pending, frame, edited ?? pending.arguments_json), {
      disabled: pending.arguments_size > pending.arguments_json.length,
    });
    let timer = null;

    function settle() {
      // What has just moved under the pointer is not approved by a click meant for what was there.
      approve.disabled = true;
      clearTimeout(timer);
      timer = setTimeout(() => {
        approve.disabled = !shown.complete() || Boolean(pending.refused);
      }, SETTLE);
    }

    async function decide(word) {
      deciding += 1;
      approve.disabled = true;
      try {
        const body = { run: run.run, position: pending.position, digest: pending.digest, reason: "", ...word };
        const { left } = await post("api/decide", body);
        say(left ? `Decided. ${left} left.` : "All decided.");
        await done(left);
      } catch (refused) {
        problem.textContent = refused.message;
        if (refused.status === 409) again(run, pending, frame);
        else settle();
      } finally {
        deciding -= 1;
      }
    }

    fill(
      frame,
      headOf(pending),
      changed && edited === null ? el("p", { class: "notice" }, "The preview has changed since it was asked.") : null,
      edited === null ? null : el("p", { class: "notice" }, "With your arguments. The model is told that they changed."),
      pending.refused ? el("p", { class: "notice bad" }, `Whatever is decided, it will be answered with ${spoken(pending.refused)}.`) : null,
      el("h4", {}, "What it says it would do"),
      previewLines(pending),
      el("h4", {}, "Complete arguments"),
      shown.node,
      facts([["Digest", code(pending.digest?.slice(0, 16) ?? "–")]], { class: "facts tight" }),
      problem,
      el("div", { class: "verdicts" }, approve, edit, denial(run, pending, frame, decide)),
    );
    settle();
  }

  /** Refusing, with a reason for the model. */
  function denial(run, pending, frame, decide) {
    const reason = el("input", { type: "text", placeholder: "Reason, told to the model", "aria-label": `Reason to deny call ${pending.position}`, maxlength: "500" });
    const deny = decide ?? (async (word) => {
      try {
        const body = { run: run.run, position: pending.position, digest: pending.digest, arguments_json: null, ...word };
        const { left } = await post("api/decide", body);
        await done(left);
      } catch (refused) {
        frame.append(el("p", { class: "problem", role: "alert" }, refused.message));
      }
    });
    return el(
      "span",
      { class: "deny" },
      reason,
      button("Deny", () => deny({ verdict: "deny", arguments_json: null, reason: reason.value.trim() }), { class: "danger" }),
    );
  }

  async function again(run, pending, frame) {
    try {
      const { pending: now } = await post("api/revise", { run: run.run, position: pending.position, arguments_json: null });
      undecided(run, now, frame, { changed: true });
    } catch (refused) {
      fill(frame, headOf(pending), el("p", { class: "notice bad" }, refused.message));
    }
  }

  function editing(run, pending, frame, text) {
    const area = el("textarea", { class: "mono raw", rows: "8", spellcheck: "false", "aria-label": "Edited arguments as JSON", value: indented(text) });
    const problem = el("p", { class: "problem", role: "alert" });
    const show = async () => {
      try {
        const { pending: now } = await post("api/revise", { run: run.run, position: pending.position, arguments_json: area.value });
        undecided(run, now, frame, { edited: area.value });
      } catch (refused) {
        problem.textContent = refused.message;
        area.setAttribute("aria-invalid", "true");
      }
    };
    fill(
      frame,
      headOf(pending),
      el("h4", {}, "Other arguments"),
      area,
      problem,
      el("div", { class: "verdicts" }, button("Show what it would do", show, { class: "primary" }),
        button("Leave as it was", () => again(run, pending, frame))),
    );
    area.focus();
  }

  async function done(left) {
    await look();
    if (left > 0) await open();
    else {
      fill(detail, el("div", { class: "page" }, back("#/waiting", "Waiting"),
        el("p", { class: "notice ok", tabindex: "-1" }, "All calls of the turn are decided. ",
          el("a", { href: `#/runs/${encodeURIComponent(path[0])}` }, "Watch the run"))));
      detail.querySelector(".notice").focus();
    }
  }

  look();
  open();
  let later = null;
  return {
    node,
    moved(to) {
      path = to;
      look();
      open();
      return true;
    },
    told(event) {
      // The open calls stay as they are: what a person reads does not move under him.
      if ((event.kind === "run" || event.kind === "stored") && !deciding) {
        later ??= setTimeout(() => {
          later = null;
          look();
        }, 300);
      }
    },
    escaped() {
      if (path[0]) location.hash = "#/waiting";
    },
    left: () => clearTimeout(later),
  };
}

function headOf(pending) {
  return el(
    "header",
    { class: "step-head" },
    el("h2", {}, pending.tool),
    pending.decided ? badge("decided") : pending.needs_approval ? badge("waiting_for_approval", "to decide") : badge("session", "no approval"),
    el("span", { class: "hint" }, `call ${pending.position}`),
  );
}

function indented(text) {
  try {
    return pretty(parse(text));
  } catch {
    return text;
  }
}

/** The arguments, and the rest of long ones on request: only what was shown whole is approved. */
function argumentsOf(run, pending, grown) {
  let text = pending.arguments_json;
  let next = text.length < pending.arguments_size ? text.length : null;
  const shown = block(next === null ? indented(text) : text, { class: "content", "aria-label": "Arguments" });
  const more = el("p", { class: "more" });
  const draw = () =>
    fill(
      more,
      next === null
        ? null
        : [
            el("span", { class: "notice" }, `${text.length.toLocaleString("en")} of ${pending.arguments_size.toLocaleString("en")} characters. It can be approved when all have been shown.`),
            button("Show more", read, { class: "small" }),
          ],
    );
  async function read() {
    const address = `api/waiting/${encodeURIComponent(run.run)}/${pending.position}?from=${next}`;
    const part = await get(address);
    text += part.text;
    next = part.next;
    fill(shown, next === null ? indented(text) : text);
    draw();
    grown?.();
  }
  draw();
  return { node: el("div", {}, shown, more), complete: () => next === null };
}
