import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fullName, publicName } from "../../../src/core/catalog/public-name.ts";
import {
  type KnownNames,
  type KnownServer,
  patternProblem,
  permittingPattern,
  permittingPatternOfServer,
  restrictingPattern,
  serversNamedBy,
  toolName,
  type ToolName,
} from "../../../src/core/types/tool-pattern.ts";

const TEMPLATE = "mcp__{server}__{tool}";

/** `name` is `server/tool` or `native/tool`. */
function named(name: string, toolPrefix?: string, template = TEMPLATE): ToolName {
  const slash = name.indexOf("/");
  const [server, tool] = [name.slice(0, slash), name.slice(slash + 1)];
  if (server === "native") return toolName({ source: { kind: "native" }, publicName: tool });
  const source = { kind: "mcp", server, tool } as const;
  return toolName({
    source,
    toolPrefix,
    publicName: publicName(template, toolPrefix ?? server, tool),
    fullName: fullName(template, toolPrefix ?? server, tool),
  });
}

function known(names: readonly (string | KnownServer)[], template = TEMPLATE): KnownNames {
  const servers = names.map((each) => (typeof each === "string" ? { name: each } : each));
  return { servers, template, native: new Set(["exec"]) };
}

const SPELLINGS = [
  "files/write_file",
  "mcp_files_write_file",
  "mcp__files__write_file",
  "mcp:files:write_file",
  "files__write_file",
  "files.write_file",
  "files:write_file",
  "files/write_*",
  "mcp_files_*",
  "mcp_*_write_file",
  "mcp__files__w*",
  "mcp:files:*file",
  "files__*",
  "files.*",
  "*",
];

describe("every spelling of a tool", () => {
  it.each(SPELLINGS)("%s restricts it", (text) => {
    expect(restrictingPattern(text, "agent").matches(named("files/write_file"))).toBe(true);
    expect(restrictingPattern(text, "server").matches(named("files/write_file"))).toBe(true);
  });

  it.each(SPELLINGS)("%s permits it where it can mean nothing else", (text) => {
    const { matches, couldMean } = permittingPattern(text, known(["files", "docs"]));
    expect(matches(named("files/write_file"))).toBe(true);
    expect(couldMean).toEqual([]);
    expect(permittingPatternOfServer(text).matches(named("files/write_file"))).toBe(true);
  });

  it.each(SPELLINGS.filter((text) => !text.startsWith("*") && !text.includes("mcp_*")))(
    "%s does not mean another server's tool",
    (text) => {
      const other = named("docs/write_file");
      expect(restrictingPattern(text, "agent").matches(other)).toBe(false);
      expect(permittingPattern(text, known(["files", "docs"])).matches(other)).toBe(false);
    },
  );

  it.each(["mcp__files__read__it_6b0d2f2e", "mcp__my_files__read"])(
    "includes its public name, hash and all: %s",
    (name) => {
      const tool = { ...named("my files/read"), publicName: name };
      expect(permittingPattern(name, known(["my files"])).matches(tool)).toBe(true);
    },
  );

  it.each<[template: string, text: string, permits: boolean]>([
    ["{server}_{tool}", "docs_read", true],
    ["{tool}-at-{server}", "read-at-docs", true],
    ["{tool}-at-{server}", "*-at-docs", true],
    ["x:{server}:{tool}", "x:docs:re*", true],
    ["{server}_{tool}", "files_read", false],
  ])("includes the public name of the template %s: %s", (template, text, expected) => {
    const tool = named("docs/read", undefined, template);
    expect(permittingPattern(text, known(["docs", "files"], template)).matches(tool)).toBe(
      expected,
    );
    expect(restrictingPattern(text, "agent").matches(tool)).toBe(expected);
  });

  it("has the server's prefix in place of its name too", () => {
    const tool = named("linkedin/get_feed", "li");
    const servers = known([{ name: "linkedin", toolPrefix: "li" }]);
    for (const text of [
      "mcp_li_get_feed",
      "mcp__li__get_feed",
      "mcp_linkedin_get_feed",
      "li.get_*",
    ]) {
      expect(restrictingPattern(text, "agent").matches(tool)).toBe(true);
      expect(permittingPattern(text, servers).matches(tool)).toBe(true);
    }
  });
});

