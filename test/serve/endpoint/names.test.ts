// The names under which resources and prompts are served: as they are where nobody else has them, and always reachable
// by the name that says whose they are.

import { describe, expect, it } from "vitest";
import {
  namePrompts,
  nameResources,
  nameTemplates,
  readPrefix,
  servedAppUri,
} from "../../../src/serve/endpoint/names.ts";

const prompt = (server: string, name: string) => ({ server, name, available: true });
const resource = (server: string, uri: string) => ({ server, uri, name: uri, available: true });
const template = (server: string, uriTemplate: string) => ({
  server,
  uriTemplate,
  name: uriTemplate,
  available: true,
});
const served = (names: { items: readonly { served: string }[] }): string[] =>
  names.items.map((each) => each.served);

describe("served names", () => {
  it.each<[string, [server: string, name: string][], string[]]>([
    [
      "stay where one server has each",
      [
        ["one", "a"],
        ["two", "b"],
      ],
      ["a", "b"],
    ],
    [
      "say whose they are where two servers have the same",
      [
        ["one", "a"],
        ["two", "a"],
        ["two", "b"],
      ],
      ["one__a", "two__a", "b"],
    ],
    [
      "cannot be taken by a server that gives its prompt the name of another's",
      [
        ["one", "a"],
        ["evil", "one__a"],
      ],
      ["a", "evil__one__a"],
    ],
    [
      "differ even where servers are named to make them the same",
      [
        ["a", "b__c"],
        ["a__b", "c"],
        ["x", "c"],
        ["x", "b__c"],
      ],
      ["a__b__c", "a__b__c_2", "x__c", "x__b__c"],
    ],
  ])("of prompts %s", (_, given, expected) => {
    expect(served(namePrompts(given.map(([server, name]) => prompt(server, name))))).toEqual(
      expected,
    );
  });

  it.each<[string, string[], boolean, string[]]>([
    ["stay where one server has each", ["one x:///a", "two x:///b"], false, ["x:///a", "x:///b"]],
    [
      "say whose they are where two servers have the same",
      ["one x:///a", "two x:///a"],
      false,
      ["plugboard://one/x:///a", "plugboard://two/x:///a"],
    ],
    [
      "of apps always say whose they are",
      ["one ui://a.html", "two words ui://a.html"],
      false,
      ["ui://one/a.html", "ui://two%20words/a.html"],
    ],
    [
      "that use the gateway's own scheme say whose they are",
      ["evil plugboard://one/x:///a"],
      false,
      ["plugboard://evil/plugboard://one/x:///a"],
    ],
    ["of apps stay where there is only one server", ["one ui://a.html"], true, ["ui://a.html"]],
  ])("of resources and templates %s", (_, given, keepsApps, expected) => {
    const pairs = given.map((each) => {
      const space = each.lastIndexOf(" ");
      return [each.slice(0, space), each.slice(space + 1)] as const;
    });
    const resources = nameResources(
      pairs.map(([server, uri]) => resource(server, uri)),
      keepsApps,
    );
    const templates = nameTemplates(
      pairs.map(([server, uri]) => template(server, `${uri}/{id}`)),
      keepsApps,
    );
    expect(served(resources)).toEqual(expected);
    expect(served(templates)).toEqual(expected.map((uri) => `${uri}/{id}`));
  });

  it("that a client knows from an earlier list go on meaning the same", () => {
    const alone = namePrompts([prompt("two", "greet")]);
    expect(served(alone)).toEqual(["greet"]);
    // Another server comes before it, and has the same.
    const both = namePrompts([prompt("one", "greet"), prompt("two", "greet")], alone);
    expect(both.find("greet")).toEqual({ server: "two", name: "greet" });
    expect(both.find("one__greet")).toEqual({ server: "one", name: "greet" });
    const again = namePrompts([prompt("two", "greet")], both);
    expect(again.find("two__greet")).toEqual({ server: "two", name: "greet" });
    expect(again.find("one__greet")).toEqual({ server: "one", name: "greet" });
  });

  it("mean what is listed now rather than what they meant before", () => {
    const before = namePrompts([prompt("two", "greet")]);
    const after = namePrompts([prompt("one", "greet")], before);
    expect(after.find("greet")).toEqual({ server: "one", name: "greet" });
  });

  it("work with the server's name also where nobody else has the same", () => {
    const names = namePrompts([prompt("one", "greet")]);
    expect(names.find("one__greet")).toEqual({ server: "one", name: "greet" });
    expect(names.find("two__greet")).toBeUndefined();
  });

  it("that are no longer served are forgotten in the end", () => {
    const many = Array.from({ length: 10_001 }, (_, index) => prompt("one", `p${index}`));
    const names = namePrompts([], namePrompts(many));
    expect(names.find("p0")).toBeUndefined();
    expect(names.find("p10000")).toBeDefined();
  });
});

describe("a URI that says whose it is", () => {
  it.each([
    ["maps", "ui://view.html"],
    ["maps", "ui://maps/view.html"],
    ["two words", "ui://a/b?c=d#e"],
  ])("of an app of %s is undone: %s", (server, uri) => {
    expect(readPrefix(servedAppUri(server, uri))).toEqual({ server, name: uri });
  });

  it.each<[string, ReturnType<typeof readPrefix>]>([
    ["plugboard://lib/note:///5?x=%20y", { server: "lib", name: "note:///5?x=%20y" }],
    ["file:///a/b", undefined],
    ["ui://alone", undefined],
    ["ui://%/a", undefined],
  ])("%s", (uri, expected) => {
    expect(readPrefix(uri)).toEqual(expected);
  });
});
