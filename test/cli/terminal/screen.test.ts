import { describe, expect, it } from "vitest";
import { wrapLine } from "../../../src/cli/terminal/width.ts";
import { Screen } from "../../../src/cli/terminal/screen.ts";
import { describeTerminal } from "../../../src/cli/terminal/terminal.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { Sink } from "../harness.ts";

function open(stderr: Sink, env: Record<string, string> = {}, stdout = new Sink()) {
  const clock = new ManualClock();
  return {
    screen: new Screen(stdout, stderr, describeTerminal({ stdout, stderr, env }), clock, wrapLine),
    stdout,
    stderr,
    clock,
  };
}

const person = (rows = 24) => new Sink({ columns: 40, rows });

describe("the screen", () => {
  it("prints results to stdout and everything else to stderr", () => {
    const { screen, stdout, stderr } = open(new Sink());
    screen.out("text");
    screen.lines(["a", "b"]);
    screen.lines([]);
    screen.json({ a: [1] });
    screen.note("aside");
    expect(stdout.text).toBe('texta\nb\n{\n  "a": [\n    1\n  ]\n}\n');
    expect(stderr.text).toBe("aside\n");
  });

  it("breaks lines for a person between words, and leaves commands and results whole", () => {
    const long = "a line that is longer than the forty columns of the terminal";
    const lines = [long, `  ${long}`, `$ ${long}`, `\u001b[36m$ ${long}\u001b[39m`];
    const { screen, stdout } = open(new Sink(), {}, person());
    screen.lines(lines);
    screen.out(long);
    expect(stdout.text.split("\n")).toEqual([
      "a line that is longer than the forty",
      "columns of the terminal",
      ...lines.slice(1),
      long,
    ]);
    const piped = open(new Sink());
    piped.screen.lines(lines);
    expect(piped.stdout.text).toBe(`${lines.join("\n")}\n`);
  });

  it("escapes characters in JSON that a terminal would obey or hide", () => {
    const { screen, stdout } = open(new Sink());
    const value = "\u001b[2J\u009b31m \u202e \u{e0041} é 🚀";
    screen.json(value);
    expect(stdout.text).toBe('"\\u001b[2J\\u009b31m \\u202e \\udb40\\udc41 é 🚀"\n');
    expect(JSON.parse(stdout.text)).toBe(value);
  });

  it("shows no live rows where stderr is not a terminal", async () => {
    const { screen, stderr, clock } = open(new Sink());
    const rows = screen.live(() => ["row"]);
    await clock.advance(1000);
    rows.stop();
    expect(stderr.text).toBe("");
    expect(clock.next()).toBeUndefined();
  });

  it("shows no live rows for work that ends at once", async () => {
    const { screen, stderr, clock } = open(person());
    const rows = screen.live(() => ["row"]);
    await clock.advance(100);
    rows.stop();
    rows.stop();
    await clock.advance(1000);
    expect(stderr.text).toBe("");
  });

  it("redraws live rows over themselves and removes them at the end", async () => {
    const { screen, stderr, clock } = open(person());
    const rows = screen.live(({ spinner }) => [`${spinner} one`, "two"]);
    await clock.advance(120);
    expect(stderr.text).toBe("\u001b[2K⠋ one\n\u001b[2Ktwo\n\u001b[J");
    stderr.text = "";
    await clock.advance(80);
    expect(stderr.text).toBe("\u001b[2A\r\u001b[2K⠙ one\n\u001b[2Ktwo\n\u001b[J");
    stderr.text = "";
    rows.stop();
    expect(stderr.text).toBe("\u001b[2A\r\u001b[J");
    expect(clock.next()).toBeUndefined();
  });

  it("prints a line above the live rows", async () => {
    const { screen, stderr, clock } = open(person());
    screen.live(() => ["row"]);
    await clock.advance(120);
    stderr.text = "";
    screen.note("aside");
    expect(stderr.text).toBe("\u001b[1A\r\u001b[Jaside\n\u001b[2Krow\n\u001b[J");
  });

  it("removes the live rows before a result", async () => {
    const { screen, stderr, stdout, clock } = open(person());
    screen.live(() => ["row"]);
    await clock.advance(120);
    stderr.text = "";
    screen.out("result\n");
    expect(stderr.text).toBe("\u001b[1A\r\u001b[J");
    expect(stdout.text).toBe("result\n");
  });

  it("tells the rows how much space there is, and shows no more than fit", async () => {
    const { screen, stderr, clock } = open(person(4));
    let room: unknown;
    screen.live(({ width, height }) => {
      room = { width, height };
      return ["a", "b", "c", "d", "e"];
    });
    await clock.advance(120);
    expect(room).toEqual({ width: 39, height: 3 });
    expect(stderr.text).toBe("\u001b[2Ka\n\u001b[2Kb\n\u001b[2K… and 3 more\n\u001b[J");
  });

  it("uses a plain spinner where symbols cannot be displayed", async () => {
    const { screen, stderr, clock } = open(person(), { TERM: "linux" });
    screen.live(({ spinner }) => [spinner]);
    await clock.advance(120);
    expect(stderr.text).toContain("|");
  });

  it("leaves rows alone that have not changed", async () => {
    const { screen, stderr, clock } = open(person());
    const rows = screen.live(() => ["row"], { everyMs: 1000 });
    await clock.advance(120);
    stderr.text = "";
    await clock.advance(5000);
    expect(stderr.text).toBe("");
    rows.stop();
    expect(stderr.text).toBe("\u001b[1A\r\u001b[J");
  });

  it("shows no rows while anything waits for a person, also rows that begin meanwhile", async () => {
    const { screen, stderr, clock } = open(person());
    const resume = screen.pauseLive();
    screen.live(() => ["row"]);
    const answered = screen.ask("sure? ");
    await clock.advance(3000);
    expect(stderr.text).toBe("sure? ");
    answered();
    answered();
    await clock.advance(3000);
    expect(stderr.text).toBe("sure? ");
    resume();
    await clock.advance(120);
    expect(stderr.text).toBe("sure? \u001b[2Krow\n\u001b[J");
    const again = screen.ask("really? ");
    await clock.advance(3000);
    expect(stderr.text).toMatch(/really\? $/);
    again();
  });

  it("prints a line above a question that waits", () => {
    const { screen, stderr } = open(person());
    const answered = screen.ask("sure? ");
    screen.note("aside");
    answered();
    screen.note("later");
    expect(stderr.text).toBe("sure? \naside\nsure? later\n");
  });

  it("draws the last lines and the rows anew when the window changes its size", async () => {
    const { screen, stderr, clock } = open(person());
    const rows = screen.live(({ width }) => [`row of ${width}`], { isWhole: true });
    screen.note("first");
    screen.note("a line that is broken between words");
    await clock.advance(120);
    stderr.text = "";
    Object.assign(stderr, { columns: 20, rows: 4 });
    stderr.emit("resize");
    // As many lines as fit above the rows.
    expect(stderr.text).toBe(
      "\u001b[H\u001b[2Ja line that is\nbroken between words\n\u001b[2Krow of 19\n\u001b[J",
    );
    rows.stop();
    stderr.text = "";
    stderr.emit("resize");
    expect(stderr.text).toBe("");
  });
});
