import { appendFile, mkdir, rename, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { AuditLog } from "../../../../src/core/guard/audit/audit-log.ts";
import type { AuditLine } from "../../../../src/core/types/audit-entry.ts";
import { toLine } from "../../../../src/core/guard/audit/record.ts";
import type { ReadAuditOptions } from "../../../../src/core/types/shared-state.ts";
import { auditIn } from "../../../../src/core/state/files/audit-file.ts";
import { readAudit } from "../../../../src/core/state/files/read-audit.ts";
import { type Clock, systemClock } from "../../../../src/util/clock.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { record, Starts } from "../../guard/audit/records.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

let directory: string;
let file: string;

beforeEach(() => {
  directory = temporaryDirectory();
  file = join(directory, "audit.jsonl");
});

const line = (tool: string): string => toLine(record({ tool }));
const rotated = (at: number): string => join(directory, `audit.${at}.jsonl`);
const toolOf = (each: AuditLine): string =>
  each.type === "lost" ? `lost ${each.count}` : (each.tool ?? "");

async function read(options: Partial<ReadAuditOptions> = {}): Promise<string[]> {
  const tools: string[] = [];
  for await (const each of readAudit(file, systemClock, options)) tools.push(toolOf(each));
  return tools;
}

describe("readAudit", () => {
  it("finds nothing where there is no file", async () => {
    expect(await read()).toEqual([]);
  });

  it("reads from the oldest file to the current one", async () => {
    await writeFile(rotated(3), line("a"));
    await writeFile(rotated(1), line("b") + line("c"));
    await writeFile(file, line("d"));
    expect(await read()).toEqual(["a", "b", "c", "d"]);
  });

  it("ignores what is no line of an audit", async () => {
    const call = JSON.parse(line("x")) as Record<string, unknown>;
    const odd = [
      "",
      "{",
      "5",
      "null",
      "{}",
      JSON.stringify({ ...call, time: 5 }),
      JSON.stringify({ ...call, type: "other" }),
      JSON.stringify({ ...call, tool: undefined }),
      JSON.stringify({ ...call, time: "\u{1b}[2J" }),
      ...["5", -5, null].map((bytes) => JSON.stringify({ ...call, bytes })),
      JSON.stringify(call).replace(/"durationMs":[\d.]+/, '"durationMs":1e999'),
      ...["caller", "session", "rule"].map((key) => JSON.stringify({ ...call, [key]: { a: 1 } })),
      JSON.stringify({ ...call, arguments: [1] }),
      JSON.stringify({ ...call, type: "suspicious", patterns: [5] }),
      JSON.stringify({ type: "lost", time: "2026-11-15T11:00:00.000Z" }),
      "x".repeat(3 * 1024 * 1024),
    ];
    const lost = '{"type":"lost","time":"2026-11-15T11:00:00.000Z","count":2}\n';
    await writeFile(file, `${line("a")}${odd.join("\n")}\n${lost}${line("é".repeat(9))}{"torn`);
    let damaged = 0;
    const onDamage = (): void => void (damaged += 1);
    expect(await read({ onDamage })).toEqual(["a", "lost 2", "é".repeat(9)]);
    // The empty line is none, and the half one at the end is.
    expect(damaged).toBe(odd.length);
  });

  it("gives calls that started and never ended, in their place", async () => {
    const starts = new Starts();
    const start = (tool: string) => starts.start({ tool });
    const end = (tool: string) => toLine(record({ tool: `${tool} ended` }), starts.idOf(tool));
    await writeFile(rotated(1), start("a") + start("b") + line("c") + end("b") + start("d"));
    await writeFile(file, end("d") + start("e") + end("gone"));
    expect(await read()).toEqual(["a", "c", "b ended", "d ended", "e", "gone ended"]);
    expect(await read({ last: 2 })).toEqual(["e", "gone ended"]);
    const many = Array.from({ length: 5000 }, (_, at) => start(`s${at}`) + end(`s${at}`));
    await writeFile(file, start("e") + many.join("") + start("f"));
    expect(await read({ last: 3 })).toEqual(["s4998 ended", "s4999 ended", "f"]);
  });

  it("keeps characters whole that stand where two reads meet", async () => {
    const tools = Array.from({ length: 2000 }, (_, at) => `${"x".repeat(at % 7)}é検🙂`);
    await writeFile(file, tools.map(line).join(""));
    expect(await read()).toEqual(tools);
  });

  it("filters, and gives the last of what passes", async () => {
    await writeFile(rotated(1), Array.from({ length: 3000 }, (_, at) => line(`t${at}`)).join(""));
    await writeFile(file, line("u"));
    expect(await read({ last: 2 })).toEqual(["t2999", "u"]);
    expect(await read({ last: 0 })).toEqual([]);
    const filter = (each: AuditLine): boolean => toolOf(each).startsWith("t");
    expect(await read({ last: 2, filter })).toEqual(["t2998", "t2999"]);
  });

  it("rejects where there is something else than a file", async () => {
    await mkdir(file);
    await expect(read()).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });
});

describe("following", () => {
  /** Reads in the background; `until` waits for a tool to come, `stop` ends it and gives all. */
  function follow(options: ReadAuditOptions = {}, of: Clock = systemClock) {
    const controller = new AbortController();
    const tools: string[] = [];
    let said: () => void = () => {};
    const reading = (async () => {
      const lines = readAudit(file, of, {
        follow: true,
        signal: controller.signal,
        ...options,
      });
      for await (const each of lines) {
        tools.push(toolOf(each));
        said();
      }
    })();
    return {
      async until(tool: string, clock?: ManualClock): Promise<void> {
        while (!tools.includes(tool)) {
          if (clock === undefined) await new Promise<void>((resolve) => (said = resolve));
          else await clock.advance(clock.next() ?? 0);
        }
      },
      async stop(): Promise<string[]> {
        controller.abort();
        await reading;
        return tools;
      },
    };
  }

  it("goes on with what is written, a line at a time", async () => {
    await writeFile(file, line("a") + line("b"));
    const following = follow({ last: 1 });
    await following.until("b");
    const whole = line("c");
    await appendFile(file, whole.slice(0, 20));
    await appendFile(file, whole.slice(20) + line("d"));
    await following.until("d");
    expect(await following.stop()).toEqual(["b", "c", "d"]);
  });

  it("gives a call when it starts and when it ends", async () => {
    const starts = new Starts();
    const start = (tool: string) => starts.start({ tool });
    const end = (tool: string) => toLine(record({ tool: `${tool} ended` }), starts.idOf(tool));
    await writeFile(file, start("a") + start("b") + end("b"));
    const following = follow();
    await following.until("b ended");
    await appendFile(file, start("c") + end("a"));
    await following.until("a ended");
    await appendFile(file, end("c"));
    await following.until("c ended");
    expect(await following.stop()).toEqual(["a", "b ended", "c", "a ended", "c ended"]);
  });

  it("waits for a file that is not there yet", async () => {
    const following = follow();
    await writeFile(file, line("a"));
    await following.until("a");
    expect(await following.stop()).toEqual(["a"]);
  });

  it("does not lose or repeat a line when files are rotated", async () => {
    const log = new AuditLog({ trail: auditIn(file, { maxBytes: 1500 }) });
    const following = follow();
    const tools = Array.from({ length: 30 }, (_, at) => `t${at}`);
    for (const tool of tools) {
      log.record(record({ tool }));
      await log.flush();
      if (tool === "t10" || tool === "t20") await following.until(tool);
    }
    await following.until("t29");
    await log.close();
    expect(await following.stop()).toEqual(tools);
  });

  it("reads what is still written to a rotated file", async () => {
    await writeFile(file, line("a"));
    const clock = new ManualClock();
    const following = follow({}, clock);
    await following.until("a");
    await rename(file, rotated(1));
    await writeFile(file, line("b"));
    await following.until("b", clock);
    // By somebody who has not noticed: it cannot have been looked at again, since time stands still.
    await appendFile(rotated(1), line("straggler"));
    await following.until("straggler", clock);
    expect(await following.stop()).toEqual(["a", "b", "straggler"]);
  });

  it("starts over in a file that was emptied", async () => {
    await writeFile(file, line("a") + line("b"));
    const following = follow();
    await following.until("b");
    await truncate(file);
    await appendFile(file, line("c"));
    await following.until("c");
    expect(await following.stop()).toEqual(["a", "b", "c"]);
  });

  it("ends at once when it is told to before it began", async () => {
    await writeFile(file, line("a"));
    expect(await read({ follow: true, signal: AbortSignal.abort() })).toEqual([]);
  });
});
