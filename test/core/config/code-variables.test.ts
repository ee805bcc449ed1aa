import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { codeVariableReason } from "../../../src/core/config/code-variables.ts";
import { loadConfig, loadConfigContent } from "../../../src/core/config/load.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { parseSessionServers } from "../../../src/core/config/session.ts";

const CODE = [
  "NODE_OPTIONS",
  "node_options",
  "LD_PRELOAD",
  "LD_LIBRARY_PATH",
  "DYLD_INSERT_LIBRARIES",
  "PYTHONPATH",
  "PYTHONSTARTUP",
  "BASH_ENV",
  "ENV",
  "BASH_FUNC_ls%%",
  "PERL5OPT",
  "PERL5LIB",
  "RUBYOPT",
  "JAVA_TOOL_OPTIONS",
  "GIT_SSH_COMMAND",
  "npm_config_script_shell",
  "npm_config_script-shell",
  "NPM_CONFIG_IGNORE_SCRIPTS",
  "npm_config_registry",
  "npm_config_@scope:registry",
  "PIP_INDEX_URL",
  "UV_INDEX",
  "UV_DEFAULT_INDEX",
  "ZDOTDIR",
  "FPATH",
  "PSModulePath",
  "NODE_REPL_EXTERNAL_MODULE",
  "NODE_COMPILE_CACHE",
  "TS_NODE_COMPILER",
  "PYTHONWARNINGS",
  "PYTHONPYCACHEPREFIX",
  "PERL5SHELL",
  "GEM_PATH",
  "BUNDLE_GEMFILE",
  "CLASSPATH",
  "JAVA_OPTS",
  "DOTNET_ROOT_X64",
  "LUA_PATH_5_4",
  "R_PROFILE_USER",
  "JULIA_DEPOT_PATH",
  "ERL_FLAGS",
  "GOFLAGS",
  "RUSTC_WRAPPER",
  "GIT_DIR",
  "GIT_TEMPLATE_DIR",
  "OPENSSL_CONF",
  "DOCKER_CONFIG",
  "CONTAINERS_CONF",
  "TAR_OPTIONS",
  "ZIPOPT",
  "RIPGREP_CONFIG_PATH",
  "RSYNC_CONNECT_PROG",
  "FZF_DEFAULT_COMMAND",
  "AWKPATH",
  "TCL_LIBRARY",
  "MAGICK_HOME",
  "ELECTRON_OVERRIDE_DIST_PATH",
  "npm_config_call",
  "npm_config_package",
  "npm_config_cache",
  "npm_config_onload-script",
  "YARN_YARN_PATH",
  "COREPACK_HOME",
  "BUN_OPTIONS",
  "UV_ENV_FILE",
  "UV_PYTHON",
  "UV_CONFIG_FILE",
  "PIP_CONFIG_FILE",
  "PIPX_DEFAULT_PYTHON",
  "NUGET_PACKAGES",
  "GST_PLUGIN_PATH",
  "ESBUILD_BINARY_PATH",
  "JSR_URL",
  "__PYVENV_LAUNCHER__",
  "fish_function_path",
  "JBANG_JAVA_OPTIONS",
  "COMPlus_DiagnosticPorts",
  "CustomBeforeMicrosoftCommonTargets",
  "GOAUTH",
  "MAKEFLAGS",
  "SVN_SSH",
  "BUNDLER_SETUP",
  "RUBYGEMS_GEMDEPS",
  "PERLIO",
  "DOTNET_GCName",
  "DOTNET_JitPath",
  "ASPNETCORE_HOSTINGSTARTUPASSEMBLIES",
  "MSBuildSDKsPath",
  "GOCACHEPROG",
  "RUSTUP_TOOLCHAIN",
  "DENO_CERT",
  "TSX_TSCONFIG_PATH",
  "NAPI_RS_NATIVE_LIBRARY_PATH",
  "npm_execpath",
  "COVERAGE_PROCESS_START",
  "PEX_PATH",
  "PYENV_HOOK_PATH",
  "SSH_SK_PROVIDER",
  "CLOUDSDK_PYTHON",
  "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES",
  "MAGICK_CONFIGURE_PATH",
  "VK_LAYER_PATH",
  "OMP_TOOL_LIBRARIES",
  "GI_TYPELIB_PATH",
  "PRISMA_SCHEMA_ENGINE_BINARY",
  "NODE_CONFIG_DIR",
  "GUNICORN_CMD_ARGS",
  "PIPENV_PIPFILE",
  "CONDARC",
  "JUPYTER_DATA_DIR",
  "JDK_JAVAC_OPTIONS",
  "LOADER_PATH",
  "GRADLE_USER_HOME",
  "XDEBUG_CONFIG",
  "COMPOSER_HOME",
  "JULIA_PROJECT",
  "ERL_OTP27_FLAGS",
  "MIX_EXS",
  "MONO_PATH",
  "PUB_HOSTED_URL",
  "GNUMAKEFLAGS",
  "CMAKE_TOOLCHAIN_FILE",
  "COMPILER_PATH",
  "CFLAGS",
  "KUBERC",
  "TF_PLUGIN_CACHE_DIR",
  "ANSIBLE_CALLBACK_PLUGINS",
  "BORG_PASSCOMMAND",
  "SQLPATH",
  "HOMEBREW_BOTTLE_DOMAIN",
];
const OTHERS = [
  "API_KEY",
  "NODE_ENV",
  "ENVIRONMENT",
  "PYTHONUNBUFFERED",
  "PYTHONIOENCODING",
  "GIT_AUTHOR_NAME",
  "npm_config_loglevel",
  "npm_config_yes",
  "UV_THREADPOOL_SIZE",
  "UV_HTTP_TIMEOUT",
  "UVICORN_PORT",
  "AWS_PROFILE",
  "DOCKER_HOST",
  "GITHUB_TOKEN",
  "GOOGLE_API_KEY",
  "OLD_LD_",
  "ANSIBLE_TOKEN",
  "ANSIBLE_HOST_KEY_CHECKING",
  "CONDA_DEFAULT_ENV",
  "MIX_ENV",
  "PLAYWRIGHT_BROWSERS_PATH",
  "HOMEBREW_GITHUB_API_TOKEN",
  "LD_SDK_KEY",
  "BUNDLE_ID",
  "DOTNET_ENVIRONMENT",
  "DENO_DEPLOY_TOKEN",
  "AWS_CONFIG",
];

