// What the host has to answer one of its servers with, and the capabilities that it advertises for that.

import type { OnElicitation } from "../../types/elicitation.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { RootsSource } from "../../types/roots.ts";
import type { OnSampling } from "../../types/sampling.ts";
import type { LogLevelSource } from "../../types/server-log.ts";
import type { QuestionQueue } from "../../../util/question-queue.ts";
import type { SamplingLimits } from "./sampling-limits.ts";

/** The extension of those who show the apps of servers. They ask nobody for anything. */
const APPS = "io.modelcontextprotocol/ui";
const APP_TYPE = "text/html;profile=mcp-app";
const MOST_APP_TYPES = 16;

export interface HostAnswers {
  onElicitation?: OnElicitation;
  /** Absent where the server must not use the model. */
  sampling?: { onSampling: OnSampling; approvalRequired: boolean; limits: SamplingLimits };
  /** Whether the server's configuration lets it use a model. */
  maySample?: boolean;
  roots?: RootsSource;
  /** Whether clients of the host show the apps of servers. */
  showsApps?: boolean;
  /** The board's queue, so that its callback gets one question at a time, whichever server asks. */
  questions?: QuestionQueue;
  /** The lowest level that the server should log. Default `warning`. */
  logLevel?: LogLevelSource;
}

/** What a connection that is opened now advertises. A server may list other tools for other capabilities. */
export function capabilitiesOf(answers: HostAnswers): JsonObject {
  const { onElicitation, sampling, roots, showsApps } = answers;
  return {
    ...(onElicitation !== undefined && { elicitation: { form: {}, url: {} } }),
    ...(sampling !== undefined && {
      sampling: takesTools(sampling.onSampling) ? { tools: {} } : {},
    }),
    ...(roots?.list() !== undefined && { roots: { listChanged: true } }),
    ...(showsApps && { extensions: { [APPS]: { mimeTypes: [APP_TYPE] } } }),
  };
}

/** What the server may ask a client of the host for, as far as the configuration decides about it. */
export function permittedBy({ maySample, roots }: HostAnswers): JsonObject {
  return {
    elicitation: { form: {}, url: {} },
    ...(maySample && { sampling: { tools: {}, context: {} } }),
    ...(roots?.list() !== undefined && { roots: {} }),
  };
}

/** What a client says that it can do, without what is not permitted or not known here. */
export function commonCapabilities(client: JsonObject, permitted: JsonObject): JsonObject {
  const common: JsonObject = {};
  for (const [name, parts] of Object.entries(permitted)) {
    const stated = client[name];
    if (!isJsonObject(stated) || !isJsonObject(parts)) continue;
    common[name] = Object.fromEntries(
      Object.keys(parts).flatMap((part) => (isJsonObject(stated[part]) ? [[part, {}]] : [])),
    );
  }
  const apps = isJsonObject(client.extensions) ? client.extensions[APPS] : undefined;
  if (isJsonObject(apps)) {
    const types = Array.isArray(apps.mimeTypes) ? apps.mimeTypes : [];
    const mimeTypes = types.filter((type) => typeof type === "string").slice(0, MOST_APP_TYPES);
    common.extensions = { [APPS]: { mimeTypes } };
  }
  return common;
}

function takesTools(onSampling: OnSampling): boolean {
  return typeof onSampling !== "function" && onSampling.tools === true;
}
