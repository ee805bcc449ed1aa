// What a registry says about a server.

import assert from "node:assert/strict";
import { resolveTarget } from "../../../src/core/config/resolve.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { tryParseJson } from "../../../src/core/types/json.ts";
import { readEntry, readRegistryName } from "../../../src/install/registry/server-json.ts";
import { chooseWay, waysOf } from "../../../src/install/registry/ways.ts";
import { serverJson, serverJsonNames } from "../../fixtures/registry/registry.ts";
import { refusing, type Target } from "../target.ts";

const PROGRAMS = new Set(["npx", "uvx", "dnx", "docker", "podman"]);

/** What a publisher wrote never reads a variable of the person's. */
const UNREAD: Record<string, string> = new Proxy(
  {},
  {
    getOwnPropertyDescriptor: (_, name) =>
      assert.fail(`the publisher reads the variable ${String(name)}`),
  },
);

export function registryEntry(): Target {
  return {
    about: "entries of an MCP registry",
    covers: [
      "install/registry/server-json.ts",
      "install/registry/ways.ts",
      "install/registry/fill.ts",
    ],
    seeds: () => serverJsonNames().map((name) => JSON.stringify({ server: serverJson(name) })),
    words: [
      "npm",
      "pypi",
      "oci",
      "nuget",
      "mcpb",
      "latest",
      "^1.0.0",
      "git+https://x",
      "${HOME}",
      "secret://env/X",
      "{",
      "}",
      "--",
      "-y",
      "isRepeated",
      "isSecret",
      "https://",
      "http://127.0.0.1/",
      "variables",
    ],
    longest: 8192,
    async run(input) {
      const text = input.toString("utf8");
      readRegistryName(text);
      const entry = readEntry(tryParseJson(text));
      if (typeof entry === "string") {
        assert.ok(entry.length < 500, "a refusal is short");
        return;
      }
      const ways = waysOf(entry, "https://registry.example");
      chooseWay(ways, () => true);
      for (const way of ways) {
        if (way.kind === "bundle") assert.match(way.url, /^https:/i, "a bundle comes over https");
        if (way.kind !== "offer") continue;
        const { offer } = way;
        const values = new Map(offer.inputs.map(({ key }) => [key, ["given"]]));
        const built = await refusing(
          () => offer.build(values),
          "INVALID_ARGUMENTS",
          "REFUSED_BY_POLICY",
        );
        if ("refused" in built) continue;
        const server = built.value;
        if ("command" in server) {
          assert.ok(PROGRAMS.has(server.command ?? ""), "only a runner of packages is started");
          const words = server.args ?? [];
          assert.ok(
            words.every((word) => typeof word === "string"),
            "its arguments are texts",
          );
        }
        const config = await refusing(
          () => parseAgentConfig({ servers: { [offer.name]: server } }),
          "CONFIG_INVALID",
        );
        if ("refused" in config) continue;
        const [definition] = config.value.servers;
        if (definition !== undefined)
          await refusing(() => resolveTarget(definition, UNREAD, "/home"), "CONFIG_INVALID");
      }
    },
  };
}