describe.each(CODE)("%s", (name) => {
  const server = { command: "run", env: { [name]: "x" } };

  it("may not be set by a server that a session brings", () => {
    const reason = codeVariableReason(name) ?? "";
    expect(reason).not.toBe("");
    expect(() => parseSessionServers({ a: server }, undefined, "/")).toThrow(
      `is refused: it ${reason}; expected it in your own file, or in a script`,
    );
  });

  it("may be set in your own file and in code, and you are told", async () => {
    const told = [expect.objectContaining({ path: expect.stringContaining("env") })];
    const agent = await loadConfigContent({
      agents: { defaults: { mcp: { servers: { a: server } } } },
    });
    expect(agent.servers[0]?.target).toMatchObject({ env: { [name]: "x" } });
    expect(agent.notes).toEqual(told);
    expect(agent.warnings).toEqual([]);
    expect(parseAgentConfig({ servers: { a: server } }).notes).toEqual(told);
  });
});

it("a file of ours with its servers at the root may set one, and another application's may not", async () => {
  const text = `{ "mcpServers": { "a": { "command": "run", "env": { "PYTHONPATH": "x" } } } }`;
  const ours = await loadConfig("/x/plugboard.json", "default", { text });
  expect(ours.servers).toHaveLength(1);
  const theirs = await loadConfig("/x/claude_desktop_config.json", "default", { text });
  expect(theirs.servers).toEqual([]);
  expect(theirs.warnings[0]?.message).toBe(
    "loads modules into every program of Python, which only your own file may have; the server is left out",
  );
});

it.each(OTHERS)("%s may be set by everybody", async (name) => {
  const server = { command: "run", env: { [name]: "x" } };
  expect(parseSessionServers({ a: server }, undefined, "/").definitions).toHaveLength(1);
  expect(
    (await loadConfigContent({ agents: { defaults: { mcp: { servers: { a: server } } } } })).notes,
  ).toBeUndefined();
});

const { delimiter } = path;

describe.each([
  ["PATH", "."],
  ["PATH", "bin"],
  ["PATH", "./bin"],
  ["PATH", ""],
  ["PATH", `/usr/bin${delimiter}`],
  ["PATH", `/usr/bin${delimiter}../x`],
  ["PATH", "${workspaceFolder}/bin"],
  ["Path", "$PWD/bin"],
  ["PATH", `\${PATH}${delimiter}\${INIT_CWD}/bin`],
  ["PATH", "$$x/bin"],
  ["PATH", "${NOPE:-bin}"],
  ["PATH", "~/bin"],
  // Nobody fills that in: it is a directory of this name.
  ["PATH", `$bin${delimiter}/usr/bin`],
  ["PATH", `/proc/self/cwd/bin${delimiter}/usr/bin`],
  ["PATH", "//somewhere/share"],
  ["PATH", "${OLDPWD}/bin"],
  ["PYENV_ROOT", "versions"],
  ["VIRTUAL_ENV", ".venv"],
  ["HOME", "."],
  ["XDG_CONFIG_HOME", "config"],
  ["SHELL", "./sh"],
  ["XDG_CACHE_HOME", "cache"],
  ["AWS_CONFIG_FILE", "${workspaceFolder}/aws"],
])("%s as %j", (name, value) => {
  const env = { [name]: value };

  it("may not be set by a session, and your own file is told of it", () => {
    const server = { command: "run", env };
    expect(() => parseSessionServers({ a: server }, undefined, "/")).toThrow(
      "is refused: it has a directory that is not absolute",
    );
    const { notes } = parseAgentConfig({ servers: { a: server } });
    expect(notes).toEqual([
      expect.objectContaining({ message: expect.stringContaining("is not absolute") }),
    ]);
  });

  it("leaves a server of another application's file out", async () => {
    const text = JSON.stringify({ mcpServers: { a: { command: "run", env } } });
    const theirs = await loadConfig("/x/claude_desktop_config.json", "default", { text });
    expect(theirs.servers).toEqual([]);
  });

  it("may not be set by a publisher, whatever it is", () => {
    expect(codeVariableReason(name, "/usr/bin", "publisher")).toContain("chooses which programs");
  });
});

