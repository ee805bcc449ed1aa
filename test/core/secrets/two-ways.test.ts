import { describe, expect, it } from "vitest";
import { secretUnavailable } from "../../../src/core/types/secret-provider.ts";
import { eitherWay, type TwoWays } from "../../../src/core/secrets/two-ways.ts";
import { ManualClock, settle } from "../../support/manual-clock.ts";

const refused = secretUnavailable("there is no such secret");
const unreachable = secretUnavailable("no credentials", { hint: "sign in" });
const toolFailed = secretUnavailable("tool failed: not signed in", { permanent: false });

/** What it answers, or fails with; "never" answers nothing. */
type Way = string | undefined | Error;

/** What comes of it, who was asked in which order, and what the operator was told. */
async function ask(library: Way, program: Way, clock = new ManualClock()) {
  const asked: string[] = [];
  const told: string[] = [];
  const way = (name: string, given: Way) => async () => {
    asked.push(name);
    if (given instanceof Error) throw given;
    return given === "never" ? new Promise<never>(() => {}) : given;
  };
  const ways: TwoWays<string> = {
    library: way("library", library),
    program: way("program", program),
    hasAnswered: (error) => error === refused,
    missing: () => secretUnavailable("neither is there"),
    names: { library: "the package", program: "tool" },
  };
  const surroundings = { clock, warn: (text: string) => void told.push(text) };
  const outcome = eitherWay(ways, surroundings, new AbortController().signal).catch(
    ({ message, hint, permanent }) => ({ message, hint, permanent }),
  );
  return { outcome, asked, told };
}

describe("a service that can be asked in two ways", () => {
  const inPlace = "tool answered in place of the package: ";
  it.each<[string, Way, Way, unknown, string[], string[]]>([
    ["the library answers", "value", "other", "value", ["library"], []],
    ["it is not installed", undefined, "value", "value", ["library", "program"], []],
    [
      "it cannot reach the service",
      unreachable,
      "value",
      "value",
      ["library", "program"],
      [`${inPlace}no credentials`],
    ],
    [
      "the service refuses",
      refused,
      "value",
      { message: "there is no such secret", permanent: true },
      ["library"],
      [],
    ],
    [
      "there is no program",
      unreachable,
      undefined,
      { message: "no credentials", hint: "sign in", permanent: true },
      ["library", "program"],
      [],
    ],
    [
      "both fail",
      unreachable,
      toolFailed,
      { message: "no credentials; tool failed: not signed in", hint: "sign in", permanent: false },
      ["library", "program"],
      [],
    ],
    [
      "only the program is there, and fails",
      undefined,
      toolFailed,
      { message: "tool failed: not signed in", permanent: false },
      ["library", "program"],
      [],
    ],
    [
      "neither is there",
      undefined,
      undefined,
      { message: "neither is there", permanent: true },
      ["library", "program"],
      [],
    ],
  ])("%s", async (_, library, program, expected, order, warnings) => {
    const { outcome, asked, told } = await ask(library, program);
    expect(await outcome).toEqual(expected);
    expect([asked, told]).toEqual([order, warnings]);
  });

  it("asks the program too, if the library takes half of the time", async () => {
    const clock = new ManualClock();
    const { outcome, asked, told } = await ask("never", "value", clock);
    await settle();
    expect(asked).toEqual(["library"]);
    await clock.advance(5000);
    expect(await outcome).toBe("value");
    expect(told).toEqual([`${inPlace}it did not answer in time`]);
  });
});
