import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { post } from "./wire.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("serve.mjs", import.meta.url));
const library = new URL("start.mjs", import.meta.url).href;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "scripted-model-"));
  await writeFile(join(folder, "script.json"), JSON.stringify([{ text: "hi" }]));
});

afterAll(() => rm(folder, { recursive: true }));

describe("the scripted model as a program", () => {
  it.each<[string, (child: ReturnType<typeof spawn>) => void]>([
    ["its stdin ends", (child) => child.stdin?.end()],
    ["it is interrupted", (child) => child.kill("SIGINT")],
    ["it is terminated", (child) => child.kill("SIGTERM")],
  ])("answers until %s", async (_, end) => {
    const child = spawn(process.execPath, [program, join(folder, "script.json")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    const [url] = (await once(createInterface(child.stdout), "line")) as [string];
    expect(await (await post(url, "chat")).text()).toContain("hi");
    end(child);
    expect(await ended).toEqual([0, null]);
  });

  it("says how it is called", async () => {
    await expect(run(process.execPath, [program])).rejects.toMatchObject({
      code: 2,
      stderr: "usage: node test/support/model/serve.mjs script.json [port]\n",
    });
  });
});

it("a closed model keeps no process alive, whatever was under way", async () => {
  const script = `
    import { startModel } from ${JSON.stringify(library)};
    const model = await startModel({ turns: () => ({ text: "hi", chunkDelayMs: 600_000 }) });
    const response = await fetch(model.url + "/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "" }] }),
    });
    const text = response.text().catch((error) => error.message);
    await model.close();
    console.log(await text);
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script]);
  expect(stdout).toBe("terminated\n");
});
