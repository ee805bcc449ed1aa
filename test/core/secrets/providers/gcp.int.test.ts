import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { GcpSettings, SecretProvider } from "../../../../src/core/types/secret-provider.ts";
import { createGcpProvider } from "../../../../src/core/secrets/providers/gcp.ts";
import { Listener } from "../../../fixtures/http/listener.ts";
import { type GcpService, startGcpService, STATUS } from "../../../fixtures/secrets/gcp-service.ts";
import { eventually } from "../../../support/processes.ts";
import {
  failureOf,
  openSockets,
  openSurroundings,
  type SurroundingsOptions,
  type TestSurroundings,
  valueOf,
} from "../surroundings.ts";
import { reference } from "../programs.ts";

let around: TestSurroundings | undefined;
let provider: SecretProvider | undefined;

async function open(
  settings: GcpSettings,
  options: SurroundingsOptions = {},
): Promise<SecretProvider> {
  around = await openSurroundings(options);
  provider = createGcpProvider(settings, around);
  return provider;
}

afterEach(async () => {
  await provider?.close?.();
  await around?.close();
  provider = undefined;
  around = undefined;
});

const never = new AbortController().signal;

describe("with the client library", () => {
  let service: GcpService;
  let own: TestSurroundings;
  /** Shared by most tests: the library takes a while to make a client. */
  let gcp: SecretProvider;
  let sockets = 0;

  beforeAll(async () => {
    sockets = openSockets();
    service = await startGcpService();
    service.secrets.set("projects/home/secrets/linkedin-password", ["first", "second"]);
    service.secrets.set("projects/home/secrets/with-newline", ["typed with echo\n"]);
    service.secrets.set("projects/home/secrets/umlaut", ["grün\nzwei"]);
    service.secrets.set("projects/home/secrets/disabled", ["(disabled)"]);
    service.secrets.set("projects/home/secrets/binary", [Uint8Array.of(0xff, 0xfe, 0x80)]);
    service.secrets.set("projects/other/secrets/token", ["elsewhere"]);
    service.secrets.set("projects/other/locations/europe-west3/secrets/token", ["regional"]);
    own = await openSurroundings();
    gcp = createGcpProvider({ project: "home", endpoint: service.endpoint }, own);
  });

  beforeEach(() => {
    Object.assign(service, { requests: [], failure: undefined, silent: false, cancelled: 0 });
  });

  afterAll(async () => {
    await gcp.close?.();
    await own.close();
    // The service's own sockets end with those of its clients.
    await eventually(() => openSockets() <= sockets);
    await service.close();
  });

  it.each([
    ["secret://gcp/linkedin-password", "second"],
    ["secret://gcp/linkedin-password#1", "first"],
    ["secret://gcp/linkedin-password#latest", "second"],
    ["secret://gcp/projects/other/secrets/token", "elsewhere"],
    ["secret://gcp/projects/home/secrets/linkedin-password/versions/1", "first"],
    ["secret://gcp/projects/home/secrets/linkedin-password#1", "first"],
    ["secret://gcp/projects/other/locations/europe-west3/secrets/token", "regional"],
    ["secret://gcp/with-newline", "typed with echo"],
    ["secret://gcp/umlaut", "grün\nzwei"],
  ])("%s is %j", async (text, value) => {
    expect(await valueOf(gcp, text)).toBe(value);
    // No credentials go over plain text.
    expect(service.requests).toMatchObject([{ method: "AccessSecretVersion", authorization: [] }]);
    expect(service.requests[0]?.routing).toBe(
      `name=${encodeURIComponent(service.requests[0]?.name ?? "")}`,
    );
  });

  it.each(["GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"])("%s names the project", async (variable) => {
    const other = await open({ endpoint: service.endpoint }, { env: { [variable]: "other" } });
    expect(await valueOf(other, "secret://gcp/token")).toBe("elsewhere");
  });

  describe("where nothing names the project", () => {
    const metadata = new Listener(async (request, response) => {
      const isKnown = request.url === "/computeMetadata/v1/project/project-id" && knowsProject;
      response.writeHead(isKnown ? 200 : 404, { "metadata-flavor": "Google" }).end("other");
    });
    let knowsProject = false;
    let earlier: string | undefined;

    beforeEach(async () => {
      await metadata.listen();
      earlier = process.env["GCE_METADATA_HOST"];
      process.env["GCE_METADATA_HOST"] = `127.0.0.1:${metadata.port}`;
    });

    afterEach(async () => {
      process.env["GCE_METADATA_HOST"] = earlier;
      await metadata.close();
    });

    it("the library finds it, as on a machine of Google's", async () => {
      knowsProject = true;
      const other = await open({ endpoint: service.endpoint });
      expect(await valueOf(other, "secret://gcp/token")).toBe("elsewhere");
    });

    it("the error says how to name it", async () => {
      knowsProject = false;
      const other = await open({ endpoint: service.endpoint });
      expect(await failureOf(other, "secret://gcp/token")).toEqual({
        code: "SECRET_UNAVAILABLE",
        message: "it does not say which project the secret is in",
        hint: expect.stringContaining("secrets.gcp.project or GOOGLE_CLOUD_PROJECT"),
        permanent: true,
      });
    });
  });

  it.each([
    [
      "a name that is not there",
      "secret://gcp/linkedin-pasword",
      "there is no secret linkedin-pasword (version latest) of project home: Secret [projects/home/secrets/linkedin-pasword] not found or has no versions.",
    ],
    [
      "a version that is not there",
      "secret://gcp/linkedin-password#9",
      "there is no secret linkedin-password (version 9) of project home: ",
    ],
    [
      "a disabled version",
      "secret://gcp/disabled",
      "the secret disabled (version latest) of project home is disabled or destroyed: ",
    ],
    ["bytes that are no text", "secret://gcp/binary", "the value is binary data, not text"],
    ["a name with a slash", "secret://gcp/a/b", "it is not the name of a Google Cloud secret"],
    [
      "two versions",
      "secret://gcp/projects/home/secrets/a/versions/1#2",
      "it is not the name of a Google Cloud secret",
    ],
    [
      "a version that is an option",
      "secret://gcp/a#--help",
      "it is not the name of a Google Cloud secret",
    ],
  ])("%s does not pass", async (_, text, message) => {
    const failure = await failureOf(gcp, text);
    expect(failure.message).toContain(message);
    expect(failure).toMatchObject({ code: "SECRET_UNAVAILABLE", permanent: true });
  });

  it.each([
    [STATUS.PERMISSION_DENIED, true, "these credentials may not read the secret linkedin-password"],
    [STATUS.UNAUTHENTICATED, true, "Google Cloud does not accept the credentials"],
    [STATUS.RESOURCE_EXHAUSTED, false, "Google Cloud cannot answer now"],
    [STATUS.UNAVAILABLE, false, "Google Cloud cannot answer now"],
  ])("status %i: permanent %s, %s", async (code, permanent, message) => {
    service.failure = { code, details: "what the service says" };
    const failure = await failureOf(gcp, "secret://gcp/linkedin-password");
    expect(failure.message).toContain(message);
    expect(failure.message).toContain("what the service says");
    expect(failure.permanent).toBe(permanent);
    expect(service.requests).toHaveLength(1);
    service.failure = undefined;
    expect(await valueOf(gcp, "secret://gcp/linkedin-password")).toBe("second");
  });

  it("a hundred secrets are asked for at once", async () => {
    const names = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    for (const name of names) service.secrets.set(`projects/home/secrets/${name}`, [name]);
    service.together.count = names.length;
    const values = await Promise.all(names.map((name) => valueOf(gcp, `secret://gcp/${name}`)));
    service.together.count = 0;
    expect(values).toEqual(names);
    expect(service.requests).toHaveLength(names.length);
  });

  it("a service that cannot be reached may come back", async () => {
    const away = await open({ project: "home", endpoint: "127.0.0.1:9" });
    expect(await failureOf(away, "secret://gcp/linkedin-password")).toMatchObject({
      message: expect.stringContaining("Google Cloud cannot answer now"),
      permanent: false,
    });
  });

  it("a call that nobody waits for is cancelled at the service", async () => {
    service.silent = true;
    const controller = new AbortController();
    const failure = failureOf(gcp, "secret://gcp/linkedin-password", controller.signal);
    await eventually(() => service.requests.length === 1);
    controller.abort();
    expect(await failure).toMatchObject({ code: "CANCELLED" });
    await eventually(() => service.cancelled === 1);
  });

  it("stores a value as a new secret, and then as a new version of it", async () => {
    const stored = await gcp.store?.("github.GITHUB_TOKEN", "one", { signal: never });
    expect(gcp.place?.("github.GITHUB_TOKEN")).toEqual(stored);
    expect(stored).toEqual(reference("secret://gcp/github-GITHUB_TOKEN"));
    await gcp.store?.("github.GITHUB_TOKEN", "two", { signal: never });
    expect(await valueOf(gcp, "secret://gcp/github-GITHUB_TOKEN#1")).toBe("one");
    expect(await valueOf(gcp, "secret://gcp/github-GITHUB_TOKEN")).toBe("two");
  });

  it("without credentials it says how to get some, and the process goes on", async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): number => rejections.push(reason);
    process.on("unhandledRejection", onRejection);
    // Not this machine, so that it needs credentials. Nothing is sent before it has some.
    const away = await open({ project: "home", endpoint: "secretmanager.invalid:1" });
    const failure = await failureOf(away, "secret://gcp/linkedin-password");
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", onRejection);
    expect(failure).toMatchObject({
      message: expect.stringContaining("there are no usable Google Cloud credentials"),
      hint: expect.stringContaining("gcloud auth application-default login"),
      permanent: true,
    });
    expect(rejections).toEqual([]);
  });

  it("gcloud answers, and that is told, where the library cannot reach the service", async () => {
    const away = await open(
      { project: "home", endpoint: "secretmanager.invalid:1" },
      { withTools: true },
    );
    const file = join(around?.homedir ?? "", "gcloud.json");
    const secrets = { "home/token": [Buffer.from("of the program").toString("base64")] };
    await writeFile(file, JSON.stringify({ secrets }));
    Object.assign(around?.env ?? {}, { FAKE_GCLOUD: file });
    expect(await valueOf(away, "secret://gcp/token")).toBe("of the program");
    expect(around?.told).toEqual([
      expect.stringMatching(/^gcloud answered in place of .*: there are no usable Google Cloud/),
    ]);
  });
});

