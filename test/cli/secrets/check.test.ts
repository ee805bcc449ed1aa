import { describe, expect, it, onTestFinished } from "vitest";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

const VALUE = "hunter2-of-the-docs";

const CONFIG = {
  mcpServers: {
    docs: {
      url: "https://docs.example/mcp",
      headers: { Authorization: "Bearer ${secret://file/token}", "X-Region": "${REGION:-eu}" },
    },
    db: {
      command: "db",
      env: { A: "secret://file/${STAGE}.json#key", B: "${UNSET}", C: "secret://file/nowhere" },
    },
    off: { command: "off", enabled: false, env: { A: "secret://file/nowhere" } },
  },
  models: { providers: { own: { type: "anthropic", apiKey: "secret://env/MODEL_KEY" } } },
};

const FILES = { token: `${VALUE}\n`, "test.json": { key: VALUE } };

function put(config: object, files: Record<string, string | object> = FILES): string {
  for (const [name, content] of Object.entries(files)) scratch.file(name, content);
  return scratch.file("plugboard.json", config);
}

const env = { STAGE: "test", MODEL_KEY: VALUE };

describe("plugboard secrets check", () => {
  it("says of every reference whether it works, without a value", async () => {
    const file = put(CONFIG);
    const { code, stdout, stderr } = await scratch.run(
      ["secrets", "check", "--json", "--config", file],
      { env },
    );
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toEqual({
      references: [
        {
          server: "docs",
          key: "headers.Authorization",
          reference: "secret://file/token",
          ok: true,
        },
        {
          server: "db",
          key: "env.A",
          reference: "secret://file/${STAGE}.json#key",
          ok: true,
        },
        {
          server: "db",
          key: "env.B",
          reference: "${UNSET}",
          ok: false,
          error: {
            code: "UNRESOLVED_VALUE",
            message: "env.B needs the variable UNSET, which is not set",
            hint: "export UNSET, or give a default with ${UNSET:-…}",
          },
        },
        {
          server: "db",
          key: "env.C",
          reference: "secret://file/nowhere",
          ok: false,
          error: {
            code: "SECRET_UNAVAILABLE",
            message: `there is no file ${scratch.directory}/nowhere`,
          },
        },
        {
          key: "models.providers.own.apiKey",
          reference: "secret://env/MODEL_KEY",
          ok: true,
        },
      ],
      failed: 2,
    });
    const shown = await scratch.run(["secrets", "check", "--config", file], { env });
    expect(shown.stdout).toMatch(/docs +headers\.Authorization +secret:\/\/file\/token +ok\n/);
    expect(shown.stdout).toMatch(/db +env\.C +secret:\/\/file\/nowhere +there is no file /);
    expect(shown.stderr).toContain("hint for db: export UNSET");
    expect(shown.stderr).toContain("2 of 5 references cannot be resolved");
    expect(stdout + stderr + shown.stdout + shown.stderr).not.toContain(VALUE);
  });

  it("of many references warns of the short ones, and of no leak of its own", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `K${index}`);
    const servers = Object.fromEntries(
      names.map((name) => [name, { command: "x", env: { X: `secret://file/all.json#${name}` } }]),
    );
    const values = Object.fromEntries(names.map((name) => [name, `hunter2-${name}`]));
    const file = put({ mcpServers: servers }, { "all.json": { ...values, K3: "short" } });
    const warnings: unknown[] = [];
    const listen = (warning: Error) => warnings.push(warning.name);
    process.on("warning", listen);
    onTestFinished(() => void process.off("warning", listen));
    const { code, stdout } = await scratch.run(["secrets", "check", "--config", file]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/K3 .* ok, but it has fewer than 8 characters, so it is not redacted\n/);
    expect(stdout.match(/ok\n/g)).toHaveLength(11);
    expect(warnings).toEqual([]);
    const json = await scratch.run(["secrets", "check", "--json", "--config", file]);
    expect(json.stdout).toContain('"warning": "it has fewer than 8 characters');
  });

  it("ends with 0 if all work, or if there are none, and names what is written out", async () => {
    const works = put({ mcpServers: { docs: { ...CONFIG.mcpServers.docs } } });
    expect((await scratch.run(["secrets", "check", "--config", works])).code).toBe(0);
    const none = put({ mcpServers: { a: { command: "a", env: { A_TOKEN: VALUE } } } });
    const { code, stderr } = await scratch.run(["secrets", "check", "--config", none]);
    expect(code).toBe(0);
    expect(stderr).toContain("no server and no model refers to a secret or a variable");
    expect(stderr).toContain(
      "MCP server 'a' has plaintext credentials in config — consider using secret:// references",
    );
  });

  it("reads nothing for a file that nobody has trusted, and asks for a configuration", async () => {
    const { code: none, stderr } = await scratch.run(["secrets", "check"]);
    expect({ none, stderr }).toMatchObject({ none: 2 });
    expect(stderr).toContain("there is no configuration here");
    put(CONFIG);
    const untrusted = await scratch.run(["secrets", "check"], { env });
    expect(untrusted.code).toBe(2);
    expect(untrusted.stderr).toContain("is not trusted yet");
    expect(untrusted.stdout).toBe("");
  });
});
