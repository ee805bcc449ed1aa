// The example of the plan, exactly as it is written there: its secrets come from Google Cloud, and its servers are programs.

import { chmod, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { loadConfig } from "../../../src/core/config/load.ts";
import type { Board } from "../../../src/core/types/board.ts";
import { type GcpService, startGcpService } from "../../fixtures/secrets/gcp-service.ts";
import { fixture, statusOf, textOf } from "../../support/boards.ts";
import { expectNoProcesses } from "../../support/processes.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const example = fileURLToPath(
  new URL("../../fixtures/secrets/planned-example.json", import.meta.url),
);

let service: GcpService;
let directory = "";
let board: Board | undefined;

beforeEach(async () => {
  service = await startGcpService();
  service.secrets.set("projects/my-project/secrets/linkedin-email", ["me@example.com"]);
  service.secrets.set("projects/my-project/secrets/linkedin-password", ["correct horse battery"]);
  directory = temporaryDirectory();
  const { command, args = [] } = fixture("echo");
  // They write down what they were started with, and are the echo server.
  for (const name of ["uvx", "npx"]) {
    const program = join(directory, name);
    const note = `printf '%s\\n' "$LINKEDIN_EMAIL" "$LINKEDIN_PASSWORD" "$@" > '${program}.note'`;
    await writeFile(program, `#!/bin/sh\n${note}\nexec '${command}' '${args.join("' '")}'\n`);
    await chmod(program, 0o755);
  }
});

afterEach(async () => {
  await board?.close();
  board = undefined;
  await service.close();
  expectNoProcesses();
});

async function openExample(): Promise<Board> {
  board = await openBoard(await loadConfig(example), {
    env: {
      PATH: [directory, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
      HOME: directory,
      GOOGLE_CLOUD_PROJECT: "my-project",
      SECRET_MANAGER_EMULATOR_HOST: service.endpoint,
    },
  });
  return board;
}

it("its server gets the secrets in its environment, and nobody else does", async () => {
  const opened = await openExample();
  expect(statusOf(opened, "linkedin").state.kind).toBe("ready");
  expect((await readFile(join(directory, "uvx.note"), "utf8")).split("\n").slice(0, 3)).toEqual([
    "me@example.com",
    "correct horse battery",
    "--from",
  ]);
  expect((await readFile(join(directory, "npx.note"), "utf8")).split("\n")[1]).toBe("");
  const told = textOf(await opened.call("linkedin/env"));
  expect(told).toContain("LINKEDIN_PASSWORD");
  expect(told).not.toContain("correct horse battery");
  expect(service.requests.map(({ name }) => name).toSorted()).toEqual([
    "projects/my-project/secrets/linkedin-email/versions/latest",
    "projects/my-project/secrets/linkedin-password/versions/latest",
  ]);
});

it("a secret that is not there keeps its server from starting, and no other", async () => {
  service.secrets.delete("projects/my-project/secrets/linkedin-password");
  const opened = await openExample();
  const { state } = statusOf(opened, "linkedin");
  expect(state.kind === "failed" && state.error).toMatchObject({
    code: "SECRET_UNAVAILABLE",
    message: expect.stringContaining(
      "env.LINKEDIN_PASSWORD needs secret://gcp/linkedin-password: there is no secret linkedin-password (version latest) of project my-project",
    ),
    hint: expect.stringContaining("secrets.gcp.project"),
  });
  expect(statusOf(opened, "filesystem").state.kind).toBe("ready");
});