describe("a pattern that restricts", () => {
  it.each<[text: string, tool: string, expected: boolean]>([
    ["mcp_*\tl", "a\tl", true],
    ...[
      "mcp.files.write_file",
      "mcp-files-write_file",
      "files-write_file",
      "files::write_file",
    ].map((text): [string, string, boolean] => [text, "files/write_file", true]),
    ["mcp/files/write_file", "files/write_file", true],
    ["mcp_files/write_file", "files/write_file", true],
    ["files/write_file", "files/write_file\u200b", true],
    ["files/write_file", "files/write_file ", true],
    // Every server that could be meant.
    ["mcp_a_b_c", "a/b_c", true],
    ["mcp_a_b_c", "a_b/c", true],
    ["mcp_a_b_c", "a-b/c", true],
    ["mcp_a_*", "a_b/c", true],
    ["a_b_c", "a_b/c", true],
    // What is written clearly stays clear.
    ["a/b_c", "a_b/c", false],
    ["mcp:a:b_c", "a_b/c", false],
    ["mcp__a__b_c", "a_b/c", false],
    ["a.b_c", "a_b/c", true],
    ["files/read", "docs/files_read", false],
    // Characters that programs replace, and case.
    ["my_server/get_feed", "my-server/get.feed", true],
    ["my-server/get-feed", "my_server/get_feed", true],
    ["mcp_my_server_get_feed", "My Server/get-feed", true],
    ["GitHub/Delete_Repo", "github/delete_repo", true],
    // A tool's name alone, and a server's.
    ["write_file", "files/write_file", true],
    ["write_*", "files/write_file", true],
    ["files", "files/write_file", true],
    ["mcp__files", "files/write_file", true],
    ["mcp_files", "files/write_file", true],
    ["files", "files2/write_file", false],
    ["file*", "files2/write_file", true],
    ["*write*", "files/write_file", true],
    ["*iles_wri*", "files/write_file", true],
    // Tools of the host.
    ["exec", "native/exec", true],
    ["native/exec", "native/exec", true],
    ["native.exec", "native/exec", true],
    ["*/exec", "native/exec", true],
    ["mcp_*", "native/exec", false],
    ["mcp__*", "native/exec", false],
    ["n*", "native/exec", false],
    // Slashes in the name of a tool.
    ["docs/a/b", "docs/a/b", true],
    ["mcp_docs_a_b", "docs/a/b", true],
    ["evil/docs/read", "docs/read", false],
    ["mcp__files__admin/delete", "files/admin/delete", true],
    ["mcp_files_admin/delete", "files/admin/delete", true],
    ["mcp:files:admin/delete", "files/admin/delete", true],
    ["files.admin/delete", "files/admin/delete", true],
    ["files__admin/delete", "files/admin/delete", true],
    ["mcp__files__*/delete", "files/admin/delete", true],
    ["files_write.file", "files/write.file", true],
    ["Mcp_files_write", "files/write", true],
  ])("%s, of %s: %s", (text, tool, expected) => {
    expect(restrictingPattern(text, "agent").matches(named(tool))).toBe(expected);
  });

  it.each<[text: string, tool: string, expected: boolean]>([
    ["search", "search/search", true],
    ["search", "search/other", false],
    ["git_*", "git/git_status", true],
    ["git_*", "git/status", false],
    ["g*", "git/status", false],
    ["git__*", "git/status", true],
    ["my-tool", "git/my_tool", true],
    ["a/b", "git/a/b", true],
    ["m*", "git/status", false],
    ["mcp_*", "git/status", true],
  ])(
    "in the settings of the server means its tools alone: %s, of %s: %s",
    (text, tool, expected) => {
      expect(restrictingPattern(text, "server").matches(named(tool))).toBe(expected);
    },
  );
});

