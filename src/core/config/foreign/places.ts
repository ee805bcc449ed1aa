// Where other applications keep their files, on each system. Whether a file is there is for others to find out.

import { posix, win32 } from "node:path";
import type { Environment } from "../../../util/environment.ts";

export interface FilePlace {
  /** The id of an application in applications.ts. */
  application: string;
  /** For everything that a person does, or for one project. */
  scope: "user" | "project";
  path: string;
}

export interface PlacesOptions {
  platform: NodeJS.Platform;
  env: Environment;
  homedir: string;
  /** The project that is looked at. */
  cwd: string;
}

/** All places, of a person first. An application that has several in one scope reads the first of them that exists. */
export function places({ platform, env, homedir, cwd }: PlacesOptions): FilePlace[] {
  const system = platform === "win32" ? win32 : posix;
  const join = (...parts: string[]): string => system.join(...parts);
  const home = (...parts: string[]): string => join(homedir, ...parts);
  const roaming = env["APPDATA"] || home("AppData", "Roaming");
  const xdg = env["XDG_CONFIG_HOME"] || home(".config");
  /** Where programs with a window keep their files. */
  const programFile = (...parts: string[]): string => {
    if (platform === "win32") return join(roaming, ...parts);
    if (platform === "darwin") return home("Library", "Application Support", ...parts);
    return join(xdg, ...parts);
  };
  const zed = platform === "win32" ? join(roaming, "Zed") : join(xdg, "zed");
  const editors = ["Code", "Code - Insiders", "VSCodium"];
  const storage = (...parts: string[]): string[] =>
    editors.map((editor) => programFile(editor, "User", "globalStorage", ...parts));
  const user: Record<string, string[]> = {
    "claude-code": [join(env["CLAUDE_CONFIG_DIR"] || homedir, ".claude.json")],
    "claude-desktop": [programFile("Claude", "claude_desktop_config.json")],
    cursor: [home(".cursor", "mcp.json")],
    windsurf: [home(".codeium", "windsurf", "mcp_config.json")],
    cline: [
      ...storage("saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"),
      ...storage("rooveterinaryinc.roo-cline", "settings", "mcp_settings.json"),
      home(".cline", "data", "settings", "cline_mcp_settings.json"),
    ],
    vscode: editors.map((editor) => programFile(editor, "User", "mcp.json")),
    zed: [join(zed, "settings.json")],
    codex: [join(env["CODEX_HOME"] || home(".codex"), "config.toml")],
    gemini: [join(env["GEMINI_CLI_HOME"] || homedir, ".gemini", "settings.json")],
    opencode: [
      ...(env["OPENCODE_CONFIG"] ? [env["OPENCODE_CONFIG"]] : []),
      join(xdg, "opencode", "opencode.jsonc"),
      join(xdg, "opencode", "opencode.json"),
    ],
    openclaw: openclawFiles({ env, homedir, cwd }, system),
  };
  const project: Record<string, string[]> = {
    "claude-code": [".mcp.json"],
    cursor: [join(".cursor", "mcp.json")],
    cline: [join(".roo", "mcp.json")],
    vscode: [join(".vscode", "mcp.json")],
    zed: [join(".zed", "settings.json")],
    codex: [join(".codex", "config.toml")],
    gemini: [join(".gemini", "settings.json")],
    opencode: [
      "opencode.jsonc",
      "opencode.json",
      join(".opencode", "opencode.jsonc"),
      join(".opencode", "opencode.json"),
    ],
    tsagent: ["tsagent.json"],
  };
  return [
    ...toPlaces(user, "user", (path) => path),
    ...toPlaces(project, "project", (path) => join(cwd, path)),
  ];
}

/** As OpenClaw 2026.9.6 looks for it. Its variables may begin with `~`, and the names that it had before still count. */
function openclawFiles(
  { env, homedir, cwd }: Pick<PlacesOptions, "env" | "homedir" | "cwd">,
  system: typeof posix,
): string[] {
  const given = (name: string, home: string): string | undefined => {
    const path = env[name]?.trim();
    if (!path) return undefined;
    const expanded = path.replace(/^~(?=$|[\\/])/, () => home);
    return system.resolve(cwd, expanded);
  };
  const home = given("OPENCLAW_HOME", homedir) ?? homedir;
  const named = given("OPENCLAW_CONFIG_PATH", home);
  if (named !== undefined) return [named];
  const state = given("OPENCLAW_STATE_DIR", home);
  const directories =
    state === undefined
      ? [system.join(home, ".openclaw"), system.join(home, ".clawdbot")]
      : [state];
  return directories.flatMap((directory) =>
    ["openclaw.json", "clawdbot.json"].map((name) => system.join(directory, name)),
  );
}

function toPlaces(
  files: Readonly<Record<string, readonly string[]>>,
  scope: FilePlace["scope"],
  toPath: (path: string) => string,
): FilePlace[] {
  return Object.entries(files).flatMap(([application, paths]) =>
    paths.map((path) => ({ application, scope, path: toPath(path) })),
  );
}
