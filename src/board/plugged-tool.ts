// One tool on the board: what rules see of it, the way to it through the guard, and the unified tool that
// an agent gets.

import { toUnified } from "../bridge/native.ts";
import { type Execute, toTool } from "../bridge/tool.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { toolHash } from "../guard/pins/hash.ts";
import type { Next, ToolSubject } from "../model/guard.ts";
import { isManual } from "../model/include.ts";
import type { NativeTool, Tool, ToolDefinition } from "../model/tool.ts";
import type { BoardGuard } from "./guard.ts";
import type { Slot } from "./slot.ts";

export interface PluggedTool {
  subject: ToolSubject;
  /** Through the guard. */
  guarded: Next;
  tool: Tool;
  /** What a rule refuses is not listed. */
  isListed: boolean;
}

export function plugEntry(
  entry: CatalogEntry,
  { definition, pinKey }: Pick<Slot, "definition" | "pinKey">,
  guard: BoardGuard,
  last: Next,
  execute: Execute,
): PluggedTool {
  const { publicName, server, tool } = entry;
  const subject = new Subject(tool, {
    canonical: `${server}/${tool.name}`,
    publicName,
    source: { kind: "mcp", server, tool: tool.name },
    origin: definition.origin,
    ownerOnly: false,
    key: pinKey,
  });
  return {
    subject,
    guarded: guard.around(subject, last),
    tool: {
      ...toTool(entry, execute, guard.presenter(subject)),
      ...(isManual(tool.name, definition.include) && { include: "manual" }),
    },
    isListed: guard.allows(subject),
  };
}

export function plugNative(
  tool: NativeTool,
  guard: BoardGuard,
  last: Next,
  execute: Execute,
): PluggedTool {
  const { name, description, parameters, annotations, outputSchema, ownerOnly = false } = tool;
  const definition: ToolDefinition = {
    name,
    description,
    inputSchema: parameters,
    ...(annotations !== undefined && { annotations }),
    ...(outputSchema !== undefined && { outputSchema }),
  };
  const subject = new Subject(definition, {
    canonical: `native/${name}`,
    publicName: name,
    source: { kind: "native" },
    origin: "native",
    ownerOnly,
    key: "native",
  });
  return {
    subject,
    guarded: guard.around(subject, last),
    tool: toUnified(tool, execute, guard.presenter(subject)),
    isListed: guard.allows(subject),
  };
}

interface Identity extends Pick<
  ToolSubject,
  "canonical" | "publicName" | "source" | "origin" | "ownerOnly"
> {
  /** Of the definition of its server. */
  key: string;
}

class Subject implements ToolSubject {
  readonly canonical: string;
  readonly publicName: string;
  readonly source: ToolSubject["source"];
  readonly origin: ToolSubject["origin"];
  readonly ownerOnly: boolean;
  readonly title?: string;
  readonly description?: string;
  readonly annotations?: NonNullable<ToolSubject["annotations"]>;
  readonly outputSchema?: NonNullable<ToolSubject["outputSchema"]>;
  readonly #tool: ToolDefinition;
  readonly #key: string;
  #hash: string | undefined;

  constructor(tool: ToolDefinition, identity: Identity) {
    this.canonical = identity.canonical;
    this.publicName = identity.publicName;
    this.source = identity.source;
    this.origin = identity.origin;
    this.ownerOnly = identity.ownerOnly;
    if (tool.title !== undefined) this.title = tool.title;
    if (tool.description !== undefined) this.description = tool.description;
    if (tool.annotations !== undefined) this.annotations = tool.annotations;
    if (tool.outputSchema !== undefined) this.outputSchema = tool.outputSchema;
    this.#tool = tool;
    this.#key = identity.key;
  }

  /**
   * Of the tool and of the definition of its server: what was granted to one program is not granted to
   * another of its name. Made when it is needed, since of a thousand tools few are ever asked about.
   */
  get hash(): string {
    this.#hash ??= `${toolHash(this.#tool)}-${this.#key}`;
    return this.#hash;
  }
}
