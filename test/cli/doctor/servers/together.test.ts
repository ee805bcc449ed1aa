import { describe, expect, it } from "vitest";
import { duplicates } from "../../../../src/cli/doctor/servers/together.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import type { ServerConfig } from "../../../../src/core/types/server-config.ts";

describe("two entries", () => {
  const files = { command: "npx", args: ["-y", "@a/files", "/tmp"] };
  it.each<[isSame: boolean, string, ServerConfig, ServerConfig]>([
    [true, "that are alike", files, files],
    [true, "of two versions", files, { ...files, args: ["@a/files@1.2.0", "/tmp"] }],
    [
      false,
      "of two registries",
      files,
      { ...files, args: ["--registry", "https://a.example", "@a/files", "/tmp"] },
    ],
    [
      true,
      "with a slash behind the address",
      { url: "https://a.example/mcp" },
      { url: "https://a.example/mcp/" },
    ],
    [
      true,
      "of one Python package",
      { command: "uvx", args: ["my_server"] },
      { command: "uv", args: ["tool", "run", "my-server==1.0"] },
    ],
    [false, "for other directories", files, { ...files, args: ["-y", "@a/files", "/home"] }],
    [false, "with other keys", { ...files, env: { KEY: "a" } }, { ...files, env: { KEY: "b" } }],
    [false, "of which one is off", files, { ...files, enabled: false }],
    [
      false,
      "of other users",
      { url: "https://a.example/mcp", headers: { "X-User": "a" } },
      { url: "https://a.example/mcp", headers: { "X-User": "b" } },
    ],
  ])("are the same server: %s, %s", (isSame, _, one, two) => {
    const { servers } = parseAgentConfig({ servers: { one, two } });
    expect(duplicates(servers)).toEqual(
      isSame
        ? [
            {
              level: "warning",
              check: "same-server-twice",
              subject: "two",
              message: "two: the same server as one, so a model gets each of its tools twice",
              remedy: "switch one of them off: plugboard disable two",
            },
          ]
        : [],
    );
  });
});
