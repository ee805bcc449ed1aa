// What people can change in the page of a gateway: its configuration, through the same files, locks and trust as the
// commands that change it.

import { PassThrough } from "node:stream";
import { z } from "zod";
import { withoutCredentials } from "../../core/board/without-credentials.ts";
import { filesOf } from "../../core/config/find.ts";
import { loadConfig } from "../../core/config/load.ts";
import { parseAgentConfig } from "../../core/config/parse.ts";
import {
  positionOf,
  withEnabled,
  withoutServer,
  withServerValue,
  writtenServer,
} from "../../core/config/server-text.ts";
import { readConfigText } from "../../core/config/text/read.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, objectIn } from "../../core/types/json.ts";
import type { ChangeKinds, PlannedChange } from "../../serve/gateway/page/changes.ts";
import type { PageConfiguration } from "../../serve/gateway/page/configuration.ts";
import { LONGEST_TOOL, NAME } from "../../serve/gateway/page/method.ts";
import { oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { unseenScreen } from "../doctor/context.ts";
import type { LiveConfig } from "../live-config.ts";
import { readServerJson } from "../read-server.ts";
import { removeUnusedBundles } from "../servers/bundles.ts";
import { leftLines, leftSecrets } from "../servers/left-secrets.ts";
import { withRegistry } from "../servers/open-registry.ts";
import { runsAs, searched } from "../servers/registry.ts";
import {
  findServer,
  type FoundServer,
  openServerFile,
  requireOwn,
} from "../servers/server-file.ts";
import { suspicions } from "../servers/suspicious.ts";
import { judgeFile, type Judgement } from "../trust/judge-file.ts";
import { isFileYours } from "../trust/own-file.ts";
import { offerFacts, planAdd, readSource } from "./add.ts";
import { connectChange } from "./applications.ts";
import { otherDenials, withEntry, withRule } from "./edits.ts";
import { planEntryChange } from "./entry-change.ts";
import {
  placeSecrets,
  storeAll,
  storedLine,
  typedCredentials,
  withStored,
} from "./entry-secrets.ts";
import { fileDiff, startsIn } from "./file-diff.ts";
import { withHidden } from "./hidden.ts";
import { Uploads } from "./uploads.ts";

const LONGEST_ENTRY = 200_000;
const OF_SERVER = { agent: NAME, server: NAME };

const VALUES = z.record(NAME, z.array(z.string().max(LONGEST_ENTRY)).max(100));

const SECRETS = z.record(NAME, z.string().max(LONGEST_ENTRY));

const ADD = z.strictObject({
  kind: z.literal("add"),
  agent: NAME,
  name: NAME,
  from: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("json"), json: z.string().max(LONGEST_ENTRY) }),
    z.strictObject({
      kind: z.literal("offer"),
      word: z.string().max(LONGEST_TOOL),
      way: NAME.optional(),
      values: VALUES,
    }),
    z.strictObject({ kind: z.literal("upload"), id: NAME, values: VALUES }),
  ]),
  secrets: SECRETS,
  check: z.boolean(),
});

/** What the page reads of the configuration, and what people can change in it. */
export function pageOfConfiguration(
  live: LiveConfig,
  context: CliContext,
): { configuration: PageConfiguration; changes: ChangeKinds } {
  const uploads = new Uploads(unseen(context));
  return {
    configuration: pageConfiguration(uploads, context),
    changes: pageChanges(live, uploads, context),
  };
}

function pageConfiguration(uploads: Uploads, context: CliContext): PageConfiguration {
  const own = unseen(context);
  return {
    search: async (words) => {
      const file = await openServerFile(undefined, own);
      const { entries, hasMore } = await withRegistry(undefined, file, own, (registry) =>
        registry.search(searched([words]), MOST_FOUND),
      );
      const servers = entries.map(({ server, status }) => ({
        name: server.name,
        ...(server.title !== undefined && { title: server.title }),
        version: server.version,
        description: server.description,
        isDeprecated: status === "deprecated",
        runsAs: runsAs({ server }),
      }));
      return { servers, hasMore };
    },
    read: (source) => readSource(source, own),
    upload: async (name, chunks) => {
      const { id, found } = await uploads.take(name, chunks);
      return { id, offers: [offerFacts(found)] };
    },
    entry: async (agent, server) => {
      const { file } = await findServer(server, undefined, ofAgent(agent, own));
      const written = writtenServer(file, server);
      const entry = objectIn(written);
      const json = JSON.stringify(withoutCredentials(entry), null, 2);
      return { file: file.path, line: positionOf(file, server).line, json };
    },
  };
}

