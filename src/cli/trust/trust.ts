// `plugboard trust`: shows what the configuration in this directory, or one that others can write, would start; asks, and
// remembers the answer.

import { resolve } from "node:path";
import { FILE_NAME, type FileSource, findConfig } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { loadConfig } from "../../core/config/load.ts";
import { TrustStore } from "../../core/config/trust/trust-store.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { plural } from "../../util/text.ts";
import { askYesNo, canAsk } from "../terminal/input.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { TrustRequest } from "./command.ts";
import { needsTrust } from "./needs-trust.ts";
import { judgeFile, type Judgement } from "./judge-file.ts";
import { headline, trustDetails } from "./require-trust.ts";
import { visible } from "../../util/visible.ts";

export async function runTrust(command: TrustRequest, context: CliContext): Promise<number> {
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
  const { io, screen, options } = context;
  const source = await fileToTrust(context);
  const { path: file, base } = source;
  await loadConfig(file, undefined, { cwd: io.cwd, homedir: io.homedir, base });
  const judgement = await judgeFile(source, io);
  const isNew = await approveFile(judgement, { file, yes }, context);
  if (options.json) {
    screen.json({ file, trusted: judgement.launches.all.map(({ label }) => label) });
  } else if (!isNew) screen.lines([`${visible(file)} is already trusted`]);
  else {
    const text = "is now trusted; you are asked again when it changes what it starts";
    screen.lines([`${visible(file)} ${text}`]);
  }
  return EXIT.ok;
}

/** Shows what the file starts, and asks. Resolves to whether there was anything to approve; rejects with UNTRUSTED. */
export async function approveFile(
  { store, launches, trust }: Judgement,
  { file, yes }: { file: string; yes: boolean },
  context: CliContext,
): Promise<boolean> {
  const { screen, clock } = context;
  if (trust.kind === "trusted") return false;
  for (const line of [`${headline(file, trust)}.`, ...trustDetails(launches, trust)])
    screen.note(line);
  if (!yes && !(await isAgreed(context))) {
    throw new PlugboardError("UNTRUSTED", "you did not trust it; nothing has changed");
  }
  await store.approve(file, launches.all, clock.now());
  return true;
}

/** The file given with --config, or the one that other commands would find and refuse. */
async function fileToTrust({ io, options }: CliContext): Promise<FileSource> {
  const { cwd, homedir } = io;
  const env = { ...io.env, PLUGBOARD_CONFIG: undefined };
  const source = findConfig({ flag: options.config, env, cwd, homedir });
  if (source.kind === "file" && (source.from === "flag" || needsTrust(source, io))) {
    return source;
  }
  throw new PlugboardError(
    "CONFIG_INVALID",
    `there is no ${FILE_NAME} to trust in ${visible(cwd)}`,
    {
      hint: "only a file in the working directory, or one in Plugboard's home that others can write to, needs to be trusted",
    },
  );
}

async function isAgreed(context: CliContext): Promise<boolean> {
  if (!canAsk(context)) {
    throw new PlugboardError(
      "UNTRUSTED",
      "cannot ask whether to trust it, because this is not a terminal",
      {
        hint: `if you trust what is shown above, run: plugboard ${context.commandName} --yes`,
      },
    );
  }
  return askYesNo("Trust it?", context);
}

async function list({ io, screen, options }: CliContext): Promise<number> {
  const records = await storeOf(io).list();
  if (options.json) {
    screen.json(
      records.map(({ file, at, approved }) => ({ file, at, trusted: [...approved.keys()] })),
    );
  } else if (records.length === 0) {
    screen.note("no files are trusted");
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
    throw new PlugboardError("INVALID_ARGUMENTS", `${visible(file)} is not trusted`, {
      hint: "to see the trusted files: plugboard trust --list",
    });
  }
  if (options.json) screen.json({ file, revoked: true });
  else screen.lines([`${visible(file)} is no longer trusted`]);
  return EXIT.ok;
}

function storeOf({ env, homedir }: CliContext["io"]): TrustStore {
  return new TrustStore(plugboardHome(env, homedir));
}
