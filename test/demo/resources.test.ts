import type { Client } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { complete, connect, ERAS, makePackage, removePackage } from "./connect.ts";

let root: string;
let client: Client;

beforeAll(() => {
  root = makePackage();
});

afterAll(() => removePackage(root));

describe.each(ERAS)("the demo's resources to a %s client", (_, era) => {
  beforeEach(async () => {
    client = await connect(era, root);
  });

  afterEach(() => client.close());

  it("offers the documentation and the units to read", async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      "plugboard://units",
      "plugboard://docs/readme",
      "plugboard://docs/configuration",
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "plugboard://docs/{name}",
      "plugboard://units/{category}",
    ]);
    expect((await client.readResource({ uri: "plugboard://docs/readme" })).contents).toEqual([
      {
        uri: "plugboard://docs/readme",
        mimeType: "text/markdown",
        text: "# Plugboard\n\nPlug any server into any agent.\n",
      },
    ]);
  });

  it.each([
    ["plugboard://units", "kilometre"],
    ["plugboard://units/temperature", "kelvin"],
  ])("gives %s as data", async (uri, name) => {
    const [content] = (await client.readResource({ uri })).contents;
    const units = JSON.parse(content && "text" in content ? content.text : "");
    expect(units.map((unit: { name: string }) => unit.name)).toContain(name);
  });

  it.each(["plugboard://docs/nothing", "plugboard://units/magic", "plugboard://else"])(
    "does not have %s",
    async (uri) => {
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
    },
  );

  it.each([
    ["plugboard://docs/{name}", "name", "CONF", ["configuration"]],
    ["plugboard://units/{category}", "category", "te", ["temperature"]],
  ])("completes %s", async (uri, name, value, values) => {
    expect(await complete(client, { type: "ref/resource", uri }, name, value)).toEqual(values);
  });
});
