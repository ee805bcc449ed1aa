import { afterEach, expect, it } from "vitest";
import { closeAll, owned } from "../../fixtures/http/client.ts";
import { serverJson, serverJsonNames, startRegistry } from "../../fixtures/registry/registry.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();
afterEach(closeAll);

it("plugboard registry lists what there is, how it runs, and what is deprecated", async () => {
  const all = serverJsonNames().map((name) => ({ server: serverJson(name) }));
  const registry = owned(await startRegistry(all));
  const search = (...argv: string[]) =>
    scratch.run(["registry", "--registry", registry.url, ...argv]);

  const { code, stdout, stderr } = await search("remote-and", "package");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^NAME +VERSION +RUNS AS +DESCRIPTION$/m);
  expect(stdout).toMatch(
    /^io\.github\.example\/remote-and-package +1\.0\.0 +remote, npm +a remote/m,
  );
  expect(stderr).toContain("to add one:\n  plugboard add io.github.example/remote-and-package\n");

  expect((await search("status-")).stdout).toMatch(
    /status-deprecated .* deprecated: deprecated, with/,
  );
  expect((await search("status-")).stdout).not.toContain("status-deleted");
  expect((await search("hostile-text")).stdout).toContain("Nice\\u{1b}[2J\\u{202e}server");

  const json = JSON.parse((await search("a", "--limit", "3", "--json")).stdout) as { servers: [] };
  expect(json.servers).toHaveLength(3);
  expect(json).toMatchObject({ registry: registry.url, more: true });
  expect((await search("a", "--limit", "3")).stderr).toContain("there are more");

  const none = await search("no such thing");
  expect(none).toMatchObject({ code: 0, stdout: "" });
  expect(none.stderr).toContain(`nothing was found for 'no such thing' in ${registry.url}`);
  expect((await search("a", "--limit", "0")).code).toBe(2);

  await registry.close();
  const gone = await search("a");
  expect(gone.code).toBe(3);
  expect(gone.stderr).toContain(`the registry ${registry.url} gave no usable answer`);
});
