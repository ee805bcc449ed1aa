// What real servers, package managers and runtimes wrote when they could not start, as files in
// `test/fixtures/failures`, and what Plugboard quotes and advises for each.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import {
  errorInEntry,
  findCause,
  findQuestion,
  withCause,
} from "../../../../src/core/upstream/log/find-cause.ts";

function written(name: string): string[] {
  const file = new URL(`../../../fixtures/failures/${name}.txt`, import.meta.url);
  const lines = readFileSync(file, "utf8").split("\n");
  // As they come from the stderr log.
  return lines.filter((line) => line.trim() !== "");
}

const set = (names: string): string =>
  `set ${names} in its "env"; the variables of your shell are not passed on by themselves`;
const WRONG_PATH =
  "correct the path that it is given; a relative one is taken from its working directory";
const NO_REGISTRY =
  "npm cannot reach its registry: check your network, proxy and .npmrc; or install the package, and give its program as command";

const REAL: [file: string, line: string, remedy: string | undefined][] = [
  [
    "brave-search-without-key",
    "Error: BRAVE_API_KEY environment variable is required",
    set("BRAVE_API_KEY"),
  ],
  [
    "docker-not-running",
    "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "start Docker, and check that you may use it: docker ps",
  ],
  [
    "elasticsearch-without-url",
    "Server error: url: Elasticsearch URL cannot be empty; url: Invalid Elasticsearch URL format",
    undefined,
  ],
  [
    "figma-without-key",
    "Either FIGMA_API_KEY or FIGMA_OAUTH_TOKEN is required (via CLI argument or .env file)",
    set("FIGMA_API_KEY or FIGMA_OAUTH_TOKEN"),
  ],
  [
    "filesystem-missing-directory",
    "Error: None of the specified directories are accessible",
    WRONG_PATH,
  ],
  [
    "gdrive-not-signed-in",
    "Credentials not found. Please run with 'auth' argument first",
    undefined,
  ],
  [
    "gitlab-without-token",
    "GITLAB_PERSONAL_ACCESS_TOKEN environment variable is not set",
    set("GITLAB_PERSONAL_ACCESS_TOKEN"),
  ],
  [
    "google-maps-without-key",
    "GOOGLE_MAPS_API_KEY environment variable is not set",
    set("GOOGLE_MAPS_API_KEY"),
  ],
  [
    "java-missing-class",
    "Error: Could not find or load main class com.acme.Main",
    'check the class and the class path in its arguments; a jar is started with "-jar"',
  ],
  ["java-missing-jar", "Error: Unable to access jarfile /srv/servers/weather.jar", WRONG_PATH],
  [
    "kubectl-without-cluster",
    "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
    "nothing answers at localhost:8080: start what it connects to, or correct the address",
  ],
  ["mcp-remote-bad-port", "Error: bad port", undefined],
  [
    "mcp-remote-without-url",
    "[5424] Usage: mcp-remote <https://server-url> [callback-port] [--debug]",
    "correct its arguments",
  ],
  ["node-bad-option", "node: bad option: --experimental-foo", "correct its arguments"],
  [
    "node-import-outside-module",
    "SyntaxError: Cannot use import statement outside a module (/home/ada/servers/js_esm.js:1)",
    'start the built server instead of its source, or set "type": "module" in its package.json',
  ],
  [
    "node-missing-file",
    "Error: ENOENT: no such file or directory, open '/srv/config/servers.yaml'",
    "/srv/config/servers.yaml does not exist: create it, or correct the path",
  ],
  [
    "node-missing-package",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@acme/missing' imported from /home/ada/servers/js_import.mjs",
    "its dependencies are not installed: run npm install (or npm ci) in its directory",
  ],
  [
    "node-missing-script",
    "Error: Cannot find module '/srv/servers/weather/build/index.js'",
    "build the server (npm run build), or correct the path",
  ],
  [
    "node-not-built",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/home/ada/servers/dist/index.js' imported from /home/ada/servers/js_rel.mjs",
    "build the server (npm run build)",
  ],
  [
    "node-out-of-memory",
    "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
    'it ran out of memory: close other programs, or raise its limit, for Node with --max-old-space-size=4096 before its script in "args"',
  ],
  [
    "node-port-in-use",
    "Error: listen EADDRINUSE: address already in use 127.0.0.1:33181",
    "another program uses port 33181: stop it, or give the server another port",
  ],
  [
    "node-syntax-error",
    "SyntaxError: Unexpected token ';' (file:///home/ada/servers/js_syntax.mjs:1)",
    undefined,
  ],
  [
    "node-too-old",
    "Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite2",
    "it needs a newer Node.js: install one, or give the path of its npx or node as command",
  ],
  [
    "node-unhandled-event-refused",
    "Error: connect ECONNREFUSED 127.0.0.1:5432",
    "nothing answers at 127.0.0.1:5432: start PostgreSQL, or correct the address",
  ],
  [
    "node-unhandled-rejection",
    "Error: Missing required configuration: ACME_API_KEY",
    set("ACME_API_KEY"),
  ],
  [
    "node-unknown-host",
    "Error: getaddrinfo ENOTFOUND no-such-host.invalid",
    "the host no-such-host.invalid is not known: correct it in its settings, or check your network",
  ],
  [
    "node-untrusted-certificate",
    "Error: self-signed certificate",
    'the certificate is not trusted: give the server your authority\'s, for Node with NODE_EXTRA_CA_CERTS in "env"',
  ],
  ["node-zod", "ZodError: API_KEY: Required; BASE_URL: Required", set("API_KEY and BASE_URL")],
  [
    "npx-no-program",
    "npm error could not determine executable to run",
    "the package has no program: check that it is an MCP server, and its name",
  ],
  [
    "npx-offline",
    "npm error FetchError: request to http://127.0.0.1:1/some-mcp-server-x failed, reason: connect ECONNREFUSED 127.0.0.1:1",
    NO_REGISTRY,
  ],
  [
    "npx-unknown-host",
    "npm error network request to http://no-such-host.invalid/some-mcp-server-x failed, reason: getaddrinfo ENOTFOUND no-such-host.invalid",
    NO_REGISTRY,
  ],
  [
    "npx-unknown-package",
    "npm error 404 The requested resource '@acme-nothing/does-not-exist-mcp@*' could not be found or you do not have permission to access it",
    "there is no such package: correct its name; a private one needs npm to be signed in",
  ],
  [
    "npx-unknown-version",
    "npm error notarget No matching version found for @modelcontextprotocol/server-everything@99.0.0",
    "there is no such version: correct it, or leave it out",
  ],
  [
    "npx-without-yes",
    'npm error npx canceled due to missing packages and no YES option: ["tsx@4.23.15"]',
    "npx asks before it installs: put -y before the name of the package",
  ],
  [
    "postgres-without-url",
    "Please provide a database URL as a command-line argument",
    "add what is missing to its arguments",
  ],
  [
    "python-chained-refused",
    "ConnectionRefusedError: [Errno 111] Connection refused",
    "start what it connects to, such as its database, or correct the address that it is given",
  ],
  [
    "python-exception-group",
    "ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 8080)",
    "nothing answers at 127.0.0.1:8080: start what it connects to, or correct the address",
  ],
  ["python-key-error", "KeyError: 'ACME_TOKEN'", set("ACME_TOKEN")],
  [
    "python-missing-argument",
    "mcp-server-sqlite: error: the following arguments are required: --db-path",
    "add what is missing to its arguments",
  ],
  ["python-missing-database", "sqlite3.OperationalError: unable to open database file", WRONG_PATH],
  [
    "python-missing-import",
    "ModuleNotFoundError: No module named 'mcp'",
    "install the Python package of mcp for this Python, or give the Python that has it as command",
  ],
  [
    "python-missing-module",
    "/usr/bin/python3: No module named mcp_server_git",
    "install the Python package of mcp_server_git for this Python, or give the Python that has it as command",
  ],
  [
    "python-missing-script",
    "/usr/bin/python3: can't open file '/srv/servers/weather.py': [Errno 2] No such file or directory",
    WRONG_PATH,
  ],
  [
    "python-syntax-error",
    'SyntaxError: invalid syntax (File "/home/ada/servers/py_syntax.py", line 1)',
    undefined,
  ],
  ["python-value-error", "ValueError: API_KEY environment variable is required", set("API_KEY")],
  [
    "redis-refused",
    "[Redis Error] Error: connect ECONNREFUSED 127.0.0.1:1",
    "nothing answers at 127.0.0.1:1: start what it connects to, or correct the address",
  ],
  ["sentry-without-token", "Error: No access token was provided", set("SENTRY_ACCESS_TOKEN")],
  ["shell-command-not-found", "sh: 1: uvx: not found", "install uvx, or give its absolute path"],
  [
    "shell-not-executable",
    "sh: 1: /etc/passwd: Permission denied",
    "the server may not use that file: check its rights",
  ],
  [
    "slack-without-token",
    "Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables",
    set("SLACK_BOT_TOKEN and SLACK_TEAM_ID"),
  ],
  [
    "stripe-without-key",
    "Error: Stripe API key not provided. Please either pass it as an argument --api-key=$KEY or set the STRIPE_SECRET_KEY environment variable",
    set("STRIPE_SECRET_KEY"),
  ],
  [
    "supabase-without-token",
    "Please provide a personal access token (PAT) with the --access-token flag or set the SUPABASE_ACCESS_TOKEN environment variable",
    set("SUPABASE_ACCESS_TOKEN"),
  ],
];

