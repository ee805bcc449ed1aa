// The applications of this machine, as the page of a gateway that `plugboard up` has started connects them.

import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { enterPage, type PageApi } from "../../support/page-api.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

const OWN =
  '{\n  "mcpServers": {\n    "own": { "command": "x", "env": { "API_KEY": "s3cret-value" } }\n  }\n}\n';

async function up(): Promise<PageApi> {
  mkdirSync(join(scratch.directory, ".cursor"));
  writeFileSync(join(scratch.directory, ".cursor", "mcp.json"), OWN);
  scratch.servers({});
  await scratch.up();
  const { stdout } = await scratch.run(["ui", "--print"]);
  return enterPage(stdout.trim());
}

const file = (): string => scratch.read(".cursor/mcp.json");
const CONNECT = { kind: "connect", application: "cursor", undo: false } as const;

it("are listed, connected with what was shown, and taken out byte for byte", async () => {
  const page = await up();
  const state = async (): Promise<unknown> => {
    const { applications } = await page.ask("applications/list", {});
    return applications.find(({ id }) => id === "cursor")?.state;
  };
  expect(await state()).toBe("absent");
  const shown = await page.ask("changes/preview", { change: CONNECT });
  expect(shown).toMatchObject({
    summary: "put the board into Cursor",
    starts: [{ lines: [expect.stringContaining('"serve"')] }],
  });
  expect(JSON.stringify(shown)).not.toContain("s3cret-value");
  expect(file()).toBe(OWN);
  expect(await page.ask("changes/confirm", { hash: shown.hash })).toMatchObject({
    said: expect.stringContaining("Cursor"),
  });
  expect(await state()).toBe("connected");
  expect((await page.ask("changes/preview", { change: CONNECT })).error?.message).toBe(
    "Cursor is connected already",
  );
  const back = await page.ask("changes/preview", { change: { ...CONNECT, undo: true } });
  expect(back.warnings).toContain("the file becomes what it was before");
  await page.ask("changes/confirm", { hash: back.hash });
  expect(file()).toBe(OWN);
  const { stdout } = await scratch.run(["audit", "--json"]);
  const lines = stdout.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { type: "decision", caller: "the owner", decided: "put the board into Cursor" },
    { type: "decision", decided: "take the board out of Cursor" },
  ]);
});

it("are shown with the link that their file is behind", async () => {
  const page = await up();
  const [place, target] = [".cursor/mcp.json", "mcp.json"].map((path) =>
    join(scratch.directory, path),
  ) as [string, string];
  renameSync(place, target);
  symlinkSync("../mcp.json", place);
  const { warnings } = await page.ask("changes/preview", { change: CONNECT });
  expect(warnings).toContain(`${place} is behind a link: the file is ${target}`);
});

it("tokens are made and revoked, and the audit says by whom, without the token", async () => {
  const page = await up();
  const made = await page.ask("tokens/add", { name: "ci", allow: ["files/*"], expires: 1000 });
  expect(made).toMatchObject({
    token: { name: "ci", limits: ["allow files/*"] },
    url: expect.stringMatching(/\/mcp$/),
  });
  expect(made.unseen).toBeUndefined();
  expect(made.url).not.toContain(made.text);
  expect((await page.ask("tokens/add", { name: "ci" })).error?.message).toContain("already");
  expect((await page.ask("tokens/add", { name: "x", agents: ["nobody"] })).error?.message).toBe(
    "there is no agent 'nobody'",
  );
  expect((await page.ask("tokens/add", { name: "y", allow: ["@nonsense"] })).error).toBeDefined();
  const { tokens } = await page.ask("tokens/list", {});
  expect(tokens.map(({ name }) => name)).toEqual(["default", "ci"]);
  expect(JSON.stringify(tokens)).not.toContain(made.text);
  await page.ask("tokens/revoke", { id: made.token.id });
  expect((await page.ask("tokens/revoke", { id: made.token.id })).error?.message).toContain("gone");
  const { stdout } = await scratch.run(["audit", "--json"]);
  expect(stdout).not.toContain(made.text);
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object),
  ).toMatchObject([
    { type: "decision", caller: "the owner", decided: "make the token ci" },
    { type: "decision", decided: "revoke the token ci" },
  ]);
});
