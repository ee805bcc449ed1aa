import { describe, expect, it } from "vitest";
import { SHELLS } from "../../../src/cli/completion/command.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

describe("plugboard completion", () => {
  it.each(SHELLS)(
    "%s: prints the script, and on a terminal says how to install it",
    async (shell) => {
      const { code, stdout, stderr } = await scratch.run(["completion", shell]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain(`plugboard __complete ${shell} `);
      const seen = await scratch.run(["completion", shell], { stdout: new Sink({ columns: 80 }) });
      expect(seen.stdout).toBe(stdout);
      expect(seen.stderr).toMatch(
        new RegExp(`run once:\\n  .*plugboard completion ${shell}.*\\n$`),
      );
    },
  );

  it.each([
    [["completion"], "missing required argument 'shell'"],
    [["completion", "tcsh"], "'tcsh'"],
  ])("%j is refused, with the shells that there are", async (argv, problem) => {
    const { code, stderr } = await scratch.run(argv);
    expect(code).toBe(2);
    expect(stderr).toContain(problem);
    expect(stderr).toContain("plugboard completion --help");
  });
});
