import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPolicy, reachOf } from "../../../src/core/guard/policy.ts";
import { type GuardedServer, serverGuards } from "../../../src/core/guard/server-guards.ts";
import type { PlacedRules, ToolRules } from "../../../src/core/types/guard-settings.ts";
import type { Subject } from "../../../src/core/types/guard.ts";
import { callOf, contentOf, pass, refusal, subject } from "./subjects.ts";

const TEMPLATE = "mcp__{server}__{tool}";
const DEFAULTS = "agents.defaults.tools";

interface Setting {
  agent?: ToolRules[];
  server?: ToolRules[];
  owner?: boolean;
  servers?: string[];
  template?: string;
}

function placed(rules: readonly ToolRules[] = [], place: string): PlacedRules[] {
  return rules.map((each, index) => ({
    place: index === 0 ? place : `${place}#${index}`,
    ...each,
  }));
}

function policy(
  { agent, server, owner, servers = ["docs", "files"], template = TEMPLATE }: Setting,
  also: GuardedServer[] = [],
) {
  const docs: GuardedServer = {
    name: "docs",
    origin: "agent",
    guard: { rules: placed(server, "servers.docs.tools") },
  };
  return createPolicy({
    rules: placed(agent, DEFAULTS),
    servers: serverGuards([docs, ...also]),
    known: { servers: servers.map((name) => ({ name })), template, native: new Set(["read"]) },
    owner,
  });
}

function isAllowed(setting: Setting, of: Subject): boolean {
  return policy(setting).judge(of).kind === "allowed";
}

async function messageOf(setting: Setting, of: Subject): Promise<string> {
  const { message } = await refusal(pass(policy(setting).stage, callOf(of)));
  return message;
}

