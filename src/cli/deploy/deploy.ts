// `plugboard deploy`: shows the files of a deployment, or writes them into a directory. It starts nothing.

import { existsSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { readTextFile, type TextFile, writeTextFile } from "../../core/config/text/text-file.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { plural } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../find-source.ts";
import type { DeployRequest } from "./command.ts";
import { composeFiles, TLS_IN_CONTAINER } from "./compose.ts";
import { kustomizeFiles } from "./kustomize.ts";
import {
  type DeploymentFile,
  type DeploymentPlan,
  planDeployment,
  type PlanOptions,
} from "./plan.ts";
import { OWN_PORT, systemdFiles } from "./systemd.ts";

/** Begins every file of this command; plugboard.json too, since it is JSON5. */
const MARK = /^(?:#|\/\/) Written by `plugboard deploy /;
const CONTAINER_PORT = 7584;
const FILES_GO: Readonly<Record<DeployRequest["form"], string>> = {
  kustomize: "in the image or in a volume of your overlay",
  compose: "in the image or in a volume of compose.override.yaml",
  systemd: "on each machine",
};

export async function runDeploy(request: DeployRequest, context: CliContext): Promise<number> {
  const { io, options, screen } = context;
  const source = findSource(context);
  if (source.kind !== "file") {
    throw new PlugboardError("CONFIG_INVALID", "there is no configuration to deploy", {
      hint: "name one with --config",
    });
  }
  const { cwd, homedir } = io;
  requireUse(request);
  const { form, gateways, writable } = request;
  const plan = await planDeployment({
    file: source.path,
    cwd,
    homedir,
    workerAt: at(request),
    filesGo: FILES_GO[form],
    writable,
    hasBalancer: form === "compose" || gateways !== undefined,
    ...(form === "compose" && { tlsAt: TLS_IN_CONTAINER }),
    ...(gateways !== undefined && { replicaPort: `\${${OWN_PORT}}` }),
  });
  const files = filesOf(request, plan);
  const notes = [
    ...plan.notes,
    ...(plan.isTls && request.entry?.kind === "route"
      ? ["the gateways speak TLS: your Gateway needs a BackendTLSPolicy for the Service plugboard"]
      : []),
  ];
  const done = request.out === undefined ? undefined : await write(files, request.out, context);
  if (options.json) {
    const { variables, workers } = plan;
    screen.json({ files: done ?? files, variables, workers, notes });
    return EXIT.ok;
  }
  if (done === undefined) {
    screen.lines(
      files.flatMap(({ path, text }) => [`# ${path}`, ...text.trimEnd().split("\n"), ""]),
    );
    screen.note(
      `nothing was written; to write ${plural(files.length, "file")}, add --out <directory>`,
    );
  } else {
    screen.lines(done.map(({ path, state }) => `${state} ${visible(path)}`));
  }
  for (const note of notes) screen.note(note);
  if (source.base !== undefined) {
    screen.note(
      `only ${visible(source.path)} is deployed, and not ${visible(source.base)} beneath it`,
    );
  }
  return EXIT.ok;
}

/** Throws INVALID_ARGUMENTS for an option that this form would ignore. */
function requireUse({ form, workersOn, gateways, image, entry, isMonitored }: DeployRequest): void {
  const useless = [
    { option: "--workers-on", isGiven: workersOn !== undefined, of: ["systemd"] },
    { option: "--gateways", isGiven: gateways !== undefined, of: ["systemd"] },
    { option: "--image", isGiven: image !== undefined, of: ["kustomize", "compose"] },
    { option: "--ingress", isGiven: entry?.kind === "ingress", of: ["kustomize"] },
    { option: "--http-route", isGiven: entry?.kind === "route", of: ["kustomize"] },
    { option: "--monitor", isGiven: isMonitored, of: ["kustomize"] },
  ].find(({ isGiven, of }) => isGiven && !of.includes(form));
  if (useless === undefined) return;
  const { option, of } = useless;
  throw new PlugboardError("INVALID_ARGUMENTS", `${option} means nothing to ${form}`, {
    hint: `it is for plugboard deploy ${of.join(" and ")}`,
  });
}

function filesOf(request: DeployRequest, plan: DeploymentPlan): DeploymentFile[] {
  const { form, image, gateways, entry, isMonitored } = request;
  const config = `// Written by \`plugboard deploy ${form}\` of your configuration. Change that, and deploy it again.\n${plan.config}`;
  const marked = { ...plan, config };
  switch (form) {
    case "kustomize":
      return kustomizeFiles(marked, { image: image ?? "plugboard", entry, isMonitored });
    case "compose":
      return composeFiles(marked, image);
    case "systemd":
      return systemdFiles(marked, gateways);
  }
}

/** Gives the address for the worker of a program whose entry names none. */
function at({ form, workersOn }: DeployRequest): PlanOptions["workerAt"] {
  if (form !== "systemd")
    return (name) => ({ host: `plugboard-worker-${name}`, port: CONTAINER_PORT });
  return (name, index) => {
    if (workersOn !== undefined) return { host: workersOn, port: CONTAINER_PORT + 1 + index };
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      `the server '${visible(name)}' has to run on one machine, and nothing says on which`,
      { hint: 'give --workers-on <host>, or say "replicas" or "worker" in its entry' },
    );
  };
}

interface Written {
  path: string;
  state: "made" | "replaced" | "kept";
}

/** All or nothing: a file that somebody else has written is not replaced. */
async function write(
  files: readonly DeploymentFile[],
  out: string,
  { io }: CliContext,
): Promise<Written[]> {
  const directory = resolve(io.cwd, out);
  if (existsSync(directory) && !statSync(directory).isDirectory()) {
    throw new PlugboardError("INVALID_ARGUMENTS", `${visible(out)} is not a directory`, {
      hint: "give --out a directory; it is made if it is not there",
    });
  }
  const found: [DeploymentFile, TextFile][] = [];
  for (const file of files) {
    const before = await readTextFile(join(directory, file.path));
    if (before.text !== undefined && before.text !== "" && !MARK.test(before.text)) {
      throw new PlugboardError(
        "INVALID_ARGUMENTS",
        `${visible(join(out, file.path))} exists and was not written by this command, so nothing was written`,
        { hint: "choose another directory" },
      );
    }
    found.push([file, before]);
  }
  const written: Written[] = [];
  for (const [{ path, text }, before] of found) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    const state = before.text === undefined ? "made" : before.text === text ? "kept" : "replaced";
    if (state !== "kept") await writeTextFile(before, text);
    written.push({ path: join(out, path), state });
  }
  return written;
}
