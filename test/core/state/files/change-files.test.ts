import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ChangeFiles } from "../../../../src/core/state/files/change-files.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

it("what is published while a message is written goes out together, and after it", async () => {
  const directory = temporaryDirectory();
  const changes = new ChangeFiles(directory, systemClock);
  const message = (): string => readFileSync(join(directory, "changes", "pins.json"), "utf8");
  const order: string[] = [];
  const seen: string[] = [];
  const publish = async (name: string): Promise<void> => {
    await changes.publish("pins");
    order.push(name);
    seen.push(message());
  };
  const first = publish("first");
  // The first is being written from now on.
  await Promise.resolve();
  await Promise.all([first, publish("second"), publish("third")]);
  expect(order).toEqual(["first", "second", "third"]);
  expect(seen[1]).not.toBe(seen[0]);
  expect(seen[2]).toBe(seen[1]);
});