describe("a tool", () => {
  it.each<[string, Setting, string, boolean]>([
    ["without rules", {}, "docs/read", true],
    ["that is denied", { agent: [{ deny: ["docs/read"] }] }, "docs/read", false],
    ["that is denied by a glob", { agent: [{ deny: ["docs/re*"] }] }, "docs/read", false],
    ["of any server", { agent: [{ deny: ["*/read"] }] }, "docs/read", false],
    ["beside the denied one", { agent: [{ deny: ["docs/write"] }] }, "docs/read", true],
    ["of another server", { agent: [{ deny: ["files/*"] }] }, "docs/read", true],
    ["that is allowed", { agent: [{ allow: ["docs/read"] }] }, "docs/read", true],
    ["that is not on the list", { agent: [{ allow: ["docs/read"] }] }, "docs/write", false],
    ["with an empty list", { agent: [{ allow: [] }] }, "docs/read", false],
    ["allowed and denied", { agent: [{ allow: ["*"], deny: ["docs/*"] }] }, "docs/read", false],
    [
      "allowed by one layer alone",
      { agent: [{ allow: ["docs/*"] }, { allow: ["files/*"] }] },
      "docs/read",
      false,
    ],
    [
      "allowed by both",
      { agent: [{ allow: ["docs/*"] }, { allow: ["*/read"] }] },
      "docs/read",
      true,
    ],
    [
      "denied in the first layer",
      { agent: [{ deny: ["docs/*"] }, { allow: ["docs/*"] }] },
      "docs/read",
      false,
    ],
    ["denied by its server", { server: [{ deny: ["re*"] }] }, "docs/read", false],
    ["denied by its server in full", { server: [{ deny: ["docs/re*"] }] }, "docs/read", false],
    [
      "denied by its server under the public name",
      { server: [{ deny: ["mcp__docs__read"] }] },
      "docs/read",
      false,
    ],
    ["denied by another server", { server: [{ deny: ["*"] }] }, "files/read", true],
    [
      "not allowed by its server",
      { server: [{ allow: ["list"] }], agent: [{ allow: ["*"] }] },
      "docs/read",
      false,
    ],
    [
      "allowed by its server alone",
      { server: [{ allow: ["*"] }], agent: [{ allow: [] }] },
      "docs/read",
      false,
    ],
    ["denied by its public name", { agent: [{ deny: ["mcp__docs__read"] }] }, "docs/read", false],
    [
      "denied by a glob on public names",
      { agent: [{ deny: ["mcp__docs__*"] }] },
      "docs/read",
      false,
    ],
    ["allowed by its public name", { agent: [{ allow: ["mcp__*__read"] }] }, "docs/read", true],
    ["of the host that is denied", { agent: [{ deny: ["native/read"] }] }, "native/read", false],
    ["of the host, denied by name", { agent: [{ deny: ["read"] }] }, "native/read", false],
    [
      "of the host that is not on the list",
      { agent: [{ allow: ["docs/*"] }] },
      "native/read",
      false,
    ],
    ["of the host that is allowed", { agent: [{ allow: ["native/*"] }] }, "native/read", true],
    ["with all of them for the owner", { agent: [{ ownerOnly: true }] }, "docs/read", false],
    ["with none of them for the owner", { agent: [{ ownerOnly: false }] }, "docs/read", true],
    ["for the owner by a pattern", { agent: [{ ownerOnly: ["docs/*"] }] }, "docs/read", false],
    ["for the owner by its server", { server: [{ ownerOnly: ["read"] }] }, "docs/read", false],
    ["for the owner, who calls", { agent: [{ ownerOnly: true }], owner: true }, "docs/read", true],
    ["denied, whoever calls", { agent: [{ deny: ["*"] }], owner: true }, "docs/read", false],
    ["not on the list, whoever calls", { agent: [{ allow: [] }], owner: true }, "docs/read", false],
    ["with a slash in its name", { agent: [{ deny: ["docs/a/b"] }] }, "docs/a/b", false],
    [
      "denied as other programs spell it",
      { agent: [{ deny: ["mcp_docs_read"] }] },
      "docs/read",
      false,
    ],
    ["denied by its own name", { agent: [{ deny: ["read"] }] }, "docs/read", false],
    ["denied with its whole server", { agent: [{ deny: ["docs"] }] }, "docs/read", false],
    [
      "reserved in every reading",
      { agent: [{ ownerOnly: ["mcp_docs_a_read"] }], servers: ["docs", "docs_a"] },
      "docs_a/read",
      false,
    ],
    [
      "allowed as other programs spell it",
      { agent: [{ allow: ["mcp_docs_*"] }] },
      "docs/read",
      true,
    ],
    [
      "allowed by what could mean another server's tool",
      { agent: [{ allow: ["mcp_docs_a_read"] }], servers: ["docs", "docs_a"] },
      "docs/a_read",
      false,
    ],
    [
      "allowed by a public name of its template",
      { agent: [{ allow: ["read_docs"] }], template: "{tool}_{server}" },
      "docs/read",
      true,
    ],
    [
      "allowed by its server as other programs spell it",
      { server: [{ allow: ["mcp_docs_re*"] }] },
      "docs/read",
      true,
    ],
    ["that plays another server's", { agent: [{ allow: ["*ocs/read"] }] }, "evil/docs/read", false],
  ])("%s", (_, setting, name, expected) => {
    expect(isAllowed(setting, subject(name))).toBe(expected);
  });

  it.each([
    [false, false],
    [true, true],
  ])("of the host that is ownerOnly by its own word, owner %s: %s", (owner, expected) => {
    expect(isAllowed({ owner }, subject("native/wipe", { ownerOnly: true }))).toBe(expected);
  });
});

