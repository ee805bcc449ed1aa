import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadDocs, packageRoot, searchDocs } from "../../../../src/cli/demo/server/docs.ts";

const GUIDE = `Intro line.

# Servers

How a server is added.

## Timeouts

\`timeout\` is how long a start may take, \`toolTimeout\` how long a call.

\`\`\`sh
# not a heading
plugboard status
\`\`\`

## Secrets

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
    expect(docs.map(({ name, uri, title }) => [name, uri, title])).toEqual([
      ["readme", "plugboard://docs/readme", "Plugboard"],
      ["servers", "plugboard://docs/servers", "Servers"],
      ["plain", "plugboard://docs/plain", "plain"],
    ]);
  });

  it("gives nothing where nothing is", async () => {
    expect(await loadDocs(join(root, "nowhere"))).toEqual([]);
  });

  it("looks in the package by default", async () => {
    const manifest = await readFile(join(packageRoot(), "package.json"), "utf8");
    expect(JSON.parse(manifest).name).toBe("plugboard");
  });
});

describe("searchDocs", () => {
  const find = async (query: string, limit = 10) => searchDocs(await loadDocs(root), query, limit);

  it("finds words by their beginning, and puts the section first whose heading has them", async () => {
    const hits = await find("timeout");
    expect(hits.map(({ doc, heading }) => [doc, heading])).toEqual([
      ["Servers", "Timeouts"],
      ["plain", "plain"],
    ]);
    expect(hits[0]?.uri).toBe("plugboard://docs/servers");
  });

  it("prefers a section with all the words", async () => {
    const [first] = await find("secret written");
    expect(first?.heading).toBe("Secrets");
  });

  it("quotes from the line that answers, and takes code for code", async () => {
    const [first] = await find("plugboard status");
    expect(first).toMatchObject({ heading: "Timeouts", excerpt: "plugboard status" });
  });

  it("keeps excerpts short", async () => {
    const text = `# Long\n${"word ".repeat(200)}`;
    const [hit] = searchDocs([{ name: "long", uri: "", title: "Long", text }], "word", 1);
    expect(hit?.excerpt.length).toBeLessThanOrEqual(320);
  });

  it.each(["zzz", "?!", ""])("finds nothing for %j", async (query) => {
    expect(await find(query)).toEqual([]);
  });

  it("gives as many hits as asked for", async () => {
    expect(await find("a server timeout secret", 2)).toHaveLength(2);
  });
});