it.each([
  ["GIT_EDITOR", "sh -c id"],
  ["LESSOPEN", "|./x %s"],
  ["BROWSER", "./x"],
  ["GIT_PAGER", "/tmp/x"],
  ["git_askpass", "$(id)"],
  ["AWS_PAGER", "sh -c id"],
  ["CC", "./cc"],
])("%s as %j may not be set by a session or a publisher", (name, value) => {
  const server = { command: "run", env: { [name]: value } };
  expect(() => parseSessionServers({ a: server }, undefined, "/")).toThrow("is refused: it names");
  expect(codeVariableReason(name, "cat", "publisher")).toBe(
    "names a program that other programs run",
  );
});

it.each([
  ["NODE_EXTRA_CA_CERTS", "ca.pem"],
  ["ssl_cert_file", "${workspaceFolder}/ca.pem"],
  ["REQUESTS_CA_BUNDLE", "/proc/self/cwd/ca.pem"],
])("certificates of a project may not be set by others, as %s is: %j", (name, value) => {
  const parse = (env: Record<string, string>) =>
    parseSessionServers({ a: { command: "run", env } }, undefined, "/");
  expect(() => parse({ [name]: value })).toThrow("is refused: it has certificates");
  expect(parse({ [name]: "/etc/ssl/ca.pem" }).definitions).toHaveLength(1);
  // Of a registry, it is something that you give.
  expect(codeVariableReason(name, undefined, "publisher")).toBeUndefined();
});

it.each([
  ["KUBECONFIG", "kubeconfig.yaml"],
  ["KUBECONFIG", `/home/me/.kube/config${delimiter}.kube/config`],
  ["java_home", "${workspaceFolder}/jdk"],
  ["PUPPETEER_EXECUTABLE_PATH", "./chrome"],
  ["ANDROID_HOME", "/proc/self/cwd/sdk"],
  ["PLAYWRIGHT_MCP_EXECUTABLE_PATH", "./chrome"],
])(
  "programs of a project, and settings that name some, may not be set by others, as %s is: %j",
  (name, value) => {
    const parse = (env: Record<string, string>) =>
      parseSessionServers({ a: { command: "run", env } }, undefined, "/");
    expect(() => parse({ [name]: value })).toThrow(
      "is refused: it has a place that is not absolute",
    );
    expect(parse({ [name]: "/opt/x" }).definitions).toHaveLength(1);
    // Of a registry, it is something that you give.
    expect(codeVariableReason(name, undefined, "publisher")).toBeUndefined();
  },
);

it("a value that old versions of bash run may not be set, whatever its name is", () => {
  const server = { command: "run", env: { API_KEY: "() { :; }; id" } };
  expect(() => parseSessionServers({ a: server }, undefined, "/")).toThrow("is refused: it has");
});

it("an application that fills in $NAME may have it in a path", async () => {
  const text = `{ "mcpServers": { "a": { "command": "run", "env": { "PATH": "$HOME/bin" } } } }`;
  const theirs = await loadConfig("/x/.gemini/settings.json", "default", { text });
  expect(theirs.servers).toHaveLength(1);
});

it.each([
  ["ENV", "production"],
  ["ENV", "dev"],
  ["GIT_PAGER", "cat"],
  ["EDITOR", "true"],
  ["PAGER", ""],
  ["PATH", "/usr/bin"],
  ["PATH", ["/usr/bin", "/opt/x/bin"].join(delimiter)],
  ["PATH", "${PATH}"],
  ["PATH", `\${PATH}${delimiter}/opt/x/bin`],
  ["HOME", "/home/me"],
  ["SHELL", "/bin/sh"],
])("%s as %j may be set by everybody but a publisher", (name, value) => {
  const server = { command: "run", env: { [name]: value } };
  expect(parseSessionServers({ a: server }, undefined, "/").definitions).toHaveLength(1);
  expect(parseAgentConfig({ servers: { a: server } }).notes).toBeUndefined();
});

it("the documentation names all of them", async () => {
  const page = await readFile(new URL("../../../docs/security.md", import.meta.url), "utf8");
  const source = await readFile(
    new URL("../../../src/core/config/code-variables.ts", import.meta.url),
    "utf8",
  );
  const names = [...source.matchAll(/"([A-Z_][A-Z0-9_]{2,}\*?)"/g)].map(([, name]) => name ?? "");
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

it("no remedy for what a server writes recommends one that others may not set", async () => {
  const log = new URL("../../../src/core/upstream/log/", import.meta.url);
  for (const file of await readdir(log)) {
    const text = await readFile(new URL(file, log), "utf8");
    const named = [...text.matchAll(/\b[A-Z][A-Z0-9_]{4,}(?==| in )/g)].map(([name]) => name);
    expect(named.filter((name) => codeVariableReason(name) !== undefined)).toEqual([]);
  }
});
