import { describe, expect, it } from "vitest";
import { APPLICATIONS } from "../../../../src/core/config/foreign/applications.ts";
import { places, type PlacesOptions } from "../../../../src/core/config/foreign/places.ts";

const LINUX: PlacesOptions = {
  platform: "linux",
  env: {},
  homedir: "/home/anna",
  cwd: "/home/anna/shop",
};

const MAC: PlacesOptions = {
  platform: "darwin",
  env: {},
  homedir: "/Users/anna",
  cwd: "/Users/anna/shop",
};

const WINDOWS: PlacesOptions = {
  platform: "win32",
  env: { APPDATA: "C:\\Users\\anna\\AppData\\Roaming" },
  homedir: "C:\\Users\\anna",
  cwd: "D:\\shop",
};

function pathsOf(options: PlacesOptions, scope: "user" | "project"): Record<string, string> {
  const found = places(options).filter((place) => place.scope === scope);
  // The first of several.
  return Object.fromEntries(found.toReversed().map(({ application, path }) => [application, path]));
}

describe("the files of a person", () => {
  it.each<[string, PlacesOptions, Record<string, string>]>([
    [
      "Linux",
      LINUX,
      {
        "claude-code": "/home/anna/.claude.json",
        "claude-desktop": "/home/anna/.config/Claude/claude_desktop_config.json",
        cursor: "/home/anna/.cursor/mcp.json",
        windsurf: "/home/anna/.codeium/windsurf/mcp_config.json",
        cline:
          "/home/anna/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        vscode: "/home/anna/.config/Code/User/mcp.json",
        zed: "/home/anna/.config/zed/settings.json",
        codex: "/home/anna/.codex/config.toml",
        gemini: "/home/anna/.gemini/settings.json",
        opencode: "/home/anna/.config/opencode/opencode.jsonc",
        openclaw: "/home/anna/.openclaw/openclaw.json",
      },
    ],
    [
      "macOS",
      MAC,
      {
        "claude-code": "/Users/anna/.claude.json",
        "claude-desktop":
          "/Users/anna/Library/Application Support/Claude/claude_desktop_config.json",
        cursor: "/Users/anna/.cursor/mcp.json",
        windsurf: "/Users/anna/.codeium/windsurf/mcp_config.json",
        cline:
          "/Users/anna/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        vscode: "/Users/anna/Library/Application Support/Code/User/mcp.json",
        zed: "/Users/anna/.config/zed/settings.json",
        codex: "/Users/anna/.codex/config.toml",
        gemini: "/Users/anna/.gemini/settings.json",
        opencode: "/Users/anna/.config/opencode/opencode.jsonc",
        openclaw: "/Users/anna/.openclaw/openclaw.json",
      },
    ],
    [
      "Windows",
      WINDOWS,
      {
        "claude-code": "C:\\Users\\anna\\.claude.json",
        "claude-desktop": "C:\\Users\\anna\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
        cursor: "C:\\Users\\anna\\.cursor\\mcp.json",
        windsurf: "C:\\Users\\anna\\.codeium\\windsurf\\mcp_config.json",
        cline:
          "C:\\Users\\anna\\AppData\\Roaming\\Code\\User\\globalStorage\\saoudrizwan.claude-dev\\settings\\cline_mcp_settings.json",
        vscode: "C:\\Users\\anna\\AppData\\Roaming\\Code\\User\\mcp.json",
        zed: "C:\\Users\\anna\\AppData\\Roaming\\Zed\\settings.json",
        codex: "C:\\Users\\anna\\.codex\\config.toml",
        gemini: "C:\\Users\\anna\\.gemini\\settings.json",
        opencode: "C:\\Users\\anna\\.config\\opencode\\opencode.jsonc",
        openclaw: "C:\\Users\\anna\\.openclaw\\openclaw.json",
      },
    ],
  ])("on %s", (_, options, expected) => {
    expect(pathsOf(options, "user")).toEqual(expected);
  });

  it("are where variables say, if they are set", () => {
    const env = {
      CLAUDE_CONFIG_DIR: "/c",
      CODEX_HOME: "/x",
      GEMINI_CLI_HOME: "/g",
      OPENCODE_CONFIG: "/o.json",
      OPENCLAW_CONFIG_PATH: "/claw.json",
      XDG_CONFIG_HOME: "/xdg",
    };
    expect(pathsOf({ ...LINUX, env }, "user")).toMatchObject({
      "claude-code": "/c/.claude.json",
      codex: "/x/config.toml",
      gemini: "/g/.gemini/settings.json",
      opencode: "/o.json",
      openclaw: "/claw.json",
      zed: "/xdg/zed/settings.json",
      vscode: "/xdg/Code/User/mcp.json",
    });
  });
});

it.each<[object, string[]]>([
  [
    {},
    [
      "/home/anna/.openclaw/openclaw.json",
      "/home/anna/.openclaw/clawdbot.json",
      "/home/anna/.clawdbot/openclaw.json",
      "/home/anna/.clawdbot/clawdbot.json",
    ],
  ],
  [
    { OPENCLAW_STATE_DIR: " ~/state " },
    ["/home/anna/state/openclaw.json", "/home/anna/state/clawdbot.json"],
  ],
  [
    { OPENCLAW_STATE_DIR: "/state", OPENCLAW_CONFIG_PATH: "~/claw.json5" },
    ["/home/anna/claw.json5"],
  ],
  [{ OPENCLAW_HOME: "/srv/claw", OPENCLAW_CONFIG_PATH: "~/claw.json5" }, ["/srv/claw/claw.json5"]],
  [{ OPENCLAW_CONFIG_PATH: "claw.json5", OPENCLAW_STATE_DIR: "" }, ["/home/anna/shop/claw.json5"]],
])("OpenClaw's file is where it looks for it, with %j", (env, expected) => {
  const found = places({ ...LINUX, env: env as PlacesOptions["env"] });
  expect(
    found.flatMap(({ application, path }) => (application === "openclaw" ? path : [])),
  ).toEqual(expected);
});

it("the files of a project are in its directory", () => {
  expect(pathsOf(LINUX, "project")).toEqual({
    "claude-code": "/home/anna/shop/.mcp.json",
    cursor: "/home/anna/shop/.cursor/mcp.json",
    cline: "/home/anna/shop/.roo/mcp.json",
    vscode: "/home/anna/shop/.vscode/mcp.json",
    zed: "/home/anna/shop/.zed/settings.json",
    codex: "/home/anna/shop/.codex/config.toml",
    gemini: "/home/anna/shop/.gemini/settings.json",
    opencode: "/home/anna/shop/opencode.jsonc",
    tsagent: "/home/anna/shop/tsagent.json",
  });
  expect(pathsOf(WINDOWS, "project")).toMatchObject({ vscode: "D:\\shop\\.vscode\\mcp.json" });
});

it.each([LINUX, MAC, WINDOWS])("on $platform each file is known by its place", (options) => {
  for (const { application, path } of places(options)) {
    const { pathEnd } = APPLICATIONS.find(({ id }) => id === application) ?? {};
    // Content tells whose a file is, unless several applications could have written it.
    if (pathEnd !== undefined) expect(path.replaceAll("\\", "/")).toMatch(pathEnd);
    else expect(["zed", "codex", "opencode", "openclaw"]).toContain(application);
  }
});
