// What the scripted model says: a prompt names a tool and its arguments, the model calls it and tells what came of it.

/** A prompt for one call. */
export const callPrompt = (tool, args = {}) => `Please call ${tool} with ${JSON.stringify(args)}`;
/** A prompt that needs no tool. */
export const NO_CALL = "Please say hello.";
/** Answered from the conversation alone. */
export const WHAT_WAS_FIRST = "What did I say first?";

const CALL = /Please call (\S+) with (\{.*?\})$/m;
/** OpenClaw puts its own notes into the conversation as the user's, also after a tool's result. */
const NOTES = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";

/** One turn for a request. */
export function scriptedTurn({ messages }) {
  const said = messages.filter(({ text }) => !text.startsWith(NOTES));
  const asked = said.findLastIndex(({ role }) => role === "user");
  const prompt = said[asked]?.text ?? "";
  if (prompt.includes(WHAT_WAS_FIRST)) {
    return { text: `You said: ${said.find(({ role }) => role === "user").text}` };
  }
  // OpenClaw repeats a task when it tells what came of it.
  if (prompt.includes("Child result")) return { text: "Thank you." };
  const [, name, args] = CALL.exec(prompt) ?? [];
  if (name === undefined) return { text: "Hello." };
  const results = said.slice(asked).filter(({ role }) => role === "tool");
  if (results.length > 0) return { text: `It said: ${results.at(-1).text}` };
  return { toolCalls: [{ name, arguments: JSON.parse(args) }] };
}
