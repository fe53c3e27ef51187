// A form made of a tool's JSON Schema. What it gives is JSON text, so that digits stay as typed;
// what it has no field for is written as JSON.

import { Exact, Inexact, parse } from "./api.js";
import { indented, pretty } from "./artifacts.js";
import { button, code, el, fill, unique } from "./dom.js";

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const INTEGER = /^-?(0|[1-9]\d*)$/;
const LEVELS = 6;

/** Make the form of an object schema: `{node, read(), write(value)}`; `read` throws `Wrong`. */
export function form(schema) {
  return members(schema, schema, 0);
}

/** What was typed is no value; `field` is where. */
export class Wrong extends Error {
  constructor(message, field) {
    super(message);
    this.field = field;
  }
}

function members(schema, root, level) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([name, given]) => [
    name,
    field(name, given, root, required.has(name), level),
  ]);
  const node = el(
    "div",
    { class: "fields" },
    fields.length ? fields.map(([, each]) => each.node) : el("p", { class: "none" }, "It takes no arguments."),
  );
  return {
    node,
    read() {
      const said = [];
      for (const [name, each] of fields) {
        const text = each.read();
        if (text !== undefined) said.push(`${JSON.stringify(name)}: ${text}`);
      }
      return `{${said.join(", ")}}`;
    },
    write(value) {
      const strange = Object.keys(value).filter((name) => !fields.some(([known]) => known === name));
      if (strange.length) throw new Wrong(`The form has no field “${strange[0]}”.`, node);
      for (const [name, each] of fields) each.write(value[name]);
    },
  };
}

/** Follow local references and take `null` off a choice of two: what is left is shown. */
function plain(schema, root) {
  let found = schema;
  for (let hops = 0; hops < LEVELS; hops += 1) {
    if (typeof found !== "object" || found === null) return {};
    if (typeof found.$ref === "string" && found.$ref.startsWith("#/$defs/")) {
      const { $ref: target, ...beside } = found;
      found = { ...(root.$defs?.[target.slice(8)] ?? {}), ...beside };
      continue;
    }
    const choices = found.anyOf ?? found.oneOf;
    if (choices) {
      const real = choices.filter((each) => each?.type !== "null");
      if (real.length !== 1) return found;
      const { anyOf: _, oneOf: __, ...beside } = found;
      found = { ...real[0], ...beside };
      continue;
    }
    if (Array.isArray(found.type)) {
      const real = found.type.filter((each) => each !== "null");
      return real.length === 1 ? { ...found, type: real[0] } : { ...found, type: undefined };
    }
    return found;
  }
  return {};
}

function field(name, given, root, required, level) {
  const schema = plain(given, root);
  const choices = schema.enum?.filter((each) => each !== null);
  const control = choices
    ? choice(choices.map((each) => [pretty(each), typeof each === "string" ? each : pretty(each)]), required)
    : "const" in schema
      ? choice([[pretty(schema.const), String(schema.const)]], required)
      : schema.anyOf || schema.oneOf || schema.allOf
        ? raw()
        : controlOf(schema, root, required, level);
  const id = unique("field");
  const hints = hintsOf(schema, choices);
  const note = unique("note");
  const problem = el("p", { class: "problem", id: unique("problem"), role: "alert" });
  const input = control.input;
  if (input) {
    input.id = id;
    input.setAttribute("aria-describedby", `${note} ${problem.id}`);
    input.setAttribute("aria-required", required);
    if (schema.default !== undefined && schema.default !== null && "placeholder" in input) input.placeholder = shortly(schema.default);
  }
  const node = el(
    input ? "div" : "fieldset",
    { class: "field", "data-field": name },
    el(
      input ? "label" : "legend",
      input ? { for: id } : {},
      code(name),
      required ? el("span", { class: "required" }, "required") : null,
      el("span", { class: "hint" }, hints),
    ),
    schema.description ? el("p", { class: "about", id: note }, schema.description) : null,
    control.node,
    problem,
  );
  return {
    node,
    read() {
      problem.textContent = "";
      input?.removeAttribute("aria-invalid");
      try {
        const text = control.read(required);
        if (text === undefined && required) throw new Wrong("A value is required.", input ?? node);
        return text;
      } catch (wrong) {
        if (!(wrong instanceof Wrong)) throw wrong;
        if (!wrong.shown) {
          problem.textContent = wrong.message;
          input?.setAttribute("aria-invalid", "true");
          wrong.shown = true;
        }
        throw wrong;
      }
    },
    write: (value) => control.write(value),
  };
}

function hintsOf(schema, choices) {
  const said = [choices ? "choice" : Array.isArray(schema.type) ? "any" : (schema.type ?? "JSON")];
  const bound = (least, most, word) => {
    if (least !== undefined && most !== undefined) said.push(`${least} to ${most}${word}`);
    else if (least !== undefined) said.push(`at least ${least}${word}`);
    else if (most !== undefined) said.push(`at most ${most}${word}`);
  };
  bound(schema.minimum, schema.maximum, "");
  bound(schema.minLength, schema.maxLength, " characters");
  bound(schema.minItems, schema.maxItems, " items");
  if (schema.format) said.push(schema.format);
  return said.join(", ");
}

