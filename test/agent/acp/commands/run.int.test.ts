// `/read` and the commands of servers' prompts under rules and approval.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixture } from "../../../support/boards.ts";
import { choose, useDesk } from "../harness.ts";

const desk = useDesk();

const library = fixture("library");
const WELCOME = "lib:///welcome";
const RULES = "lib:///rules";

describe("/read and a prompt's command", () => {
  it("do not reach what a rule denies, and the audit has each refusal", async () => {
    const deny = [`lib/resource:${RULES}`, "lib/prompt:greet"];
    const file = join(desk.directory, "audit.jsonl");
    const editor = await desk.open({
      servers: { lib: library },
      config: { tools: { deny }, audit: { file } },
    });
    const sessionId = await editor.newSession();
    expect(await editor.ask(sessionId, "/resources")).not.toContain(RULES);
    for (const line of [`/read ${RULES}`, `/read lib ${RULES}`, "/read lib lib:///%72ules"]) {
      const said = await editor.ask(sessionId, line);
      expect(said).toContain(`is refused by the rule "lib/resource:${RULES}"`);
      expect(said).not.toContain("Be quiet.");
    }
    // A denied prompt is no command.
    expect(await editor.ask(sessionId, "/lib:greet Ada")).toContain(
      "There is no command /lib:greet",
    );
    const [list] = editor.of(sessionId, "available_commands_update");
    expect(JSON.stringify(list)).not.toContain("greet");
    expect(await editor.ask(sessionId, `/read ${WELCOME}`)).toBe("Welcome to the library.");
    expect(editor.questions).toEqual([]);
    await editor.close();
    const lines = (await readFile(file, "utf8")).trim().split("\n");
    expect(lines.map((each) => JSON.parse(each) as object)).toMatchObject([
      { tool: `resource:${RULES}`, decision: "refused", outcome: "REFUSED_BY_POLICY" },
      { tool: `resource:${RULES}`, decision: "refused" },
      { tool: "resource:lib:///%72ules", decision: "refused" },
      { tool: `resource:${WELCOME}`, decision: "allowed", outcome: "ok" },
    ]);
  });

  it.each([
    ["allow", "Be quiet.", "Please greet Ada."],
    ["reject", "was not approved", "was not approved"],
  ])("ask first where the configuration says so: %s", async (answer, read, prompted) => {
    const approval = { tools: { "resource:lib:///r*": "ask", "prompt:greet": "ask" } } as const;
    const editor = await desk.open({
      servers: { lib: { ...library, approval: { default: "never", ...approval } } },
      decide: () => choose(answer),
    });
    const sessionId = await editor.newSession();
    expect(await editor.ask(sessionId, `/read ${WELCOME}`)).toBe("Welcome to the library.");
    expect(editor.questions).toEqual([]);
    expect(await editor.ask(sessionId, `/read ${RULES}`)).toContain(read);
    expect(await editor.ask(sessionId, "/lib:greet Ada")).toContain(prompted);
    expect(editor.questions.map(({ toolCall }) => [toolCall.title, toolCall.rawInput])).toEqual([
      [`lib: resource:${RULES} ${RULES}`, { uri: RULES }],
      ["lib: prompt:greet Ada", { who: "Ada" }],
    ]);
  });
});
