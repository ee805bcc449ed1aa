import { expect, it } from "vitest";
import { loadConfig } from "../../../src/core/config/load.ts";
import { textsOf } from "../../../src/core/config/secret-references.ts";
import { dirname } from "node:path";
import { writeConfig } from "./files.ts";

it("lists the texts of an agent, with the server and the key, or the model's key", async () => {
  const file = await writeConfig(`{
    mcpServers: {
      program: { command: "x", args: ["a", "--key=\${secret://gcp/a}"], env: { A: "op://v/i/f" } },
      remote: {
        url: "https://a.example",
        auth: { type: "bearer", token: "secret://file/b" },
        oauth: { clientId: "c", clientSecret: "secret://vault/kv/c#d" },
      },
      off: { command: "x", env: { A: "secret://gcp/off" }, enabled: false },
    },
    models: { providers: { mine: { type: "openai", apiKey: "secret://env/KEY" } } },
  }`);
  const found = textsOf(await loadConfig(file)).filter(({ text }) => text.includes("://"));
  expect(found.map(({ server, key, text, baseDir }) => [server, key, text, baseDir])).toEqual([
    ["program", "args[1]", "--key=${secret://gcp/a}", undefined],
    ["program", "env.A", "op://v/i/f", undefined],
    ["remote", "url", "https://a.example", dirname(file)],
    ["remote", "headers.Authorization", "Bearer ${secret://file/b}", dirname(file)],
    ["remote", "oauth.clientSecret", "secret://vault/kv/c#d", dirname(file)],
    [undefined, "models.providers.mine.apiKey", "secret://env/KEY", undefined],
  ]);
});
