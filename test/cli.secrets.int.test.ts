// One secret through every way out of a command: whatever a server does with it, nobody reads it anywhere.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeGrammar } from "../src/cli/describe-grammar.ts";
import { complete } from "../src/cli/completion/complete.ts";
import { fixture } from "./support/boards.ts";
import { useScratch } from "./cli/harness.ts";

const scratch = useScratch();

const SECRET = "s3cr3t/of+the?odd &server-7f3a91";
/** As the server writes it. The second half has its own field in a result. */
const FORMS = [
  SECRET,
  btoa(SECRET),
  btoa(`user:${SECRET}`).slice(8),
  encodeURIComponent(SECRET),
  SECRET.slice(SECRET.length / 2),
];
const MARK = "[REDACTED]";
/** No shell is asked for its PATH. */
const env = { SOME_TOKEN: SECRET, SHELL: "/bin/false" };

function configure(mode: string, token = "${SOME_TOKEN}"): void {
  const { command, args = [] } = fixture("repeats-secrets");
  scratch.servers({ desk: { command, args: [...args, mode], env: { NOTE_TOKEN: token } } });
}

/** Every file that was written, but for the configuration itself. */
function writtenText(): string {
  return readdirSync(scratch.directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.name !== "servers.json")
    .map((each) => readFileSync(join(each.parentPath, each.name), "utf8"))
    .join("\n");
}

function expectHidden(text: string): void {
  const shown = FORMS.flatMap((form) => {
    const at = text.indexOf(form);
    return at === -1 ? [] : [text.slice(Math.max(0, at - 100), at + form.length)];
  });
  expect(shown).toEqual([]);
}

/** `mode` is what the server does besides: it writes to stdout, or ends with its last words. */
interface Way {
  argv: string[];
  mode?: "--noise" | "--exit";
  /** By default what comes out is marked. */
  has?: string;
}

describe("a secret that a server repeats everywhere is not in", () => {
  it.each<[string, Way]>([
    ["the findings of the doctor", { argv: ["doctor", "--verbose"], mode: "--noise" }],
    ["why a server fails, for the doctor", { argv: ["doctor", "--json"], mode: "--exit" }],
    ["the lines of a trace", { argv: ["trace", "desk", "tell"], mode: "--noise" }],
    ["whole messages of a trace", { argv: ["trace", "desk", "tell", "--full"] }],
    ["a trace for programs", { argv: ["trace", "desk", "crash", "--json", "--verbose"] }],
    ["a trace of a failed start", { argv: ["trace", "desk", "--verbose"], mode: "--exit" }],
    ["a recording", { argv: ["record", "desk", "desk.jsonl", "tell"], mode: "--noise" }],
    ["declarations", { argv: ["types", "--output", "tools.d.ts"] }],
    ["a generated command line", { argv: ["generate-cli", "desk"], has: "${SOME_TOKEN}" }],
    ["causes", { argv: ["call", "desk/refuse", "--verbose"] }],
    ["causes for programs", { argv: ["call", "desk/tell", "--verbose", "--json"], mode: "--exit" }],
  ])("%s", async (_, { argv, mode = "", has = MARK }) => {
    configure(mode);
    const { stdout, stderr } = await scratch.run(argv, { env });
    const all = [stdout, stderr, writtenText()].join("\n");
    expect(all).toContain(has);
    expectHidden(all);
  });

  it("what a shell completes", async () => {
    configure("");
    expect(await scratch.run(["tools"], { env })).toMatchObject({ code: 0 });
    const { directory } = scratch;
    const around = {
      env: { PLUGBOARD_HOME: join(directory, "home"), PLUGBOARD_CONFIG: "servers.json" },
      cwd: directory,
      homedir: directory,
    };
    const grammar = await describeGrammar();
    const offer = (...words: string[]): Promise<string> =>
      complete(["zsh", "call", ...words], around, grammar);
    const offered = [await offer("desk/"), await offer("desk/tell", "")].join("");
    expect(offered).toContain("desk/tell\tTells [REDACTED]");
    expect(offered).toContain("how=\tLike [REDACTED]");
    expectHidden(offered + writtenText());
  });
});

it("a secret that is written out in the configuration becomes a variable in a generated command line", async () => {
  configure("", SECRET);
  const { stdout, stderr } = await scratch.run(["generate-cli", "desk"], { env });
  expect(scratch.read("desk.mjs")).toContain('"NOTE_TOKEN": "${NOTE_TOKEN}"');
  expectHidden(stdout + stderr + writtenText());
});
