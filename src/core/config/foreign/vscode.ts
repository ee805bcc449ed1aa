// VS Code: `mcp.json` with `servers` and `inputs`, and the older `mcp` block of its settings. What VS Code asks its user
// for, `${input:id}`, becomes a reference to a variable of that name.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { OfferInput } from "../../types/server-offer.ts";
import { variableName } from "../../../util/environment.ts";
import { atKey, type KeyPath, quote } from "../issue.ts";
import { type Application, mentions, someHas } from "./application.ts";
import type { Draft, KeyRules } from "./draft.ts";
import { COMMON_KEYS, envFile, signIn } from "./key-rules.ts";
import { editorVariables, reference } from "./variables.ts";

const KEYS: KeyRules = {
  ...COMMON_KEYS,
  envFile,
  oauth: signIn({ clientId: "clientId" }),
};

const MARKS = ["envFile", "dev", "gallery", "sandboxEnabled", "version"];

const VARIABLES = /\$\{(?:input:|env:|workspaceFolder|userHome|config:|command:|pathSeparator)/;

export const vscode: Application = {
  id: "vscode",
  name: "VS Code",
  recognise: (value) => {
    const { servers, inputs, mcp } = value;
    if (isJsonObject(mcp) && isJsonObject(mcp["servers"])) {
      const isSettings = Object.keys(value).some((key) => key.includes("."));
      return "inputs" in mcp || isSettings || mentions(mcp["servers"], VARIABLES);
    }
    if (!isJsonObject(servers)) return false;
    return Array.isArray(inputs) || someHas(servers, MARKS) || mentions(servers, VARIABLES);
  },
  block: "servers",
  keys: ["inputs"],
  pathEnd: /(?:^|\/)\.vscode\/mcp\.json$|\/User\/(?:profiles\/[^/]+\/)?mcp\.json$/,
  translate: (value, draft, around) => {
    const { mcp } = value;
    const block = isJsonObject(mcp) ? mcp : value;
    const path: KeyPath = isJsonObject(mcp) ? ["mcp"] : [];
    const { servers, inputs, ...others } = block;
    const convert = editorVariables(around, inputReferences(inputs, [...path, "inputs"], draft));
    draft.servers(servers, [...path, "servers"], KEYS, convert);
    draft.ignore(Object.keys(others), path);
    const rest = Object.keys(value).filter((key) => key !== "mcp");
    if (path.length > 0) draft.ignore(rest, []);
  },
};

/** Says once for each input how to set it. */
function inputReferences(inputs: unknown, path: KeyPath, draft: Draft): (id: string) => string {
  const known = new Map<string, { path: KeyPath; input: OfferInput }>();
  for (const [index, input] of (Array.isArray(inputs) ? inputs : []).entries()) {
    if (!isJsonObject(input) || typeof input["id"] !== "string") continue;
    known.set(input["id"], {
      path: [...path, index, "id"],
      input: toOfferInput(input["id"], input),
    });
  }
  const told = new Set<string>();
  return (id) => {
    const name = variableName(id);
    const { input = toOfferInput(id, {}), path: place = path } = known.get(id) ?? {};
    if (!told.has(id)) {
      told.add(id);
      const about = input.description === undefined ? "" : `: ${input.description}`;
      draft.inputs.push(input);
      draft.notes.push(
        atKey(
          place,
          `the input ${quote(id)} is read from the variable ${name}; to set it, export ${name}${about}`,
        ),
      );
    }
    return reference(name, input.default);
  };
}

/** What is typed hidden in VS Code, and what nothing is said about, is a secret. */
function toOfferInput(id: string, input: JsonObject): OfferInput {
  const { description, default: fallback, password, options } = input;
  const choices = (Array.isArray(options) ? (options as unknown[]) : []).flatMap((each) => {
    const value = isJsonObject(each) ? each["value"] : each;
    return typeof value === "string" ? [value] : [];
  });
  const isShown = password === false || choices.length > 0 || typeof fallback === "string";
  return {
    key: id,
    variable: variableName(id),
    ...(typeof description === "string" && { description }),
    isRequired: true,
    isSecret: password === true || !isShown,
    format: "string",
    ...(typeof fallback === "string" && { default: fallback }),
    ...(choices.length > 0 && { choices }),
  };
}
