import { describe, expect, it } from "vitest";
import { CallView, progressText } from "../../../src/cli/call/call-view.ts";
import { Screen } from "../../../src/cli/terminal/screen.ts";
import { describeTerminal } from "../../../src/cli/terminal/terminal.ts";
import type { Progress } from "../../../src/core/types/tool.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { Sink } from "../harness.ts";

function open(stderr: Sink) {
  const clock = new ManualClock();
  const env = { NO_COLOR: "1" };
  const stdout = new Sink();
  const screen = new Screen(stdout, stderr, describeTerminal({ stdout, stderr, env }), clock);
  const view = new CallView({ status: () => [] }, { screen, clock });
  return { clock, stderr, view };
}

describe("a call under way", () => {
  it("is a row with its progress on a terminal", async () => {
    const { clock, stderr, view } = open(new Sink({ columns: 60, rows: 20 }));
    view.calling("docs/search");
    view.progress({ content: [], progress: { progress: 1, total: 4, message: "reading" } });
    await clock.advance(50);
    // The rows are loaded by then.
    await expect.poll(() => clock.next()).toBe(120);
    await clock.advance(150);
    expect(stderr.text).toContain("⠋  docs/search  170 ms  1/4 (25 %) reading\n");
    view.stop();
    expect(clock.next()).toBeUndefined();
  });

  it("is a plain line at most once a second otherwise", async () => {
    const { clock, stderr, view } = open(new Sink());
    view.calling("docs/search");
    for (const progress of [1, 2, 3]) {
      view.progress({ content: [], progress: { progress, total: 4 } });
      await clock.advance(500);
    }
    expect(stderr.text).toBe("progress: 1/4 (25 %)\nprogress: 3/4 (75 %)\n");
  });

  it.each<[Progress | undefined, string, string]>([
    [{ progress: 3, total: 5, message: "almost\n\u001b[2J" }, "", "3/5 (60 %) almost"],
    [{ progress: 3 }, "", "3"],
    [{ progress: 3, total: 0, message: "so far" }, "", "3 so far"],
    // A tool of your own need not have figures.
    [undefined, "half\n\u001b[2J", "half"],
  ])("%o with the text %j reads %s", (progress, said, text) => {
    const content = said === "" ? [] : [{ type: "text" as const, text: said }];
    expect(progressText({ content, progress })).toBe(text);
  });
});
