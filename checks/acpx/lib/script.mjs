// What the scripted model says: it does what a prompt asks for, with whatever tools it was given.

/** Asks for both tools at once, and then tells what came of them. */
export const USE_BOTH = "Read note.txt and echo hello.";
/** Answered from the conversation alone. */
export const WHAT_WAS_FIRST = "What did I say first?";

/** One turn for a request. */
export function scriptedTurn({ messages, tools, toolResults }) {
  const said = messages.filter(({ role }) => role === "user").map(({ text }) => text);
  const last = said.at(-1) ?? "";
  if (last.includes(WHAT_WAS_FIRST)) return { text: `You said: ${said[0]}` };
  if (!last.includes(USE_BOTH)) return { text: "I have nothing to say to that." };
  if (messages.at(-1)?.role === "tool") {
    return { text: `They said: ${toolResults.map(({ text }) => text).join(" and ")}` };
  }
  const named = (end) => tools.find(({ name }) => name.endsWith(end))?.name ?? `no tool ${end}`;
  return {
    toolCalls: [
      { name: named("read_text_file"), arguments: { path: "note.txt" } },
      { name: named("web__echo"), arguments: { message: "hello" } },
    ],
  };
}
