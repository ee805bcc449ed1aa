import { expect, it } from "vitest";
import type { TraceEntry } from "../../../src/core/types/trace.ts";
import { fixture } from "../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

/** Each line without its time, its id and how long it took. */
function outline(stdout: string): string[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) =>
      line.slice(13).replace(/ #\d+| in [\d.]+ m?s|, pid \d+|after [\d.]+ m?s, /g, ""),
    );
}

it("plugboard trace shows a call from the handshake to the result, of a configured or a typed server", async () => {
  scratch.servers({ echo: fixture("echo"), off: { ...fixture("echo"), enabled: false } });
  const whole = await scratch.run(["trace", "echo", "add", "a=1", "b=2"]);
  expect([whole.code, whole.stderr]).toEqual([0, ""]);
  const lines = outline(whole.stdout);
  expect(lines[0]).toBe("· starting");
  expect(lines[1]).toMatch(/^→ initialize \{"protocolVersion":"2025-11-25"/);
  expect(lines[2]).toMatch(/^← initialize answered \{"protocolVersion":/);
  expect(lines).toContain("· ready protocol 2025-11-25");
  expect(lines.slice(-2)).toEqual([
    '→ tools/call {"name":"add","arguments":{"a":1,"b":2}}',
    '← tools/call answered {"content":[{"type":"text","text":"3"}],"structuredContent":{"sum":3}}',
  ]);

  const { command = "", args = [] } = fixture("echo");
  const failed = await scratch.run(["trace", "--json", "fail", "--", command, ...args]);
  expect(failed.code).toBe(1);
  const entries = failed.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TraceEntry);
  expect(entries.at(-1)).toMatchObject({ kind: "message", answers: "tools/call" });

  const mistakes: [string[], number, string][] = [
    [["trace"], 2, "missing required argument 'server'"],
    [["trace", "ecco"], 2, "did you mean 'echo'?"],
    [["trace", "echo", "ad"], 2, "there is no tool named 'echo/ad'"],
    [["trace", "echo", "add", "a=x"], 2, "a"],
    [["trace", "off"], 3, "'off' is disabled"],
    [["trace", "--", "no-such-program"], 3, "no-such-program"],
  ];
  for (const [words, code, message] of mistakes) {
    const refused = await scratch.run(words);
    expect([words, refused.code, refused.stderr]).toEqual([
      words,
      code,
      expect.stringContaining(message),
    ]);
  }
});

it("without a tool, it follows the gateway that runs, or a server of its own, until it is interrupted", async () => {
  const secret = "s3cr3t-of-the-server";
  scratch.servers({ echo: { ...fixture("echo"), env: { API_TOKEN: secret } } });
  const own = scratch.start(["trace", "echo"]);
  await own.stderr.until(
    "This command has started echo for itself, and sees only its own calls, since no gateway is running",
  );
  own.events.emit("SIGINT");
  expect((await own.done).code).toBe(0);

  const up = await scratch.up();
  const unknown = await scratch.run(["trace", "ecco"]);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringContaining("did you mean 'echo'?"),
  ]);
  const stderr = new Sink({ columns: 200, rows: 24 });
  const trace = scratch.start(["trace", "echo"], { stderr });
  await stderr.until("Press Ctrl-C to stop.");
  const called = await scratch.run(["call", "echo/echo", `text=${secret}`]);
  expect(called).toMatchObject({ code: 0, stdout: "[REDACTED]\n" });
  await trace.stdout.until('"text":"[REDACTED]"}]}');
  trace.events.emit("SIGINT");
  const { code, stdout } = await trace.done;
  expect(code).toBe(0);
  expect(outline(stdout)).toContainEqual(expect.stringMatching(/^→ tools\/call /));
  expect(stdout).not.toContain(secret);

  const orphan = scratch.start(["trace", "echo", "--json"]);
  await orphan.stderr.until("Press Ctrl-C to stop.");
  up.events.emit("SIGTERM");
  await up.done;
  const gone = await orphan.done;
  expect(gone.code).toBe(3);
  expect(gone.stderr).toContain("the gateway has stopped");
});