describe("the cause of a failure", () => {
  it.each(REAL)("%s: %s", (file, line, remedy) => {
    const stderr = written(file);
    const cause = findCause({ stderr, stdout: [] });
    expect(cause).toMatchObject({ line, from: "stderr", isReason: true });
    expect(cause?.remedy).toBe(remedy);
  });

  it.each<[string, string[], string, string | undefined]>([
    [
      "a browser that is not installed",
      [
        "Error: browserType.launch: Chromium distribution 'chrome' is not found at /opt/google/chrome/chrome",
        'Run "npx playwright install chrome"',
      ],
      "Error: browserType.launch: Chromium distribution 'chrome' is not found at /opt/google/chrome/chrome",
      "install the browser: run npx playwright install chrome",
    ],
    [
      "a recording that is gone",
      [
        "plugboard: there is no file docs.jsonl",
        "hint: to make a recording:",
        "  plugboard record <server> <file>",
        "more: plugboard help INVALID_ARGUMENTS",
      ],
      "plugboard: there is no file docs.jsonl",
      undefined,
    ],
    [
      "a configuration that is wrong",
      [
        "plugboard: the configuration has 1 problem:",
        "  /a/plugboard.json  there is no such file; it was named by --config",
        "more: plugboard help CONFIG_INVALID",
      ],
      "/a/plugboard.json there is no such file; it was named by --config",
      undefined,
    ],
    [
      "a refused address of IPv6",
      ["Error: connect ECONNREFUSED ::1:27017"],
      "Error: connect ECONNREFUSED ::1:27017",
      "nothing answers at ::1:27017: start MongoDB, or correct the address",
    ],
    [
      "a refused token",
      ["RequestError: 401 Unauthorized"],
      "RequestError: 401 Unauthorized",
      "the service refuses the credential: check the token or key that the server is given",
    ],
    [
      "a network that signs certificates itself",
      [
        "npm error code SELF_SIGNED_CERT_IN_CHAIN",
        "npm error errno SELF_SIGNED_CERT_IN_CHAIN",
        "npm error request to https://registry.example/server failed, reason: self-signed certificate in certificate chain",
      ],
      "npm error code SELF_SIGNED_CERT_IN_CHAIN",
      "npm does not know the authority that signs for your network: set NODE_EXTRA_CA_CERTS to its certificate, a PEM file, where you start Plugboard; or set cafile in your .npmrc",
    ],
    [
      "a cache that is not yours",
      ["npm error code EACCES", "npm error Your cache folder contains root-owned files"],
      "npm error code EACCES",
      "npm cannot write to its cache: give yourself its files back, or set npm_config_cache in env to another directory",
    ],
    [
      "what ended it, not what it warned of before",
      [
        "[warn] OPENAI_API_KEY is not set, embeddings are off",
        "Traceback (most recent call last):",
        '  File "/srv/a.py", line 1, in <module>',
        '    raise ValueError("B_TOKEN is required")',
        "RuntimeError: the index is damaged",
      ],
      "RuntimeError: the index is damaged",
      undefined,
    ],
    [
      "an error, not the warnings before and after",
      ["Warning: DEBUG_KEY is not set", "Error: the index is damaged", "npm warn old"],
      "Error: the index is damaged",
      undefined,
    ],
    [
      "a package that lacks one of its own files",
      [
        "Fatal error in main(): Cannot find module '/srv/node_modules/sdk/dist/server/mcp' imported from /srv/node_modules/@acme/server/dist/index.js",
      ],
      "Fatal error in main(): Cannot find module '/srv/node_modules/sdk/dist/server/mcp' imported from /srv/node_modules/@acme/server/dist/index.js",
      "the package is broken, since a file that it needs is missing: install it again, or another version of it, and tell its author",
    ],
    [
      "a deprecated package, not the last line",
      ["@acme/server is deprecated.", "Run the new one with:", "  acme mcp"],
      "@acme/server is deprecated",
      undefined,
    ],
    [
      "an error, not a line about how the usage is measured",
      ["Usage telemetry is on", "cannot read the index"],
      "cannot read the index",
      undefined,
    ],
    [
      "variables that are both needed, where the text has an option too",
      ["Error: UPSTASH_EMAIL and UPSTASH_API_KEY are required, or pass --email"],
      "Error: UPSTASH_EMAIL and UPSTASH_API_KEY are required, or pass --email",
      set("UPSTASH_EMAIL and UPSTASH_API_KEY"),
    ],
    [
      "an error that a logger wrote as JSON",
      ['{"level":30,"msg":"starting"}', '{"level":"error","message":"no account SID"}'],
      "Error: no account SID",
      undefined,
    ],
    [
      "a directory that a server leaves out",
      ["Warning: Cannot access directory /srv/gone, skipping", "running on stdio"],
      "Warning: Cannot access directory /srv/gone, skipping",
      WRONG_PATH,
    ],
    [
      "a credential without the name of a variable",
      ["No Acme API token configured, it must be provided with each request", "running"],
      "No Acme API token configured, it must be provided with each request",
      "give it the credential that it lacks: its documentation says in which variable or argument",
    ],
    [
      "a limit on open files",
      ["Error: EMFILE: too many open files, open '/srv/a.js'"],
      "Error: EMFILE: too many open files, open '/srv/a.js'",
      "it may not open as many files as it needs: raise the limit, such as with ulimit -n 1024",
    ],
    [
      "a warning, if there is nothing else",
      ["Warning: ACME_TOKEN is not set", "bye"],
      "Warning: ACME_TOKEN is not set",
      set("ACME_TOKEN"),
    ],
  ])("of %s", (_, stderr, line, remedy) => {
    expect(findCause({ stderr, stdout: [] })).toMatchObject({ line, isReason: true });
    expect(findCause({ stderr, stdout: [] })?.remedy).toBe(remedy);
  });

  it("is looked for on stdout if stderr has none", () => {
    const stdout = ["Welcome!", "Error: ACME_TOKEN is not set"];
    expect(findCause({ stderr: ["starting"], stdout })).toMatchObject({
      line: "Error: ACME_TOKEN is not set",
      from: "stdout",
      isReason: true,
      remedy: set("ACME_TOKEN"),
    });
  });

  it.each<[string, JsonObject, string | undefined]>([
    ["of a logger", { level: 50, message: "Invalid AccountSid" }, "Error: Invalid AccountSid"],
    ["of MCP", { level: "critical", data: "no account" }, "Error: no account"],
    ["of MCP, as an object", { level: "error", data: { message: "no key" } }, "Error: no key"],
    ["that only informs", { level: "info", data: "no error so far" }, undefined],
    ["without words", { level: "error", data: 5 }, undefined],
  ])("is read from an entry %s", (_, entry, line) => {
    expect(errorInEntry(entry)).toBe(line);
  });

  it("is the last line where none says why, and nothing where there is none", () => {
    expect(findCause({ stderr: ["one", "two", "}"], stdout: ["three"] })).toEqual({
      line: "two",
      from: "stderr",
      isReason: false,
    });
    expect(findCause({ stderr: [], stdout: ["three"] })).toMatchObject({ line: "three" });
    expect(findCause({ stderr: [], stdout: [] })).toBeUndefined();
  });

  it("is found above a page of details, and is quoted in one short line", () => {
    const details = Array.from({ length: 150 }, (_, at) => `  field${at}: [Object],`);
    const stderr = [`Error: connect ECONNREFUSED 10.0.0.1:6379 ${"x".repeat(900)}`, ...details];
    const cause = findCause({ stderr, stdout: [] });
    expect(cause?.line).toMatch(/^Error: connect ECONNREFUSED 10\.0\.0\.1:6379 x+…$/);
    expect(cause?.line).toHaveLength(300);
    expect(cause?.remedy).toContain("start Redis");
  });

  it.each([
    ["spaces", " ".repeat(1000)],
    ["carets", `${" ".repeat(900)}^`],
    ["margins", "| ".repeat(500)],
    ["heads of lists", "Error: ["],
    ["variables", `${"A_".repeat(400)} required`],
    ["hosts", "ECONNREFUSED ".repeat(80)],
    ["colons", `ECONNREFUSED ${":1".repeat(490)}`],
    ["errors", "npm error ".repeat(100)],
    ["directories", "directory ".repeat(100)],
    ["letters", "Error".repeat(200)],
  ])(
    "is looked for in a bounded number of steps: %s",
    (_, line) => {
      const stderr = Array.from({ length: 5000 }, () => line);
      expect(findCause({ stderr, stdout: stderr })?.line.length ?? 0).toBeLessThanOrEqual(300);
    },
    2000,
  );
});

