// What the published package is made of, in CycloneDX: `node scripts/sbom.mjs [file]`, after a build. npm lists what is installed beside
// the package. It knows nothing of packages whose code is in dist/, which are dependencies for development alone, and has what only
// development needs too.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../", import.meta.url);
const BUNDLED = "cdx:npm:package:bundled";
const DEVELOPMENT = "cdx:npm:package:development";

const manifest = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8"));
const [file] = process.argv.slice(2);
const text = `${JSON.stringify(shipped(installed(), bundledPackages()), undefined, 2)}\n`;
if (file === undefined) process.stdout.write(text);
else writeFileSync(file, text);

/** Everything in the lockfile, as npm tells it. */
function installed() {
  const windows = process.platform === "win32";
  const args = [
    "sbom",
    "--package-lock-only",
    "--sbom-format",
    "cyclonedx",
    "--sbom-type",
    "library",
  ];
  const output = execFileSync(windows ? "npm.cmd" : "npm", args, {
    cwd: fileURLToPath(ROOT),
    shell: windows,
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return JSON.parse(output.toString("utf8"));
}

/** `name@version` of each package whose code is in dist/. */
function bundledPackages() {
  const licences = readFileSync(new URL("dist/THIRD-PARTY.txt", ROOT), "utf8");
  return [...licences.matchAll(/(?:^|\n---\n\n|folder\.\n\n)(\S+) (\d\S*)\n\n/g)].map(
    ([, name, version]) => `${name}@${version}`,
  );
}

/** Without what only development needs. */
function shipped(all, bundled) {
  const own = all.metadata.component["bom-ref"];
  const needs = new Map(all.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const named = { ...manifest.dependencies, ...manifest.optionalDependencies };
  const direct = (needs.get(own) ?? []).filter((ref) => nameOf(ref) in named);
  const kept = new Set(bundled);
  const add = (ref) => {
    if (kept.has(ref)) return;
    kept.add(ref);
    (needs.get(ref) ?? []).forEach(add);
  };
  direct.forEach(add);
  const components = all.components
    .filter((each) => kept.has(each["bom-ref"]))
    .map((each) => (bundled.includes(each["bom-ref"]) ? asBundled(each) : each));
  const missing = [...kept].filter((ref) => !components.some((each) => each["bom-ref"] === ref));
  if (missing.length > 0) throw new Error(`the lockfile does not have ${missing.join(", ")}`);
  const dependencies = all.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
  const dependsOn = [...new Set([...direct, ...bundled])];
  return {
    ...all,
    metadata: {
      ...all.metadata,
      // npm names it after the folder.
      component: { ...all.metadata.component, name: manifest.name },
    },
    components,
    dependencies: [{ ref: own, dependsOn }, ...dependencies],
  };
}

function asBundled(component) {
  const properties = component.properties.filter(({ name }) => name !== DEVELOPMENT);
  return { ...component, properties: [...properties, { name: BUNDLED, value: "true" }] };
}

function nameOf(ref) {
  return ref.slice(0, ref.lastIndexOf("@"));
}
