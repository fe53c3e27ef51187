// The playground: one tool, a form of its schema, and what comes of it. A write is shown first.

import { get, parse, post } from "./api.js";
import { indented } from "./artifacts.js";
import { block, button, code, el, facts, fill, say } from "./dom.js";
import { editor } from "./form.js";
import { stepPanel } from "./step.js";
import { badge, spoken } from "./words.js";

export function playgroundView(host, path) {
  const pick = el("select", { "aria-label": "Tool", id: "pick" });
  const zone = el(
    "select",
    { id: "zone" },
    host.zones.map((each) => el("option", { value: each, selected: each === "local" }, spoken(each))),
  );
  const about = el("div");
  const room = el("div", { class: "form-room" });
  const result = el("section", { class: "result", "aria-label": "Result", tabindex: "-1" });
  const run = el("button", { type: "submit", class: "primary" }, "Run");
  const sheet = el(
    "form",
    { class: "sheet", "aria-label": "Call" },
    el("div", { class: "two" },
      el("div", { class: "field" }, el("label", { for: "pick" }, "Tool"), pick),
      el("div", { class: "field" }, el("label", { for: "zone" }, "As if for a provider in"), zone)),
    about,
    room,
    el("p", { class: "submit" }, run, el("span", { class: "hint" }, "Ctrl + Enter")),
  );
  const node = el("div", { class: "bench" }, sheet, result);
  let tools = [];
  let current = null;
  let args = null;
  let fresh = false;
  let opening = 0;

  pick.addEventListener("change", () => {
    location.hash = `#/try/${encodeURIComponent(pick.value)}`;
  });
  sheet.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  sheet.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      go();
    }
  });

  async function open(name) {
    opening += 1;
    const mine = opening;
    current = null;
    fill(result, el("p", { class: "none" }, "What comes of the call appears here."));
    let tool;
    try {
      tool = await get(`api/tools/${encodeURIComponent(name)}`);
    } catch (refused) {
      if (mine === opening) fill(room, el("p", { class: "notice" }, refused.message));
      return;
    }
    if (mine !== opening) return;
    current = tool;
    pick.value = name;
    let schema = null;
    let unread = null;
    try {
      schema = parse(tool.schema_json);
    } catch (wrong) {
      unread = [el("p", { class: "notice" }, `There is no form: ${wrong.message}`),
        el("details", {}, el("summary", {}, "Schema as JSON"), block(tool.schema_json))];
    }
    args = editor(schema);
    fill(
      about,
      el("p", { class: "lead" }, tool.description),
      el(
        "p",
        { class: "marks" },
        el("span", { class: `effect ${tool.effect}` }, spoken(tool.effect)),
        tool.requires_approval ? el("span", { class: "flag" }, "asks for approval") : null,
        tool.allowed ? null : badge("disabled", spoken(tool.reason) || "not offered"),
      ),
    );
    fill(room, unread, args.node);
    run.textContent = tool.requires_approval ? "Show what it would do" : "Run";
  }

  async function go() {
    if (!current || run.disabled) return;
    const text = args.read();
    if (text === null) {
      say("An argument is wrong.");
      return;
    }
    const tool = current;
    const call = { tool: tool.name, arguments_json: text, zone: zone.value };
    await busy(async () => {
      if (tool.requires_approval) {
        try {
          const { preview, needs_approval: needs } = await post("api/preview", { ...call, fresh });
          // The call is of the same session as what was shown of it.
          fresh = false;
          // Another tool's form is open by now: nothing of this one is approved beside it.
          if (current !== tool) return;
          if (needs) {
            consent(tool, call, preview);
            return;
          }
        } catch (refused) {
          // Refused before anybody is asked: the call itself says so, and leaves its step.
          if (refused.status !== 422) throw refused;
        }
      }
      await finish(tool, call, null);
    });
  }

  async function busy(act) {
    if (run.disabled) return;
    run.disabled = true;
    result.setAttribute("aria-busy", "true");
    try {
      await act();
    } catch (refused) {
      fill(result, el("p", { class: "notice bad", role: "alert" }, refused.message));
    } finally {
      run.disabled = false;
      result.removeAttribute("aria-busy");
    }
  }

  function consent(tool, call, preview) {
    fill(
      result,
      el(
        "article",
        { class: "pending", "aria-label": "Preview" },
        el("h2", {}, "Nothing has happened yet"),
        el("p", { class: "lead" }, code(preview.tool), " would do this:"),
        previewLines(preview),
        el("details", {}, el("summary", {}, "Complete arguments"), block(indented(preview.arguments_json))),
        facts([["Zone", spoken(call.zone)], ["Digest", code(preview.digest.slice(0, 16))]]),
        el(
          "p",
          { class: "submit" },
          button("Approve and run", () => busy(() => finish(tool, call, preview.digest)), { class: "primary" }),
          button("Not now", () => fill(result, el("p", { class: "none" }, "Nothing was run."))),
        ),
      ),
    );
    result.focus();
    say(`A preview of ${preview.tool}, to be approved.`);
  }

  async function finish(tool, call, digest) {
    const { step } = await post("api/call", { ...call, digest, fresh: digest === null && fresh });
    if (digest === null) fresh = false;
    fill(result, stepPanel(host, step));
    if (step.flags.includes("withdrawn") || step.flags.includes("contract")) {
      result.append(withdrawn(tool));
    }
    result.focus();
    say(`${step.tool}: ${spoken(step.status)}`);
  }

  /** What to do about a tool that broke the contract. */
  function withdrawn(tool) {
    if (tool.effect !== "read_only") {
      return el("p", { class: "notice" }, "A tool that may write and broke the contract is withdrawn for as long as this host lives, unless its program readmits it: ",
        code(`host.readmit("${tool.name}")`), ". Mend it, and start the inspector again.");
    }
    return el("p", { class: "notice" }, "A tool that broke the contract is withdrawn until this session ends. ",
      button("Begin a new session", () => { fresh = true; say("The next call begins a new session."); }));
  }

  (async () => {
    try {
      ({ tools } = await get("api/tools"));
      const groups = Map.groupBy(tools, (each) => each.group);
      fill(
        pick,
        [...groups].map(([group, members]) =>
          el("optgroup", { label: spoken(group) }, members.map((each) =>
            el("option", { value: each.name }, each.allowed ? each.name : `${each.name} (not offered)`))),
        ),
      );
      const first = path[0] ?? tools.find((each) => each.allowed)?.name;
      if (first) open(first);
      else fill(room, el("p", { class: "none" }, "No tool is loaded."));
    } catch (refused) {
      fill(room, el("p", { class: "notice" }, refused.message));
    }
  })();

  return {
    node,
    moved(to) {
      if (to[0]) open(to[0]);
      return true;
    },
  };
}

/** What a tool says it would do; an arrow within a line sets old and new apart. */
export function previewLines({ lines, failed, cut }) {
  return el(
    "div",
    { class: "preview" },
    failed ? el("p", { class: "notice bad" }, "There is no preview: decide by the arguments alone.") : null,
    el("ol", { class: "preview-lines" }, lines.map((line) => el("li", {}, change(line)))),
    cut ? el("p", { class: "notice" }, "The preview is longer than what is shown.") : null,
  );
}

function change(line) {
  const arrows = [...line.matchAll(/ (→|->) /g)];
  if (arrows.length !== 1) return line;
  const [{ 0: arrow, index: at }] = arrows;
  const colon = line.indexOf(": ");
  const start = colon >= 0 && colon < at ? colon + 2 : 0;
  return [
    line.slice(0, start),
    el("span", { class: "old" }, line.slice(start, at)),
    el("span", { class: "arrow" }, arrow),
    el("span", { class: "new" }, line.slice(at + arrow.length)),
  ];
}
