import { describe, expect, it } from "vitest";
import { Emitter } from "../../src/util/emitter.ts";

interface Events {
  number: number;
  text: string;
}

function setUp() {
  const errors: unknown[] = [];
  const heard: unknown[] = [];
  const emitter = new Emitter<Events>((error) => errors.push(error));
  return { emitter, errors, heard };
}

describe("Emitter", () => {
  it("calls every listener of an event in order, and no other", () => {
    const { emitter, heard } = setUp();
    emitter.on("number", (value) => heard.push(["first", value]));
    emitter.on("number", (value) => heard.push(["second", value]));
    emitter.on("text", (value) => heard.push(["text", value]));
    emitter.emit("number", 1);
    expect(heard).toEqual([
      ["first", 1],
      ["second", 1],
    ]);
  });

  it("does nothing without listeners", () => {
    const { emitter, errors } = setUp();
    emitter.emit("number", 1);
    expect(errors).toEqual([]);
  });

  it("removes a listener, more than once without harm", () => {
    const { emitter, heard } = setUp();
    const off = emitter.on("number", (value) => heard.push(value));
    emitter.emit("number", 1);
    off();
    off();
    emitter.emit("number", 2);
    expect(heard).toEqual([1]);
  });

  it("lets a listener remove itself while it is called", () => {
    const { emitter, heard } = setUp();
    const off = emitter.on("number", (value) => {
      off();
      heard.push(["once", value]);
    });
    emitter.on("number", (value) => heard.push(["always", value]));
    emitter.emit("number", 1);
    emitter.emit("number", 2);
    expect(heard).toEqual([
      ["once", 1],
      ["always", 1],
      ["always", 2],
    ]);
  });

  it("reports a listener that throws and goes on with the next", () => {
    const { emitter, errors, heard } = setUp();
    const thrown = new Error("listener");
    emitter.on("number", () => {
      throw thrown;
    });
    emitter.on("number", (value) => heard.push(value));
    emitter.emit("number", 1);
    expect(errors).toEqual([thrown]);
    expect(heard).toEqual([1]);
  });

  it("reports a listener whose promise is rejected", async () => {
    const { emitter, errors } = setUp();
    const thrown = new Error("listener");
    const rejects = (): unknown => Promise.reject(thrown);
    emitter.on("number", rejects);
    emitter.emit("number", 1);
    await Promise.resolve();
    expect(errors).toEqual([thrown]);
  });

  it("knows whether there are listeners", () => {
    const { emitter } = setUp();
    expect(emitter.has("number")).toBe(false);
    const off = emitter.on("number", () => {});
    expect(emitter.has("number")).toBe(true);
    expect(emitter.has("text")).toBe(false);
    off();
    expect(emitter.has("number")).toBe(false);
  });

  it("forgets all listeners when cleared", () => {
    const { emitter, heard } = setUp();
    emitter.on("number", (value) => heard.push(value));
    emitter.clear();
    emitter.emit("number", 1);
    expect(emitter.has("number")).toBe(false);
    emitter.on("number", (value) => heard.push(value));
    emitter.emit("number", 2);
    expect(heard).toEqual([2]);
  });
});