describe("a server of a session", () => {
  const ofSession = (name: string) => subject(name, { origin: "session" });

  it.each<[string, Setting, boolean]>([
    ["may be called without rules", {}, true],
    ["is not what a rule with its name allows", { agent: [{ allow: ["docs/*"] }] }, false],
    ["is not what a public name allows", { agent: [{ allow: ["mcp__docs__read"] }] }, false],
    ["is not what half a name allows", { agent: [{ allow: ["d*/read"] }] }, false],
    ["is allowed by a rule for any server", { agent: [{ allow: ["docs/*", "*/read"] }] }, true],
    ["is allowed by a rule for everything", { agent: [{ allow: ["*"] }] }, true],
    ["is not allowed by a rule for other tools", { agent: [{ allow: ["*/write"] }] }, false],
    ["needs every layer", { agent: [{ allow: ["*"] }, { allow: ["docs/*"] }] }, false],
    ["is denied by its name", { agent: [{ deny: ["docs/read"] }] }, false],
    ["is kept for the owner by its name", { agent: [{ ownerOnly: ["docs/read"] }] }, false],
    ["inherits the denials of the configured server", { server: [{ deny: ["read"] }] }, false],
    ["inherits what is the owner's", { server: [{ ownerOnly: true }] }, false],
    ["inherits no list of what is allowed", { server: [{ allow: ["write"] }] }, true],
  ])("%s", (_, setting, expected) => {
    expect(isAllowed(setting, ofSession("docs/read"))).toBe(expected);
  });

  it("has rules of its own, which are not the configured server's", () => {
    const own: GuardedServer = {
      name: "docs",
      origin: "session",
      guard: { rules: [{ place: "session", allow: ["read"] }] },
    };
    const { judge } = policy({}, [own]);
    expect(judge(ofSession("docs/read")).kind).toBe("allowed");
    expect(judge(ofSession("docs/write")).kind).toBe("refused");
    expect(judge(subject("docs/write")).kind).toBe("allowed");
  });
});

describe("a refusal", () => {
  it.each<[string, Setting, string]>([
    [
      "a denial",
      { agent: [{ deny: ["files/*", "docs/re*"] }] },
      `docs/read is refused by the rule "docs/re*" in agents.defaults.tools.deny`,
    ],
    [
      "a denial of the server",
      { server: [{ deny: ["read"] }] },
      `docs/read is refused by the rule "read" in servers.docs.tools.deny`,
    ],
    [
      "a list",
      { agent: [{ allow: ["files/*"] }] },
      "docs/read is refused: nothing in agents.defaults.tools.allow allows it",
    ],
    [
      "the owner's rule",
      { agent: [{ ownerOnly: ["docs/*"] }] },
      `docs/read is reserved for the owner by "docs/*" in agents.defaults.tools.ownerOnly`,
    ],
    [
      "the owner's setting",
      { server: [{ ownerOnly: true }] },
      "docs/read is reserved for the owner by servers.docs.tools.ownerOnly",
    ],
  ])("names what refused: %s", async (_, setting, message) => {
    expect(await messageOf(setting, subject("docs/read"))).toBe(message);
  });

  it("says why a session's server cannot use a rule", async () => {
    const of = subject("docs/read", { origin: "session" });
    expect(await messageOf({ agent: [{ allow: ["docs/*"] }] }, of)).toBe(
      `docs/read is refused: the rule "docs/*" in agents.defaults.tools.allow is for the configured server, not for one of a session`,
    );
  });

  it("has a code, its server, and a rule for the audit", async () => {
    const call = callOf(subject("docs/read"));
    const { stage } = policy({ agent: [{ deny: ["docs/*"] }] });
    const error = await refusal(pass(stage, call));
    expect(error).toMatchObject({ code: "REFUSED_BY_POLICY", server: "docs", permanent: true });
    expect(call.decision).toEqual({
      verdict: "refused",
      rule: '"docs/*" in agents.defaults.tools.deny',
    });
  });

  it("tells how the owner calls it", async () => {
    const { stage } = policy({});
    const of = subject("native/wipe", { ownerOnly: true });
    const error = await refusal(pass(stage, callOf(of)));
    expect(error).toMatchObject({
      message: "native/wipe is reserved for the owner by the tool's own ownerOnly",
      hint: "if you are the owner, use --owner; in an editor, set acp.owner in your own file; in code, owner: true",
      server: undefined,
    });
  });

  it("does not repeat a name that could hold a sentence, or what is invisible", async () => {
    const of = subject("docs/a\u202e\u001b[31mb");
    expect(await messageOf({ agent: [{ deny: ["docs/*"] }] }, of)).toMatch(
      /^a tool of 'docs' is refused/,
    );
  });
});

