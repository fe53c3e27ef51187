// Approvals: each call with all its arguments and what it would do, and one word on each of them.

import { get, post } from "./api.js";
import { indented } from "./artifacts.js";
import { block, button, code, el, facts, fill, say } from "./dom.js";
import { later } from "./later.js";
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
  let opening = 0;
  // Why the decisions of a run did not hold, until somebody decides there anew.
  const forgotten = new Map();

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
    opening += 1;
    const mine = opening;
    node.classList.toggle("opened", Boolean(path[0]));
    if (!path[0]) {
      fill(detail, el("div", { class: "page intro" }, el("h1", {}, "Approvals"),
        el("p", { class: "lead" }, "A call that would change something waits here for a person. You see all its arguments and what it would do, and decide each call by itself.")));
      return;
    }
    const id = path[0];
    try {
      const run = await get(`api/waiting/${encodeURIComponent(id)}`);
      const made = await page(run);
      // Another was opened meanwhile, or this one once more.
      if (mine !== opening) return;
      fill(detail, made.node);
      // Only from here on can anybody see what he is asked.
      for (const settle of made.settles) settle?.();
    } catch (refused) {
      if (mine !== opening) return;
      fill(detail, el("div", { class: "page" }, back("#/waiting", "Waiting"), undone(id),
        el("p", { class: "notice" }, refused.message)));
    }
  }

  function undone(id) {
    const why = forgotten.get(id);
    return why === undefined ? null : el("p", { class: "notice bad", role: "alert" }, `The run did not go on: ${why}`);
  }

  async function page(run) {
    const asked = run.pending.filter((each) => each.needs_approval);
    const left = asked.filter((each) => !each.decided).length;
    const room = el("div", { class: "pendings" });
    const settles = [];
    for (const each of run.pending) {
      const made = await card(run, each);
      room.append(made.frame);
      settles.push(made.settle);
    }
    const shown = el(
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
      undone(run.run),
      el("p", { class: "hint" }, "Nothing runs before every call of the turn is decided."),
      room,
    );
    return { node: shown, settles };
  }

  /** Return a call's frame, and what makes its button wait once the frame is on the page. */
  async function card(run, pending) {
    const frame = el("article", { class: "pending", "data-position": pending.position, "aria-label": `Call ${pending.position}: ${pending.tool}` });
    if (!pending.needs_approval || pending.decided) {
      over(run, pending, frame);
      return { frame };
    }
    try {
      const { pending: now, changed } = await post("api/revise", { run: run.run, position: pending.position, arguments_json: null });
      return { frame, settle: now.decided ? over(run, now, frame) : undecided(run, now, frame, { changed }) };
    } catch (refused) {
      fill(frame, headOf(pending), el("p", { class: "notice bad" }, refused.message), argumentsOf(run, pending).node);
      frame.append(denial(run, pending, frame));
      return { frame };
    }
  }

  /** A call on which nothing is left to say; `typed` is what a person had meant it to be. */
  function over(run, pending, frame, said = "", typed = null) {
    fill(
      frame,
      headOf(pending),
      said ? el("p", { class: "notice", role: "alert" }, said) : null,
      pending.decided ? null : el("p", { class: "hint" }, "It needs no approval, and runs with the turn."),
      argumentsOf(run, pending).node,
      typed === null ? null : el("details", { open: true }, el("summary", {}, "What you had typed"), block(typed, { class: "content", "aria-label": "What you had typed" })),
    );
  }

  /** Show a call to be decided; return what makes its button wait anew. */
  function undecided(run, pending, frame, { changed = false, edited = null, said = "", original = pending, before = null } = {}) {
    const shown = argumentsOf(run, pending, () => settle(), edited);
    const problem = el("p", { class: "problem", role: "alert" }, said);
    const approve = button(edited === null ? "Approve" : "Approve the edited call",
      () => decide({ verdict: edited === null ? "approve" : "edit", arguments_json: edited }),
      { class: "primary", disabled: true });
    const edit = button("Edit", () => editing(run, pending, frame, edited ?? pending.arguments_json, original), {
      disabled: edited === null && pending.arguments_next !== null,
    });
    let timer = null;

    function settle() {
      // What has just come under the pointer is not approved by a click meant for what was there.
      approve.disabled = true;
      clearTimeout(timer);
      timer = setTimeout(() => {
        approve.disabled = !shown.complete() || Boolean(pending.refused);
      }, SETTLE);
    }

    async function decide(word) {
      deciding += 1;
      clearTimeout(timer);
      approve.disabled = true;
      forgotten.delete(run.run);
      try {
        const body = { run: run.run, position: pending.position, digest: pending.digest, reason: "", ...word };
        const { left } = await post("api/decide", body);
        say(left ? `Decided. ${left} left.` : "All decided.");
        await done(run.run, left);
      } catch (refused) {
        problem.textContent = refused.message;
        if (refused.status === 409) await again(run, original, frame, { said: refused.message, edited, before: pending });
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
      before === null || same(before.lines, pending.lines)
        ? null
        : el("details", {}, el("summary", {}, "What it said before"), previewLines(before)),
      el("h4", {}, "Complete arguments"),
      shown.node,
      facts([["Digest", code(pending.digest?.slice(0, 16) ?? "–")]], { class: "facts tight" }),
      problem,
      el("div", { class: "verdicts" }, approve, edit, denial(run, pending, frame, decide)),
    );
    settle();
    return settle;
  }

  /** Refusing, with a reason for the model. */
  function denial(run, pending, frame, decide) {
    const reason = el("input", { type: "text", placeholder: "Reason, told to the model", "aria-label": `Reason to deny call ${pending.position}`, maxlength: "500" });
    const deny = decide ?? (async (word) => {
      forgotten.delete(run.run);
      try {
        const body = { run: run.run, position: pending.position, digest: pending.digest, arguments_json: null, ...word };
        const { left } = await post("api/decide", body);
        await done(run.run, left);
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

  /**
   * Look at a call once more; `said` is why what was said of it did not count. What a person had
   * `edited` is kept: it is looked at again too, and stands there to be approved or mended.
   */
  async function again(run, pending, frame, { said = "", edited = null, before = null } = {}) {
    const look = (text) => post("api/revise", { run: run.run, position: pending.position, arguments_json: text });
    try {
      const { pending: now, changed } = await look(null);
      if (now.decided) {
        over(run, now, frame, said, edited);
        return;
      }
      if (edited === null) {
        const why = before === null ? said : `${said} ${changes(before, now)}`;
        undecided(run, now, frame, { changed: changed || now.digest !== pending.digest, said: why, before });
        return;
      }
      try {
        const { pending: then } = await look(edited);
        undecided(run, then, frame, { edited, original: now, said: `${said} ${changes(before, then)}`, before });
      } catch (refused) {
        editing(run, now, frame, edited, now, `${said} ${refused.message}`);
      }
    } catch (refused) {
      fill(frame, headOf(pending), el("p", { class: "notice bad", role: "alert" }, `${said} ${refused.message}`.trim()));
      if (edited !== null) frame.append(block(edited, { class: "content", "aria-label": "What you had typed" }));
    }
  }

  function editing(run, pending, frame, text, original, said = "") {
    const area = el("textarea", { class: "mono raw", rows: "8", spellcheck: "false", "aria-label": "Edited arguments as JSON", value: indented(text) });
    const problem = el("p", { class: "problem", role: "alert" }, said);
    const show = async () => {
      try {
        const { pending: now } = await post("api/revise", { run: run.run, position: pending.position, arguments_json: area.value });
        undecided(run, now, frame, { edited: area.value, original });
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
        button("Leave as it was", () => again(run, original, frame))),
    );
    area.focus();
  }

  async function done(id, left) {
    await look();
    if (id !== path[0]) return;
    if (left > 0 || forgotten.has(id)) {
      await open();
      return;
    }
    opening += 1;
    fill(detail, el("div", { class: "page" }, back("#/waiting", "Waiting"),
      el("p", { class: "notice ok", tabindex: "-1" }, "All calls of the turn are decided. ",
        el("a", { href: `#/runs/${encodeURIComponent(id)}` }, "Watch the run"))));
    detail.querySelector(".notice").focus();
  }

  look();
  open();
  const { soon, never } = later(look, 300);
  return {
    node,
    moved(to) {
      path = to;
      look();
      open();
      return true;
    },
    told(event) {
      if (event.kind === "undecided") {
        forgotten.set(event.run, event.message);
        look();
        if (event.run === path[0]) open();
        return;
      }
      // The open calls stay as they are: what a person reads does not move under him.
      if ((event.kind === "run" || event.kind === "stored") && !deciding) soon();
    },
    escaped() {
      if (path[0]) location.hash = "#/waiting";
    },
    left: never,
  };
}

/** Say what of a call is otherwise than when the person looked. */
function changes(before, now) {
  const said = [
    same(before.lines, now.lines) ? null : "what it says it would do",
    before.arguments_json === now.arguments_json ? null : "its arguments",
    before.refused === now.refused ? null : "whether it may run",
  ].filter(Boolean);
  if (said.length) return `Changed: ${said.join(", ")}.`;
  return before.digest === now.digest ? "" : "Changed: the tool itself, or for whom it runs.";
}

function same(some, others) {
  return some.length === others.length && some.every((line, at) => line === others[at]);
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

/**
 * The arguments, and the rest of long ones on request: only what was shown whole is approved.
 * Those that a person `edited` are all here; the server has parts of the others alone.
 */
function argumentsOf(run, pending, grown, edited = null) {
  const here = edited !== null && pending.arguments_next !== null;
  let text = here ? edited : pending.arguments_json;
  // The server counts characters, and a text of this language halves of some: only it can tell.
  let next = here ? null : pending.arguments_next;
  const shown = block(next === null ? indented(text) : text, { class: "content", "aria-label": "Arguments" });
  const more = el("p", { class: "more" });
  const draw = (problem) =>
    fill(
      more,
      next === null
        ? null
        : [
            el("span", { class: "notice" }, `${next.toLocaleString("en")} of ${pending.arguments_size.toLocaleString("en")} characters. It can be approved when all have been shown.`),
            button("Show more", read, { class: "small" }),
            problem ? el("span", { class: "problem", role: "alert" }, problem) : null,
          ],
    );
  async function read(event) {
    event.currentTarget.disabled = true;
    try {
      const part = await get(`api/waiting/${encodeURIComponent(run.run)}/${pending.position}?from=${next}`);
      text += part.text;
      next = part.next;
    } catch (refused) {
      draw(refused.message);
      return;
    }
    fill(shown, next === null ? indented(text) : text);
    draw();
    grown?.();
  }
  draw();
  return { node: el("div", {}, shown, more), complete: () => next === null };
}
