import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { resultText } from "../../../src/cli/call/result.ts";
import { ensureDirectory, saveBinary } from "../../../src/cli/call/save.ts";
import type { ContentBlock } from "../../../src/core/types/content.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const data = Buffer.from("some bytes").toString("base64");
const said = (text: string): ContentBlock => ({ type: "text", text });
const image = (mimeType: string): ContentBlock => ({ type: "image", mimeType, data });
const blob: ContentBlock = { type: "resource", resource: { uri: "file:///a.bin", blob: data } };

describe("saving a result", () => {
  let cwd = "";
  beforeEach(() => {
    cwd = temporaryDirectory();
  });

  const save = async (content: ContentBlock[], directory = "out", name = "a/b") => {
    await ensureDirectory(directory, cwd);
    return saveBinary({ content }, { directory, cwd, name });
  };

  it("writes every binary block to a file and says where", async () => {
    const content = [said("text"), image("image/jpeg"), blob];
    const saved = await save(content);
    expect(resultText({ content }, saved)).toBe(
      "text\n[image: image/jpeg, 10 B] saved to out/a_b-1.jpg\n" +
        "[resource: file:///a.bin, application/octet-stream, 10 B] saved to out/a_b-2.bin\n",
    );
    expect(readFileSync(join(cwd, "out/a_b-1.jpg"), "utf8")).toBe("some bytes");
  });

  it("never overwrites a file", async () => {
    writeFileSync(join(cwd, "a_b-1.png"), "mine");
    const saved = await save([image("image/png")], ".");
    expect([...saved.values()]).toEqual(["a_b-2.png"]);
    expect(readFileSync(join(cwd, "a_b-1.png"), "utf8")).toBe("mine");
  });

  it.each([
    ["image/png", "png"],
    ["image/svg+xml", "svg"],
    ["audio/x-aiff", "aiff"],
    ["image/PNG; charset=x", "png"],
    ["../../etc/passwd", "bin"],
    ["application/vnd.ms-excel", "bin"],
  ])("names %s by its kind, .%s", async (mimeType, extension) => {
    await save([image(mimeType)]);
    expect(readdirSync(join(cwd, "out"))).toEqual([`a_b-1.${extension}`]);
  });

  it("stays in the directory, whatever the tool's name", async () => {
    const saved = await save([image("image/png")], "out", "../é");
    expect([...saved.values()]).toEqual(["out/_-1.png"]);
  });

  it("says why it cannot, before the call is made", async () => {
    writeFileSync(join(cwd, "out"), "a file");
    await expect(ensureDirectory("out", cwd)).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: `cannot save to ${join(cwd, "out")} (it is not a directory)`,
    });
  });

  it("says why it could not", async () => {
    const options = { directory: "gone", cwd, name: "a" };
    await expect(saveBinary({ content: [image("image/png")] }, options)).rejects.toMatchObject({
      message: `cannot save to ${join(cwd, "gone/a-1.png")} (ENOENT)`,
    });
  });
});
