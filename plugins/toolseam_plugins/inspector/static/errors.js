// Error codes by tool over time: a strip a code, its number in each span of time as strength and word.

import { get } from "./api.js";
import { el, fill } from "./dom.js";
import { later } from "./later.js";
import { badge, count, moment, seconds } from "./words.js";

const SPANS = [
  [1, "the last hour"],
  [24, "the last day"],
  [168, "the last week"],
];

/** A write that is under way, or of which nobody knows how it ended, has not failed. */
const OPEN = new Set(["intended", "interrupted"]);

export function errorsView() {
  const pick = el("select", { "aria-label": "Time" }, SPANS.map(([hours, word]) => el("option", { value: hours, selected: hours === 1 }, word)));
  const said = el("p", { class: "list-said", role: "status" });
  const room = el("div", { class: "strips" });
  const node = el("div", { class: "column scroll" }, el("div", { class: "bar" }, el("h1", {}, "Errors"), said, pick), room);
  pick.addEventListener("change", load);
  const { soon, never } = later(load, 1_000);

  async function load() {
    try {
      draw(await get(`api/codes?hours=${pick.value}`));
    } catch (refused) {
      fill(room, el("p", { class: "notice" }, refused.message));
    }
  }

  function draw(codes) {
    const tools = Object.entries(codes.tools).map(([tool, strips]) => ({
      tool,
      strips: Object.entries(strips).map(([code, counts]) => ({ code, counts, total: total(counts) })),
    }));
    for (const each of tools) {
      each.calls = total(each.strips.map((strip) => strip.total));
      each.failures = total(each.strips.filter(({ code }) => code !== "ok" && !OPEN.has(code)).map((strip) => strip.total));
      each.strips.sort((one, other) => (one.code === "ok") - (other.code === "ok") || other.total - one.total);
    }
    tools.sort((one, other) => other.failures - one.failures || other.calls - one.calls);
    const calls = total(tools.map((each) => each.calls));
    const failures = total(tools.map((each) => each.failures));
    // Where there are more, the store gives the newest.
    const least = codes.cut ? `the newest ${count(calls, "call")} alone, since ${moment(codes.counted_from)}` : count(calls, "call");
    said.textContent = `${least}, ${failures} failed`;
    if (!tools.length) {
      fill(room, el("p", { class: "none" }, "No calls in this time."));
      return;
    }
    const most = Math.max(1, ...tools.flatMap((each) => each.strips.flatMap((strip) => strip.counts)));
    fill(
      room,
      el("p", { class: "time-axis", "aria-hidden": "true" }, el("span", {}, moment(codes.from)),
        el("span", {}, `each mark ${seconds(codes.bucket_s)}`), el("span", {}, moment(codes.to))),
      tools.map((each) => section(each, codes, most)),
    );
  }

  load();
  return {
    node,
    told(event) {
      if (event.kind === "step" || event.kind === "stored") soon();
    },
    left: never,
    moved: () => true,
  };
}

function total(counts) {
  return counts.reduce((sum, each) => sum + each, 0);
}

function section({ tool, strips, calls, failures }, codes, most) {
  return el(
    "section",
    { class: "strip-tool", "aria-label": tool },
    el("h2", {}, tool, el("span", { class: "hint" }, failures ? `${failures} of ${count(calls, "call")} failed` : count(calls, "call"))),
    strips.map(({ code, counts, total: sum }) =>
      el(
        "div",
        { class: "strip" },
        badge(code),
        el("span", { class: `cells ${code === "ok" ? "ok" : "bad"}`, role: "img", "aria-label": described(code, counts, codes) },
          counts.map((number, at) =>
            el("i", {
              vars: { "--strength": number ? `${30 + (70 * Math.sqrt(number)) / Math.sqrt(most)}%` : "0%" },
              title: number ? `${number} × ${code}, ${moment(codes.from + at * codes.bucket_s)}` : null,
            }),
          )),
        el("span", { class: "number" }, String(sum)),
      ),
    ),
  );
}

function described(code, counts, codes) {
  const busy = counts
    .map((number, at) => [number, at])
    .filter(([number]) => number)
    .map(([number, at]) => `${number} from ${moment(codes.from + at * codes.bucket_s)}`);
  return `${code}: ${busy.slice(0, 20).join(", ")}`;
}