describe("the policy", () => {
  it("has no stage for a tool that may be called", () => {
    expect(policy({ agent: [{ allow: ["*"] }] }).stage(subject("docs/read"))).toBeUndefined();
  });

  it("judges a tool once", () => {
    const { judge } = policy({ agent: [{ deny: ["*"] }] });
    const of = subject("docs/read");
    expect(judge(of)).toBe(judge(of));
  });

  const words = fc.constantFrom("docs", "files", "native", "read", "write", "*", "r*", "*e");
  const patterns = fc.oneof(
    fc.tuple(words, words).map(([server, tool]) => `${server}/${tool}`),
    fc.constantFrom("*", "mcp__*", "mcp__docs__read", "read", "docs"),
    fc.constantFrom("docs/resource:*", "*/prompt:*", "resource:file:///x", "docs/@readOnly"),
  );
  const rules = fc.record(
    {
      allow: fc.array(patterns, { maxLength: 3 }),
      deny: fc.array(patterns, { maxLength: 3 }),
      ownerOnly: fc.oneof(fc.boolean(), fc.array(patterns, { maxLength: 2 })),
    },
    { requiredKeys: [] },
  );
  const settings = fc.record({
    agent: fc.array(rules, { maxLength: 3 }),
    server: fc.array(rules, { maxLength: 2 }),
    owner: fc.boolean(),
  });
  const subjects = fc
    .tuple(
      fc.constantFrom("docs/read", "docs/write", "files/read", "native/read"),
      fc.constantFrom("defaults", "agent", "session"),
      fc.boolean(),
    )
    .map(([name, origin, ownerOnly]) =>
      subject(name, name.startsWith("native/") ? { ownerOnly } : { origin }),
    );

  it("refuses what is denied anywhere, whatever else there is", () => {
    fc.assert(
      fc.property(settings, subjects, fc.nat(), (setting, of, where) => {
        const { agent } = setting;
        const denying = { ...agent[where % (agent.length || 1)], deny: [of.canonical] };
        const layers = agent.length === 0 ? [denying] : agent.with(where % agent.length, denying);
        expect(isAllowed({ ...setting, agent: layers }, of)).toBe(false);
      }),
    );
  });

  it("never allows more when a rule that refuses is added", () => {
    fc.assert(
      fc.property(settings, subjects, rules, (setting, of, more) => {
        const stricter = { ...setting, agent: [...setting.agent, more] };
        expect(isAllowed(stricter, of) && !isAllowed(setting, of)).toBe(false);
      }),
    );
  });

  it("allows nothing of a server of which it leaves nothing", () => {
    const contents = fc.constantFrom("docs/resource:file:///x", "docs/prompt:greet");
    const asked = fc.oneof(
      subjects.map((of) => ({ of, kind: "tool" as const })),
      contents.map((name) => {
        const of = contentOf(name);
        return { of, kind: of.content?.kind };
      }),
    );
    fc.assert(
      fc.property(settings, asked, (setting, { of, kind }) => {
        const { source, origin } = of;
        if (source.kind === "native" || origin === "native") return;
        const { leaves } = policy(setting);
        const server = { name: source.server, origin };
        if (isAllowed(setting, of)) {
          expect([leaves(server, kind), leaves(server)]).toEqual([true, true]);
        }
      }),
    );
  });

  it("never allows a session's server what it refuses the configured one by denial", () => {
    fc.assert(
      fc.property(fc.array(rules, { maxLength: 3 }), (agent) => {
        const configured = isAllowed({ agent }, subject("docs/read"));
        const session = isAllowed({ agent }, subject("docs/read", { origin: "session" }));
        expect(session && !configured).toBe(false);
      }),
    );
  });
});

