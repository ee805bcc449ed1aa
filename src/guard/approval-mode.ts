// Whether a tool must be asked about: the mode that counts for it, and what its hints are worth.

import type { ToolHints } from "../model/approval.ts";
import type { ApprovalMode } from "../model/guard-settings.ts";
import type { ToolSubject } from "../model/guard.ts";
import { exceptionFor, type ServerGuards } from "./server-guards.ts";

export interface ApprovalModes {
  modeFor(subject: ToolSubject): ApprovalMode;
  /** Whether what the tool says of itself counts. */
  isTrusted(subject: ToolSubject): boolean;
}

/** The tool's own mode, else its server's, else the agent's. */
export function approvalModes(
  servers: ServerGuards,
  agentMode: ApprovalMode = "never",
): ApprovalModes {
  return {
    modeFor(subject) {
      const { approval } = servers.own(subject);
      return exceptionFor(approval, subject) ?? approval?.default ?? agentMode;
    },
    isTrusted: (subject) =>
      subject.source.kind === "native" || servers.own(subject).trusted === true,
  };
}

/** Why somebody must be asked, or undefined. Hints of a server that is not trusted lower nothing. */
export function reasonToAsk(
  subject: ToolSubject,
  mode: ApprovalMode,
  isTrusted: boolean,
): string | undefined {
  switch (mode) {
    case "never":
      return undefined;
    case "ask":
      return "every call of this tool is asked about";
    case "destructive": {
      if (!isTrusted) return "its server is not trusted to say that the tool changes nothing";
      const { readOnly, destructive } = hintsOf(subject);
      if (readOnly === true || destructive === false) return undefined;
      return "the tool may change or delete something";
    }
  }
}

export function hintsOf({ annotations = {} }: ToolSubject): ToolHints {
  const hints: ToolHints = {};
  for (const hint of ["readOnly", "destructive", "idempotent", "openWorld"] as const) {
    const value = annotations[`${hint}Hint`];
    if (typeof value === "boolean") hints[hint] = value;
  }
  return hints;
}
