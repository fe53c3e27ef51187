// How sizes, times and states are said. A state has a word, and a tone that adds colour and shape.

import { el } from "./dom.js";

const TONES = {
  ok: "ok",
  completed: "ok",
  ready: "ok",
  found: "ok",
  running: "live",
  asked: "wait",
  waiting_for_approval: "wait",
  held: "wait",
  intended: "wait",
  approval_denied: "denied",
  denied: "denied",
  cancelled: "quiet",
  session: "quiet",
  disabled: "quiet",
  dropped: "quiet",
  decided: "quiet",
  stop: "quiet",
  tool_calls: "quiet",
  length: "wait",
  untrusted: "wait",
};

const WORDS = {
  waiting_for_approval: "waiting",
  approval_denied: "denied",
};

/** Say a slug as words. */
export function spoken(slug) {
  return String(slug ?? "").replaceAll("_", " ");
}

/** A state as a word with its sign; the slug stays in the title. */
export function badge(slug, word, otherwise = "bad") {
  const said = word ?? WORDS[slug] ?? spoken(slug);
  return el("span", { class: `badge ${TONES[slug] ?? otherwise}`, title: slug }, said);
}

/** Show a state in an element made before: rows that scroll are filled again and again. */
export function badged(into, slug, word, otherwise = "bad") {
  into.className = `badge ${TONES[slug] ?? otherwise}`;
  into.textContent = word ?? WORDS[slug] ?? spoken(slug);
  into.title = slug;
}

export function tone(slug) {
  return TONES[slug] ?? "bad";
}

const KINDS = {
  request: "Request",
  llm: "Model",
  approval: "Approval",
  context: "Context",
  dropped: "Dropped",
};

/** What a step of a run is called that is no tool call. */
export function kind(step) {
  const word = KINDS[step.kind] ?? spoken(step.kind);
  return step.tool ? `${word}: ${step.tool}` : word;
}

/** The tone of a status among what is no tool call, where a word of its own is no failure. */
export function aside(step) {
  return FAILED.has(step.status) ? "bad" : "quiet";
}

const FAILED = new Set(["failed", "error", "refused", "content_filter"]);

export function bytes(size) {
  if (size === null || size === undefined) return "–";
  if (size < 1_000) return `${size} B`;
  if (size < 1_000_000) return `${short(size / 1_000)} kB`;
  return `${short(size / 1_000_000)} MB`;
}

export function seconds(duration) {
  if (duration === null || duration === undefined) return "–";
  if (duration === 0) return "–";
  if (duration < 0.001) return `${Math.round(duration * 1e6)} µs`;
  if (duration < 1) return `${short(duration * 1_000)} ms`;
  if (duration < 120) return `${short(duration)} s`;
  if (duration < 7_200) {
    const rest = Math.round(duration % 60);
    return `${Math.floor(duration / 60)} min${rest ? ` ${rest} s` : ""}`;
  }
  return `${short(duration / 3_600)} h`;
}

function short(value) {
  return value < 10 ? value.toFixed(1) : Math.round(value).toString();
}

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** A moment, given in seconds since 1970: the clock, and the day unless it is today. */
export function moment(at) {
  if (at === null || at === undefined) return "–";
  const then = new Date(at * 1_000);
  const clock = CLOCK.format(then);
  return then.toDateString() === new Date().toDateString() ? clock : `${DAY.format(then)} ${clock}`;
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** A bar of a size against its cap, with both in words. */
export function meter(label, size, cap) {
  const known = size !== null && size !== undefined;
  const share = known ? Math.min(100, (100 * size) / cap) : 0;
  return el(
    "div",
    { class: "meter" },
    el("span", { class: "meter-label" }, label),
    el(
      "span",
      { class: "track", "aria-hidden": "true", vars: { "--share": `${share}%` } },
      el("span", { class: share > 90 ? "fill full" : "fill" }),
    ),
    el("span", { class: "meter-size" }, known ? `${bytes(size)} of ${bytes(cap)}` : "unknown"),
  );
}
