import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { docUri, loadDocs, packageRoot, sectionsOf } from "../../src/demo/docs.ts";
import { searchDocs } from "../../src/demo/docs-search.ts";

const GUIDE = `Intro line.

# Servers

How a server is plugged in.

## Timeouts

\`timeout\` is how long a start may take, \`toolTimeout\` how long a call.

\`\`\`sh
# not a heading
plugboard status
\`\`\`

### Defaults

30 s and 60 s.

## Secrets ##

A secret is never written down: secret://env/NAME.
`;

let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "plugboard-"));
  mkdirSync(join(root, "docs"));
  writeFileSync(join(root, "README.md"), "# Plugboard\n\nPlug any server into any agent.\n");
  writeFileSync(join(root, "docs", "Servers.md"), GUIDE);
  writeFileSync(join(root, "docs", "notes.txt"), "not documentation");
  writeFileSync(
    join(root, "docs", "plain.md"),
    "No title, one mention of a timeout in a long line.",
  );
});

afterAll(() => rmSync(root, { recursive: true }));

describe("loadDocs", () => {
  it("loads what is there, under names fit for a URI", async () => {
    const docs = await loadDocs(root);
    expect(docs.map(({ name, title }) => [name, title])).toEqual([
      ["readme", "Plugboard"],
      ["servers", "Servers"],
      ["plain", "plain"],
    ]);
    expect(docUri("readme")).toBe("plugboard://docs/readme");
  });

  it("gives nothing where nothing is", async () => {
    expect(await loadDocs(join(root, "nowhere"))).toEqual([]);
  });

  it("looks in the package by default", async () => {
    const manifest = await readFile(join(packageRoot(), "package.json"), "utf8");
    expect(JSON.parse(manifest).name).toBe("plugboard");
  });
});

describe("sectionsOf", () => {
  it("cuts at headings, knows their order and leaves code alone", () => {
    const sections = sectionsOf({ name: "servers", title: "Servers", text: GUIDE });
    expect(sections.map(({ headings }) => headings)).toEqual([
      [],
      ["Servers"],
      ["Servers", "Timeouts"],
      ["Servers", "Timeouts", "Defaults"],
      ["Servers", "Secrets"],
    ]);
    expect(sections[2]?.text).toContain("# not a heading");
  });
});

describe("searchDocs", () => {
  const find = async (query: string, limit = 10) => searchDocs(await loadDocs(root), query, limit);

  it("puts the section first whose heading says it", async () => {
    const [first, second] = await find("timeouts");
    expect(first).toMatchObject({
      doc: "Servers",
      uri: "plugboard://docs/servers",
      heading: "Servers > Timeouts",
    });
    expect(second).toBeUndefined();
  });

  it("finds words by their beginning, whole words first", async () => {
    const hits = await find("timeout");
    expect(hits.map(({ heading }) => heading)).toEqual(["Servers > Timeouts", "plain"]);
  });

  it("prefers a section with all the words", async () => {
    const [first] = await find("secret written");
    expect(first?.heading).toBe("Servers > Secrets");
  });

  it("quotes from the line that answers, without code fences", async () => {
    const [first] = await find("plugboard status");
    expect(first?.excerpt).toBe("plugboard status");
  });

  it("keeps excerpts short", () => {
    const text = `# Long\n${"word ".repeat(200)}`;
    const [hit] = searchDocs([{ name: "long", title: "Long", text }], "word", 1);
    expect(hit?.excerpt.length).toBeLessThanOrEqual(320);
  });

  it("quotes nothing from a section that has a heading alone", () => {
    const [hit] = searchDocs([{ name: "bare", title: "Bare", text: "# Bare" }], "bare", 1);
    expect(hit).toMatchObject({ heading: "Bare", excerpt: "" });
  });

  it.each(["zzz", "?!", ""])("finds nothing for %j", async (query) => {
    expect(await find(query)).toEqual([]);
  });

  it("gives as many hits as asked for", async () => {
    expect(await find("a server timeout secret", 2)).toHaveLength(2);
  });
});
