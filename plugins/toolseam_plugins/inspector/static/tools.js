// The catalogue: what was found, what may be used and why not, and how each provider is told of it.

import { get, parse } from "./api.js";
import { indented, pretty } from "./artifacts.js";
import { block, code, el, facts, fill, say } from "./dom.js";
import { tabs } from "./tabs.js";
import { badge, count, spoken } from "./words.js";

export function toolsView(host, path) {
  const list = el("ul", { class: "cards", "aria-label": "Tools" });
  const search = el("input", {
    type: "search",
    placeholder: "Search tools",
    "aria-label": "Search tools",
    spellcheck: "false",
  });
  const said = el("p", { class: "list-said", role: "status" });
  const side = el("section", { class: "side" }, el("div", { class: "side-top" }, search, said), list);
  const detail = el("section", { class: "detail", "aria-label": "Tool" });
  const node = el("div", { class: "split" }, side, detail);
  let entries = [];

  search.addEventListener("input", draw);
  list.addEventListener("keydown", (event) => {
    const all = [...list.querySelectorAll("a")];
    const to = all[all.indexOf(document.activeElement) + { ArrowDown: 1, ArrowUp: -1 }[event.key]];
    if (!to) return;
    event.preventDefault();
    to.focus();
  });

  function draw() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = entries.filter((each) => words.every((word) => each.text.includes(word)));
    const groups = Map.groupBy(found, (each) => each.group);
    fill(
      list,
      [...groups].map(([group, members]) => [
        el("li", { class: "group-head" }, el("h3", {}, spoken(group))),
        members.map(entry),
      ]),
    );
    said.textContent = words.length
      ? `${found.length} of ${count(entries.length, "entry", "entries")}`
      : count(entries.length, "entry", "entries");
    mark();
  }

  function entry({ key, tool, record }) {
    const name = tool?.name ?? record.name;
    const note = tool ? null : record.status;
    return el(
      "li",
      {},
      el(
        "a",
        { href: `#/tools/${encodeURIComponent(key)}`, class: "card", "data-key": key },
        el("span", { class: "card-name" }, name || "(no name)"),
        note ? badge(note) : tool.allowed ? null : el("span", { class: "badge quiet" }, "not offered"),
        el("span", { class: "card-about" }, tool ? tool.description : (record.detail ?? record.reason ?? "")),
      ),
    );
  }

  function mark() {
    for (const each of list.querySelectorAll("a")) {
      if (each.dataset.key === path[0]) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
    }
  }

  async function open() {
    node.classList.toggle("opened", Boolean(path[0]));
    mark();
    const found = entries.find((each) => each.key === path[0]);
    if (!found) {
      fill(detail, intro(host, entries));
      return;
    }
    list.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
    if (!found.tool) {
      fill(detail, unloaded(found.record));
      return;
    }
    try {
      const whole = await get(`api/tools/${encodeURIComponent(found.tool.name)}`);
      if (found.key !== path[0]) return;
      fill(detail, toolPage(whole, found.record));
      detail.scrollTop = 0;
      say(found.tool.name);
    } catch (refused) {
      fill(detail, el("p", { class: "notice" }, refused.message));
    }
  }

  (async () => {
    try {
      const { tools, records } = await get("api/tools");
      entries = joined(tools, records);
      draw();
      open();
    } catch (refused) {
      fill(detail, el("p", { class: "notice" }, refused.message));
    }
  })();

  return {
    node,
    moved(to) {
      path = to;
      open();
      return true;
    },
    escaped() {
      if (path[0]) location.hash = "#/tools";
    },
  };
}

/** One entry a tool that is loaded, and one for each record that did not become one. */
function joined(tools, records) {
  const made = tools.map((tool) => ({
    key: tool.name,
    tool,
    record: records.find((each) => each.kind === "tool" && each.name === tool.name && each.status === "ready"),
    group: tool.group,
    text: `${tool.name} ${tool.description} ${tool.group} ${tool.effect} ${tool.data_class}`.toLowerCase(),
  }));
  const taken = new Set(made.map((each) => each.record));
  const rest = records.filter((record) => !taken.has(record));
  const others = rest.map((record, at) => ({
    key: `${record.name} ${record.distribution} ${at}`,
    tool: null,
    record,
    group: record.kind === "plugin" ? "host plugins" : "not loaded",
    text: `${record.name} ${record.status} ${record.reason} ${record.distribution}`.toLowerCase(),
  }));
  return [...made, ...others];
}

function intro(host, entries) {
  const loaded = entries.filter((each) => each.tool);
  return el(
    "div",
    { class: "page intro" },
    el("h1", {}, host.folder ? host.folder.split(/[\\/]/).at(-1) : "This host"),
    el("p", { class: "lead" }, `${count(loaded.length, "tool")} in the catalogue, `
      + `${loaded.filter((each) => each.tool.allowed).length} offered to you here.`),
    facts([
      ["Folder", host.folder],
      ["You act as", `${host.actor.name} (${host.actor.roles.join(", ") || "no roles"})`],
      ["Zone", spoken(host.zone)],
      ["Audit keeps", host.audit.readable ? spoken(host.level) : `nothing here: ${host.audit.why}`],
      ["toolseam", `${host.version}, contract ${host.contract}, Python ${host.python}`],
    ]),
    el("p", { class: "none" }, "Keys: / searches, arrows walk lists, tabs and tables, Esc goes back."),
  );
}

