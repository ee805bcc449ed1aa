// Unified diffs in tool results, and text that only looks like one.

import { describe, expect, it } from "vitest";
import { type DiffPart, splitDiffs } from "../../../../src/agent/acp/calls/diff.ts";

const plain = `--- a.txt\toriginal
+++ a.txt\tmodified
@@ -1,3 +1,3 @@
 one
-two
+zwei
 three
`;

const change: DiffPart = {
  kind: "diff",
  path: "a.txt",
  oldText: "one\ntwo\nthree\n",
  newText: "one\nzwei\nthree\n",
};

function text(words: string): DiffPart {
  return { kind: "text", text: words };
}

describe("a diff", () => {
  it.each<[string, string, DiffPart[]]>([
    ["alone", plain, [change]],
    ["in a fence", `\`\`\`diff\n${plain}\`\`\`\n\n`, [change]],
    ["in a fence of four", `\`\`\`\`patch\n${plain}\`\`\`\``, [change]],
    ["in a fence that does not end", `\`\`\`diff\n${plain}`, [change]],
    [
      "as the filesystem server writes it",
      `\`\`\`diff\nIndex: a.txt\n${"=".repeat(67)}\n${plain}\n\`\`\`\n\n`,
      [change],
    ],
    [
      "as git writes it",
      plain
        .replace("--- a.txt\toriginal", "diff --git a/a.txt b/a.txt\nindex 12ab..34cd\n--- a/a.txt")
        .replace("+++ a.txt\tmodified", "+++ b/a.txt"),
      [change],
    ],
    [
      "between words, which stay",
      `Edited:\n\n\`\`\`diff\n${plain}\`\`\`\nDone.`,
      [text("Edited:"), change, text("Done.")],
    ],
    ["of two files", `${plain}${plain}`, [change, change]],
    [
      "of two hunks, put together",
      `${plain}@@ -9 +9,2 @@ function\n-nine\n+neun\n+zehn\n`,
      [
        {
          ...change,
          oldText: "one\ntwo\nthree\nnine\n",
          newText: "one\nzwei\nthree\nneun\nzehn\n",
        },
      ],
    ],
    [
      "of a new file",
      "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n",
      [{ kind: "diff", path: "n", oldText: null, newText: "x\n" }],
    ],
    [
      "of a file that goes",
      "--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
      [{ kind: "diff", path: "n", oldText: "x\n", newText: "" }],
    ],
    [
      "without a line break at either end",
      "--- n\n+++ n\n@@ -1,2 +1,2 @@\n a\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n",
      [{ kind: "diff", path: "n", oldText: "a\nx", newText: "a\ny" }],
    ],
    [
      "whose last line stays, without a line break",
      "--- n\n+++ n\n@@ -1,2 +1 @@\n-a\n x\n\\ No newline at end of file",
      [{ kind: "diff", path: "n", oldText: "a\nx", newText: "x" }],
    ],
    [
      "with an empty line whose space was cut off",
      "--- n\n+++ n\n@@ -1,2 +1,2 @@\n\n-x\n+y",
      [{ kind: "diff", path: "n", oldText: "\nx\n", newText: "\ny\n" }],
    ],
    [
      "of lines that look like a diff's",
      "--- n\n+++ n\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n @@ -1 +1 @@\n",
      [
        {
          kind: "diff",
          path: "n",
          oldText: "-- x\n@@ -1 +1 @@\n",
          newText: "++ y\n@@ -1 +1 @@\n",
        },
      ],
    ],
    [
      "with what git says of a rename, which stays",
      `similarity index 90%\n${plain}`,
      [text("similarity index 90%"), change],
    ],
    [
      "after a malformed one, which stays",
      `--- b\n+++ b\n@@ -1,2 +1,2 @@\n x\n?\n${plain}`,
      [text("--- b\n+++ b\n@@ -1,2 +1,2 @@\n x\n?"), change],
    ],
  ])("%s", (_, given, parts) => {
    expect(splitDiffs(given)).toEqual(parts);
  });
});

describe("text without a diff of a file", () => {
  it.each([
    ["words", "nothing changed"],
    ["a hunk alone", "@@ -1 +1 @@\n-a\n+b\n"],
    ["names without a hunk", "--- a\n+++ a\nmail me @@ -1"],
    ["one name", "--- a\n@@ -1 +1 @@\n-a\n+b"],
    ["a hunk that is cut off", "--- a\n+++ a\n@@ -1,3 +1,3 @@\n x\n"],
    ["more lines than were told", "--- a\n+++ a\n@@ -1,1 +1,2 @@\n-x\n-y\n+z\n"],
    ["a second hunk that is cut off", `${plain}@@ -5,2 +5,2 @@\n x\n`],
    ["a line without a sign", "--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n?\n"],
    ["two files compared", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"],
    ["a quoted name", '--- "a/\\303"\n+++ "b/\\303"\n@@ -1 +1 @@\n-x\n+y\n'],
    ["nothing on either side", "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-x\n+y\n"],
    ["numbers beyond reason", "--- a\n+++ a\n@@ -1,9999999999 +1 @@\n-x\n+y\n"],
    ["a fence with none in it", "```diff\n@@ -1 +1 @@\n```\n"],
    ["more than is looked at", `${plain}${" ".repeat(1024 * 1024)}`],
    ["more files than are shown", plain.repeat(101)],
  ])("%s", (_, given) => {
    expect(splitDiffs(given)).toBeUndefined();
  });

  it.each([
    ["fences", "```diff\n"],
    ["names", "--- a\n+++ a\n"],
    ["hunks", "--- a\n+++ a\n@@ -1,9 +1,9 @@\n"],
    ["lines", "--- a\n+++ a\n@@ -1,999999 +1,999999 @@\n x\n x\n x\n"],
  ])("a megabyte of %s is given up quickly", (_, line) => {
    const given = `${line.repeat(Math.floor(1_000_000 / line.length))}@@ -`;
    expect(splitDiffs(given)).toBeUndefined();
  });
});
