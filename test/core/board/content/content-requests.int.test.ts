// Rules, approval, limits and the audit for reads of resources and prompts.

import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openBoard } from "../../../../src/core/board/board.ts";
import type { ApprovalRequest } from "../../../../src/core/types/approval.ts";
import type { Board } from "../../../../src/core/types/board.ts";
import type { BoardOptions } from "../../../../src/core/types/board-options.ts";
import type { ToolRules } from "../../../../src/core/types/guard-settings.ts";
import type { ServerConfig } from "../../../../src/core/types/server-config.ts";
import { closeBoards, open, textOf } from "../../../support/boards.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { expectNoProcesses } from "../../../support/processes.ts";
import { library, tell } from "./content-servers.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

closeBoards();

async function withRules(
  tools: ToolRules,
  options: BoardOptions = {},
  settings: Partial<ServerConfig> = {},
): Promise<Board> {
  const servers = { lib: { ...library(), ...settings } };
  return openBoard({ servers, tools }, options);
}

async function uris(board: Pick<Board, "resources">): Promise<string[]> {
  return (await board.resources.list()).map(({ uri }) => uri);
}

const RULES = "lib:///rules";
const WELCOME = "lib:///welcome";
const SHELF = "lib:///shelf/a";

describe("a name that is longer than anything that is listed", () => {
  const longest = "%41".repeat(3000).slice(0, 8192);
  it.each<[string, (board: Board, name: string) => Promise<unknown>]>([
    ["of a resource to read", ({ resources }, name) => resources.read(name)],
    ["of one of a server", ({ resources }, name) => resources.read(name, { server: "lib" })],
    ["of one to subscribe to", ({ resources }, name) => resources.subscribe(name)],
    ["of one to complete", ({ resources }, name) => resources.complete(name, "id", "")],
    ["of a prompt", ({ prompts }, name) => prompts.get(name)],
    ["of a prompt to complete", ({ prompts }, name) => prompts.complete(name, "id", "")],
    [
      "that a model gives",
      async (board, uri) => {
        const answer = await board.call("read_resource", { uri });
        if (answer.isError) throw new Error(textOf(answer));
      },
    ],
  ])("%s is refused before anybody looks at it", async (_, ask) => {
    const config = { servers: { lib: library() }, resourceTools: true };
    await using board = await openBoard({ ...config, tools: { deny: ["lib/resource:*"] } });
    const refused = /is longer than 8192 characters/;
    await expect(ask(board, `${longest}4`)).rejects.toThrow(refused);
    await expect(ask(board, longest)).rejects.not.toThrow(refused);
  });
});

