import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { EVIDENCE, lastRun } from "../../lib/evidence.mjs";
import { withPart } from "../../../scripts/page-part.mjs";

describe("the line above a result", () => {
  it("says when, with which versions and on which machine", () => {
    const facts = { date: "2026-11-15", plugboard: "0.1.0", node: "20.20.2", cores: 2, memory: 24 };
    assert.equal(
      lastRun("acpx 0.19.1 on Node 24.21.0", facts),
      "Last run: 2026-11-15, acpx 0.19.1 on Node 24.21.0, Plugboard 0.1.0 on Node 20.20.2, 2 cores, 24 GB of memory.",
    );
  });
});

describe("a part of a page", () => {
  const page =
    "# Page\n\n<!-- generated: a -->\n\nold a\n\n<!-- /generated -->\n\nWords.\n\n" +
    "<!-- generated: b -->\n\nold b\n\n<!-- /generated -->\n";

  it("is replaced, and the rest of the page stays", () => {
    const text = withPart(page, { page: "p.md", part: "a", text: "new\n" });
    assert.equal(text, page.replace("old a", "new"));
    assert.equal(withPart(text, { page: "p.md", part: "a", text: "new" }), text);
  });

  it("needs its place", () => {
    const lost = { page: "p.md", part: "c", text: "" };
    assert.throws(() => withPart(page, lost), /p\.md has no place for c: <!-- generated: c -->/);
  });

  it("is in the page of evidence for each harness", () => {
    const evidence = readFileSync(new URL(`../../../${EVIDENCE}`, import.meta.url), "utf8");
    const parts = [
      "conformance-client",
      "conformance-server",
      "acpx",
      "agents",
      "clients",
      "openclaw",
    ];
    for (const part of parts) withPart(evidence, { page: EVIDENCE, part, text: "" });
  });
});