describe("a resource or prompt", () => {
  const RULES = "docs/resource:docs:///rules";
  const GREET = "docs/prompt:greet";

  it.each<[string, Setting, string, boolean]>([
    ["without rules", {}, RULES, true],
    ["with rules for tools", { agent: [{ deny: ["docs/*", "docs", "*"] }] }, RULES, true],
    ["with a list of allowed tools", { agent: [{ allow: ["docs/read"] }] }, RULES, true],
    ["with an empty list", { agent: [{ allow: [] }] }, GREET, true],
    ["where all tools are the owner's", { agent: [{ ownerOnly: true }] }, RULES, true],
    ["that is denied", { agent: [{ deny: ["docs/resource:docs:///rules"] }] }, RULES, false],
    ["that is denied by a glob", { agent: [{ deny: ["docs/resource:*"] }] }, RULES, false],
    ["denied on any server", { agent: [{ deny: ["*/resource:*"] }] }, RULES, false],
    ["denied without a server", { agent: [{ deny: ["resource:*"] }] }, RULES, false],
    ["denied by its server", { server: [{ deny: ["resource:docs:*"] }] }, RULES, false],
    ["beside the denied one", { agent: [{ deny: ["docs/resource:docs:///x"] }] }, RULES, true],
    ["of another server", { agent: [{ deny: ["files/resource:*"] }] }, RULES, true],
    ["of the other kind", { agent: [{ deny: ["docs/prompt:*"] }] }, RULES, true],
    ["prompt that is denied", { agent: [{ deny: ["docs/prompt:gr*"] }] }, GREET, false],
    ["that is allowed", { agent: [{ allow: ["docs/resource:docs:///r*"] }] }, RULES, true],
    ["that is not on the list", { agent: [{ allow: ["docs/resource:docs:///x"] }] }, RULES, false],
    [
      "that a list for another server leaves out",
      { agent: [{ allow: ["files/resource:*"] }] },
      RULES,
      false,
    ],
    ["with a list of the other kind", { agent: [{ allow: ["docs/resource:*"] }] }, GREET, true],
    ["allowed by its server", { server: [{ allow: ["resource:docs:*"] }] }, RULES, true],
    ["left out by its server", { server: [{ allow: ["resource:file:*"] }] }, RULES, false],
    ["of the owner", { agent: [{ ownerOnly: ["docs/resource:*"] }] }, RULES, false],
    [
      "read by the owner",
      { agent: [{ ownerOnly: ["docs/resource:*"] }], owner: true },
      RULES,
      true,
    ],
  ])("%s", (_, setting, name, expected) => {
    expect(isAllowed(setting, contentOf(name))).toBe(expected);
  });

  it("of a session's server needs a pattern for any server", () => {
    const of = contentOf(RULES, { origin: "session" });
    expect(isAllowed({ agent: [{ allow: ["docs/resource:*"] }] }, of)).toBe(false);
    expect(isAllowed({ agent: [{ allow: ["*/resource:*"] }] }, of)).toBe(true);
  });

  it("has patterns that say nothing about tools", () => {
    const deny = { agent: [{ deny: ["docs/resource:*", "docs/prompt:*"] }] };
    expect(isAllowed(deny, subject("docs/resource_list"))).toBe(true);
    expect(isAllowed(deny, subject("docs/prompt_me"))).toBe(true);
    // Its very name: the rule may mean this tool.
    expect(isAllowed(deny, subject("docs/resource:list"))).toBe(false);
    const allow = { agent: [{ allow: ["docs/resource:*"] }] };
    expect(isAllowed(allow, subject("docs/read"))).toBe(false);
    expect(isAllowed(allow, subject("docs/resource:list"))).toBe(false);
  });

  it("is refused with the rule that did it", async () => {
    expect(await messageOf({ agent: [{ deny: ["docs/resource:*"] }] }, contentOf(RULES))).toBe(
      `a resource of 'docs' is refused by the rule "docs/resource:*" in ${DEFAULTS}.deny`,
    );
    expect(await messageOf({ agent: [{ allow: ["docs/prompt:x"] }] }, contentOf(GREET))).toBe(
      `docs/prompt:greet is refused: nothing in ${DEFAULTS}.allow allows it`,
    );
  });
});

