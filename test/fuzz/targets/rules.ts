// Rules that name tools and content, and the names that servers choose.

import assert from "node:assert/strict";
import { fullName, publicName } from "../../../src/core/catalog/public-name.ts";
import type { ContentName } from "../../../src/core/types/content-pattern.ts";
import {
  patternProblem,
  permittingPattern,
  permittingPatternOfServer,
  restrictingPattern,
  serversNamedBy,
  toolName,
  type ToolName,
} from "../../../src/core/types/tool-pattern.ts";
import { compileGlob } from "../../../src/util/glob.ts";
import type { Target } from "../target.ts";

const TEMPLATE = "mcp__{server}__{tool}";
const SERVERS = ["files", "docs", "a_b", "a", "reader"];
const KNOWN = {
  servers: SERVERS.map((name) => ({ name })),
  template: TEMPLATE,
  native: new Set(["exec"]),
};

export function rules(): Target {
  return {
    about: "rules, and the names that they are about: rule, server, tool or URI, a line each",
    covers: [
      "core/types/tool-pattern.ts",
      "core/types/tool-readings.ts",
      "core/types/content-pattern.ts",
      "util/glob.ts",
    ],
    seeds: () => [
      "files/write_file\nfiles\nwrite_file",
      "mcp__files__*\nfiles\nwrite_file",
      "*/read_*\ndocs\nread_all",
      "@readOnly\nfiles\nread",
      "files/@destructive\nfiles\nwrite",
      "mcp_a_b_c\na_b\nc",
      "mcp:files:w*\nfiles\nwrite",
      "files/resource:file:///docs/*\nfiles\nfile:///docs/%2e%2e/secret",
      "resource:file:///a\ndocs\nFILE://localhost/a",
      "prompt:review_*\ndocs\nreview_x",
      "mcp__files__read_6b0d2f2e\nfiles\nread",
      "**a*b**\nreader\na\u200bb",
    ],
    words: [
      "*",
      "/",
      "__",
      "mcp_",
      "mcp:",
      "mcp__",
      "@readOnly",
      "@destructive",
      "resource:",
      "prompt:",
      "file:///",
      "%2e",
      "%25",
      "..",
      ...SERVERS,
    ],
    longest: 1024,
    run(input) {
      const [text = "", given = "", ...rest] = input.toString("utf8").split("\n");
      // No server has an empty name.
      const server = given === "" ? "files" : given;
      const tool = rest.join("\n");
      const agent = restrictingPattern(text, "agent");
      const ofServer = restrictingPattern(text, "server");
      const permits = permittingPattern(text, KNOWN);
      const permitsOfServer = permittingPatternOfServer(text);
      patternProblem(text, "allow");
      patternProblem(text, "deny");
      for (const restricts of [true, false]) serversNamedBy(text, KNOWN, restricts);
      const names = [
        named(server, tool),
        content(server, { kind: "resource", name: tool }),
        content(server, { kind: "prompt", name: tool }),
      ];
      for (const name of names) {
        for (const { matches, couldMatch } of [agent, ofServer, permits, permitsOfServer]) {
          assert.equal(typeof matches(name), "boolean");
          if (matches(name) && couldMatch && name.content)
            assert.ok(couldMatch(name), "what matches could match");
        }
        const isEffect = agent.isByEffect === true;
        if (permits.matches(name) && !isEffect) {
          assert.ok(agent.matches(name), "the same words that permit something can take it away");
          assert.deepEqual(permits.couldMean, [], "a rule with two meanings permits nothing");
        }
      }
      // Written out as the name of one tool, a rule is about that tool.
      const [first] = names;
      if (first !== undefined && isPlain(server) && isPlain(tool)) {
        assert.ok(
          restrictingPattern(`${server}/${tool}`, "agent").matches(first),
          "server/tool takes the tool away",
        );
        assert.ok(
          restrictingPattern(first.publicName, "agent").matches(first),
          "so does its public name",
        );
        if (SERVERS.includes(server)) {
          assert.ok(
            permittingPattern(`${server}/${tool}`, KNOWN).matches(first),
            "server/tool permits the tool",
          );
        }
      }
      if (text.length + tool.length < 60)
        assert.equal(compileGlob(text)(tool), slowGlob(text, tool), "a star is any text");
    },
  };
}

function isPlain(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_-]*$/.test(name) && !/^(?:native|resource|prompt)/.test(name);
}

function named(server: string, tool: string): ToolName {
  const source = { kind: "mcp", server, tool } as const;
  return toolName({
    source,
    publicName: publicName(TEMPLATE, server, tool),
    fullName: fullName(TEMPLATE, server, tool),
  });
}

function content(server: string, of: ContentName): ToolName {
  return toolName({ source: { kind: "mcp", server, tool: of.name }, publicName: "", content: of });
}

/** What a star means, by trying everything. */
function slowGlob(pattern: string, name: string): boolean {
  let places = new Set([0]);
  for (const character of pattern.split("")) {
    const next = new Set<number>();
    for (const at of places) {
      if (character === "*") for (let to = at; to <= name.length; to += 1) next.add(to);
      else if (name.charAt(at) === character && at < name.length) next.add(at + 1);
    }
    places = next;
  }
  return places.has(name.length);
}