describe("a question that nobody can answer", () => {
  const install = "npx asks before it installs: put -y before the name of the package";
  const other =
    'a server on stdio cannot ask: give it the answer as an argument or in its "env", or run its command once by hand';
  it.each<[string, boolean, string | undefined]>([
    ["Ok to proceed? (y) ", true, install],
    ["Ok to proceed? (y)", false, install],
    ["Overwrite the file? [y/N]", true, other],
    ["Are you sure you want to continue connecting (yes/no)?", true, other],
    ["Password for ada: ", true, other],
    ["Enter your API key: ", true, other],
    ["Press any key to continue", true, other],
    ["Password for ada: ", false, undefined],
    ["Listening on port 3000", true, undefined],
    ["Token: loaded from the file", true, undefined],
    ["Is everything fine?", true, undefined],
  ])("%j, unfinished: %j", (line, isOpen, remedy) => {
    expect(findQuestion(line, isOpen)?.remedy).toBe(remedy);
  });
});

describe("an error with its cause", () => {
  const hint = "a guess";
  it.each([
    [undefined, "it ended", hint],
    [
      { line: "Error: no", from: "stderr", isReason: true } as const,
      "it ended: Error: no",
      undefined,
    ],
    [
      { line: "Error: no", from: "stderr", isReason: true, remedy: "do this" } as const,
      "it ended: Error: no",
      "do this",
    ],
    [
      { line: "bye", from: "stderr", isReason: false } as const,
      "it ended; it last wrote: bye",
      hint,
    ],
    [
      { line: "hello", from: "stdout", isReason: false } as const,
      "it ended; on stdout it wrote text that is not MCP: hello",
      hint,
    ],
  ])("of %j says: %s", (cause, message, shown) => {
    expect(withCause("TIMEOUT", "it ended", cause, { hint })).toMatchObject({
      code: "TIMEOUT",
      message,
      hint: shown,
    });
  });
});

