// The inspector's own server, and nothing else: every address is relative to the page.

/** Where this page keeps its key: others of this origin, below other paths, have their own. */
const KEY = `toolseam-key:${new URL("./", location.href).pathname}`;

export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A number whose digits JavaScript would not keep. */
export class Exact {
  constructor(digits) {
    this.digits = digits;
  }
  toString() {
    return this.digits;
  }
}

/** This browser does not tell what a number looked like, and would round it without a word. */
export class Inexact extends SyntaxError {
  constructor() {
    super("This browser would round its numbers.");
  }
}

/** Parse JSON text with every number as it stands there; where that is impossible, throw. */
export function parse(text) {
  return JSON.parse(text, (_, value, context) => {
    if (typeof value !== "number") return value;
    if (context?.source === undefined) throw new Inexact();
    return String(value) === context.source ? value : new Exact(context.source);
  });
}

/** Change the link's token, which works once, for this page's cookie and key. */
export async function enter(token) {
  const answer = await fetch("api/enter", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (!answer.ok) throw await refusal(answer);
  localStorage.setItem(KEY, (await answer.json()).key);
}

export async function get(path) {
  return (await ask(path, {})).json();
}

export async function post(path, body) {
  const answer = await ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return answer.json();
}

/** Save what stands at a path under a name; a plain link could not send the key. */
export async function save(path, name) {
  const content = await (await ask(path, {})).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function ask(path, how) {
  const headers = { ...how.headers, "X-Toolseam-Key": localStorage.getItem(KEY) ?? "" };
  let answer;
  try {
    answer = await fetch(path, { ...how, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "unavailable", "The inspector does not answer. Is it still running?");
  }
  if (!answer.ok) {
    const refused = await refusal(answer);
    if (refused.status === 401) dispatchEvent(new Event("locked"));
    throw refused;
  }
  return answer;
}

async function refusal(answer) {
  try {
    const { error } = await answer.json();
    return new Refused(answer.status, error.code, error.message);
  } catch {
    return new Refused(answer.status, "unavailable", `The inspector answered ${answer.status}.`);
  }
}

/** Follow what happens, for ever; `told` gets each line, `state` is live, waiting or ended. */
export async function follow(told, state) {
  let pause = 500;
  for (;;) {
    try {
      const answer = await ask("api/stream", { cache: "no-store" });
      pause = 500;
      for await (const line of lines(answer.body)) {
        const event = JSON.parse(line);
        if (event.kind === "hello") {
          state("live");
          // What happened while nobody read is asked for.
          told({ kind: "lost" });
          continue;
        }
        if (event.kind === "end") {
          state("ended");
          return;
        }
        told(event);
      }
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return;
    }
    state("waiting");
    await new Promise((go) => setTimeout(go, pause));
    pause = Math.min(pause * 2, 8_000);
  }
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts.filter(Boolean);
  }
}
