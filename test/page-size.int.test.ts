import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../dist/ui", import.meta.url));

it("the script and the style of the page take at most 44 KB, compressed", () => {
  const files = readdirSync(folder).filter((name) => /\.(?:js|css)\.gz$/.test(name));
  expect(files.map((name) => name.replace(/-.*?\./, "."))).toEqual(["main.js.gz", "page.css.gz"]);
  const bytes = files.map((name) => statSync(join(folder, name)).size);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(44 * 1024);
});
