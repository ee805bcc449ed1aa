// What the scripted model says: it uses a tool of each server, and then tells what came of them.

/** In the prompt of the checks, so that an agent's own questions (a title, a summary) get another answer. */
export const USE_BOTH = "Echo hello, and say what time it is in Tokyo.";

const CALLS = [
  { end: "echo__echo", arguments: { text: "hello" } },
  { end: "demo__convert_time", arguments: { time: "9:00", from: "Berlin", to: "Tokyo" } },
];

/** Claude Agent names the tools of MCP servers to the model, one on each line, and gives their schemas to this tool of its own. */
const SEARCH = "ToolSearch";
const DEFERRED = "deferred tools are now available via ToolSearch";

/** One turn for a request. One call at a time, so that every question of the agent is about one call. */
export function scriptedTurn({ messages, tools, toolResults }) {
  const isAsked = messages.some(({ role, text }) => role === "user" && text.includes(USE_BOTH));
  if (!isAsked || tools.length === 0) return { text: "I have nothing to say to that." };
  const results = toolResults.filter(({ name }) => name !== SEARCH);
  const next = CALLS[results.length];
  if (next === undefined) {
    return { text: `They said: ${results.map(({ text }) => text).join(" and ")}` };
  }
  const name = toolNames({ messages, tools }).find((each) => each.endsWith(next.end));
  if (name === undefined) return { text: `There is no tool ${next.end}.` };
  const searches = toolResults.filter((result) => result.name === SEARCH);
  const isLoaded =
    tools.some((tool) => tool.name === name) || searches.some((result) => isAbout(result, name));
  if (isLoaded) return { toolCalls: [{ name, arguments: next.arguments }] };
  if (searches.length > CALLS.length) return { text: `${SEARCH} does not find ${name}.` };
  return { toolCalls: [{ name: SEARCH, arguments: { query: `select:${name}`, max_results: 1 } }] };
}

/** The tools that a model can call, at once or after it has looked for them. */
export function toolNames({ messages, tools }) {
  const offered = tools.map(({ name }) => name);
  if (!offered.includes(SEARCH)) return offered;
  const deferred = messages
    .filter(({ text }) => text.includes(DEFERRED))
    .flatMap(({ text }) =>
      text.slice(text.indexOf(DEFERRED)).split("\n\n")[0].split("\n").slice(1),
    );
  return [...offered, ...deferred];
}

/** The result of a search has schemas as text, or refers to them. */
function isAbout({ text, content }, name) {
  return text.includes(name) || JSON.stringify(content ?? null).includes(name);
}
