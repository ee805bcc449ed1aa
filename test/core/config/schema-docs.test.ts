// The examples of docs/configuration.md do what it says they do, and its tables have every key.

import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { loadConfig } from "../../../src/core/config/load.ts";
import { agentSchema, rootSchema } from "../../../src/core/config/schema/file-schema.ts";
import type { Schema, Shape } from "../../../src/core/config/schema/schema.ts";
import { SERVER_KEYS, serverSchema } from "../../../src/core/config/schema/server-schema.ts";
import { gatewaySettings } from "../../../src/core/config/gateway.ts";
import { toDefinition } from "../../../src/core/config/layers/definition.ts";
import { createPolicy } from "../../../src/core/guard/policy.ts";
import { serverGuards } from "../../../src/core/guard/server-guards.ts";
import { callOf, pass, refusal, subject } from "../guard/subjects.ts";
import { failure, writeConfig } from "./files.ts";

const page = await readFile(new URL("../../../docs/configuration.md", import.meta.url), "utf8");

const [first = "", agents = "", native = "", models = "", sessions = ""] = blocks("json5");
const [mistakes = ""] = blocks("json");
const [mistakesOutput = ""] = blocks("text");
const [nativeModule = ""] = blocks("js");

function blocks(language: string): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm");
  return Array.from(page.matchAll(pattern), ([, content = ""]) => content);
}

