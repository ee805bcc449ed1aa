import { describe, expect, it } from "vitest";
import { readManifest } from "../../../src/install/bundle/manifest.ts";
import { manifest } from "../../fixtures/bundles/zip.ts";

const read = (value: unknown) => readManifest(Buffer.from(JSON.stringify(value)));

const node = { type: "node", entry_point: "a.js", mcp_config: { command: "node" } };
const option = { type: "string", title: "T", description: "D" };

describe("a manifest", () => {
  for (const version of ["0.1", "0.2", "0.3", "0.4"]) {
    it(`of version ${version} is read, by its new name and by its old one`, () => {
      expect(read(manifest({ manifest_version: version })).name).toBe("tiny");
      const { manifest_version: _, ...rest } = manifest() as Record<string, unknown>;
      expect(read({ ...rest, dxt_version: version }).name).toBe("tiny");
    });
  }

  it("may have keys that Plugboard does not know", () => {
    expect(read(manifest({ localization: {}, _meta: { x: { y: 1 } }, new_key: [] })).name).toBe(
      "tiny",
    );
  });

  it("may begin with a byte order mark", () => {
    expect(readManifest(Buffer.from(`\uFEFF${JSON.stringify(manifest())}`)).name).toBe("tiny");
  });

  it("of one for uv need not say how it is started", () => {
    const server = { type: "uv", entry_point: "src/server.py" };
    expect(read(manifest({ manifest_version: "0.4", server })).server).toEqual(server);
  });

  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));

  const WRONG: [what: string, value: unknown, said: string][] = [
    ["a list", [], "its manifest.json is not valid"],
    ["no version", manifest({ manifest_version: undefined }), "has no version"],
    [
      "a later version",
      manifest({ manifest_version: "1.0" }),
      "has the version '1.0', and Plugboard reads 0.1 to 0.4",
    ],
    ["no name", manifest({ name: undefined }), "name: "],
    ["an endless name", manifest({ name: "x".repeat(1000) }), "name: "],
    ["an unknown type", manifest({ server: { ...node, type: "ruby" } }), "server.type: "],
    [
      "nothing to start",
      manifest({ server: { ...node, mcp_config: undefined } }),
      "server.mcp_config: is missing",
    ],
    [
      "arguments that are no texts",
      manifest({ server: { ...node, mcp_config: { command: "node", args: [1] } } }),
      "server.mcp_config.args.0: ",
    ],
    [
      "too many arguments",
      manifest({ server: { ...node, mcp_config: { command: "node", args: Array(501).fill("") } } }),
      "server.mcp_config.args: ",
    ],
    [
      "too many variables",
      manifest({ server: { ...node, mcp_config: { command: "node", env: many(201, "") } } }),
      "has more than 200 entries",
    ],
    ["too many options", manifest({ user_config: many(101, option) }), "has more than 100 entries"],
    [
      "an option with a name that cannot be typed",
      manifest({ user_config: { "a=b": option } }),
      "user_config.a=b: ",
    ],
    [
      "an option of an unknown type",
      manifest({ user_config: { a: { ...option, type: "date" } } }),
      "user_config.a.type: ",
    ],
  ];
  for (const [what, value, said] of WRONG) {
    it(`is refused: ${what}`, () => {
      expect(() => read(value)).toThrow(said);
    });
  }

  it("is refused if it is not JSON, or is nested deep", () => {
    expect(() => readManifest(Buffer.from("{"))).toThrow("its manifest.json is not JSON");
    expect(() => readManifest(Buffer.from(deep))).toThrow("its manifest.json is nested too deep");
  });

  it("cannot reach the prototype of objects", () => {
    const text = JSON.stringify(manifest()).replace(
      /\}$/,
      `,"__proto__":{"polluted":1},"user_config":{"__proto__":{"type":"string","polluted":1},"constructor":${JSON.stringify(option)}}}`,
    );
    const { user_config: options = {} } = readManifest(Buffer.from(text));
    expect(Object.keys(options)).toEqual(["constructor"]);
    expect({}).not.toHaveProperty("polluted");
    expect(options).not.toHaveProperty("polluted");
  });
});
