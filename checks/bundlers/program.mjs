// What is bundled: calls a tool with an output schema of a stdio server, and one of a server at a URL that nobody listens on, so
// that what starts, what checks and what sends is all there. Prints what came of it as JSON.

import { openBoard, PlugboardError } from "../../dist/index.js";

async function main([command, ...args]) {
  const board = await openBoard({
    servers: { echo: { command, args }, gone: { url: "http://127.0.0.1:9/", lazy: true } },
  });
  try {
    const sum = await board.call("echo/add", { a: 1, b: 2 });
    const gone = await board.call("gone/any", {}).catch((error) => error);
    return {
      sum: sum.structuredContent,
      gone: gone instanceof PlugboardError ? gone.code : gone.failure?.code,
    };
  } finally {
    await board.close();
  }
}

main(process.argv.slice(2)).then(
  (result) => process.stdout.write(`${JSON.stringify(result)}\n`),
  (error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  },
);