/** The keys in the first column of every table between two headings of the second level. */
function keysUnder(heading: string): string[] {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const [body = ""] = section.split("\n## ");
  const rows = body.split("\n").filter((line) => /^\| \[?`/.test(line));
  return rows.map((row) => /`([^`]*)`/.exec(row)?.[1] ?? "");
}

describe("the page on configuration", () => {
  it("begins with a file that loads without a warning", async () => {
    const { servers, warnings } = await loadConfig(await writeConfig(first));
    expect(servers.map(({ name }) => name)).toEqual(["files", "docs"]);
    expect(warnings).toEqual([]);
  });

  it("has an example of agents that get what it says", async () => {
    const file = await writeConfig(agents);
    const enabled = async (agent?: string) => {
      const { servers, warnings } = await loadConfig(file, agent);
      expect(warnings).toEqual([]);
      return servers.filter((each) => each.enabled).map(({ name }) => name);
    };
    expect(await enabled()).toEqual(["files", "memory"]);
    expect(await enabled("notes")).toEqual(["memory"]);
    expect(await enabled("docs")).toEqual(["files", "memory"]);
  });

  it("has an example for the servers of sessions that loads without a warning", async () => {
    const { session, warnings } = await loadConfig(await writeConfig(sessions));
    expect(warnings).toEqual([]);
    expect(session?.settings).toMatchObject({ timeout: 20_000, approval: "destructive" });
  });

  it("has an example of native tools that a board can use", async () => {
    const file = await writeConfig(native);
    await writeFile(join(dirname(file), "tools.mjs"), nativeModule);
    const agent = await loadConfig(file);
    expect(agent.warnings).toEqual([]);
    await using board = await openBoard(agent);
    expect(board.tools()).toMatchObject([{ name: "today", label: "Today's date" }]);
    expect((await board.call("today")).isError).toBeUndefined();
  });

  it("has an example of models that loads without a warning", async () => {
    const { model, modelProviders, warnings } = await loadConfig(await writeConfig(models));
    expect(warnings).toEqual([]);
    expect(model).toBe("lab/qwen3-32b");
    expect(modelProviders).toMatchObject({ lab: { type: "openai-compatible" } });
  });

  it("shows the errors there are", async () => {
    const file = await writeConfig(mistakes);
    const { message } = await failure(() => loadConfig(file));
    expect(`${message.replaceAll(file, "/home/me/plugboard.json")}\n`).toBe(mistakesOutput);
  });

  it("shows a warning that there is", async () => {
    const file = await writeConfig('{ mcpServers: { a: { command: "a", timeout: 30 } } }');
    const { warnings } = await loadConfig(file);
    expect(warnings.map(({ message }) => page.includes(`\`${message}\``))).toEqual([true]);
  });

  it.each<[string, Shape, string?]>([
    ["Server keys", serverSchema.shape],
    ["oauth", serverSchema.shape, "oauth"],
    ["Agent keys", agentSchema.shape],
    ["Settings for secrets", rootSchema.shape, "secrets"],
    ["The gateway", rootSchema.shape, "gateway"],
  ])("has a row for every key under %s", (heading, shape, inside) => {
    const rows = keysUnder(heading);
    const keys = inside === undefined ? topKeys(shape) : topKeys(keysOf(shape)[inside]?.shape);
    const prefix = heading === "oauth" || inside === undefined ? "" : `${inside}.`;
    const missing = keys.filter(
      (key) => !rows.some((row) => row === `${prefix}${key}` || row.startsWith(`${prefix}${key}.`)),
    );
    // It has no keys to show.
    expect(missing).toEqual(inside === "secrets" ? ["env"] : []);
  });

  it("has rules that do what it says", async () => {
    const file = await writeConfig(agents);
    const { servers, guard } = await loadConfig(file, "docs");
    const policy = createPolicy({
      rules: guard?.rules,
      servers: serverGuards(servers),
      known: { servers, template: "mcp__{server}__{tool}" },
    });
    const judged = (name: string) => policy.judge(subject(name)).kind;
    expect(judged("files/read_file")).toBe("allowed");
    expect(judged("files/list_directory")).toBe("refused");
    expect(judged("files/write_file")).toBe("refused");
    expect(judged("memory/search_nodes")).toBe("refused");
    const { stage } = policy;
    const { message } = await refusal(pass(stage, callOf(subject("files/write_file"))));
    expect(page).toContain(`\`${message}\``);
  });
});

describe("the descriptions in the schema", () => {
  const described = [
    ...allKeys(rootSchema.shape, ""),
    ...allKeys(serverSchema.shape, "servers"),
    ...allKeys(agentSchema.shape, "agents"),
  ];

  it("say something about every key, in sentences", () => {
    expect(described.length).toBeGreaterThan(150);
    const wrong = described.filter(
      ({ schema }) => !/^[A-Z`].*[.!]$/.test(schema.description?.text ?? ""),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it("have defaults and examples that the schema accepts", () => {
    const wrong = described.flatMap(({ path, schema }) => {
      const { default: value, examples = [] } = schema.description ?? {};
      const values = value === undefined ? examples : [value, ...examples];
      return values.flatMap((each) => schema.issues(each, [path]));
    });
    expect(wrong).toEqual([]);
  });

  it("have the defaults that a server really has", () => {
    const definition: Record<string, unknown> = {
      ...toDefinition({ name: "a", origin: "agent", server: { command: "a" }, rules: [] }, "/"),
    };
    const compared = SERVER_KEYS.filter((key) => definition[key] !== undefined);
    expect(compared).toEqual(
      expect.arrayContaining(["timeout", "toolTimeout", "maxRestarts", "lazy", "maxMessageBytes"]),
    );
    const keys = keysOf(serverSchema.shape);
    for (const key of compared) {
      const { default: value, otherwise } = keys[key]?.description ?? {};
      if (otherwise === undefined) expect([key, value]).toEqual([key, definition[key]]);
      else
        expect([key, otherwise]).toEqual([
          key,
          expect.stringContaining(`\`${String(definition[key])}\``),
        ]);
    }
  });

  it("have the defaults that a gateway really has", () => {
    const keys = keysOf(keysOf(rootSchema.shape)["gateway"]?.shape);
    const { limits, ...settings } = gatewaySettings();
    const real = { ...settings, ...limits };
    const all = { ...keys, ...keysOf(keys["limits"]?.shape) };
    const given = Object.keys(real).map((key) => [key, all[key]?.description?.default]);
    expect(Object.fromEntries(given)).toEqual(real);
  });
});

function keysOf(shape: Shape | undefined): Readonly<Record<string, Schema<unknown>>> {
  return shape?.kind === "object" ? shape.keys : {};
}

/** Those of the object among several kinds of value, too. */
function topKeys(shape: Shape | undefined): string[] {
  const shapes = shape?.kind === "either" ? shape.schemas.map((each) => each.shape) : [shape];
  return shapes.flatMap((each) => Object.keys(keysOf(each)));
}

/** Every key in the shape, however deep, but not within other servers and agents. */
function allKeys(shape: Shape, path: string): { path: string; schema: Schema<unknown> }[] {
  switch (shape.kind) {
    case "object":
      return Object.entries(shape.keys).flatMap(([key, schema]) => [
        { path: `${path}.${key}`, schema },
        ...allKeys(schema.shape, `${path}.${key}`),
      ]);
    case "map":
      return allKeys(shape.values.shape, `${path}.*`);
    case "list":
      return allKeys(shape.item.shape, `${path}[]`);
    case "either":
      return shape.schemas.flatMap((each) => allKeys(each.shape, path));
    default:
      return [];
  }
}