function unloaded(record) {
  return el(
    "div",
    { class: "page" },
    back("#/tools", "Tools"),
    el("h1", {}, record.name || "(no name)", " ", badge(record.status)),
    record.reason ? el("p", { class: "lead" }, spoken(record.reason)) : null,
    record.detail ? el("p", {}, record.detail) : null,
    provenance(record, record),
  );
}

export function back(href, title) {
  return el("a", { class: "back", href }, `← ${title}`);
}

function toolPage(tool, record) {
  let schema = null;
  try {
    schema = parse(tool.schema_json);
  } catch {
    // Its text is shown instead.
  }
  return el(
    "article",
    { class: "page" },
    back("#/tools", "Tools"),
    el(
      "div",
      { class: "page-head" },
      el("h1", {}, tool.name),
      el("a", { class: "primary", href: `#/try/${encodeURIComponent(tool.name)}` }, "Try it"),
    ),
    el("p", { class: "lead" }, tool.description),
    tool.violations?.length
      ? el(
          "div",
          { class: "notice bad" },
          el("strong", {}, "It broke the result contract. "),
          tool.violations.map((each) => el("p", {}, `${each.path}: ${each.reason}`)),
        )
      : null,
    el("h2", {}, "Policy"),
    facts([
      ["Offered here", tool.allowed ? badge("ok", "yes") : badge("disabled", spoken(tool.reason) || "no")],
      ["To change that", tool.setting ? code(tool.setting) : null],
      ["Effect", el("span", { class: `effect ${tool.effect}` }, spoken(tool.effect))],
      ["Data class", classOf(tool)],
      ["Approval", tool.requires_approval ? "a person approves each call" : "none needed"],
      ["Role", tool.requires_admin ? "admin" : "anybody"],
      ["Arguments go to", tool.sends_to ? spoken(tool.sends_to) : "nobody outside"],
      ["Deadline", tool.timeout_s ? `${tool.timeout_s} s` : "the host's"],
      ["Also called", tool.aliases.length ? tool.aliases.join(", ") : null],
      ["By zone", zones(tool.zones)],
    ]),
    el("h2", {}, "Arguments"),
    schema ? argumentsTable(schema) : null,
    el("details", { open: !schema }, el("summary", {}, "Schema as JSON"), block(indented(tool.schema_json))),
    tool.output_schema_json
      ? el("details", {}, el("summary", {}, "Output schema"), block(indented(tool.output_schema_json)))
      : null,
    el("h2", {}, "As providers are told of it"),
    tabs({
      label: "Providers",
      tabs: tool.told.map((told) => [told.dialect, dialect(told), () => toldPanel(told)]),
    }),
    el("h2", {}, "Where it comes from"),
    provenance(tool, record),
  );
}

function classOf(tool) {
  const claimed = tool.claimed_data_class;
  const raised = claimed && claimed !== tool.data_class ? `, claimed ${spoken(claimed)}` : "";
  return spoken(tool.data_class) + raised;
}

function zones(given) {
  return el(
    "ul",
    { class: "plain" },
    Object.entries(given ?? {}).map(([zone, why]) =>
      el("li", {}, badge(why ? "disabled" : "ok", why ? "no" : "yes"), ` ${spoken(zone)}`,
        why ? el("span", { class: "hint" }, ` ${why}`) : null),
    ),
  );
}

function dialect({ dialect: name, left_out: left }) {
  return left ? `${spoken(name)} (left out)` : spoken(name);
}

function toldPanel(told) {
  return el(
    "div",
    {},
    told.left_out ? el("p", { class: "notice" }, `Not told of: ${told.left_out}`) : null,
    told.unstrict ? el("p", { class: "notice" }, `Not strict: ${told.unstrict}`) : null,
    told.text_json === null ? null : el("p", { class: "hint" }, "Called ", code(told.name)),
    told.text_json === null ? null : block(indented(told.text_json)),
  );
}

function argumentsTable(schema) {
  const properties = Object.entries(schema.properties ?? {});
  if (!properties.length) return el("p", { class: "none" }, "It takes none.");
  const required = new Set(schema.required ?? []);
  return el(
    "dl",
    { class: "arguments" },
    properties.map(([name, each]) =>
      el(
        "div",
        {},
        el(
          "dt",
          {},
          code(name),
          required.has(name) ? el("span", { class: "required" }, "required") : null,
        ),
        el(
          "dd",
          {},
          el("span", { class: "hint" }, kindOf(each)),
          each?.description ? el("span", {}, each.description) : null,
        ),
      ),
    ),
  );
}

function kindOf(schema) {
  if (typeof schema !== "object" || schema === null) return "any";
  const said = [];
  if (schema.enum) said.push(`one of ${schema.enum.map((each) => pretty(each)).join(", ")}`);
  else if (schema.anyOf) said.push(schema.anyOf.map(kindOf).join(" or "));
  else said.push(Array.isArray(schema.type) ? schema.type.join(" or ") : (schema.type ?? "any"));
  if (schema.items?.type) said.push(`of ${schema.items.type}`);
  if ("default" in schema && schema.default !== null) said.push(`default ${pretty(schema.default)}`);
  return said.join(", ");
}

function provenance(given, record) {
  return facts([
    ["Distribution", `${given.distribution} ${given.version ?? ""}`.trim() || "this program"],
    ["Object", given.target || record?.target ? code(given.target ?? record.target) : null],
    ["Location", given.location ?? record?.location],
    ["Settings", given.settings?.length ? given.settings.join(", ") : null],
  ]);
}
