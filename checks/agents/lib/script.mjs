// What the scripted model says: it uses a tool of each server, and then tells what came of them.

/** In the prompt of the checks, so that an agent's own questions (a title, a summary) get another answer. */
export const USE_BOTH = "Echo hello, and say what time it is in Tokyo.";

const CALLS = [
  { end: "echo__echo", arguments: { text: "hello" } },
  { end: "demo__convert_time", arguments: { time: "9:00", from: "Berlin", to: "Tokyo" } },
];

/** One turn for a request. One call at a time, so that every question of the agent is about one call. */
export function scriptedTurn({ messages, tools, toolResults }) {
  const isAsked = messages.some(({ role, text }) => role === "user" && text.includes(USE_BOTH));
  if (!isAsked || tools.length === 0) return { text: "I have nothing to say to that." };
  const next = CALLS[toolResults.length];
  if (next === undefined) {
    return { text: `They said: ${toolResults.map(({ text }) => text).join(" and ")}` };
  }
  const name = tools.find((tool) => tool.name.endsWith(next.end))?.name;
  if (name === undefined) return { text: `There is no tool ${next.end}.` };
  return { toolCalls: [{ name, arguments: next.arguments }] };
}