it.each(["ECONNREFUSED", "connection refused", "ENOTFOUND ", "EADDRINUSE", "Error: "])(
  "reads lines that repeat %s within the test's time: a cubic pattern took ten seconds",
  (word) => {
    const lines = Array.from({ length: 200 }, () => word.repeat(1000 / word.length));
    expect(findCause({ stderr: lines, stdout: lines })?.line).toContain(word.trim());
  },
);

describe("a program that serves HTTP", () => {
  const remedy =
    'it speaks HTTP, not stdio: give its address as "url" instead of "command", or add its option for stdio to "args"';
  it.each([
    "Server listening on http://localhost:3000",
    "INFO: Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)",
    "MCP server started: https://0.0.0.0:8443/mcp",
    "Listening on port 3000",
    "listening on :8080",
  ])("is recognised by %j", (line) => {
    for (const from of ["stderr", "stdout"] as const) {
      const output = { stderr: [], stdout: [], [from]: ["Loading", line, "Waiting for requests"] };
      expect(findCause(output)).toEqual({ line, from, isReason: false, remedy });
    }
  });

  it.each([
    [["Server listening on stdio"], undefined],
    [["Docs: https://example.com/docs"], undefined],
    [["Page listening on http://localhost:1", "Error: boom"], undefined],
  ])("is not recognised by %j", (stderr, expected) => {
    expect(findCause({ stderr, stdout: [] })?.remedy).toBe(expected);
  });

  it("is named in place of the guess why it did not answer", () => {
    const cause = findCause({ stderr: [], stdout: ["Server listening on http://localhost:3000"] });
    const error = withCause("TIMEOUT", "the server did not answer within 30 s", cause, {
      hint: "if it downloads itself",
    });
    expect(error.hint).toBe(remedy);
  });
});