const MOST_FOUND = 20;

/** Nobody is asked on the terminal, and nothing is shown there. */
function unseen(context: CliContext): CliContext {
  const stdin = new PassThrough().end();
  return { ...context, io: { ...context.io, stdin }, screen: unseenScreen(context) };
}

function pageChanges(live: LiveConfig, uploads: Uploads, context: CliContext): ChangeKinds {
  const found = async (
    agent: string,
    server: string,
  ): Promise<FoundServer & { own: CliContext }> => {
    await requireNothingWaits(live);
    const own = ofAgent(agent, context);
    return { ...(await findServer(server, undefined, own)), own };
  };
  return {
    server: {
      takes: z.strictObject({
        kind: z.literal("server"),
        action: z.enum(["enable", "disable", "remove"]),
        ...OF_SERVER,
      }),
      plan: async ({ action, agent, server }) => {
        const { file, own } = await found(agent, server);
        if (action === "remove") requireOwn(server, file);
        const left = action === "remove" ? leftSecrets(file.text, withoutServer(file, server)) : [];
        return planEntryChange(
          {
            summary: `${action} ${oneLine(server)}`,
            agent,
            server,
            warnings: [
              ...(action === "remove" ? ["plugboard undo, in a terminal, brings it back"] : []),
              ...leftLines(left),
            ],
            change: (servers) =>
              action === "remove"
                ? withoutServer(servers, server)
                : withEnabled(servers, server, action === "enable"),
            after: async () => {
              if (action === "remove") await removeUnusedBundles(file, own);
            },
          },
          file,
          live,
          own,
        );
      },
    },
    rule: {
      takes: z.strictObject({
        kind: z.literal("rule"),
        ...OF_SERVER,
        tool: z.string().min(1).max(LONGEST_TOOL),
        verdict: z.enum(["allow", "ask", "deny"]),
      }),
      plan: async ({ agent, server, tool, verdict }) => {
        const { file, own } = await found(agent, server);
        const others = verdict === "deny" ? [] : otherDenials(file, server, tool);
        const words = { allow: "allow", ask: "ask before each call of", deny: "refuse" };
        return planEntryChange(
          {
            summary: `${words[verdict]} ${oneLine(server)}/${oneLine(tool, 200)}`,
            agent,
            server,
            tool,
            warnings: others.map(
              (pattern) =>
                `the rule "${oneLine(pattern, 200)}" of this server refuses it all the same`,
            ),
            change: (servers) => withRule(servers, server, tool, verdict),
          },
          file,
          live,
          own,
        );
      },
    },
    pins: {
      takes: z.strictObject({
        kind: z.literal("pins"),
        ...OF_SERVER,
        mode: z.enum(["off", "warn", "block"]),
      }),
      plan: async ({ agent, server, mode }) => {
        const { file, own } = await found(agent, server);
        const written = writtenServer(file, server);
        if (isJsonObject(written) && written["pins"] === mode) {
          const message = `pins of ${oneLine(server)} are set to ${mode} already`;
          throw new PlugboardError("INVALID_ARGUMENTS", message);
        }
        const change: Parameters<typeof planEntryChange>[0]["change"] = (servers) =>
          withServerValue(servers, server, ["pins"], mode);
        const summary = `set pins of ${oneLine(server)} to ${mode}`;
        return planEntryChange({ summary, agent, server, change }, file, live, own);
      },
    },
    entry: {
      takes: z.strictObject({
        kind: z.literal("entry"),
        ...OF_SERVER,
        json: z.string().max(LONGEST_ENTRY),
        secrets: SECRETS,
      }),
      plan: async ({ agent, server, json, secrets: given }) => {
        const { file, own } = await found(agent, server);
        const written = writtenServer(file, server);
        const edited = withHidden(readServerJson(json), written);
        parseAgentConfig({ servers: { [server]: edited } });
        const typed = { ...typedCredentials(edited, written), ...given };
        const secrets = await placeSecrets(server, typed, file, own);
        const entry = withStored(edited, secrets);
        return planEntryChange(
          {
            summary: `edit ${oneLine(server)}`,
            agent,
            server,
            warnings: [...suspicions(entry), ...secrets.map(storedLine)],
            change: (servers) => withEntry(servers, server, { ...entry }),
            basis: secrets.map(({ key, value }) => [key, value]),
            before: () => storeAll(secrets, file, own),
          },
          file,
          live,
          own,
        );
      },
    },
    connect: connectChange(context),
    add: {
      takes: ADD,
      plan: async (given) => {
        await requireNothingWaits(live);
        return planAdd(given, live, uploads, unseen(ofAgent(given.agent, context)));
      },
    },
    trust: {
      takes: z.strictObject({ kind: z.literal("trust") }),
      plan: () => planTrust(live, context),
    },
  };
}

