// Models over the wire, and those that nobody reaches.

import { describe, expect, it } from "vitest";
import { Models } from "../../../src/agent/loop/models.ts";

const local = { env: {}, providers: {} };

describe("the models of an agent", () => {
  it("are opened once each, and closed together", async () => {
    const models = new Models(["ollama/a", "ollama/b"], local);
    const [first, again, other] = await Promise.all([
      models.open("ollama/a"),
      models.open("ollama/a"),
      models.open("ollama/b"),
    ]);
    expect(again).toBe(first);
    expect(other.id).toBe("ollama/b");
    await models.close();
    await models.close();
    await expect(models.open("ollama/c")).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  });

  it("are opened anew once their keys have changed, and then closed together all the same", async () => {
    const models = new Models(["ollama/a"], local);
    const before = await models.open("ollama/a");
    models.reopenAll();
    const after = await models.open("ollama/a");
    expect(after).not.toBe(before);
    let closed = 0;
    for (const model of [before, after]) {
      const { close } = model;
      model.close = () => close().then(() => void (closed += 1));
    }
    await models.close();
    expect(closed).toBe(2);
  });

  it("are tried again after a failure", async () => {
    const missing = Object.assign(new Error("no"), { code: "ERR_MODULE_NOT_FOUND" });
    let isInstalled = false;
    const models = new Models(["ollama/a"], {
      ...local,
      importPackage: (name) => (isInstalled ? import(name) : Promise.reject(missing)),
    });
    await expect(models.open("ollama/a")).rejects.toMatchObject({ code: "NO_MODEL" });
    isInstalled = true;
    expect(await models.open("ollama/a")).toMatchObject({ id: "ollama/a" });
    await models[Symbol.asyncDispose]();
  });
});
