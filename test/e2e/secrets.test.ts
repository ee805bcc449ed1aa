// Nothing that a run writes has the value of a secret in it, in whatever form a server repeats it.

import { once } from "node:events";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { plugboard, useAgents } from "./acp-agent.ts";

const desk = useAgents();

const VALUES = {
  file: "f1le/+value?&=öx of a file",
  key: "k3y-value~of*a(JSON) file",
  helper: "h3lper-value: of a program",
  broken: "br0ken-value of a helper that fails",
};

/** Every form in which the fixture repeats a value, and hex. */
function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  // Inside other text, base64 differs with the place where the value begins: this much of it is the same.
  const inside = [1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .slice(4, -4),
  );
  const base64 = bytes.toString("base64");
  const url = bytes.toString("base64url");
  return [value, encodeURIComponent(value), base64, url, ...inside, bytes.toString("hex")];
}

/** Prepares where the secrets are, and a configuration that refers to them. */
function configure(): object {
  const { directory } = desk;
  const write = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  write("source-token", `${VALUES.file}\n`);
  write("source-all.json", JSON.stringify({ one: VALUES.key }));
  const helper = write("source-helper", `#!/bin/sh\nprintf '%s' '${VALUES.helper}'\n`);
  const broken = write(
    "source-broken",
    `#!/bin/sh\necho '${VALUES.broken}'\necho '${VALUES.broken}' >&2\nexit 1\n`,
  );
  chmodSync(helper, 0o700);
  chmodSync(broken, 0o700);
  const { env, ...server } = desk.configured("repeats-secrets") as { env: object };
  return {
    agents: {
      defaults: {
        mcp: {
          servers: {
            docs: {
              ...server,
              env: {
                ...env,
                NOTE_A: "secret://file/source-token",
                NOTE_B: "key ${secret://file/source-all.json#one}",
                NOTE_C: "secret://exec/good/an-id",
              },
            },
            broken: { ...server, env: { ...env, NOTE_A: "secret://exec/bad/an-id" } },
          },
        },
      },
    },
    audit: { arguments: true },
    secrets: { exec: { good: { command: helper }, bad: { command: broken } } },
  };
}

async function run(...args: string[]): Promise<string> {
  const child = plugboard(desk.directory, args);
  let output = "";
  child.stdin.end();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  await once(child, "close");
  return output;
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("source-"))
    .map((entry) => join(entry.parentPath, entry.name));
}

it("an agent's run and commands leave no value in any file, log, message or crash", async () => {
  const agent = await desk.start({ config: configure(), flags: ["--log-level", "debug"] });
  const session = await agent.newSession(desk.directory);
  for (const tool of ["tell", "refuse", "crash"]) {
    await agent.prompt(session, `/call docs/${tool}`);
  }
  // It must have got them: otherwise there is nothing to find.
  const told = agent.result(session);
  await agent.prompt(session, "/call docs/tell");
  expect(told + agent.stdout).toContain("[REDACTED]");
  await agent.until(() => agent.stderr.includes("NOTE_A needs secret://exec/bad/an-id"));
  await agent.until(() => agent.stderr.includes("starting with [REDACTED]"));
  expect(await agent.leave()).toBe(0);
  const config = ["--config", join(desk.directory, "agent.json"), "--log-level", "debug"];
  const output = await Promise.all([
    run(...config, "call", "docs/tell"),
    run(...config, "status", "--json"),
    run(...config, "tools", "--json"),
    run(...config, "secrets", "check"),
  ]);
  expect(output[0]).toContain("[REDACTED]");
  expect(output[3]).toMatch(/docs +env\.NOTE_C +secret:\/\/exec\/good\/an-id +ok\n/);
  expect(output[3]).toContain("1 of 4 references cannot be resolved");
  const written: [string, string][] = [
    ["stdout", agent.stdout],
    ["stderr", agent.stderr],
    ...output.map((text): [string, string] => ["a command", text]),
    ...filesIn(desk.directory).map((path): [string, string] => [
      path,
      readFileSync(path, "latin1"),
    ]),
    ...filesIn(desk.directory).map((path): [string, string] => [path, readFileSync(path, "utf8")]),
  ];
  const kinds = ["audit", "sessions", "pins", "catalog"];
  for (const kind of kinds) expect(written.map(([path]) => path).join("\n")).toContain(kind);
  const found = written.flatMap(([path, text]) =>
    Object.entries(VALUES).flatMap(([name, value]) =>
      formsOf(value).some((form) => text.includes(form)) ? [`${name} in ${path}`] : [],
    ),
  );
  expect(found).toEqual([]);
});
