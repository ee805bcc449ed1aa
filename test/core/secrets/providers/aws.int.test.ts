import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AwsSettings, SecretProvider } from "../../../../src/core/types/secret-provider.ts";
import { createAwsProvider } from "../../../../src/core/secrets/providers/aws.ts";
import { type AwsService, startAwsService } from "../../../fixtures/secrets/aws-service.ts";
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

let around: TestSurroundings;
let sockets = 0;
let provider: SecretProvider | undefined;

async function open(
  settings: AwsSettings,
  options: SurroundingsOptions = {},
): Promise<SecretProvider> {
  around = await openSurroundings(options);
  provider = createAwsProvider(settings, around);
  return provider;
}

beforeEach(() => {
  sockets = openSockets();
});

afterEach(async () => {
  await provider?.close?.();
  provider = undefined;
  await around.close();
  await eventually(() => openSockets() <= sockets);
});

const never = new AbortController().signal;
const ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf";

describe("with the SDK", () => {
  let service: AwsService;
  const credentials = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "key" };

  beforeEach(async () => {
    service = await startAwsService("eu-central-1");
    service.secrets
      .set("prod/db", {
        SecretString: JSON.stringify({ user: "app", password: "pässword", port: 5432, tls: {} }),
      })
      .set(ARN, { SecretString: "by ARN" })
      .set("token", { SecretString: "whole\n" })
      .set("bytes", { SecretBinary: Buffer.from("from bytes").toString("base64") })
      .set("binary", { SecretBinary: Buffer.from([0xff, 0x00]).toString("base64") })
      .set("empty", { SecretString: "" });
  });

  afterEach(() => service.close());

  function openHere(env: Record<string, string> = credentials, settings: AwsSettings = {}) {
    return open({ region: "eu-central-1", endpoint: service.endpoint, ...settings }, { env });
  }

  it.each([
    ["secret://aws/token", "whole"],
    ["secret://aws/prod/db#password", "pässword"],
    ["secret://aws/prod/db#port", "5432"],
    ["secret://aws/prod/db#tls", "{}"],
    [`secret://aws/${ARN}`, "by ARN"],
    ["secret://aws/bytes", "from bytes"],
    // Whether a value may be empty is decided for all providers at once.
    ["secret://aws/empty", ""],
  ])("%s is %j", async (text, value) => {
    expect(await valueOf(await openHere(), text)).toBe(value);
    expect(service.requests).toMatchObject([
      { operation: "GetSecretValue", region: "eu-central-1" },
    ]);
  });

  it("an ARN names its region, whatever the configured one is", async () => {
    const aws = await openHere(credentials, { region: "us-east-1" });
    expect(await valueOf(aws, `secret://aws/${ARN}`)).toBe("by ARN");
    expect(service.requests[0]?.region).toBe("eu-central-1");
  });

  it("takes region, credentials and endpoint from the variables of the SDK", async () => {
    const env = {
      ...credentials,
      AWS_REGION: "eu-central-1",
      AWS_SESSION_TOKEN: "session",
      AWS_ENDPOINT_URL_SECRETS_MANAGER: service.endpoint,
    };
    expect(await valueOf(await open({}, { env }), "secret://aws/token")).toBe("whole");
    expect(service.requests[0]?.token).toBe("session");
  });

  it.each([
    [
      "a name that is not there",
      "secret://aws/tokn",
      "there is no secret tokn in eu-central-1: Secrets Manager can't find the specified secret.",
    ],
    [
      "a key that is not there",
      "secret://aws/prod/db#pasword",
      'there is no key "pasword"; the keys are "user", "password", "port", "tls"',
    ],
    [
      "a key of a text",
      "secret://aws/token#key",
      'the value is not a JSON object, so it has no key "key"',
    ],
    ["bytes that are no text", "secret://aws/binary", "the value is binary data, not text"],
  ])("%s does not pass", async (_, text, message) => {
    const failure = await failureOf(await openHere(), text);
    expect(failure.message).toBe(message);
    expect(failure).toMatchObject({ code: "SECRET_UNAVAILABLE", permanent: true });
    expect(failure.message).not.toContain("pässword");
  });

  it("the wrong region is named", async () => {
    const aws = await openHere(credentials, { region: "us-east-1" });
    expect(await failureOf(aws, "secret://aws/token")).toMatchObject({
      message: expect.stringContaining("there is no secret token in us-east-1"),
      hint: expect.stringContaining("secrets.aws.region"),
    });
  });

  it("an expired token says to sign in again", async () => {
    const aws = await openHere({ ...credentials, AWS_SESSION_TOKEN: "expired" });
    expect(await failureOf(aws, "secret://aws/token")).toEqual({
      code: "SECRET_UNAVAILABLE",
      message:
        "AWS does not accept the credentials: The security token included in the request is expired",
      hint: "sign in again, such as with aws sso login",
      permanent: true,
    });
  });

  it("credentials that may not read it name the permission", async () => {
    const aws = await openHere();
    service.failures.push({
      status: 400,
      type: "AccessDeniedException",
      message: "User is not authorized",
    });
    expect(await failureOf(aws, "secret://aws/token")).toMatchObject({
      message:
        "these credentials may not read the secret token in eu-central-1: User is not authorized",
      hint: expect.stringContaining("secretsmanager:GetSecretValue"),
      permanent: true,
    });
  });

  it("a secret that is being deleted does not pass", async () => {
    const aws = await openHere();
    service.failures.push({
      status: 400,
      type: "InvalidRequestException",
      message: "marked for deletion",
    });
    expect(await failureOf(aws, "secret://aws/token")).toMatchObject({
      message:
        "AWS refuses to give the secret token in eu-central-1 (InvalidRequestException): marked for deletion",
      permanent: true,
    });
  });

  it.each([
    { status: 400, type: "ThrottlingException", message: "Rate exceeded" },
    { status: 500, type: "InternalServiceError", message: "An error occurred on the server side." },
  ])("$type is tried again by the SDK, and then may pass", async (failure) => {
    const aws = await openHere();
    service.failures.push(failure);
    expect(await valueOf(aws, "secret://aws/token")).toBe("whole");
    service.failures.push(failure, failure, failure);
    expect(await failureOf(aws, "secret://aws/token")).toMatchObject({
      message: `AWS cannot answer now: ${failure.message}`,
      permanent: false,
    });
  });

  it("an answer that cannot be read is not repeated: it may hold the value", async () => {
    const aws = await openHere();
    service.raw = '{"SecretString": "hunter2hunter2';
    const failure = await aws
      .resolve(reference("secret://aws/token"), { signal: never })
      .catch((error: unknown) => inspect(error, { depth: Infinity, showHidden: true }));
    expect(failure).toContain("AWS sent an answer that cannot be read");
    expect(failure).not.toContain("hunter2");
  });

  it("a hundred secrets are asked for at once", async () => {
    const names = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    for (const name of names) service.secrets.set(name, { SecretString: name });
    service.together.count = names.length;
    const aws = await openHere();
    const values = await Promise.all(names.map((name) => valueOf(aws, `secret://aws/${name}`)));
    expect(values).toEqual(names);
    expect(service.requests).toHaveLength(names.length);
  });

  it("a service that cannot be reached may come back", async () => {
    const aws = await openHere();
    await service.close();
    const failure = await failureOf(aws, "secret://aws/token");
    expect(failure.message).toContain("AWS cannot answer now");
    expect(failure.permanent).toBe(false);
  });

  it("a request that nobody waits for is dropped", async () => {
    const aws = await openHere();
    service.silent = true;
    const controller = new AbortController();
    const failure = failureOf(aws, "secret://aws/token", controller.signal);
    await eventually(() => service.requests.length === 1);
    controller.abort();
    expect(await failure).toMatchObject({ code: "CANCELLED" });
    await eventually(() => service.dropped === 1);
  });

  it("without credentials it says how to get some", async () => {
    const failure = await failureOf(await openHere({}), "secret://aws/token");
    expect(failure).toMatchObject({
      hint: expect.stringContaining("aws configure"),
      permanent: true,
    });
    expect(failure.message).toContain("there are no AWS credentials");
    expect(service.requests).toEqual([]);
  });

  it("aws answers, and that is told, where the SDK cannot reach the service", async () => {
    const aws = await open(
      { region: "eu-west-1", endpoint: service.endpoint },
      { env: { AWS_EC2_METADATA_DISABLED: "true" }, withTools: true },
    );
    const file = join(around.homedir, "aws.json");
    const secrets = { "eu-west-1/token": { SecretString: "of the program" } };
    await writeFile(file, JSON.stringify({ secrets }));
    (around.env as Record<string, string>)["FAKE_AWS"] = file;
    expect(await valueOf(aws, "secret://aws/token")).toBe("of the program");
    expect(around.told).toEqual([
      expect.stringMatching(
        /^aws answered in place of the package @aws-sdk\/client-secrets-manager: there are no AWS credentials/,
      ),
    ]);
  });

  it("without a region it says how to name one", async () => {
    const aws = await open({ endpoint: service.endpoint }, { env: credentials });
    expect(await failureOf(aws, "secret://aws/token")).toMatchObject({
      hint: "set secrets.aws.region or AWS_REGION",
      permanent: true,
    });
  });

  it("a profile that is not there is told, and no other credentials are taken", async () => {
    const aws = await openHere(credentials, { profile: "work" });
    const failure = await failureOf(aws, "secret://aws/token");
    expect(failure.message).toContain("there are no AWS credentials for the profile work");
    expect(failure.hint).toContain("secrets.aws.profile");
    expect(service.requests).toEqual([]);
  });

  it("stores a value as a new secret, and then as its new value", async () => {
    const aws = await openHere();
    const stored = await aws.store?.("plugboard/github GITHUB_TOKEN", "one", { signal: never });
    expect(aws.place?.("plugboard/github GITHUB_TOKEN")).toEqual(stored);
    expect(stored).toEqual(reference("secret://aws/plugboard/github-GITHUB_TOKEN"));
    await aws.store?.("plugboard/github GITHUB_TOKEN", "two", { signal: never });
    expect(await valueOf(aws, stored?.text ?? "")).toBe("two");
    expect(service.requests.map(({ operation }) => operation)).toEqual([
      "CreateSecret",
      "CreateSecret",
      "PutSecretValue",
      "GetSecretValue",
    ]);
  });
});

