// Starts a gateway in the background, outside the process tree of this command: it must outlive the command, and also a
// server that has started the command.

import { spawn } from "node:child_process";
import { closeSync, fstatSync } from "node:fs";
import { dirname } from "node:path";
import { type ConfigSource, type FileSource, placeOfSource } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { ownBin } from "../../core/config/own-server.ts";
import { gatewayFile } from "../../core/state/running-gateway.ts";
import { COOKIE_VARIABLE, type Environment } from "../../util/environment.ts";
import { makeDirectory } from "../../util/make-directory.ts";
import { errorMessage } from "../../util/error-message.ts";
import { oneLine } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { findSource } from "../find-source.ts";
import { openLog, readLog } from "./log.ts";

/** Loading the gateway takes about half a second; a machine under load may take much longer. */
const READY_WITHIN_MS = 20_000;
/** What every error begins with. */
const ERROR = "plugboard: ";
const HINT = "hint: ";
const LONGEST_REASON = 500;
/** What the gateway writes to the pipe. */
export const READY = "ready\n";
/** The pipe, in the gateway. */
const READY_FD = 3;

/** A shell that ends at once, so that the gateway has no parent here. The arguments are passed as they are. */
const SHELL = ["/bin/sh", "-c", '"$@" &', "sh"] as const;

export type BackgroundStart = { kind: "ready" } | { kind: "failed"; reason: string };

/**
 * Resolves when a gateway of this configuration runs, whoever has started it.
 */
export async function startBackground(
  source: FileSource,
  context: StartContext,
  env: Environment = context.io.env,
): Promise<BackgroundStart> {
  const words = [...gatewayWords(source, context), "up", "--background"];
  const started = await startGateway(source, words, context, env);
  if (started.kind === "ready") return { kind: "ready" };
  const { why, log } = started;
  return {
    kind: "failed",
    reason: `no gateway could be started in the background: ${why}. This command starts servers of its own; what the gateway said is in ${log}`,
  };
}

type StartContext = Pick<CliContext, "io" | "options" | "clock" | "signal">;

export type GatewayStart = { log: string } & (
  | { kind: "ready" }
  | { kind: "failed"; why: string; hint?: string }
);

/** Runs `plugboard <words>` in the background, and resolves when it has said that it is ready, or has ended. */
export async function startGateway(
  source: ConfigSource,
  words: readonly string[],
  { io, clock, signal }: Omit<StartContext, "options">,
  env: Environment = io.env,
): Promise<GatewayStart> {
  const log = gatewayFile(plugboardHome(io.env, io.homedir), placeOfSource(source), "log");
  const failed = (why: string, hint?: string): GatewayStart => ({
    kind: "failed",
    why,
    ...(hint && { hint }),
    log,
  });
  if (signal.aborted) return failed("interrupted");
  try {
    await makeDirectory(dirname(log));
    const output = openLog(log);
    const { size: before } = fstatSync(output);
    try {
      const isReady = await new Promise<boolean>((resolve, reject) => {
        const told = ["--ready-fd", String(READY_FD)];
        const command = [process.execPath, ownBin(), ...words, ...told];
        const [program = "", ...args] =
          process.platform === "win32" ? command : [...SHELL, ...command];
        const child = spawn(program, args, {
          cwd: io.cwd,
          // The cookie of a server that this command runs in would have the gateway stopped with that server.
          env: { ...env, [COOKIE_VARIABLE]: undefined },
          stdio: ["ignore", output, output, "pipe"],
          detached: true,
          windowsHide: true,
        });
        const pipe = child.stdio[READY_FD] as NodeJS.ReadableStream & { destroy(): void };
        const settle = (ready: boolean): void => {
          timer.cancel();
          signal.removeEventListener("abort", giveUp);
          pipe?.destroy();
          child.unref();
          resolve(ready);
        };
        const giveUp = (): void => settle(false);
        const timer = clock.after(READY_WITHIN_MS, giveUp);
        signal.addEventListener("abort", giveUp, { once: true });
        child.once("error", (error) => {
          settle(false);
          reject(error);
        });
        let said = "";
        pipe?.on("data", (chunk: Buffer) => {
          said += chunk.toString();
          if (said === READY) settle(true);
        });
        // The gateway has ended, and has closed its end of the pipe with that.
        pipe?.on("end", giveUp);
        pipe?.on("error", giveUp);
      });
      return isReady ? { kind: "ready", log } : failed(...whyNot(readLog(log, before)));
    } finally {
      closeSync(output);
    }
  } catch (error) {
    return failed(errorMessage(error));
  }
}

/**
 * The configuration is found in the way in which the command has found it, so that it needs the same trust. Only where
 * the command uses your own file alone, because the one in the directory is not trusted, yours is named.
 */
function gatewayWords(
  { path, from }: FileSource,
  context: Pick<CliContext, "io" | "options">,
): string[] {
  const found = findSource(context);
  const isOther = from === "home" && found.kind === "file" && found.path !== path;
  const config = isOther ? path : context.options.config;
  return [...(config === undefined ? [] : ["--config", config]), "--no-color"];
}

/** The error that it has printed, which may have several lines, and its hint; or else the last thing it said. */
function whyNot(lines: readonly string[]): [why: string, hint?: string] {
  const at = lines.findLastIndex((line) => line.startsWith(ERROR));
  const said = at === -1 ? lines.slice(-1) : lines.slice(at);
  // Where to read more is for whoever has the error as a whole.
  const told = said.filter((line) => !line.startsWith("more: "));
  const hintAt = told.findIndex((line) => line.startsWith(HINT));
  const [error, hint] = hintAt === -1 ? [told, []] : [told.slice(0, hintAt), told.slice(hintAt)];
  const text = oneLine(error.join(" ").replace(ERROR, ""), LONGEST_REASON);
  if (text === "") return ["it did not get ready in time"];
  return [text, oneLine(hint.join(" ").replace(HINT, ""), LONGEST_REASON)];
}