function ofAgent(agent: string, context: CliContext): CliContext {
  return { ...context, options: { ...context.options, agent } };
}

/** What somebody else has written would be confirmed along with the change. Rejects with UNTRUSTED or CONFIG_INVALID. */
async function requireNothingWaits(live: LiveConfig): Promise<void> {
  await live.look();
  if (live.unapplied === undefined) return;
  const isWaiting = live.unapplied.kind === "waiting";
  const message = isWaiting
    ? "an edit of the configuration waits for you"
    : "the configuration file has a mistake in it";
  throw new PlugboardError(isWaiting ? "UNTRUSTED" : "CONFIG_INVALID", message, {
    hint: isWaiting
      ? "look at it first: it is in the overview, under what waits for you"
      : live.unapplied.message,
  });
}

interface WaitingFile {
  path: string;
  text: string;
  judgement: Judgement;
  before: string | undefined;
}

/** The approval of the files as they are, where an edit of them waits. */
async function planTrust(
  live: LiveConfig,
  { io, options, clock }: CliContext,
): Promise<PlannedChange> {
  await live.look();
  const { source } = live;
  if (source.kind !== "file" || live.unapplied?.kind !== "waiting") {
    throw new PlugboardError("INVALID_ARGUMENTS", "no edit waits any more");
  }
  const { path, base } = source;
  const { cwd, homedir } = io;
  const waiting: WaitingFile[] = [];
  for (const each of filesOf(source)) {
    if (await isFileYours(each.path, io)) continue;
    const text = await readConfigText(each.path);
    const judgement = await judgeFile(each.path === path ? source : each, io, text);
    if (judgement.trust.kind === "trusted") continue;
    waiting.push({ path: each.path, text, judgement, before: live.agreedText(each.path) });
  }
  await loadConfig(path, options.agent, { cwd, homedir, base });
  const shown = await Promise.all(
    waiting.map(async ({ path: file, text, before }) => ({
      starts: await startsIn(file, before, text),
      diff: await fileDiff(before, text),
    })),
  );
  const names = waiting.map(({ path: file }) => visible(file)).join(" and ");
  return {
    shown: {
      summary: `trust ${names} as it is now`,
      about: { file: names },
      starts: shown.flatMap(({ starts }) => starts),
      diff: shown.flatMap(({ diff }) => diff),
      warnings: ["Somebody, or a program, has changed the file. Confirm only what you know."],
    },
    basis: waiting.map(({ path: file, text }) => [file, text]),
    apply: async () => {
      for (const { path: file, judgement } of waiting) {
        await judgement.store.approve(file, judgement.launches.all, clock.now());
      }
      await live.reload();
      return undefined;
    },
  };
}
