import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/core/config/load.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import {
  asWritten,
  resolveTarget,
  type SecretOf,
  secretsNeeded,
} from "../../../src/core/config/resolve.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { ServerDefinition, ServerTarget } from "../../../src/core/types/server-definition.ts";
import { failure, writeServers } from "./files.ts";

const ENV = {
  HOME: "/home/me",
  NAME: "value",
  EMPTY: "",
  HIDDEN: "secret://gcp/x",
  URL: "https://example.com",
  TILDE: "~/x",
};

function define(config: ServerConfig): ServerDefinition {
  const [definition] = parseAgentConfig({ servers: { it: config } }).servers;
  if (definition === undefined) throw new Error("There should be one server.");
  return definition;
}

function argument(value: string): string | undefined {
  const target = resolveTarget(define({ command: "x", args: [value] }), ENV);
  return target.kind === "stdio" ? target.args[0] : undefined;
}

describe("a value", () => {
  it.each([
    ["plain", "plain"],
    ["${NAME}", "value"],
    ["-${NAME}-${NAME}-", "-value-value-"],
    ["${EMPTY}", ""],
    ["${NAME:-other}", "value"],
    ["${EMPTY:-other}", "other"],
    ["${MISSING:-other}", "other"],
    ["${MISSING:-}", ""],
    ["$${NAME}", "${NAME}"],
    ["$NAME $", "$NAME $"],
    // A shell expands a `~` at the beginning of a word, and none that a variable holds.
    ["~/x", "/home/me/x"],
    ["~", "/home/me"],
    ["~/${NAME}", "/home/me/value"],
    ["~other/x", "~other/x"],
    ["--dir=~/x", "--dir=~/x"],
    ["HEAD~", "HEAD~"],
    ["${TILDE}", "~/x"],
  ])("%j expands to %j", (value, expanded) => {
    expect(argument(value)).toBe(expanded);
  });

  it("that is a command may be in the home directory", () => {
    expect(resolveTarget(define({ command: "~/bin/server" }), ENV)).toMatchObject({
      command: "/home/me/bin/server",
    });
  });

  it("is expanded once: a reference inside the value of a variable stays", () => {
    const target = resolveTarget(define({ command: "${A}" }), { A: "${B}", B: "b" });
    expect(target).toMatchObject({ command: "${B}" });
  });

  it("never comes from the prototype of the environment", async () => {
    const error = await failure(() => argument("${constructor}"));
    expect(error.code).toBe("UNRESOLVED_VALUE");
  });
});

