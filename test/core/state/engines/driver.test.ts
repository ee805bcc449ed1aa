import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readTlsFiles } from "../../../../src/core/state/engines/driver.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

it.each(["ca", "cert", "key"])(
  "refuses a named pipe as the %s of an engine, without waiting",
  async (member) => {
    const pipe = join(temporaryDirectory(), "pipe");
    execFileSync("mkfifo", [pipe]);
    await expect(readTlsFiles({ [member]: pipe }, "db")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `a file of gateway.shared cannot be read: ${pipe} is not a regular file`,
    });
  },
);