describe("without the SDK", () => {
  async function openWithTool(state: object, settings: AwsSettings = {}): Promise<SecretProvider> {
    const aws = await open(settings, { withoutPackages: true, withTools: true });
    const file = join(around.homedir, "aws.json");
    await writeFile(file, JSON.stringify({ region: "us-east-1", secrets: {}, ...state }));
    (around.env as Record<string, string>)["FAKE_AWS"] = file;
    return aws;
  }

  async function calls(): Promise<string[][]> {
    return JSON.parse(await readFile(join(around.homedir, "aws.json"), "utf8")).calls;
  }

  it("aws gives the value", async () => {
    const secrets = {
      "eu-west-1/prod/db": { SecretString: '{"password":"x"}' },
      "eu-west-1/bytes": { SecretBinary: Buffer.from("from bytes").toString("base64") },
    };
    const aws = await openWithTool(
      { secrets },
      { region: "eu-west-1", profile: "work", endpoint: "https://aws.example" },
    );
    expect(await valueOf(aws, "secret://aws/prod/db#password")).toBe("x");
    expect(await valueOf(aws, "secret://aws/bytes")).toBe("from bytes");
    expect((await calls())[0]).toEqual([
      "secretsmanager",
      "get-secret-value",
      "--secret-id=prod/db",
      "--output",
      "json",
      "--region=eu-west-1",
      "--profile",
      "work",
      "--endpoint-url",
      "https://aws.example",
    ]);
  });

  it.each([
    [
      "a missing secret",
      {},
      true,
      "aws failed: An error occurred (ResourceNotFoundException) when calling the GetSecretValue operation",
    ],
    [
      "no credentials",
      {
        stderr:
          'Unable to locate credentials. You can configure credentials by running "aws configure".',
      },
      true,
      "aws failed: Unable to locate credentials",
    ],
    [
      "no network",
      {
        stderr:
          'Could not connect to the endpoint URL: "https://secretsmanager.us-east-1.amazonaws.com/"',
      },
      false,
      "aws failed: Could not connect",
    ],
  ])("%s: %j, permanent %s", async (_, state, permanent, message) => {
    const failure = await failureOf(await openWithTool(state), "secret://aws/a");
    expect(failure.message).toContain(message);
    expect(failure.permanent).toBe(permanent);
  });

  it("a value is not stored through aws, which would have it among its arguments", async () => {
    const aws = await openWithTool({});
    await expect(aws.store?.("a", "value", { signal: never })).rejects.toMatchObject({
      code: "SECRET_UNAVAILABLE",
      message: "storing a value needs the package @aws-sdk/client-secrets-manager",
      hint: expect.stringContaining("npm install @aws-sdk/client-secrets-manager@3"),
    });
  });

  it("with neither, the error is the command to run", async () => {
    const aws = await open({}, { withoutPackages: true });
    expect(await failureOf(aws, "secret://aws/a")).toEqual({
      code: "SECRET_UNAVAILABLE",
      message:
        "the package @aws-sdk/client-secrets-manager is not installed, and there is no aws on the PATH",
      hint: "install it (with -g if Plugboard was installed with -g): npm install @aws-sdk/client-secrets-manager@3",
      permanent: true,
    });
  });
});