describe("a target", () => {
  it("of a command is expanded in every value and in no key", () => {
    const definition = define({
      command: "${NAME}/bin",
      args: ["${NAME}", ""],
      env: { "${NAME}": "${NAME}" },
      cwd: "/${NAME}",
    });
    expect(resolveTarget(definition, ENV)).toEqual({
      kind: "stdio",
      command: "value/bin",
      args: ["value", ""],
      env: { "${NAME}": "value" },
      cwd: "/value",
    });
  });

  it("of a URL is expanded in every value and in no key", () => {
    const definition = define({
      transport: "sse",
      url: "${URL}/${NAME}",
      headers: { "X-NAME": "Bearer ${NAME}" },
      tls: { ca: "~/${NAME}.pem", key: "/abs/key.pem" },
    });
    expect(resolveTarget(definition, ENV)).toEqual({
      kind: "sse",
      url: "https://example.com/value",
      headers: { "X-NAME": "Bearer value" },
      allowInsecure: false,
      allowPrivate: false,
      tls: { ca: "/home/me/value.pem", key: "/abs/key.pem" },
    });
  });

  it("of a URL has its sign-in settings expanded", () => {
    const oauth = {
      clientId: "${NAME}",
      clientSecret: "${MISSING:-none}",
      issuer: "${URL}",
      privateKey: "~/${NAME}.pem",
    };
    expect(resolveTarget(define({ url: "https://example.com", oauth }), ENV)).toMatchObject({
      oauth: {
        clientId: "value",
        clientSecret: "none",
        issuer: "https://example.com",
        privateKey: "/home/me/value.pem",
      },
    });
  });

  it.each([
    [false, false],
    [{}, {}],
    [{ clientId: undefined }, {}],
  ])("of a URL keeps oauth: %j", (oauth, expected) => {
    const target = resolveTarget(define({ url: "https://example.com", oauth }), ENV);
    expect(target).toHaveProperty("oauth", expected);
  });

  it("of a URL has no sign-in settings by default", () => {
    for (const config of [{}, { oauth: true }]) {
      const target = resolveTarget(define({ url: "https://example.com", ...config }), ENV);
      expect(target).toMatchObject({ kind: "remote", oauth: undefined });
    }
  });

  it("finds the private key beside the configuration, unless it is the key itself", async () => {
    const pem = "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----";
    const keys = [
      ["keys/${NAME}.pem", "value.pem"],
      ["${PEM}", pem],
    ];
    for (const [privateKey = "", expected = ""] of keys) {
      const server = JSON.stringify({ url: "https://example.com", oauth: { privateKey } });
      const file = await writeServers(`{ docs: ${server} }`);
      const [definition] = (await loadConfig(file)).servers;
      if (definition === undefined) throw new Error("There should be one server.");
      const path = expected === pem ? pem : join(dirname(file), "keys", expected);
      expect(resolveTarget(definition, { ...ENV, PEM: pem })).toMatchObject({
        oauth: { privateKey: path },
      });
    }
  });

  it("whose oauth needs a variable that is not set says which", async () => {
    const definition = define({
      url: "https://example.com",
      oauth: { clientId: "x", clientSecret: "${MISSING}" },
    });
    const error = await failure(() => resolveTarget(definition, ENV));
    expect(error.code).toBe("UNRESOLVED_VALUE");
    expect(error.message).toBe("oauth.clientSecret needs the variable MISSING, which is not set");
  });

  it.each([
    ["data", "/etc/board/data"],
    ["../data", "/etc/data"],
    [".", "/etc/board"],
    ["${NAME}/x", "/etc/board/value/x"],
    ["${HOME}/x", "/home/me/x"],
    ["~/x", "/home/me/x"],
    ["~", "/home/me"],
    ["~other", "/etc/board/~other"],
    ["/abs", "/abs"],
  ])("has the cwd %s as %s", (cwd, expected) => {
    const definition = define({ command: "x" });
    const target: ServerTarget = {
      kind: "stdio",
      command: "x",
      args: [],
      env: {},
      cwd,
      baseDir: "/etc/board",
    };
    expect(resolveTarget({ ...definition, target }, ENV)).toMatchObject({ cwd: expected });
    expect(resolveTarget({ ...definition, target }, ENV)).not.toHaveProperty("baseDir");
  });

  it("has a cwd relative to its file", async () => {
    const file = await writeServers("{ a: { command: 'x', cwd: './${SUB:-sub}' } }");
    const { servers } = await loadConfig(file);
    expect(servers.map((server) => resolveTarget(server, {}))).toMatchObject([
      { cwd: file.replace("plugboard.json", "sub") },
    ]);
  });

  it("has a relative cwd as it is where there is no file", () => {
    expect(resolveTarget(define({ command: "x", cwd: "data" }), ENV)).toMatchObject({
      cwd: "data",
    });
  });

  it("has the home directory of the caller, of the environment or of the user", () => {
    const definition = define({ command: "x", cwd: "~" });
    expect(resolveTarget(definition, ENV, "/root")).toMatchObject({ cwd: "/root" });
    expect(resolveTarget(definition, ENV)).toMatchObject({ cwd: "/home/me" });
    expect(resolveTarget(definition, {})).toMatchObject({ cwd: homedir() });
  });

  it("is expanded from the environment of the process by default", () => {
    const target = resolveTarget(define({ command: "${PATH}" }));
    expect(target).toMatchObject({ command: process.env["PATH"] });
  });
});

describe("a variable for the server", () => {
  it("may have any name", () => {
    const target = resolveTarget(define({ command: "x", env: { ["__proto__"]: "${NAME}" } }), ENV);
    expect(target.kind === "stdio" && Object.entries(target.env)).toEqual([["__proto__", "value"]]);
  });
});

describe("a variable that is not set", () => {
  it.each<[ServerConfig, string]>([
    [{ command: "${MISSING}" }, "command"],
    [{ command: "x", args: ["a", "${MISSING}"] }, "args[1]"],
    [{ command: "x", env: { TOKEN: "${MISSING}" } }, "env.TOKEN"],
    [{ command: "x", cwd: "${MISSING}" }, "cwd"],
    [{ url: "${MISSING}" }, "url"],
    [{ url: "https://example.com", headers: { "X.Y": "${MISSING}" } }, 'headers["X.Y"]'],
  ])("is named with its server and key: %j", async (config, key) => {
    const error = await failure(() => resolveTarget(define(config), ENV));
    expect(error).toMatchObject({
      code: "UNRESOLVED_VALUE",
      server: "it",
      permanent: true,
      message: `${key} needs the variable MISSING, which is not set`,
      hint: "export MISSING, or give a default with ${MISSING:-…}",
    });
  });
});

describe("the hint for a variable that is not set", () => {
  it.each([
    ["REGION", "export REGION, or give a default with ${REGION:-…}"],
    ["GITHUB_TOKEN", "export GITHUB_TOKEN"],
    ["DB_PASSWORD", "export DB_PASSWORD"],
    ["MY_KEY", "export MY_KEY"],
  ])("names a default only where that is no credential: %s", async (name, hint) => {
    const server = define({ command: "x", env: { A: `\${${name}}` } });
    expect(await failure(() => resolveTarget(server, ENV))).toMatchObject({ hint });
  });
});

