// How much of public injection texts the detection notices, and how much harmless technical text it flags by
// mistake. The sets come from npm packages, which are fetched into a temporary
// directory, read as text and never run. `--misses` lists what was missed or flagged in the half to tune on,
// `--cost` measures the time per character instead.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { importSource } from "../../scripts/sources.mjs";

const { suspiciousPatterns } = await importSource("core/guard/present/suspicious.ts");
const { inspectTools } = await importSource("core/guard/definitions.ts");

const ROOT = new URL("../..", import.meta.url).pathname;

/** Each set: a package with its version, and how its texts are found in it. */
const ATTACKS = {
  "promptfoo@0.123.1": jailbreakTemplates,
  "ecc-agentshield@1.6.0": (folder) =>
    literalsAfter(read(folder, "dist/index.js"), /\bpayload: (?=["'`])/g),
  "llm-trust-guard@4.32.7": (folder) =>
    literalsAfter(read(folder, "dist/guards/compression-detector.js"), /\btemplate:(?=["'`])/g),
  "agent-security-scanner-mcp@4.5.9": attackBlocks,
};
const HARMLESS = {
  "typescript@5.9.3": (folder) =>
    ["de", "es", "fr", "it", "ja", "ko", "pl", "pt-br", "ru", "tr", "zh-cn", "zh-tw"].flatMap(
      (language) =>
        Object.values(
          JSON.parse(read(folder, `lib/${language}/diagnosticMessages.generated.json`)),
        ),
    ),
  "tinymce-i18n@26.9.21": (folder) =>
    ["ar", "bn_BD", "hi", "he_IL"].flatMap((language) =>
      literalsAfter(read(folder, `langs/${language}.js`), /": (?=")/g),
    ),
};

function read(folder, path) {
  return readFileSync(join(folder, path), "utf8");
}

function readIfThere(folder, path) {
  try {
    return read(folder, path);
  } catch {
    return "";
  }
}

/** The list of templates stands in one of several bundles whose names change with each release. */
function jailbreakTemplates(folder) {
  const isList = /src\/redteam\/strategies\/promptInjections\/data\.ts\nvar \w+ = \[\n/;
  for (const name of readdirSync(join(folder, "dist/src")).toSorted()) {
    if (!name.startsWith("strategies-") || !name.endsWith(".js")) continue;
    const [, templates] = read(folder, `dist/src/${name}`).split(isList);
    if (templates)
      return literalsAfter(templates.slice(0, templates.indexOf("\n];")), /^\t(?=["'`])/gm);
  }
  return [];
}

/** Blocks of a text file, each under a comment that says whether it is an attack. */
function attackBlocks(folder) {
  const blocks = read(folder, "benchmarks/corpus/prompt_injection.txt").split(
    /\n(?=# (?:VULN|SAFE))/,
  );
  return blocks
    .filter((block) => block.startsWith("# VULN"))
    .map((block) => block.replace(/^#.*$/gm, "").trim());
}

/** The JavaScript strings that follow each match, without running anything. */
function literalsAfter(code, before) {
  return Array.from(code.matchAll(before), ({ 0: found, index }) => {
    const start = index + found.length;
    let end = start + 1;
    while (end < code.length && code[end] !== code[start]) end += code[end] === "\\" ? 2 : 1;
    return unescape(code.slice(start + 1, end));
  });
}

function unescape(literal) {
  const named = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", 0: "\0" };
  return literal.replace(
    /\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([^]))/g,
    (_, braced, unit, byte, char) =>
      char === undefined
        ? String.fromCodePoint(parseInt(braced ?? unit ?? byte, 16))
        : (named[char] ?? char),
  );
}

/** The paragraphs of the READMEs of everything that is installed for development. */
function readmeParagraphs() {
  const folders = readdirSync(join(ROOT, "node_modules"), { withFileTypes: true }).flatMap(
    (entry) =>
      entry.name.startsWith("@")
        ? readdirSync(join(ROOT, "node_modules", entry.name)).map((name) => `${entry.name}/${name}`)
        : [entry.name],
  );
  return folders.flatMap((folder) =>
    readIfThere(ROOT, `node_modules/${folder}/README.md`).split(/\r?\n\s*\n/),
  );
}

function fetchPackage(spec, directory) {
  const [{ filename, version, name }] = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--loglevel=error", spec], {
      cwd: directory,
      encoding: "utf8",
      shell: process.platform === "win32",
    }),
  );
  const folder = mkdtempSync(join(directory, "package-"));
  execFileSync("tar", ["-xzf", join(directory, filename), "-C", folder]);
  return { label: `${name} ${version}`, folder: join(folder, "package") };
}

/** Which half a text belongs to depends on nothing but the text. */
function isHeldOut(text) {
  return (createHash("sha256").update(text).digest()[0] & 1) === 1;
}

function unique(texts) {
  return [...new Set(texts.map((text) => text.trim()).filter((text) => text.length >= 12))];
}

const isSuspicious = (text) => suspiciousPatterns(text).length > 0;

/** Whether it is noticed where a server says it about a tool. A model reads that as well, so less is suspicious there. */
function isSuspiciousDefinition(description) {
  return inspectTools([{ name: "tool", description, inputSchema: {} }]).findings.length > 0;
}

/** What well-known servers say about their tools: test/fixtures/definitions/README.md. */
function reputableDefinitions() {
  const lines = read(ROOT, "test/fixtures/definitions/reputable.jsonl").trim().split("\n");
  return lines.map((line) => JSON.parse(line).slice(3).join("\n"));
}

function share(texts, isNoticed) {
  const found = texts.filter(isNoticed).length;
  const percent = texts.length === 0 ? "-" : `${((100 * found) / texts.length).toFixed(1)} %`;
  return `${`${found} of ${texts.length}`.padStart(14)}${percent.padStart(9)}`;
}

function report(label, texts, isNoticed = isSuspicious) {
  const tuned = texts.filter((text) => !isHeldOut(text));
  const heldOut = texts.filter(isHeldOut);
  const shares = [texts, tuned, heldOut].map((some) => share(some, isNoticed));
  console.log(`${label.padEnd(36)}${shares.join("")}`);
}

function list(texts, isWanted) {
  for (const text of texts) {
    if (isHeldOut(text)) continue;
    const names = suspiciousPatterns(text);
    if (names.length > 0 === isWanted) {
      console.log(`  ${names.join(",")} ${JSON.stringify(text.slice(0, 400))}`);
    }
  }
}

function heading(title) {
  console.log(
    `\n${title.padEnd(36)}${"all".padStart(23)}${"tuned on".padStart(23)}${"held out".padStart(23)}`,
  );
}

function measureRates() {
  const directory = mkdtempSync(join(tmpdir(), "plugboard-detection-"));
  const showsMisses = process.argv.includes("--misses");
  try {
    heading("injections that are noticed");
    const attacks = Object.entries(ATTACKS).map(([spec, textsOf]) => {
      const { label, folder } = fetchPackage(spec, directory);
      return [label, unique(textsOf(folder))];
    });
    for (const [label, texts] of attacks) report(label, texts);
    const all = unique(attacks.flatMap(([, texts]) => texts));
    report("together", all);
    report("together, in definitions", all, isSuspiciousDefinition);
    if (showsMisses) list(all, false);

    heading("harmless texts that are flagged");
    report("definitions, 42 servers", reputableDefinitions(), isSuspiciousDefinition);
    const readmes = unique(readmeParagraphs());
    report("READMEs in node_modules, paragraphs", readmes);
    if (showsMisses) list(readmes, true);
    for (const [spec, textsOf] of Object.entries(HARMLESS)) {
      const { label, folder } = fetchPackage(spec, directory);
      const texts = unique(textsOf(folder));
      report(`${label}, messages`, texts);
      if (showsMisses) list(texts, true);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Nanoseconds of processor time per character, the best of several rounds. */
function measureCost() {
  const prose = "The quick brown fox, next to the text box, jumps over a lazy dog that sleeps.\n";
  const json =
    '{"id": 4711, "name": "example", "tags": ["a", "b"], "url": "https://example.com/a/b"},\n';
  const cyrillic = "Быстрая лиса прыгает через ленивую собаку, которая спит возле дома и ждёт.\n";
  const chinese = "敏捷的狐狸跳过了那只懒惰的狗，然后它在房子旁边睡着了，等待主人回家。\n";
  const texts = {
    "ASCII prose": prose,
    JSON: json,
    "JSON with one accent": json,
    "Cyrillic prose": cyrillic,
    "Chinese prose": chinese,
    READMEs: unique(readmeParagraphs())
      .filter((text) => suspiciousPatterns(text).length === 0)
      .join("\n\n"),
  };
  for (const [name, unit] of Object.entries(texts)) {
    const end = name.endsWith("accent") ? "…\n" : "\n";
    const text = Buffer.from(
      unit.repeat(Math.ceil(2 ** 18 / unit.length)).slice(0, 2 ** 18) + end,
    ).toString();
    let least = Infinity;
    for (let round = 0; round < 25; round += 1) {
      const before = process.cpuUsage();
      for (let turn = 0; turn < 8; turn += 1) suspiciousPatterns(text);
      const { user, system } = process.cpuUsage(before);
      least = Math.min(least, ((user + system) * 1000) / (8 * text.length));
    }
    console.log(`${name.padEnd(24)}${least.toFixed(2).padStart(8)} ns per character`);
  }
}

console.log(
  `Node ${process.versions.node}, ${cpus().length} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
);
if (process.argv.includes("--cost")) measureCost();
else measureRates();
