// Puts the OpenClaw plugin into one file, openclaw-plugin/dist/index.js, with what it uses of src/. It then needs neither
// Plugboard's package nor any other beside it: OpenClaw copies a plugin's folder to its own place.

import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));

export async function bundleOpenClawPlugin() {
  const bundle = await rolldown({
    input: join(root, "openclaw-plugin", "src", "index.ts"),
    platform: "node",
    external: /^node:/,
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  await bundle.write({
    file: join(root, "openclaw-plugin", "dist", "index.js"),
    format: "esm",
    codeSplitting: false,
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await bundle.close();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await bundleOpenClawPlugin();