describe("a secret reference", () => {
  const VALUES: Record<string, string> = {
    "secret://gcp/x": "hunter2-hunter2",
    "secret://gcp/value-2": "filled-in",
    "op://a vault/an item/a field": "of-1password",
  };
  const secretOf: SecretOf = ({ text }) => VALUES[text] ?? `no ${text}`;

  it.each([
    ["secret://gcp/x", "hunter2-hunter2"],
    ["Bearer ${secret://gcp/x}!", "Bearer hunter2-hunter2!"],
    ["${secret://gcp/x}${op://a vault/an item/a field}", "hunter2-hunter2of-1password"],
    ["op://a vault/an item/a field", "of-1password"],
    ["secret://gcp/${NAME}-2", "filled-in"],
    ["$${secret", "${secret"],
  ])("is replaced by its value: %s", (value, expected) => {
    const config = { command: "x", args: [value], env: { A: value } };
    expect(resolveTarget(define(config), ENV, "/home/me", secretOf)).toMatchObject({
      args: [expected],
      env: { A: expected },
    });
  });

  it("is found wherever a server may have one", () => {
    const reference = "secret://gcp/x";
    const remote = define({
      url: "https://example.com/${secret://gcp/x}",
      headers: { A: "Bearer ${secret://gcp/x}" },
      auth: { type: "api-key", key: reference },
      oauth: { clientId: "x", clientSecret: reference, privateKey: reference },
    });
    const program = define({ command: "x", args: [reference, "y"], env: { A: reference } });
    const keysOf = (definition: ServerDefinition): string[] =>
      secretsNeeded(definition, ENV).map(({ key, reference: { text } }) => {
        expect(text).toBe(reference);
        return key;
      });
    expect(keysOf(remote)).toEqual([
      "url",
      "headers.A",
      "headers.X-API-Key",
      "oauth.clientSecret",
      "oauth.privateKey",
    ]);
    expect(keysOf(program)).toEqual(["args[0]", "env.A"]);
  });

  it("that stands for itself leaves the rest resolved", () => {
    const definition = define({ url: "secret://gcp/x", headers: { A: "${NAME}" } });
    expect(resolveTarget(definition, ENV, undefined, asWritten)).toMatchObject({
      url: "secret://gcp/x",
      headers: { A: "value" },
    });
  });

  it("to a private key is never taken for the path of a file, and is not repeated", async () => {
    const definition = define({
      url: "https://example.com",
      oauth: { clientId: "x", privateKey: "secret://gcp/x" },
    });
    const error = await failure(() => resolveTarget(definition, ENV, undefined, secretOf));
    expect(error).toMatchObject({
      code: "CONFIG_INVALID",
      message: "oauth.privateKey is not a private key in PEM",
    });
  });

  it("cannot be resolved where nobody has the value", async () => {
    const definition = define({ command: "x", env: { A: "secret://gcp/x" } });
    expect(await failure(() => resolveTarget(definition, ENV))).toMatchObject({
      code: "SECRET_UNAVAILABLE",
      server: "it",
      permanent: true,
      message: "env.A: secret://gcp/x cannot be resolved here",
    });
  });

  it.each([
    ["${HIDDEN}"],
    ["${MISSING:-secret://gcp/x}"],
    ["sec${MISSING:-ret}://gcp/x"],
    ["SEC${MISSING:-RET}://gcp/x"],
    ["Bearer ${HIDDEN}"],
  ])("never gets through: %s", async (value) => {
    const definition = define({ command: "x" });
    const target = { kind: "stdio" as const, command: "x", args: [], env: { A: value } };
    const error = await failure(() =>
      resolveTarget({ ...definition, target }, ENV, undefined, secretOf),
    );
    expect(error).toMatchObject({
      code: "UNRESOLVED_VALUE",
      server: "it",
      permanent: true,
      message: "env.A becomes a reference to a secret only with the values of its variables",
      hint: "write the reference itself into the configuration",
    });
  });
});

describe("a value that expansion made unusable", () => {
  it.each<[string, ServerConfig, string]>([
    [
      "no URL",
      { url: "${NAME}" },
      "url is not a URL; expected one such as https://example.com/mcp",
    ],
    [
      "a URL of another kind",
      { url: "${MISSING:-javascript:x}" },
      'url has the scheme "javascript"; expected "https" or "http"',
    ],
    [
      "a header of two lines",
      { url: "https://example.com", headers: { A: "${LINES}" } },
      "headers.A has a line break in it; expected a single line",
    ],
  ])("is refused: %s", async (_, config, message) => {
    const error = await failure(() => resolveTarget(define(config), { ...ENV, LINES: "a\nb" }));
    expect(error).toMatchObject({ code: "CONFIG_INVALID", server: "it", permanent: true, message });
  });

  it("is refused in a definition that was not checked by a schema", async () => {
    const definition = define({ command: "x" });
    const target = { kind: "stdio" as const, command: "${", args: [], env: {} };
    const error = await failure(() => resolveTarget({ ...definition, target }, ENV));
    expect(error).toMatchObject({
      code: "CONFIG_INVALID",
      message: 'command has "${" without a closing "}"',
    });
  });
});
