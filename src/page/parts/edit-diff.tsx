// What a call would change in a file, as far as its arguments say it: an old and a new text, a list of them, or a patch.

import { diffLines } from "diff";
import type { VNode } from "preact";
import { visible } from "../../util/visible.ts";

type Args = Readonly<Record<string, unknown>>;

interface Edit {
  before: string;
  after: string;
}

/** As the tools of editors and file servers name them. */
const SIDES = [
  ["old_string", "new_string"],
  ["old_str", "new_str"],
  ["oldText", "newText"],
  ["old_text", "new_text"],
  ["oldString", "newString"],
] as const;
const FILES = ["path", "file_path", "filePath", "filename", "file", "uri"];
const LISTS = ["edits", "changes"];
const PATCHES = ["patch", "diff"];
const LONGEST = 200_000;

/** Null for a call that does not say so. */
export function EditDiff({ args }: { args: Args }): VNode | null {
  const file = FILES.map((name) => args[name]).find((value) => typeof value === "string");
  const edits = editsIn(args);
  const patch = PATCHES.map((name) => args[name]).find(isPatch);
  if (edits.length === 0 && patch === undefined) return null;
  return (
    <figure>
      <figcaption>
        What it changes
        {typeof file === "string" && (
          <>
            {" "}
            in <code>{visible(file)}</code>
          </>
        )}
      </figcaption>
      {edits.map((edit, at) => (
        <Lines key={at} edit={edit} />
      ))}
      {patch !== undefined && <Patch text={patch} />}
    </figure>
  );
}

function editsIn(args: Args): Edit[] {
  const lists = LISTS.flatMap((name) =>
    Array.isArray(args[name]) ? (args[name] as unknown[]) : [],
  );
  return [args, ...lists].flatMap((each) => {
    if (typeof each !== "object" || each === null) return [];
    const of = each as Args;
    return SIDES.flatMap(([old, now]) => {
      const [before, after] = [of[old], of[now]];
      if (typeof before !== "string" || typeof after !== "string") return [];
      return before.length + after.length > LONGEST ? [] : [{ before, after }];
    });
  });
}

function isPatch(value: unknown): value is string {
  return typeof value === "string" && value.length < LONGEST && /^@@ -\d/m.test(value);
}

function Lines({ edit: { before, after } }: { edit: Edit }): VNode {
  return (
    <pre tabIndex={0} aria-label="Difference">
      {diffLines(before, after).map(({ value, added, removed }, at) => {
        const sign = added ? "+ " : removed ? "- " : "  ";
        const text = value.replace(/\n$/, "").split("\n");
        const shown = text.map((line) => `${sign}${visible(line)}\n`).join("");
        if (added) return <ins key={at}>{shown}</ins>;
        return removed ? <del key={at}>{shown}</del> : <span key={at}>{shown}</span>;
      })}
    </pre>
  );
}

function Patch({ text }: { text: string }): VNode {
  return (
    <pre tabIndex={0} aria-label="Difference">
      {text.split("\n").map((line, at) => {
        const shown = `${visible(line)}\n`;
        if (/^\+(?!\+\+ )/.test(line)) return <ins key={at}>{shown}</ins>;
        return /^-(?!-- )/.test(line) ? <del key={at}>{shown}</del> : <span key={at}>{shown}</span>;
      })}
    </pre>
  );
}