describe("a denied resource", () => {
  it("is not named by updates of the one that it is a part of", async () => {
    await using board = await withRules({ deny: ["lib/resource:lib:///rules/secret*"] });
    await using session = await board.openSession({ cwd: tmpdir() });
    const heard: [string, string[]][] = [];
    board.on("resources", (event) => heard.push(["board", event.uris]));
    session.on("resources", (event) => heard.push(["session", event.uris]));
    await session.resources.subscribe(RULES);
    await tell(board, "touch", { uri: RULES, part: `${RULES}/secret-plan` });
    await expect.poll(() => heard).toHaveLength(2);
    await tell(board, "touch", { uri: RULES, part: `${RULES}/open` });
    await expect.poll(() => heard).toHaveLength(4);
    expect(heard).toEqual([
      ["session", [RULES]],
      ["board", [RULES]],
      ["session", [`${RULES}/open`]],
      ["board", [`${RULES}/open`]],
    ]);
  });

  it("is neither listed nor read, by whatever asks for it, and the audit has each refusal", async () => {
    const stateDir = temporaryDirectory();
    const deny = ["lib/resource:lib:///rules", "lib/resource:lib:///shelf/*"];
    const options = { stateDir, resourceTools: true } as const;
    await using board = await withRules({ deny }, options);
    expect(await uris(board)).toEqual([WELCOME]);
    expect(await board.resources.templates()).toEqual([]);
    const context = await board.resources.context();
    expect(context).toContain("Welcome");
    expect(context).not.toMatch(/rules|Be quiet/);
    const refused = { code: "REFUSED_BY_POLICY", server: "lib" };
    await expect(board.resources.read(RULES)).rejects.toMatchObject({
      ...refused,
      message: `a resource of 'lib' is refused by the rule "lib/resource:lib:///rules" in tools.deny`,
    });
    await expect(board.resources.read(RULES, { server: "lib" })).rejects.toMatchObject(refused);
    await expect(board.resources.read(SHELF)).rejects.toMatchObject(refused);
    await expect(board.resources.subscribe(RULES)).rejects.toMatchObject(refused);
    await expect(
      board.resources.complete("lib:///shelf/{shelf}", "shelf", ""),
    ).rejects.toMatchObject(refused);
    const asked = await board.call("read_resource", { uri: RULES });
    expect(asked.isError).toBe(true);
    expect(textOf(asked)).toContain("is refused by the rule");
    const listed = textOf(await board.call("list_resources", {}));
    expect(listed).toContain(WELCOME);
    expect(listed).not.toMatch(/rules|shelf/);
    // A near miss must not name what is hidden.
    await expect(board.resources.read("lib:///rulez")).rejects.not.toMatchObject({
      hint: expect.stringContaining("rules"),
    });
    expect((await board.resources.read(WELCOME)).contents).toHaveLength(1);
    expect(await tell(board, "subscriptions")).not.toContain("rules");
    await board.close();
    const lines = (await readFile(join(stateDir, "audit.jsonl"), "utf8")).trim().split("\n");
    const refusals = lines
      .map((line) => JSON.parse(line))
      .filter(({ decision }) => decision === "refused");
    expect(refusals.map(({ server, tool }) => `${server} ${tool}`)).toEqual([
      "lib resource:lib:///rules",
      "lib resource:lib:///rules",
      "lib resource:lib:///shelf/a",
      "lib subscribe:lib:///rules",
      "lib complete:lib:///shelf/{shelf}",
      "lib resource:lib:///rules",
    ]);
    expect(refusals[0]).toMatchObject({
      outcome: "REFUSED_BY_POLICY",
      rule: '"lib/resource:lib:///rules" in tools.deny',
    });
    expectNoProcesses();
  });

  it("on one server is read from another that has it too", async () => {
    await using board = await openBoard({
      servers: { lib: library(), two: library() },
      tools: { deny: ["lib/resource:lib:///rules"] },
    });
    expect((await board.resources.read(RULES)).server).toBe("two");
    expect((await board.resources.read(WELCOME)).server).toBe("lib");
  });
});

describe("a list of allowed", () => {
  it("resources shows and reads no others, and templates that could give one", async () => {
    await using board = await withRules({ allow: ["*", "lib/resource:lib:///shelf/a*"] });
    expect(await uris(board)).toEqual([]);
    expect(await board.resources.templates()).toHaveLength(1);
    expect((await board.resources.read(SHELF)).contents[0]?.text).toBe("Shelf a.");
    await expect(board.resources.read("lib:///shelf/b")).rejects.toMatchObject({
      code: "REFUSED_BY_POLICY",
    });
    await expect(board.resources.read("lib:///shelf/a/../../rules")).rejects.toMatchObject({
      code: "REFUSED_BY_POLICY",
    });
    expect(await board.prompts.list()).toHaveLength(1);
    expect(board.tools()).not.toEqual([]);
  });

  it("tools restricts neither resources nor prompts", async () => {
    await using board = await withRules({ allow: ["lib/asked"], deny: ["lib/write", "lib"] });
    expect(await uris(board)).toEqual([WELCOME, RULES]);
    expect(await board.prompts.list()).toHaveLength(1);
    expect((await board.prompts.get("greet", { who: "Ada" })).messages).toHaveLength(2);
  });
});

describe("a prompt", () => {
  it("that is denied is neither listed, completed nor given", async () => {
    await using board = await withRules({ deny: ["lib/prompt:gre*"] });
    expect(await board.prompts.list()).toEqual([]);
    const refused = { code: "REFUSED_BY_POLICY", server: "lib" };
    for (const name of ["greet", "lib/greet", "lib/GREET"]) {
      await expect(board.prompts.get(name)).rejects.toMatchObject(
        name === "lib/GREET" ? { code: "REFUSED_BY_POLICY" } : refused,
      );
    }
    await expect(board.prompts.complete("greet", "who", "")).rejects.toMatchObject(refused);
  });

  it("that is the owner's is given to the owner", async () => {
    const rules = { ownerOnly: ["prompt:*"] };
    await using other = await withRules({}, {}, { tools: rules });
    await expect(other.prompts.get("greet")).rejects.toMatchObject({
      message: expect.stringContaining("reserved for the owner"),
    });
    await using board = await withRules({}, { owner: true }, { tools: rules });
    expect(await board.prompts.list()).toHaveLength(1);
  });
});

