// What a person sees who has mistyped something: each kind of mistake, and the exact lines.

import { expect, it } from "vitest";
import { fixture } from "../support/boards.ts";
import { useScratch } from "./harness.ts";

const scratch = useScratch();

const CONFIG = {
  agents: {
    defaults: {
      mcp: { servers: { echo: fixture("echo"), docs: { url: "https://docs.example" } } },
    },
    list: [{ id: "coder" }],
  },
};

it.each<[what: string, line: string, shown: string[]]>([
  [
    "a command",
    "tols",
    [
      "plugboard: unknown command 'tols'; did you mean 'tools'?",
      "hint: for commands and options: plugboard --help",
    ],
  ],
  [
    "a subcommand",
    "pins shw x",
    [
      "plugboard: unknown command 'shw'; did you mean 'show'?",
      "hint: to see how to use it: plugboard pins --help",
    ],
  ],
  [
    "an option",
    "tools --serve echo",
    [
      "plugboard: unknown option '--serve'; did you mean '--server'?",
      "hint: to see how to use it: plugboard tools --help",
    ],
  ],
  [
    "a log level",
    "--log-level wran status",
    [
      "plugboard: option '--log-level <level>' cannot be 'wran'; expected debug, info, warn, error or silent; did you mean 'warn'?",
      "hint: for commands and options: plugboard --help",
    ],
  ],
  [
    "a scope",
    "remove echo --scope usr",
    [
      "plugboard: option '-s, --scope <scope>' cannot be 'usr'; expected project, user or local; did you mean 'user'?",
      "hint: project is plugboard.json in this directory, and user or local the one in Plugboard's home",
    ],
  ],
  [
    "a secret provider",
    "secrets move echo KEY --to keyrin",
    [
      "plugboard: option '--to <provider>' cannot be 'keyrin'; expected gcp, aws, vault, azure, keyring or file; did you mean 'keyring'?",
      "hint: to see how to use it: plugboard secrets move --help",
    ],
  ],
  [
    "an error code",
    "help SPAWN_FAIL",
    [
      "plugboard: unknown command or error code 'SPAWN_FAIL'; did you mean 'SPAWN_FAILED'?",
      "hint: for commands and options: plugboard --help",
    ],
  ],
  [
    "a server",
    "status ecko",
    [
      "plugboard: there is no server named 'ecko'",
      "hint: did you mean 'echo'?",
      "more: plugboard help UNKNOWN_SERVER",
    ],
  ],
  [
    "the server of a tool",
    "call ecko/echo text=a",
    [
      "plugboard: there is no server named 'ecko'",
      "hint: did you mean 'echo'?",
      "more: plugboard help UNKNOWN_SERVER",
    ],
  ],
  [
    "a server to remove",
    "remove ecko",
    [
      "plugboard: there is no server named 'ecko' in DIR/board.json",
      "hint: did you mean 'echo'?",
      "more: plugboard help UNKNOWN_SERVER",
    ],
  ],
  [
    "a tool",
    "call echo/ecko",
    [
      "plugboard: there is no tool named 'echo/ecko'",
      "hint: did you mean 'echo/echo'?",
      "more: plugboard help UNKNOWN_TOOL",
    ],
  ],
  [
    "an argument",
    "call echo/echo txt=a text=b",
    [
      "plugboard: there is no parameter 'txt'; did you mean 'text'?",
      "hint: to see its parameters:",
      "  plugboard --config board.json tools echo/echo",
      "more: plugboard help INVALID_ARGUMENTS",
    ],
  ],
  [
    "an agent",
    "--agent codr status",
    [
      "plugboard: there is no agent 'codr' in DIR/board.json",
      "hint: did you mean 'coder'?",
      "more: plugboard help CONFIG_INVALID",
    ],
  ],
  [
    "a model provider",
    "ask --model antropic/x hi",
    [
      "plugboard: no model provider is named 'antropic'",
      "hint: did you mean 'anthropic'?",
      "more: plugboard help INVALID_ARGUMENTS",
    ],
  ],
  [
    "a model",
    "ask --model claude hi",
    [
      "plugboard: 'claude' does not name a model",
      "hint: write provider/model, as in anthropic/claude-sonnet-5",
      "more: plugboard help INVALID_ARGUMENTS",
    ],
  ],
  [
    "an application",
    "connect zedd",
    [
      "plugboard: 'zedd' is not an application that Plugboard knows",
      "hint: did you mean 'zed'?",
      "more: plugboard help INVALID_ARGUMENTS",
    ],
  ],
  [
    "an application to import from",
    "import --from cusor",
    [
      "plugboard: 'cusor' is neither an application nor a file",
      "hint: did you mean 'cursor'?",
      "more: plugboard help INVALID_ARGUMENTS",
    ],
  ],
  [
    "the file of a template",
    "acp --agent-config tsagnt -- a",
    [
      "plugboard: the template DIR/tsagnt cannot be read: there is no such file",
      "hint: --agent-config takes the path of a template, or 'tsagent'",
      "more: plugboard help CONFIG_INVALID",
    ],
  ],
])("somebody who mistypes %s is told what was meant", async (_, line, shown) => {
  scratch.file("board.json", CONFIG);
  const words = line.split(" ");
  const { code, stdout, stderr } = await scratch.run(["--config", "board.json", ...words]);
  const lines = stderr.replaceAll(scratch.directory, "DIR").trimEnd().split("\n");
  expect({ code, stdout, lines }).toEqual({ code: 2, stdout: "", lines: shown });
});

const files = (server: object): object => ({ mcp: { servers: { files: server } } });

it.each<[what: string, defaults: object, problem: string]>([
  ["a key", { modle: "a/b" }, 'agents.defaults.modle  unknown key; did you mean "model"?'],
  [
    "the key of a server",
    files({ command: "npx", agrs: [] }),
    'agents.defaults.mcp.servers.files.agrs  unknown key; did you mean "args"?',
  ],
  [
    "a secret provider",
    files({ command: "npx", env: { KEY: "secret://gpc/key" } }),
    'did you mean "gcp"?',
  ],
  ["a choice", files({ command: "npx", pins: "blok" }), 'did you mean "block"?'],
])("somebody who mistypes %s in a file is told where", async (_, defaults, problem) => {
  const file = scratch.file("board.json", { agents: { defaults } });
  const { code, stdout, stderr } = await scratch.run(["--config", "board.json", "status"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  const [first, second, ...rest] = stderr.trimEnd().split("\n");
  expect([first, ...rest]).toEqual([
    "plugboard: the configuration has 1 problem:",
    "more: plugboard help CONFIG_INVALID",
  ]);
  expect(second).toContain(`  ${file}:1:`);
  expect(second?.endsWith(problem), second).toBe(true);
});