describe("without the client library", () => {
  const settings: GcpSettings = { project: "home" };
  const home = (): string => around?.homedir ?? "";

  async function openWithTool(
    state: object,
    given: GcpSettings = settings,
  ): Promise<SecretProvider> {
    const gcp = await open(given, { withoutPackages: true, withTools: true });
    const file = join(home(), "gcloud.json");
    await writeFile(file, JSON.stringify({ secrets: {}, ...state }));
    Object.assign(around?.env ?? {}, { FAKE_GCLOUD: file });
    return gcp;
  }

  async function calls(): Promise<string[][]> {
    return JSON.parse(await readFile(join(home(), "gcloud.json"), "utf8")).calls;
  }

  function encoded(...values: (string | Uint8Array)[]): string[] {
    return values.map((value) => Buffer.from(value).toString("base64"));
  }

  it("gcloud gives the value", async () => {
    const gcp = await openWithTool({ secrets: { "home/a": encoded("first", "zwölf\n") } });
    expect(await valueOf(gcp, "secret://gcp/a")).toBe("zwölf");
    expect(await valueOf(gcp, "secret://gcp/projects/home/secrets/a#1")).toBe("first");
    expect(await calls()).toEqual([
      [
        "secrets",
        "versions",
        "access",
        "latest",
        "--secret=a",
        "--project=home",
        "--format=get(payload.data)",
        "--quiet",
      ],
      [
        "secrets",
        "versions",
        "access",
        "1",
        "--secret=a",
        "--project=home",
        "--format=get(payload.data)",
        "--quiet",
      ],
    ]);
  });

  it("leaves the project to gcloud where nothing names it", async () => {
    const gcp = await openWithTool(
      { project: "of-gcloud", secrets: { "of-gcloud/a": encoded("x") } },
      {},
    );
    expect(await valueOf(gcp, "secret://gcp/a")).toBe("x");
  });

  it.each([
    [
      "a missing secret",
      {},
      true,
      "gcloud failed: ERROR: (gcloud.secrets.versions.access) NOT_FOUND: Secret [projects/home/secrets/a] not found",
    ],
    [
      "nobody is signed in",
      {
        stderr:
          "You do not currently have an active account selected. Please run:\n\n  $ gcloud auth login",
      },
      true,
      "gcloud failed: You do not currently have",
    ],
    [
      "no network",
      { stderr: "ERROR: gcloud crashed (ConnectionError)" },
      false,
      "gcloud failed: ERROR: gcloud crashed",
    ],
    [
      "binary",
      { secrets: { "home/a": encoded(Uint8Array.of(0xff, 0)) } },
      true,
      "the value is binary data",
    ],
  ])("%s: %j, permanent %s", async (_, state, permanent, message) => {
    const gcp = await openWithTool(state);
    const failure = await failureOf(gcp, "secret://gcp/a");
    expect(failure.message).toContain(message);
    expect(failure.permanent).toBe(permanent);
  });

  it("a gcloud that hangs is ended with the wait for it", async () => {
    const gcp = await openWithTool({ hangs: true });
    const controller = new AbortController();
    const failure = failureOf(gcp, "secret://gcp/a", controller.signal);
    controller.abort();
    expect(await failure).toMatchObject({ code: "CANCELLED" });
  });

  it("stores a value through gcloud's stdin", async () => {
    const gcp = await openWithTool({});
    for (const value of ["one", "two"]) await gcp.store?.("a", value, { signal: never });
    expect(await valueOf(gcp, "secret://gcp/a#1")).toBe("one");
    expect(await valueOf(gcp, "secret://gcp/a")).toBe("two");
    const words = (await calls()).flat();
    expect(words).not.toContain("one");
    expect(words).not.toContain("two");
  });

  it("with neither, the error is the command to run", async () => {
    const gcp = await open(settings, { withoutPackages: true });
    expect(await failureOf(gcp, "secret://gcp/a")).toEqual({
      code: "SECRET_UNAVAILABLE",
      message:
        "the package @google-cloud/secret-manager is not installed, and there is no gcloud on the PATH",
      hint: "install it (with -g if Plugboard was installed with -g): npm install @google-cloud/secret-manager@6.3.0",
      permanent: true,
    });
  });
});