function shortly(value) {
  const text = typeof value === "string" ? value : pretty(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

function controlOf(schema, root, required, level) {
  if (schema.type === "boolean") return choice([["true", "true"], ["false", "false"]], required);
  if (schema.type === "integer" || schema.type === "number") return number(schema.type);
  if (schema.type === "string") return text();
  if (level >= LEVELS) return raw();
  if (schema.type === "array" && schema.items && !schema.prefixItems) return list(schema, root, level);
  if (schema.type === "object" && isClosed(schema)) return nested(schema, root, required, level);
  return raw();
}

/** Whether all that an object may hold has a name, and so a field. */
function isClosed({ properties, additionalProperties: more }) {
  return Object.keys(properties ?? {}).length > 0 && !more;
}

function choice(options, required) {
  const input = el(
    "select",
    {},
    required && options.length === 1 ? null : el("option", { value: "" }, required ? "choose" : "not given"),
    options.map(([value, said]) => el("option", { value }, said)),
  );
  return {
    node: input,
    input,
    read: () => input.value || undefined,
    write: (value) => {
      const wanted = value === undefined ? "" : pretty(value);
      if (![...input.options].some((each) => each.value === wanted)) {
        throw new Wrong("The form cannot show this value.", input);
      }
      input.value = wanted;
    },
  };
}

function text() {
  const input = el("textarea", { rows: "1", spellcheck: "false", autocomplete: "off" });
  return {
    node: input,
    input,
    read: (required) => (input.value === "" && !required ? undefined : JSON.stringify(input.value)),
    write: (value) => {
      if (value !== undefined && typeof value !== "string") throw new Wrong("No text.", input);
      input.value = value ?? "";
    },
  };
}

function number(type) {
  const input = el("input", { type: "text", inputmode: "decimal", spellcheck: "false", autocomplete: "off" });
  const shape = type === "integer" ? INTEGER : NUMBER;
  return {
    node: input,
    input,
    read() {
      const said = input.value.trim();
      if (said === "") return undefined;
      if (!shape.test(said)) throw new Wrong(type === "integer" ? "No whole number." : "No number.", input);
      return said;
    },
    write: (value) => {
      if (value !== undefined && typeof value !== "number" && !(value instanceof Exact)) {
        throw new Wrong("No number.", input);
      }
      input.value = value === undefined ? "" : String(value);
    },
  };
}

function raw() {
  const input = el("textarea", { rows: "2", class: "mono", spellcheck: "false", placeholder: "JSON" });
  return {
    node: input,
    input,
    read() {
      const said = input.value.trim();
      if (said === "") return undefined;
      try {
        JSON.parse(said);
      } catch {
        throw new Wrong("No JSON value.", input);
      }
      return said;
    },
    write: (value) => {
      input.value = value === undefined ? "" : pretty(value);
    },
  };
}

function list(schema, root, level) {
  let items = [];
  const room = el("div", { class: "items" });
  const add = button("Add an item", () => {
    push().node.querySelector("input, textarea, select, button")?.focus();
  }, { class: "small" });
  const draw = () =>
    fill(
      room,
      items.map((each, at) =>
        el(
          "div",
          { class: "item" },
          each.node,
          button("Remove", () => {
            items = items.filter((other) => other !== each);
            draw();
            add.focus();
          }, { class: "small", "aria-label": `Remove item ${at + 1}` }),
        ),
      ),
    );
  const push = () => {
    const made = field(`${items.length + 1}`, schema.items, root, true, level + 1);
    items.push(made);
    draw();
    return made;
  };
  return {
    node: el("div", { class: "list" }, room, add),
    read: (required) =>
      items.length || required ? `[${items.map((each) => each.read()).join(", ")}]` : undefined,
    write: (value) => {
      items = [];
      for (const each of value ?? []) push().write(each);
      draw();
    },
  };
}

function nested(schema, root, required, level) {
  const inner = members(schema, root, level + 1);
  const room = el("div", { class: "nested" });
  let given = required;
  const set = (is) => {
    given = is;
    fill(
      room,
      is ? inner.node : null,
      required ? null : button(is ? "Leave it out" : "Give it", () => set(!is), { class: "small" }),
    );
  };
  set(given);
  return {
    node: room,
    read: () => (given ? inner.read() : undefined),
    write: (value) => {
      set(required || value !== undefined);
      inner.write(value ?? {});
    },
  };
}

/**
 * The form beside the raw text of the same arguments; `read` gives the text of what is shown.
 * Of a schema that could not be read, null, there is the text alone.
 */
export function editor(schema, start) {
  const made = form(schema ?? {});
  const area = el("textarea", {
    class: "mono raw",
    rows: "10",
    spellcheck: "false",
    "aria-label": "Arguments as JSON",
  });
  const problem = el("p", { class: "problem", role: "alert" });
  const room = el("div");
  let typed = false;
  const asForm = button("Form", () => toForm(), { "aria-pressed": "true" });
  const asText = button("JSON", () => toText(), { "aria-pressed": "false" });

  function show(text) {
    typed = text;
    problem.textContent = "";
    asForm.setAttribute("aria-pressed", !text);
    asText.setAttribute("aria-pressed", text);
    fill(room, text ? area : made.node);
  }

  function toText() {
    try {
      area.value = indented(made.read());
    } catch (wrong) {
      if (!(wrong instanceof Wrong)) throw wrong;
    }
    show(true);
  }

  function toForm() {
    try {
      made.write(parse(area.value.trim() || "{}"));
      show(false);
    } catch (wrong) {
      const told = wrong instanceof Wrong || wrong instanceof Inexact;
      problem.textContent = told ? wrong.message : "This is no JSON object.";
    }
  }

  show(schema === null);
  if (start) {
    area.value = start;
    toForm();
    if (problem.textContent) show(true);
  }
  return {
    node: el(
      "div",
      { class: "editor" },
      schema === null
        ? null
        : el("div", { class: "switch", role: "group", "aria-label": "How arguments are given" }, asForm, asText),
      room,
      problem,
    ),
    /** Return the arguments' text, or null after showing what is wrong with them. */
    read() {
      if (typed) return area.value.trim() || "{}";
      try {
        return made.read();
      } catch (wrong) {
        if (!(wrong instanceof Wrong)) throw wrong;
        wrong.field?.focus?.();
        return null;
      }
    },
  };
}
