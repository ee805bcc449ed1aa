// `plugboard trust`: shows what the configuration in this directory would start, asks, and remembers.

import { resolve } from "node:path";
import { findConfig } from "../../config/find.ts";
import { plugboardHome } from "../../config/home.ts";
import { loadConfig } from "../../config/load.ts";
import { TrustStore } from "../../config/trust/trust-store.ts";
import { PlugboardError } from "../../model/errors.ts";
import { plural } from "../../util/text.ts";
import { ask } from "./ask.ts";
import type { CliContext } from "./context.ts";
import { EXIT } from "./exit-code.ts";
import type { TrustCommand } from "./invocation.ts";
import { headline, judgeFile, question } from "./require-trust.ts";
import { visible } from "./visible.ts";

const FILE_NAME = "plugboard.json";

export async function runTrust(command: TrustCommand, context: CliContext): Promise<number> {
  switch (command.action) {
    case "list":
      return list(context);
    case "revoke":
      return revoke(command.file, context);
    case "approve":
      return approve(command.yes, context);
  }
}

async function approve(yes: boolean, context: CliContext): Promise<number> {
  const { io, clock, screen, options } = context;
  const file = fileToTrust(context);
  await loadConfig(file, undefined, { cwd: io.cwd, homedir: io.homedir });
  const { store, launches, trust } = await judgeFile(file, io);
  const told = (text: string): number => {
    if (options.json) screen.json({ file, trusted: launches.all.map(({ label }) => label) });
    else screen.lines([text]);
    return EXIT.ok;
  };
  if (trust.kind === "trusted") return told(`${visible(file)} is trusted already`);
  for (const line of [`${headline(file, trust)}.`, ...question(launches, trust)]) screen.note(line);
  if (!yes && !(await isAgreed(context))) {
    throw new PlugboardError("UNTRUSTED", "it was not trusted; nothing has changed");
  }
  await store.approve(file, launches.all, clock.now());
  return told(`${visible(file)} is trusted now; a change of what it starts asks again`);
}

/** The one that is named, or the one that other commands would find in this directory. */
function fileToTrust({ io, options }: CliContext): string {
  const { cwd, homedir } = io;
  const env = { ...io.env, PLUGBOARD_CONFIG: undefined };
  const flag = options.config === undefined ? {} : { flag: options.config };
  const source = findConfig({ env, cwd, homedir, ...flag });
  if (source.kind === "file" && source.from !== "home") return source.path;
  throw new PlugboardError(
    "CONFIG_INVALID",
    `there is no ${FILE_NAME} to trust in ${visible(cwd)}`,
    {
      hint: "only a file that lies in the working directory needs it",
    },
  );
}

async function isAgreed({ io, screen, signal }: CliContext): Promise<boolean> {
  if (io.stdin.isTTY !== true || !screen.terminal.err.isTerminal) {
    throw new PlugboardError("UNTRUSTED", "nobody can be asked, since this is no terminal", {
      hint: "look at the above, then run: plugboard trust --yes",
    });
  }
  return /^y(?:es)?$/i.test((await ask("Trust it? [y/N] ", io, signal)).trim());
}

async function list({ io, screen, options }: CliContext): Promise<number> {
  const records = await storeOf(io).list();
  if (options.json) {
    screen.json(
      records.map(({ file, at, approved }) => ({ file, at, trusted: [...approved.keys()] })),
    );
  } else if (records.length === 0) {
    screen.note("no file is trusted");
  } else {
    screen.lines(
      records.map(({ file, at, approved }) => {
        const date = new Date(at).toISOString().slice(0, 10);
        return `${visible(file)}  ${plural(approved.size, "item")}, since ${date}`;
      }),
    );
  }
  return EXIT.ok;
}

async function revoke(
  given: string | undefined,
  { io, screen, options }: CliContext,
): Promise<number> {
  const file = resolve(io.cwd, given ?? options.config ?? FILE_NAME);
  if (!(await storeOf(io).revoke(file))) {
    throw new PlugboardError("INVALID_ARGUMENTS", `${visible(file)} was not trusted`, {
      hint: "plugboard trust --list shows which are",
    });
  }
  if (options.json) screen.json({ file, revoked: true });
  else screen.lines([`${visible(file)} is not trusted any more`]);
  return EXIT.ok;
}

function storeOf({ env, homedir }: CliContext["io"]): TrustStore {
  return new TrustStore(plugboardHome(env, homedir));
}
