import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ExecHelper } from "../../../../src/core/types/secret-provider.ts";
import { createExecProvider } from "../../../../src/core/secrets/providers/exec.ts";
import { context, failureOf, fakePrograms, reference, surroundings } from "../programs.ts";

async function resolve(
  script: string,
  text: string,
  helper: Partial<ExecHelper> = {},
): Promise<string> {
  const directory = await fakePrograms({ helper: script });
  const command = join(directory, "helper");
  const provider = createExecProvider({ pass: { command, ...helper } }, surroundings(directory));
  return provider.resolve(reference(text), context());
}

describe("a helper", () => {
  it("gets the id as its last argument, and its output is the value", async () => {
    const script = 'printf "%s/" "$@"';
    expect(await resolve(script, "secret://exec/pass/team/a b", { args: ["show", "-1"] })).toBe(
      "show/-1/team/a b/",
    );
  });

  it("may print a newline at the end, or JSON of which one key is wanted", async () => {
    expect(await resolve("echo value", "secret://exec/pass/x")).toBe("value");
    expect(await resolve(`echo '{ "a": "b" }'`, "secret://exec/pass/x#a")).toBe("b");
  });

  it("may be asked in JSON on its stdin, as OpenClaw asks", async () => {
    const script = `read -r line
case "$line" in
  '{"protocolVersion":1,"provider":"pass","ids":["a/b"]}') ;;
  *) exit 9 ;;
esac
echo '{ "protocolVersion": 1, "values": { "a/b": "the value" } }'`;
    expect(await resolve(script, "secret://exec/pass/a/b", { protocol: "json" })).toBe("the value");
  });

  it.each<[string, string, Partial<ExecHelper>, object]>([
    [
      "echo hunter2-hunter2 >&2; echo hunter2-hunter2; exit 2",
      "secret://exec/pass/x",
      {},
      {
        message: "the helper 'pass' ended with code 2",
        hint: "run it yourself to see why: what it says may contain a secret, so it is not shown",
        permanent: false,
      },
    ],
    [
      "echo",
      "secret://exec/pass/x",
      { command: "/no/such/helper" },
      {
        message: "the helper 'pass' is not there",
        hint: "there is no program /no/such/helper: check secrets.exec.pass.command",
        permanent: true,
      },
    ],
    [
      "",
      "secret://exec/pass/x",
      { command: "/etc/passwd" },
      {
        message: "the helper 'pass' cannot be started: the program is not executable",
        hint: "check /etc/passwd: it must be a program that you may run (chmod +x)",
        permanent: true,
      },
    ],
    [
      "printf '\\377\\376'",
      "secret://exec/pass/x",
      {},
      { message: "the value is binary data, not text", permanent: true },
    ],
    [
      "head -c 1100000 /dev/zero",
      "secret://exec/pass/x",
      {},
      { message: expect.stringMatching(/^the helper 'pass' printed more than 1/), permanent: true },
    ],
    [
      "echo hunter2-hunter2",
      "secret://exec/pass/x#key",
      {},
      { message: 'the value is not a JSON object, so it has no key "key"' },
    ],
    [
      "echo",
      "secret://exec/pass/--help",
      {},
      { message: 'an id that begins with "-" would be an option of the helper' },
    ],
    ["echo", "secret://exec/pass", {}, { message: "expected secret://exec/<helper>/<id>" }],
    [
      "echo",
      "secret://exec/passs/x",
      {},
      {
        message: "there is no helper named 'passs' in secrets.exec",
        hint: "did you mean 'pass'?",
        permanent: true,
      },
    ],
    [
      `echo '{ "errors": { "x": { "message": "no such id" } } }'`,
      "secret://exec/pass/x",
      { protocol: "json" },
      { message: "the helper 'pass' says: no such id" },
    ],
    [
      "echo hunter2-hunter2",
      "secret://exec/pass/x",
      { protocol: "json" },
      { message: "the helper 'pass' gave no value for this id" },
    ],
  ])("that does %j gives no value for %s", async (script, text, helper, expected) => {
    const error = await failureOf(resolve(script, text, helper));
    expect(error).toMatchObject({ code: "SECRET_UNAVAILABLE", ...expected });
    expect(JSON.stringify([error.message, error.hint, String(error.cause)])).not.toContain(
      "hunter2",
    );
  });
});