describe("the list of a token or a session", () => {
  const FILE = "docs/resource:file:///a.txt";
  const GREET = "docs/prompt:greet";
  const OTHER = "files/resource:file:///b.txt";
  const ALL = [FILE, GREET, OTHER, "files/prompt:find"];
  const OF_DOCS = [FILE, GREET];
  const OF_FILES = [OTHER, "files/prompt:find"];

  it.each<[string, ToolRules, string[]]>([
    ["allows nothing", { allow: [] }, []],
    ["allows everything", { allow: ["*"] }, ALL],
    ["allows everything of any server", { allow: ["*/*"] }, ALL],
    ["allows one tool", { allow: ["docs/read"] }, []],
    ["allows all that a server has", { allow: ["docs/*"] }, OF_DOCS],
    [
      "allows all that a server has, as other programs write it",
      { allow: ["mcp__docs__*"] },
      OF_DOCS,
    ],
    ["allows tools of any server", { allow: ["*/read_*"] }, []],
    ["allows tools that only read", { allow: ["@readOnly"] }, []],
    ["allows tools of one server that only read", { allow: ["docs/@readOnly"] }, []],
    ["allows what begins like a server", { allow: ["mcp__do*"] }, []],
    ["allows resources", { allow: ["docs/resource:*"] }, [FILE]],
    ["allows resources elsewhere", { allow: ["docs/resource:file:///z/*"] }, []],
    ["allows prompts", { allow: ["docs/prompt:*"] }, [GREET]],
    [
      "allows a tool and prompts",
      { allow: ["docs/read", "*/prompt:*"] },
      [GREET, "files/prompt:find"],
    ],
    ["denies one tool", { deny: ["docs/read"] }, ALL],
    ["denies tools of any server", { deny: ["*/write_*", "@destructive"] }, ALL],
    ["denies all that a server has", { deny: ["docs/*"] }, OF_FILES],
    ["denies a server by its name", { deny: ["docs"] }, OF_FILES],
    ["denies everything", { allow: ["*"], deny: ["*"] }, []],
    [
      "allows a server and denies its resources",
      { allow: ["docs/*"], deny: ["*/resource:*"] },
      [GREET],
    ],
  ])("that %s", (_, rules, expected) => {
    const made = createPolicy({
      rules: [{ place: "the token's tools", coversContent: true, ...rules }],
      servers: serverGuards([]),
      known: { servers: [{ name: "docs" }, { name: "files" }], template: TEMPLATE },
    });
    expect(ALL.filter((name) => made.judge(contentOf(name)).kind === "allowed")).toEqual(expected);
  });

  it.each<[ToolRules, string[]]>([
    [{}, ["docs", "files"]],
    [{ allow: [] }, []],
    [{ allow: ["docs/read"] }, ["docs"]],
    [{ allow: ["docs__read"] }, ["docs"]],
    [{ allow: ["mcp__docs__read_0123abcd"] }, ["docs"]],
    [{ allow: ["docs/prompt:greet"] }, ["docs"]],
    [{ allow: ["docs/@readOnly"] }, ["docs"]],
    [{ allow: ["*/read_*"] }, ["docs", "files"]],
    [{ allow: ["native/*"] }, []],
    [{ deny: ["docs/read"] }, ["docs", "files"]],
    [{ deny: ["docs/*"] }, ["files"]],
    [{ allow: ["*"], deny: ["files"] }, ["docs"]],
  ])("%j leaves something of the servers %j", (rules, expected) => {
    const known = { servers: [{ name: "docs" }, { name: "files" }], template: TEMPLATE };
    const reaches = reachOf({ rules: [{ place: "", coversContent: true, ...rules }], known });
    const left = ["docs", "files"].filter((name) => reaches({ name, origin: "agent" }));
    expect(left).toEqual(expected);
    // What the configuration says about tools leaves resources and prompts.
    const ofTools = reachOf({ rules: [{ place: "", ...rules }], known });
    expect(ofTools({ name: "files", origin: "agent" })).toBe(true);
  });

  it.each<[Setting, string[]]>([
    [{}, ["tool", "resource", "prompt"]],
    [{ agent: [{ deny: ["docs/*"] }] }, ["resource", "prompt"]],
    [{ agent: [{ deny: ["*", "docs/resource:*", "docs/prompt:*"] }] }, []],
    [
      { agent: [{ deny: ["docs/resource:file:///x", "docs/read"] }] },
      ["tool", "resource", "prompt"],
    ],
    [{ agent: [{ allow: ["files/*"] }] }, ["resource", "prompt"]],
    [{ agent: [{ allow: ["docs/@readOnly", "files/prompt:*"] }] }, ["tool", "resource"]],
    [{ agent: [{ allow: ["docs/read"] }, { allow: ["files/*"] }] }, ["resource", "prompt"]],
    [{ agent: [{ ownerOnly: ["docs/*"] }] }, ["resource", "prompt"]],
    [{ agent: [{ ownerOnly: ["docs/*"] }], owner: true }, ["tool", "resource", "prompt"]],
    [{ server: [{ deny: ["*"] }] }, ["resource", "prompt"]],
    [{ server: [{ allow: [] }] }, ["resource", "prompt"]],
    [{ server: [{ allow: ["resource:*"] }] }, ["resource", "prompt"]],
    [{ server: [{ ownerOnly: true, deny: ["prompt:*"] }] }, ["resource"]],
  ])("%j leaves these kinds of a server: %j", (setting, expected) => {
    const { leaves } = policy(setting);
    const docs = { name: "docs", origin: "agent" } as const;
    const kinds = (["tool", "resource", "prompt"] as const).filter((kind) => leaves(docs, kind));
    expect(kinds).toEqual(expected);
    expect(leaves(docs)).toBe(expected.length > 0);
  });

  it("leaves the kinds that it names", () => {
    const known = { servers: [{ name: "docs" }], template: TEMPLATE };
    const kinds = (...allow: string[]): string[] => {
      const reaches = reachOf({ rules: [{ place: "", coversContent: true, allow }], known });
      const all = ["tool", "resource", "prompt"] as const;
      return all.filter((kind) => reaches({ name: "docs", origin: "agent" }, kind));
    };
    expect(kinds("docs/read")).toEqual(["tool"]);
    expect(kinds("docs/resource:file:///x")).toEqual(["resource"]);
    expect(kinds("docs/read", "*/prompt:*")).toEqual(["tool", "prompt"]);
    expect(kinds("docs/*")).toEqual(["tool", "resource", "prompt"]);
  });

  it("keeps the app of a tool that it allows, and no other", () => {
    const app = (uri: string): Subject => contentOf(`docs/resource:${uri}`);
    const showing: Record<string, string[]> = {
      "ui://map": ["docs/show", "docs/hidden"],
      "ui://admin": ["docs/hidden"],
      "file:///secret": ["docs/show"],
    };
    const policyOf = (rules: ToolRules) =>
      createPolicy({
        rules: [{ place: "the token's tools", coversContent: true, ...rules }],
        servers: serverGuards([]),
        known: { servers: [{ name: "docs" }], template: TEMPLATE },
        showing: (_, uri) => (showing[uri] ?? []).map((name) => subject(name)),
      });
    const left = (rules: ToolRules): string[] =>
      Object.keys(showing).filter((uri) => policyOf(rules).judge(app(uri)).kind === "allowed");
    expect(left({ allow: ["docs/show"] })).toEqual(["ui://map"]);
    expect(left({ allow: ["docs/other"] })).toEqual([]);
    expect(left({ allow: ["docs/show"], deny: ["docs/resource:ui://*"] })).toEqual([]);
    expect(left({ allow: ["docs/show", "docs/hidden"] })).toEqual(["ui://map", "ui://admin"]);
  });
});
