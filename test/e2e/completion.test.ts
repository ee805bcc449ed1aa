// The scripts of `plugboard completion` in real shells: what is offered, and that no name is ever run as a command.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const BIN = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));

const HOSTILE = ["h1 a b", "h2$(touch RUN)", "h3'`touch RUN`", 'h4";touch RUN', "h5\\&|*~!#:=x"];

let directory: string;
let work: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plugboard-completion-"));
  work = join(directory, "work");
  for (const name of ["home", "bin", "work"]) mkdirSync(join(directory, name), { mode: 0o700 });
  const servers = ["files", ...HOSTILE].map((name) => [name, { command: "true" }]);
  writeFileSync(
    join(directory, "home", "plugboard.json"),
    JSON.stringify({ mcpServers: Object.fromEntries(servers) }),
  );
  const program = join(directory, "bin", "plugboard");
  // Completes with the real command; anything else shows which words it was given.
  writeFileSync(
    program,
    `#!/bin/sh
case "$1" in
  completion | __complete) exec '${process.execPath}' '${BIN}' "$@" ;;
esac
printf '%s\\n' "$@"
`,
  );
  chmodSync(program, 0o755);
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function run(shell: string, args: readonly string[], script: string): string[] {
  const { stdout, stderr, status } = spawnSync(shell, [...args, script], {
    cwd: work,
    encoding: "utf8",
    env: {
      PATH: `${join(directory, "bin")}:${process.env["PATH"] ?? ""}`,
      HOME: directory,
      PLUGBOARD_HOME: join(directory, "home"),
      TERM: "dumb",
      LC_ALL: "C.UTF-8",
    },
  });
  expect({ status, stderr, files: readdirSync(work) }).toEqual({
    status: 0,
    stderr: "",
    files: [],
  });
  return stdout.trimEnd().split("\n");
}

it("bash: inserts names so that the program gets them as they are", () => {
  const lines = ["plugboard statu", "plugboard --log-level=w"];
  const quoted = ["h1", "h2", '"h2', "'h3", '"h4', "h5"];
  const script = `
eval "$(plugboard completion bash)"
ask() { COMP_LINE=$1; COMP_POINT=\${#1}; _plugboard plugboard "" ""; }
compopt() { :; }
${lines.map((line) => `ask '${line}'; printf '%s|\\n' "\${COMPREPLY[@]}"`).join("\n")}
for start in ${quoted.map((each) => `'${each.replaceAll("'", "'\\''")}'`).join(" ")}; do
  ask "plugboard get $start"
  # As if Enter was pressed on what bash has inserted after the quote, if there is one, and has closed.
  quote=\${start%%h*}
  eval "plugboard get $quote\${COMPREPLY[0]}$quote"
done`;
  const [status, level, ...got] = run("bash", ["--norc", "-c"], script);
  expect([status, level]).toEqual(["status |", "warn |"]);
  const names = quoted.map((start) =>
    HOSTILE.find((name) => name.startsWith(start.replace(/['"]/, ""))),
  );
  expect(got.filter((word) => word !== "get")).toEqual(names);
});

const NAMES = ["files", ...HOSTILE];

/** What the shell is given, which it quotes itself. */
const OTHERS: Readonly<Record<string, { args: readonly string[]; script: string }>> = {
  zsh: {
    args: ["-f", "-c"],
    script: `
compdef() { :; }
compadd() { print -rl -- "\${(@P)@[-1]}"; }
source <(plugboard completion zsh)
words=(plugboard get ''); CURRENT=3; PREFIX=; COLUMNS=80
_plugboard | grep .`,
  },
  fish: {
    args: ["--no-config", "-c"],
    script: "plugboard completion fish | source; complete -C 'plugboard get '",
  },
};

const installed = Object.entries(OTHERS).filter(
  ([shell]) => spawnSync(shell, ["-c", "true"]).status === 0,
);

for (const [shell, { args, script }] of installed) {
  it(`${shell}, where it is installed: gets the names as they are, and runs none of them`, () => {
    expect(run(shell, args, script).toSorted()).toEqual(NAMES.toSorted());
  });
}
