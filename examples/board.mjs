// A board from TypeScript or JavaScript: your own tool beside those of a server. Run it after `npm ci`:
//   node examples/board.mjs
import { fileURLToPath } from "node:url";
import { openBoard } from "plugboard";

const demo = fileURLToPath(new URL("../dist/cli/demo/server/server.js", import.meta.url));

const board = await openBoard(
  { servers: { demo: { command: process.execPath, args: [demo] } } },
  {
    native: [
      {
        name: "greet",
        description: "Greets somebody by name",
        parameters: {
          type: "object",
          properties: { name: { type: "string" } },
          required: ["name"],
        },
        execute: (_id, { name }) => ({
          content: [{ type: "text", text: `Hello, ${String(name)}!` }],
        }),
      },
    ],
  },
);
try {
  for (const { name, description } of board.tools()) console.log(`${name}: ${description}`);
  console.log(await board.call("greet", { name: "world" }));
  console.log(await board.call("demo/convert_time", { time: "9:00", from: "Berlin", to: "Tokyo" }));

  // What an agent loop does with a model's tool call: failures come back as text it can act on.
  const [, tool] = board.tools();
  console.log(await tool.execute("call-1", { zone: "Atlantis" }));
} finally {
  await board.close();
}
