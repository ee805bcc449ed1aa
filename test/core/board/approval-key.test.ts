import { describe, expect, it } from "vitest";
import { approvalKey } from "../../../src/core/board/approval-key.ts";
import type { ServerTarget } from "../../../src/core/types/server-definition.ts";
import { definition } from "../../support/definition.ts";

const stdio: ServerTarget = {
  kind: "stdio",
  command: "${PROGRAM}",
  args: ["server.js", "${MODE}"],
  env: { TOKEN: "${TOKEN}" },
};
const fixed: ServerTarget = { ...stdio, cwd: "/fixed" };
const remote: ServerTarget = {
  kind: "http",
  url: "https://${HOST}/mcp",
  headers: { authorization: "${TOKEN}" },
  allowInsecure: false,
  allowPrivate: false,
};
const ENV = { PROGRAM: "node", MODE: "a", TOKEN: "t", HOST: "one.example" };

describe("an approval counts again", () => {
  it.each<[string, ServerTarget, string, Record<string, string>, boolean]>([
    ["for the same program in the same directory", stdio, "/a", {}, true],
    ["in another directory", stdio, "/b", {}, false],
    ["in another directory, if the server has its own", fixed, "/b", {}, true],
    ["for another program", stdio, "/a", { PROGRAM: "deno" }, false],
    ["with another argument", stdio, "/a", { MODE: "b" }, false],
    ["with another token", stdio, "/a", { TOKEN: "u" }, true],
    ["for a remote server in another directory", remote, "/b", {}, true],
    ["with another token of a remote server", remote, "/a", { TOKEN: "u" }, true],
    ["at another address", remote, "/a", { HOST: "two.example" }, false],
  ])("%s", (_what, target, cwd, env, isSame) => {
    const of = definition({ target });
    const before = approvalKey(of, "/a", ENV);
    expect(approvalKey(of, cwd, { ...ENV, ...env }) === before).toBe(isSame);
  });
});
