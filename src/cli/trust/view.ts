// What a person is asked to trust, in full: every command, every address, and every setting that decides what
// runs or where credentials go.

import { codeVariableReason } from "../../core/config/code-variables.ts";
import type { Launch, OtherSetting, Trust } from "../../core/config/trust/trust.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import { visible, visibleCommand } from "../../util/visible.ts";

export function launchLines(launches: readonly Launch[]): string[] {
  return launches.flatMap((launch) =>
    launch.kind === "server"
      ? [...serverLines(launch.name, launch.server), ...codeLines(launch.server)]
      : [`  ${visible(launch.name)}: ${json(launch.value)}`],
  );
}

export function otherLines(others: readonly OtherSetting[]): string[] {
  return others.map(({ name, value }) => `  ${visible(name)}: ${json(value)}`);
}

/** Whoever reads the command does not see what these run. */
function codeLines({ env = {} }: ServerConfig): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const reason = codeVariableReason(name, value);
    return reason === undefined
      ? []
      : [`      warning: ${visible(name)} ${reason}: code runs that the command does not show`];
  });
}

/** The exact command or address, and every setting that decides what runs. */
export function serverLines(name: string, server: ServerConfig): string[] {
  const { roots, keepAlive, provenance } = server;
  const [first = "", ...rest] = [
    ...targetLines(server),
    ...(roots ? [`with roots: ${json(roots)}`] : []),
    ...(keepAlive ? ["kept running between commands (keepAlive)"] : []),
    ...(provenance?.kind === "registry"
      ? [visible(`updated from ${provenance.registry}, as ${provenance.name}`)]
      : []),
  ];
  return [`  ${visible(name)}: ${first}`, ...rest.map((line) => `      ${line}`)];
}

/** The changes since it was trusted; empty where it never was. */
export function changeLines(trust: Trust): string[] {
  if (trust.kind !== "changed") return [];
  const { added, changed, removed } = trust;
  const line = (what: string, labels: readonly string[]): string[] =>
    labels.length === 0 ? [] : [`  ${what}: ${labels.map(visible).join(", ")}`];
  return [...line("added", added), ...line("changed", changed), ...line("removed", removed)];
}

function targetLines(server: ServerConfig): string[] {
  const { command, args = [], env = {}, cwd, transport } = server;
  if (command === undefined || (transport !== undefined && transport !== "stdio")) {
    return remoteLines(server);
  }
  return [
    visibleCommand([command, ...args]),
    ...(cwd === undefined ? [] : [`in ${visible(cwd)}`]),
    ...Object.entries(env).map(([name, value]) => `with ${visible(`${name}=${value}`)}`),
  ];
}

function remoteLines({ url = "", headers = {}, ...server }: ServerConfig): string[] {
  const settings = (["auth", "oauth", "tls", "allowInsecure", "allowPrivate"] as const).flatMap(
    (key) => (server[key] === undefined ? [] : [`with ${key}: ${json(server[key])}`]),
  );
  return [
    visible(url),
    ...Object.entries(headers).map(
      ([name, value]) => `with the header ${visible(`${name}: ${value}`)}`,
    ),
    ...settings,
  ];
}

function json(value: unknown): string {
  return visible(JSON.stringify(value));
}