describe("a pattern that permits", () => {
  it.each<[text: string, servers: string[], couldMean: string[]]>([
    ["mcp_a_b_c", ["a", "a_b"], ["a/b_c", "a_b/c"]],
    ["mcp_a_b_c", ["a", "a-b"], ["a/b_c", "a-b/c"]],
    ["mcp_a_*", ["a", "a_b"], ["a/*", "a_*/*"]],
    ["mcp_*_b_c", ["a", "a_b"], ["*/b_c", "*_b/c"]],
    ["mcp_my_server_x", ["my-server", "my_server"], ["my-server/x", "my_server/x"]],
    ["my_server/x", ["my-server", "my.server"], ["my-server/x", "my.server/x"]],
    ["a__b__c", ["a", "a__b"], ["a/b__c", "a__b/c"]],
    ["a.b.c", ["a", "a.b"], ["a/b.c", "a.b/c"]],
    ["mcp__a__b", ["a", "mcp"], ["a/b", "mcp/a__b"]],
  ])("matches nothing if it could mean two tools: %s with %j", (text, servers, couldMean) => {
    const pattern = permittingPattern(text, known(servers));
    expect(pattern.couldMean).toEqual(couldMean);
    for (const tool of [...couldMean, "a/b_c", "a_b/c"].filter((name) => !name.includes("*"))) {
      expect(pattern.matches(named(tool))).toBe(false);
    }
  });

  it("takes a prefix of one server for the name of another as unclear", () => {
    const servers = known([{ name: "a", toolPrefix: "b" }, "b"]);
    expect(permittingPattern("mcp_b_x", servers).couldMean).toEqual(["a/x", "b/x"]);
    expect(permittingPattern("b/x", servers)).toMatchObject({ couldMean: [] });
    expect(permittingPattern("b/x", servers).matches(named("a/x", "b"))).toBe(false);
  });

  it.each<[text: string, servers: string[], tool: string, expected: boolean]>([
    ["mcp_a_b_c", ["a"], "a/b_c", true],
    ["mcp_a_b_c", ["a_b", "c"], "a_b/c", true],
    ["a/b_c", ["a", "a_b"], "a/b_c", true],
    ["a_b/c", ["a", "a_b"], "a_b/c", true],
    ["mcp:a:b_c", ["a", "a_b"], "a/b_c", true],
    ["my_server/x", ["my-server"], "my-server/x", true],
    ["my_server/x", ["my-server", "my_server"], "my-server/x", false],
    ["mcp_my_server_x", ["my-server"], "my-server/x", true],
    // The name of a tool is the server's choice, so it must be the very name.
    ["a/get_feed", ["a"], "a/get-feed", false],
    ["a/GET", ["a"], "a/get", false],
    // Neither a tool's name alone nor a server's permits anything.
    ["write_file", ["files"], "files/write_file", false],
    ["write*", ["writer"], "writer/x", false],
    ["files", ["files"], "files/write_file", false],
    ["mcp_files", ["files"], "files/write_file", false],
    ["mcp_*", ["files"], "files/write_file", true],
    ["mcp_*", ["files"], "native/exec", false],
    ["mcp_fi*", ["files", "docs"], "files/write_file", true],
    ["*ocs/read", ["docs", "evil"], "evil/docs/read", false],
    ["exec", ["files"], "native/exec", true],
    ["ex*", ["files"], "native/exec", true],
    ["native/ex*", ["files"], "native/exec", true],
    ["*/exec", ["files"], "native/exec", true],
  ])("%s with %j, of %s: %s", (text, servers, tool, expected) => {
    expect(permittingPattern(text, known(servers)).matches(named(tool))).toBe(expected);
  });

  it("means the tool of the host if there is one of that name", () => {
    const names = { ...known(["a"]), native: new Set(["a__b"]) };
    expect(permittingPattern("a__b", names).matches(named("native/a__b"))).toBe(true);
    expect(permittingPattern("a__b", names).matches(named("a/b"))).toBe(false);
  });

  it.each<[string, boolean]>([
    ["*", true],
    ["*/read", true],
    ["mcp__*__read", true],
    ["docs/read", false],
    ["d*/read", false],
    ["mcp__*", false],
    ["mcp__docs__read", false],
  ])("%s is for any server: %s", (text, expected) => {
    expect(permittingPattern(text, known(["docs"])).isForAnyServer).toBe(expected);
  });

  it("in the settings of a server matches nothing if it could mean two of its tools", () => {
    const tool = (name: string) => named(`a/${name}`, "a_b");
    const { matches } = permittingPatternOfServer("mcp_a_b_c");
    expect([matches(tool("b_c")), matches(tool("c"))]).toEqual([false, false]);
  });

  const word = fc.constantFrom("a", "b", "c", "a_b", "b_c", "a-b", "mcp", "a__b");
  const text = fc
    .array(fc.constantFrom("a", "b", "c", "_", "__", ".", ":", "/", "*", "mcp_", "mcp__", "mcp:"), {
      minLength: 1,
      maxLength: 7,
    })
    .map((parts) => parts.join(""));
  const servers = fc.uniqueArray(word, { minLength: 1, maxLength: 4 });

  it("permits nothing that the same text would not deny", () => {
    fc.assert(
      fc.property(text, servers, word, word, (pattern, names, server, tool) => {
        const name = named(`${server}/${tool}`);
        const permits = permittingPattern(pattern, known(names)).matches(name);
        expect(permits && !restrictingPattern(pattern, "agent").matches(name)).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  it("without a star permits tools of one server at most", () => {
    fc.assert(
      fc.property(text, servers, fc.array(word), (pattern, names, tools) => {
        if (pattern.includes("*")) return;
        const { matches } = permittingPattern(pattern, known(names));
        const permitted = names.filter((each) =>
          tools.some((tool) => matches(named(`${each}/${tool}`))),
        );
        expect(permitted.length).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe("a pattern for what tools do", () => {
  const READS = { mayWrite: undefined, mayDestroy: undefined };
  const ADDS = { mayWrite: "no", mayDestroy: undefined };
  const DESTROYS = { mayWrite: "no", mayDestroy: "yes" };
  const CLAIMS = { mayWrite: undefined, mayDestroy: "yes" };

  it.each<[text: string, effect: ToolName["effect"], restricts: boolean, permits: boolean]>([
    ["@readOnly", READS, true, true],
    ["@readOnly", CLAIMS, true, true],
    ["@readOnly", ADDS, true, false],
    ["@readOnly", undefined, true, false],
    ["@destructive", READS, false, false],
    ["@destructive", ADDS, false, false],
    ["@destructive", DESTROYS, true, false],
    ["@destructive", CLAIMS, true, false],
    ["@destructive", undefined, true, false],
    ["docs/@destructive", DESTROYS, true, false],
    ["do*/@destructive", DESTROYS, true, false],
    ["DOCS/@destructive", DESTROYS, true, false],
    ["files/@destructive", DESTROYS, false, false],
    ["docs/@readOnly", READS, true, true],
    ["*/@readOnly", READS, true, true],
    ["files/@readOnly", READS, false, false],
    // What is misspelt allows nothing and restricts everything.
    ["@readonly", READS, true, false],
    ["@", READS, true, false],
  ])("%s, for %o", (text, effect, restricts, permits) => {
    const name = { ...named("docs/read"), effect };
    const permitting = permittingPattern(text, known(["docs", "files"]));
    expect(restrictingPattern(text, "agent").matches(name)).toBe(restricts);
    expect(restrictingPattern(text, "server").matches(name)).toBe(restricts);
    expect(permitting.matches(name)).toBe(permits);
    expect(permittingPatternOfServer(text).matches(name)).toBe(permits);
    const content = { ...name, content: { kind: "resource", name: "a:b" } } as const;
    expect(permitting.matches(content)).toBe(false);
    expect(restrictingPattern(text, "agent").matches(content)).toBe(false);
  });

  it("that could mean two servers permits nothing", () => {
    const { matches, couldMean } = permittingPattern("a-b/@readOnly", known(["a.b", "a_b"]));
    expect(matches({ ...named("a.b/read"), effect: READS })).toBe(false);
    expect(couldMean).toEqual(["a.b/*", "a_b/*"]);
  });

  it.each<[text: string, allow: boolean, deny: boolean, perTool: boolean]>([
    ["@readOnly", true, false, false],
    ["docs/@readOnly", true, false, false],
    ["@destructive", false, true, false],
    ["*/@destructive", false, true, false],
    ["@Destructive", false, false, false],
    ["@destr*", false, false, false],
    [" @destructive", false, false, false],
    ["mcp__docs__@destructive", false, false, false],
    ["docs.@readOnly", false, false, false],
    ["docs/a@b", true, true, true],
    ["docs/read", true, true, true],
  ])("%s is taken where it means something", (text, allow, deny, perTool) => {
    expect(patternProblem(text, "allow") === undefined).toBe(allow);
    expect(patternProblem(text, "deny") === undefined).toBe(deny);
    expect(patternProblem(text, "ownerOnly") === undefined).toBe(deny);
    expect(patternProblem(text) === undefined).toBe(perTool);
  });
});

describe("a tool whose public name got a hash", () => {
  const TOOL_FIRST = "t_{tool}_{server}";
  const long = "x".repeat(60);
  it.each<[template: string, name: string, text: string]>([
    [TOOL_FIRST, "my files/read", "t_read_my files"],
    [TOOL_FIRST, "my files/read", "t_read_my_files"],
    [TOOL_FIRST, "files/a.b", "t_a.b_*"],
    [TOOL_FIRST, "files/dir/read", "t_dir/read_files"],
    [TOOL_FIRST, `files/${long}`, `t_${long}_files`],
    [TOOL_FIRST, `files/${long}`, "t_*_files"],
    ["{server}{tool}", "files/read", "filesread"],
  ])("of the template %s is restricted without the hash: %s by %s", (template, name, text) => {
    const tool = named(name, undefined, template);
    expect(tool.publicName).toMatch(/_[0-9a-f]{8}$/);
    expect(restrictingPattern(text, "agent").matches(tool)).toBe(true);
    expect(
      restrictingPattern(text, "agent").matches(named("docs/other", undefined, template)),
    ).toBe(false);
    if (text.includes("*")) return;
    expect(restrictingPattern(text, "server").matches(tool)).toBe(true);
  });
});

describe("the servers that a pattern names", () => {
  it.each<[text: string, expected: string[] | undefined]>([
    ["docs/read", ["docs"]],
    ["nope/read", []],
    ["mcp_docs_read", ["docs"]],
    ["mcp_nope_read", []],
    ["docs.read", ["docs"]],
    ["nope.read", undefined],
    ["d*/read", ["docs"]],
    ["*/read", undefined],
    ["mcp_*_read", undefined],
    ["native/read", undefined],
    ["read", undefined],
    ["*", undefined],
  ])("%s: %j", (text, expected) => {
    for (const restricts of [true, false]) {
      const found = serversNamedBy(text, known(["docs", "files"]), restricts);
      expect(found?.map(({ name }) => name)).toEqual(expected);
    }
  });

  it.each<[text: string, restricting: string[], permitting: string[]]>([
    ["mcp_docs_dir/read", ["docs"], []],
    ["MCP__docs__dir/read", ["docs"], []],
    ["docs.dir/read", ["docs"], []],
    ["docs/dir/read", ["docs"], ["docs"]],
    ["nope/docs.read", [], []],
  ])("with a slash in the tool's name: %s", (text, restricting, permitting) => {
    const namesIn = (restricts: boolean) =>
      serversNamedBy(text, known(["docs", "files"]), restricts)?.map(({ name }) => name);
    expect(namesIn(true)).toEqual(restricting);
    expect(namesIn(false)).toEqual(permitting);
  });
});

describe("a hostile name", () => {
  it.each(["_".repeat(200_000), "a_".repeat(100_000), "*".repeat(200_000), "mcp_".repeat(50_000)])(
    "is matched at once: %.8s…",
    (long) => {
      const tool = named(`docs/${long}`);
      for (const text of ["mcp_*_*_*_x", "*_*_*_*", "docs.*_x"]) {
        expect(restrictingPattern(text, "agent").matches(tool)).toBe(text === "*_*_*_*");
        permittingPattern(text, known(["docs"])).matches(tool);
      }
    },
  );

  it("is read in few ways, however long the pattern is", () => {
    const long = `mcp_${"a_".repeat(100_000)}b`;
    expect(restrictingPattern(long, "agent").matches(named("a/b"))).toBe(false);
    expect(permittingPattern(long, known(["a"], "{tool}_{server}")).matches(named("a/b"))).toBe(
      false,
    );
  });
});

describe("where the tools of the only server keep their own names", () => {
  const names = { ...known(["docs", "elsewhere"], "{server}__{tool}"), ownNamesOf: "docs" };

  it.each([
    ["search", "docs/search", true],
    ["se*", "docs/search", true],
    ["docs/search", "docs/search", true],
    ["docs__search", "docs/search", true],
    ["mcp__docs__search", "docs/search", true],
    ["search", "docs/other", false],
    ["search", "elsewhere/search", false],
    // A name that has another meaning keeps it.
    ["elsewhere__search", "docs/elsewhere__search", false],
  ])("the permission %s is for %s: %s", (text, tool, isPermitted) => {
    expect(permittingPattern(text, names).matches(named(tool))).toBe(isPermitted);
  });
});
