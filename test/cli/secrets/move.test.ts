import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

const TOKEN = "hunter2-hunter2-hunter2";

const FILE = `{
  // ours
  "mcpServers": {
    "db": { "command": "db", "env": { "PGPASSWORD": "${TOKEN}", "MODE": "fast" } }, // slow
    // the web
    "web": {
      "url": "https://a.example/mcp",
      "headers": { "Authorization": "Bearer ${TOKEN}", "X-Odd": "a $\${b}" },
    },
    "own": { "url": "https://b.example/mcp", "auth": { "type": "bearer", "token": "${TOKEN}" } },
    "client": { "url": "https://c.example/mcp", "oauth": { "clientId": "x", "clientSecret": "${TOKEN}" } },
    "referred": { "command": "x", "env": { "A_TOKEN": "\${A_TOKEN}", "B_TOKEN": "k-\${B}" }, "args": ["--token", "x"] },
  },
}
`;

const path = (): string => join(scratch.directory, "plugboard.json");
const store = (): string => join(scratch.directory, "home/secrets.json");
const kept = (): unknown => JSON.parse(scratch.read("home/secrets.json"));

/** With no program on the PATH, so that no keyring of this machine is used. */
const move = (...argv: string[]) =>
  scratch.run(["secrets", "move", ...argv], { env: { PATH: scratch.directory } });

beforeEach(async () => {
  scratch.file("plugboard.json", FILE);
  await scratch.run(["trust", "--yes"]);
});

describe("plugboard secrets move", () => {
  it.each([
    ["db", "PGPASSWORD", "env.PGPASSWORD", "db-PGPASSWORD", TOKEN],
    ["db", "env.MODE", "env.MODE", "db-MODE", "fast"],
    ["web", "authorization", "headers.Authorization", "web-token", TOKEN],
    ["web", "headers.X-Odd", "headers.X-Odd", "web-X-Odd", "a ${b}"],
    ["own", "auth.token", "auth.token", "own-token", TOKEN],
    ["client", "clientSecret", "oauth.clientSecret", "client-client_secret", TOKEN],
  ])("%s %s", async (server, key, place, name, value) => {
    const { code, stdout, stderr } = await move(server, key, "--yes", "--json");
    const reference = `secret://file/${store()}#${name}`;
    expect({ code, result: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      result: { server, key: place, reference, provider: "file", file: path(), trusted: true },
    });
    expect(kept()).toEqual({ [name]: value });
    expect(statSync(store()).mode & 0o777).toBe(0o600);
    expect(stderr + stdout).not.toContain(TOKEN);
    const inText = place === "headers.Authorization";
    const [before, after] = inText
      ? [`Bearer ${TOKEN}`, `Bearer \${${reference}}`]
      : [value.replace("${", () => "$${"), reference];
    const at = FILE.indexOf(`"${place.split(".").at(-1)}"`);
    // Only this value has changed, byte for byte.
    expect(scratch.read("plugboard.json")).toBe(
      FILE.slice(0, at) +
        FILE.slice(at).replace(JSON.stringify(before), () => JSON.stringify(after)),
    );
    const checked = await scratch.run(["secrets", "check", "--json"], {
      env: { A_TOKEN: "x", B: "y" },
    });
    expect(checked.code).toBe(0);
  });

  it("shows what would change and asks first", async () => {
    const { code, stderr } = await move("db", "PGPASSWORD");
    expect(code).toBe(4);
    expect(stderr).toContain(`This would change in ${path()}:\n`);
    expect(stderr).toContain(
      `  db: env.PGPASSWORD becomes secret://file/${store()}#db-PGPASSWORD\n`,
    );
    expect(stderr).not.toContain(TOKEN);
    expect(scratch.read("plugboard.json")).toBe(FILE);
    expect(() => kept()).toThrow();
  });

  it("never replaces another value of the same name, unless it is told to", async () => {
    await move("db", "PGPASSWORD", "--yes", "--name", "shared");
    expect((await move("own", "token", "--yes", "--name", "shared")).code).toBe(0);
    const refused = await move("db", "MODE", "--yes", "--name", "shared");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("#shared has another value already");
    expect(refused.stderr).toContain("--name");
    expect(kept()).toEqual({ shared: TOKEN });
    expect((await move("db", "MODE", "--yes", "--name", "shared", "--force")).code).toBe(0);
    expect(kept()).toEqual({ shared: "fast" });
  });

  it("changes nothing if the value cannot be stored", async () => {
    mkdirSync(join(scratch.directory, "home"), { recursive: true });
    writeFileSync(store(), "not JSON");
    const { code, stderr } = await move("db", "PGPASSWORD", "--yes");
    expect(code).toBe(3);
    expect(stderr).toContain("the value cannot be put into file: ");
    expect(stderr).toContain("the configuration has not changed");
    expect(scratch.read("plugboard.json")).toBe(FILE);
  });

  it.each([
    ["a server that is not there", ["dbs", "X"], "did you mean 'db'?"],
    ["a key that is not there", ["db", "PGPASSWRD"], "did you mean 'PGPASSWORD'?"],
    ["a variable", ["referred", "A_TOKEN"], "env.A_TOKEN of 'referred' is not written out"],
    ["a text with a variable", ["referred", "B_TOKEN"], "env.B_TOKEN of 'referred' is not"],
    ["an argument", ["referred", "args[1]"], "put it into env or headers first"],
    ["a name that no reference can have", ["db", "MODE", "--name", "a#b"], "is not a name for a"],
    ["a store that there is not", ["db", "MODE", "--to", "exec"], "expected gcp, aws"],
  ])("refuses %s", async (_, argv, expected) => {
    const { code, stderr } = await move(...argv, "--yes");
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
    expect(scratch.read("plugboard.json")).toBe(FILE);
  });

  it("of one agent leaves the defaults to all", async () => {
    const servers = { db: { command: "db", env: { TOKEN } } };
    const config = { agents: { defaults: { mcp: { servers } }, list: [{ id: "a" }] } };
    const file = scratch.file("agents.json", config);
    const argv = ["db", "TOKEN", "--yes", "--config", file];
    const refused = await move(...argv, "--agent", "a");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("'db' is in the defaults, which all agents have");
    expect((await move(...argv)).code).toBe(0);
    expect(scratch.read("agents.json")).toContain("#db-TOKEN");
  });

  it("sends nothing where a file says that nobody has trusted", async () => {
    const changed = FILE.replace(
      "// ours",
      '"secrets": { "vault": { "address": "http://127.0.0.1:9" } },',
    );
    scratch.file("plugboard.json", changed.replace('"db" }', '"db2" }').replace('"db",', '"db2",'));
    const { code, stderr } = await move("db", "PGPASSWORD", "--yes");
    expect(code).toBe(2);
    expect(stderr).toContain("is not trusted, and a configuration decides where secrets are kept");
    expect(stderr).toContain("plugboard trust");
    // Naming a file approves it for this command.
    const named = ["db", "PGPASSWORD", "--yes", "--to", "file", "--config", path()];
    const moved = await move(...named);
    expect(moved.code).toBe(0);
    expect(moved.stderr).toContain("is not trusted, so nothing in it starts unless you name it");
  });
});
