// One step, in tabs: what was asked, what came of it, what crossed to the provider, what stayed here.

import { parse } from "./api.js";
import { artifacts, indented, pretty } from "./artifacts.js";
import { block, code, el, facts } from "./dom.js";
import { tabs } from "./tabs.js";
import { json } from "./tree.js";
import { aside, badge, bytes, count, kind, meter, moment, seconds, spoken } from "./words.js";

/** Show a step; `open` names the tab, `opened` is told which one is. */
export function stepPanel(host, step, { open, opened } = {}) {
  return step.kind === "tool" ? toolStep(host, step, open, opened) : runStep(step, open, opened);
}

function toolStep(host, step, open, opened) {
  const shown = [
    ["arguments", "Arguments", () => argumentsTab(step)],
    ["result", "Result", () => resultTab(step)],
    ["wire", "Wire", () => wireTab(host, step)],
    ["data", "Data", () => member(step, "data", step.data_json)],
    ["raw", "Raw", () => rawTab(step)],
  ];
  if (step.artifacts?.length) {
    const title = `Artifacts ${step.artifacts.length}`;
    shown.splice(3, 0, ["artifacts", title, () => artifacts(step.id, step.artifacts)]);
  } else if (step.not_kept?.includes("artifacts")) {
    shown.splice(3, 0, ["artifacts", "Artifacts", () => notKept(step, "artifacts")]);
  }
  return el(
    "article",
    { class: "step", "data-step": step.id },
    el(
      "header",
      { class: "step-head" },
      el("h2", {}, step.tool ?? "(no tool)"),
      badge(step.status),
      flags(step),
    ),
    seam(host, step),
    tabs({ label: "Parts of the step", tabs: shown, open: open ?? "result", opened }),
  );
}

function flags(step) {
  return step.flags
    .filter((flag) => !(flag === "denied" && step.status === "approval_denied"))
    .map((flag) => el("span", { class: `flag ${flag}` }, spoken(flag)));
}

/** The seam: one text crosses it to the provider; everything else stays on this side. */
function seam(host, step) {
  const { limits } = host;
  const { content, artifacts: shown, data } = step.sizes;
  return el(
    "div",
    { class: "seam" },
    el(
      "div",
      { class: "crosses" },
      el("h3", {}, "Goes to the model"),
      meter("Content", content, limits.content_bytes),
    ),
    el("div", { class: "stitch", "aria-hidden": "true" }),
    el(
      "div",
      { class: "stays" },
      el("h3", {}, "Stays here"),
      meter("Artifacts", shown, limits.artifact_bytes),
      meter("Data", data, limits.data_bytes),
    ),
  );
}

function argumentsTab(step) {
  return el(
    "div",
    {},
    step.repairs_text?.length
      ? el("div", { class: "notice" }, el("strong", {}, "Repaired without loss: "), step.repairs_text.join("; "))
      : null,
    member(step, "arguments", step.arguments_json),
  );
}

/** A run-only member as a tree, or why there is none; `key` is what the server calls it. */
function member(step, name, text, key = `${name}_json`) {
  if (step.not_kept?.includes(key)) return notKept(step, name);
  if (text === null || text === undefined) return el("p", { class: "none" }, `There are no ${name}.`);
  return valueOf(name, text);
}

function valueOf(name, text) {
  let value;
  try {
    value = parse(text);
  } catch {
    return block(text);
  }
  return el(
    "div",
    {},
    json(name, value),
    el("details", {}, el("summary", {}, "As JSON text"), block(pretty(value))),
  );
}

function notKept(step, name) {
  return el(
    "p",
    { class: "none" },
    `${name[0].toUpperCase()}${name.slice(1)}: not kept at level ${step.kept}. The audit stores what the operator's privacy level allows.`,
  );
}

function resultTab(step) {
  const failed = step.code !== null && step.code !== undefined;
  return el(
    "div",
    {},
    step.breach ? el("p", { class: "notice bad" }, step.breach) : null,
    failed && step.message ? el("p", { class: "notice bad" }, step.message) : null,
    step.not_kept?.includes("message") ? notKept(step, "message") : null,
    step.not_kept?.includes("content")
      ? notKept(step, "content")
      : step.content === null
        ? el("p", { class: "none" }, "There is no content.")
        : block(step.content, { class: "content", "aria-label": "Content" }),
    facts([
      ["Status", badge(step.status)],
      ["Reason", step.reason ? code(step.reason) : null],
      ["Effect", step.effect ? el("span", { class: `effect-${step.effect}` }, spoken(step.effect)) : null],
      ["Could be retried", failed ? (step.retriable ? "yes" : "no") : null],
      ["Took", seconds(step.duration_s)],
      ["Ended", moment(step.at)],
      ["Actor", step.actor ?? "nobody"],
      ["Called as", step.alias],
      ["Tool", `${step.distribution} ${step.version}`.trim() || null],
      ["Round", step.round ? `${step.round}, position ${step.position}` : null],
      ["Notes", step.notes?.length ? step.notes.join("; ") : null],
    ]),
    step.metadata_json && step.metadata_json !== "{}"
      ? el("section", {}, el("h3", {}, "Metadata"), valueOf("metadata", step.metadata_json))
      : step.not_kept?.includes("metadata_json")
        ? notKept(step, "metadata")
        : null,
  );
}

function wireTab(host, step) {
  if (step.not_kept?.includes("wire")) return notKept(step, "wire");
  if (step.wire === null || step.wire === undefined) {
    return el("p", { class: "none" }, step.wired === false
      ? "No text of this call was made for a provider."
      : "Whether a provider was told of this call is not known.");
  }
  const size = new TextEncoder().encode(step.wire).length;
  return el(
    "div",
    {},
    el(
      "p",
      { class: "hint" },
      `The exact text for the provider: ${bytes(size)}`,
      step.masked ? `, ${count(step.masked, "secret")} masked` : "",
      step.truncated ? ", cut to fit" : "",
      ".",
    ),
    block(step.wire, { class: "content wire", "aria-label": "Wire text" }),
  );
}

function rawTab(step) {
  return block(indented(step.raw_json), { "aria-label": "The whole step" });
}

// -- what is no tool call ---------------------------------------------------------------------------

function runStep(step, open, opened) {
  return el(
    "article",
    { class: "step", "data-step": step.id },
    el(
      "header",
      { class: "step-head" },
      el("h2", {}, kind(step)),
      step.status ? badge(step.status, undefined, aside(step)) : null,
      flags(step),
    ),
    tabs({
      label: "Parts of the step",
      open,
      opened,
      tabs: [
        ["facts", "Facts", () => (step.facts_json ? valueOf("facts", step.facts_json) : el("p", { class: "none" }, "None."))],
        ["content", "Content", () => member(step, "content", step.content_json, "content")],
        ["raw", "Raw", () => rawTab(step)],
      ],
    }),
  );
}