describe("approval", () => {
  const approval = { default: "ask", tools: { "resource:lib:///r*": "ask" } } as const;

  it("is asked for where a pattern names the resource, and not for the host's own reads", async () => {
    const requests: ApprovalRequest[] = [];
    const onApproval = (request: ApprovalRequest) => {
      requests.push(request);
      return requests.length === 1 ? ("refuse" as const) : ("always" as const);
    };
    await using board = await withRules({}, { onApproval, resourceTools: true }, { approval });
    await board.resources.list();
    expect(await board.resources.context()).toContain("Be quiet.");
    await board.resources.read(WELCOME);
    await board.prompts.get("greet", { who: "Ada" });
    await board.resources.subscribe(RULES);
    expect(requests).toEqual([]);
    await expect(board.resources.read(RULES)).rejects.toMatchObject({
      code: "NOT_APPROVED",
      message: "a resource of 'lib' was not approved",
    });
    const outcome = await board.call("read_resource", { uri: RULES }, { callId: "call_7" });
    expect(textOf(outcome)).toContain("Be quiet.");
    await board.resources.read(RULES);
    expect(requests).toHaveLength(2);
    expect(requests[1]).toMatchObject({
      callId: "call_7",
      tool: "lib/resource:lib:///rules",
      server: "lib",
      args: { uri: RULES },
      hints: { readOnly: true },
      trusted: false,
      reason: "every read of this resource needs approval",
    });
  });
});

describe("a rate limit", () => {
  it("counts the reads that a pattern names, together", async () => {
    const rateLimit = { default: 1, tools: { "resource:*": 1 } } as const;
    await using board = await withRules({}, {}, { rateLimit });
    await board.resources.list();
    await board.resources.context();
    await board.prompts.get("greet", { who: "Ada" });
    await board.prompts.get("greet", { who: "Ada" });
    await board.resources.read(WELCOME);
    await expect(board.resources.read(RULES)).rejects.toMatchObject({
      code: "RATE_LIMITED",
      message: "too many calls to a resource of 'lib': the limit is 1 call a minute",
    });
    // The server's own limit is for its tools, and is not used up.
    expect((await board.call("lib/asked")).isError).toBeUndefined();
  });
});

describe("a session", () => {
  it("obeys the agent's rules with shared servers, and with its own", async () => {
    await using board = await withRules({ deny: ["*/resource:*:///rules"] });
    await using session = await board.openSession({
      cwd: tmpdir(),
      servers: { own: library("legacy", "--scheme=own") },
      startupWait: 10_000,
    });
    expect(await uris(session)).toEqual(["own:///welcome", WELCOME]);
    for (const uri of [RULES, "own:///rules"]) {
      await expect(session.resources.read(uri)).rejects.toMatchObject({
        code: "REFUSED_BY_POLICY",
      });
    }
  });
});

describe("a rule that matches nothing", () => {
  it("is told once the server has listed its resources", async () => {
    const logger = recordingLogger();
    const deny = ["lib/resource:lib:///ruels", "lib/resource:lib:///shelf/x*", "lib/prompt:gret"];
    await using board = await withRules({ deny }, { logger });
    expect(board.unmatchedRules()).toEqual([]);
    await board.resources.list();
    const problem =
      "matches no resource that a server lists; did you mean lib/resource:lib:///rules?";
    expect(board.unmatchedRules()).toMatchObject([{ rule: deny[0], restricts: true, problem }]);
    expect(logger.lines.map(({ message }) => message)).toContain(
      `the rule "${deny[0]}" ${problem}`,
    );
    await board.prompts.list();
    expect(board.unmatchedRules().map(({ rule }) => rule)).toEqual([deny[0], deny[2]]);
    expect(board.status()[0]?.diagnostics).toHaveLength(2);
  });
});

it("a board without such rules reads as before", async () => {
  const board = await open({
    lib: { ...library(), approval: "ask", rateLimit: 1, concurrency: 1 },
  });
  expect(await uris(board)).toEqual([WELCOME, RULES]);
  const readings = await Promise.all(
    [WELCOME, RULES, RULES].map((uri) => board.resources.read(uri)),
  );
  expect(readings).toHaveLength(3);
});
