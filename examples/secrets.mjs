// A server gets its password from a file, and nobody else sees it: no result, no error, no log. Run it after `npm ci`:
//   node examples/secrets.mjs
// `secret://file/…` can be `op://…`, `secret://vault/…` or another provider of docs/secrets.md just as well.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBoard } from "plugboard";

const directory = await mkdtemp(join(tmpdir(), "plugboard-secrets-"));
const file = join(directory, "token");
await writeFile(file, "correct-horse-battery-staple\n", { mode: 0o600 });

const everything = { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] };
const board = await openBoard({
  servers: {
    everything: { ...everything, env: { API_TOKEN: `secret://file/${file}` } },
    // Its secret is missing, so this server does not start. The other one does.
    broken: { ...everything, env: { API_TOKEN: `secret://file/${directory}/missing` } },
  },
});

try {
  // This tool prints the environment of the server. The server has the token; you read that it was there.
  const { content } = await board.call("everything/get-env");
  console.log(JSON.parse(content[0].text).API_TOKEN);

  const { content: echoed } = await board.call("everything/echo", {
    message: Buffer.from("correct-horse-battery-staple").toString("base64"),
  });
  console.log(echoed[0].text);

  const [, broken] = board.status();
  console.log(`${broken.name}: ${broken.lastError.replaceAll(directory, "…")}`);
} finally {
  await board.close();
  await rm(directory, { recursive: true });
}
