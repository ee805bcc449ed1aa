import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { writeLinkFile } from "../../../src/cli/ui/link-file.ts";

const LINK = 'http://127.0.0.1:7584/ui/#k=secret&"<b>';

async function written(): Promise<{ directory: string; path: string }> {
  const parent = await mkdtemp(join(tmpdir(), "plugboard-link-"));
  onTestFinished(() => rm(parent, { recursive: true }));
  const directory = join(parent, "gateway");
  const path = await writeLinkFile(LINK, { directory, now: Date.now(), random: randomBytes });
  return { directory, path };
}

it("nobody else can read it", async () => {
  const { path, directory } = await written();
  const [file, folder] = await Promise.all([stat(path), stat(directory)]);
  expect([file.mode & 0o777, folder.mode & 0o777]).toEqual([0o600, 0o700]);
});

it("leads to the link, which its name does not tell", async () => {
  const { path } = await written();
  expect(path).not.toContain("secret");
  const text = await readFile(path, "utf8");
  expect(text).toContain(
    '<meta http-equiv="refresh" content="0; url=http://127.0.0.1:7584/ui/#k=secret&#38;&#34;&#60;b&#62;">',
  );
  expect(text).not.toContain("<b>");
});

it("earlier ones are removed once their link no longer works", async () => {
  const { directory, path } = await written();
  const late = join(directory, "page-early.html");
  const other = join(directory, "token");
  await Promise.all([writeFile(late, ""), writeFile(other, "")]);
  const before = new Date(Date.now() - 61_000);
  await Promise.all([utimes(late, before, before), utimes(other, before, before)]);
  const next = await writeLinkFile(LINK, { directory, now: Date.now(), random: randomBytes });
  expect((await readdir(directory)).map((name) => join(directory, name)).toSorted()).toEqual(
    [path, other, next].toSorted(),
  );
});
