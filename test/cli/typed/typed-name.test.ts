import { describe, expect, it } from "vitest";
import { needsWorkingDirectory, otherName, typedName } from "../../../src/cli/typed/typed-name.ts";

const named = (line: string): string => {
  const [command = "", ...args] = line.split(" ");
  return typedName({ command, args }, "/home/ada/weather");
};

describe("the name of a typed server", () => {
  it.each([
    ["npx -y @modelcontextprotocol/server-time", "server-time"],
    ["npx -y @modelcontextprotocol/server-time@1.2.3 --zone x", "server-time"],
    ["npx --yes @playwright/mcp@latest", "playwright-mcp"],
    ["npx some-server@2", "some-server"],
    ["npx -y -p @scope/pkg some-bin", "scope-pkg"],
    ["npx -y --registry http://x some-server", "some-server"],
    ["npx.cmd -y some-server", "some-server"],
    ["npm exec some-server", "some-server"],
    ["npm start", "npm"],
    ["pnpm dlx some-server", "some-server"],
    ["bunx some-server", "some-server"],
    ["uvx mcp-server-time==1.0", "mcp-server-time"],
    ["uvx --from git+https://a.example/b mcp-thing", "mcp-thing"],
    ["uv tool run mcp-server-git", "mcp-server-git"],
    ["uv run server.py", "weather"],
    ["docker run -i --rm -e TOKEN mcp/time:1", "time"],
    ["docker run -i --rm --name=x -v /a:/b ghcr.io/github/github-mcp-server", "github-mcp-server"],
    ["python3 -m mcp_server_fetch", "mcp_server_fetch"],
    ["node echo.mjs", "echo"],
    ["node --import x ./dist/index.js", "weather"],
    ["/usr/bin/node /srv/notes/build/server.js", "notes"],
    ["./bin/my-server --flag", "my-server"],
    ["my-server", "my-server"],
    ["C:\\tools\\my-server.exe", "my-server"],
    ["native", "server"],
  ])("%s is %s", (line, name) => {
    expect(named(line)).toBe(name);
  });

  it.each([
    ["https://mcp.example.com/mcp", "mcp.example.com"],
    ["https://mcp.example.com", "mcp.example.com"],
    ["https://example.com/a/mcp", "example.com-a-mcp"],
    ["http://localhost:8080/sse", "localhost-8080"],
    ["http://[::1]:80/mcp", "1"],
  ])("%s is %s", (url, name) => {
    expect(typedName({ url }, "/")).toBe(name);
  });

  it("is short, also for a long package", () => {
    const name = named(`npx ${"a".repeat(100)}`);
    expect(name).toMatch(/^a{35}-[\da-f]{4}$/);
    expect(name).not.toBe(named(`npx ${"a".repeat(101)}`));
  });

  it("has a suffix of its own where the first name is taken", () => {
    expect(otherName("time", { a: 1 })).toMatch(/^time-[\da-f]{4}$/);
    expect(otherName("time", { a: 1 })).toBe(otherName("time", { a: 1 }));
    expect(otherName("time", { a: 1 })).not.toBe(otherName("time", { a: 2 }));
  });
});

it.each([
  ["node server.js", true],
  ["./serve", true],
  ["npx -y @scope/some-server", false],
  ["node /srv/server.js", false],
  ["npx -y server-filesystem .", true],
])("%s depends on the directory: %s", (line, isIt) => {
  const [command = "", ...args] = line.split(" ");
  expect(needsWorkingDirectory({ command, args })).toBe(isIt);
});
