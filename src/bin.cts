#!/usr/bin/env node
// The command's first file. A call to a running gateway is made here, by one file that V8 has compiled in an earlier run: to load
// modules and to compile them would take longer than the call. CommonJS, because Node takes longer to load a module.

const fs = require("node:fs") as typeof import("node:fs");
const { homedir } = require("node:os") as typeof import("node:os");
const paths = require("node:path") as typeof import("node:path");
const { Script } = require("node:vm") as typeof import("node:vm");

/** What V8 makes of a source. It holds for exactly this source, and for the same V8 with the same options: V8 sees to that. */
interface Compiled {
  source: Buffer;
  code: Buffer;
}

// Without a listener, Node opens a debugger on a port at this signal, and whoever reaches the port reads every secret. A
// program that is started does not inherit the listener.
process.on("SIGUSR1", () => {});

void main(process.argv.slice(2));

async function main(argv: string[]): Promise<void> {
  const exitCode = argv.includes("call") && hasGateway() ? await callWarm(argv) : undefined;
  if (exitCode === undefined) await import("./entry.ts");
  else process.exitCode = exitCode;
}

/** Undefined if the call has to go the ordinary way. */
async function callWarm(argv: string[]): Promise<number | undefined> {
  const path = paths.join(__dirname, "warm-call.cjs");
  const source = fs.readFileSync(path);
  const earlier = readCompiled();
  const script = new Script(
    // The build has seen to it that the text is ASCII.
    `(function (exports, require, module, __filename, __dirname) {${source.toString("latin1")}\n})`,
    { filename: path, cachedData: earlier?.source.equals(source) ? earlier.code : undefined },
  );
  const made = { exports: {} };
  const run = script.runInThisContext() as (...values: unknown[]) => void;
  run(made.exports, require, made, path, __dirname);
  const { runWarmCall } = made.exports as typeof import("./cli/warm-call.ts");
  const exitCode = await runWarmCall(argv);
  // By now everything is compiled that such a call needs.
  if (exitCode === 0 && script.cachedDataRejected !== false) {
    keepCompiled({ source, code: script.createCachedData() });
  }
  return exitCode;
}

/** Whether there is a record of a gateway (`core/state/running-gateway.ts`). */
function hasGateway(): boolean {
  try {
    const names = fs.readdirSync(paths.join(plugboardHome(), "gateway"));
    return names.some((name) => /^[0-9a-f]{16}\.json$/.test(name));
  } catch {
    return false;
  }
}

/** As in `core/config/home.ts`. */
function plugboardHome(): string {
  const { PLUGBOARD_HOME: configured } = process.env;
  if (!configured) return paths.join(homedir(), ".plugboard");
  return paths.resolve(configured.replace(/^~(?=[\\/]|$)/, () => homedir()));
}

/** Each version of Node has one. */
function cacheFile(): string {
  return paths.join(plugboardHome(), "code", `${process.version}-${process.arch}`);
}

/** Node's own variable for the code that Node keeps. */
function keepsNothing(): boolean {
  return Boolean(process.env["NODE_DISABLE_COMPILE_CACHE"]);
}

/** What is in the file is run: nobody else may have written it. */
function readCompiled(): Compiled | undefined {
  if (keepsNothing()) return undefined;
  try {
    const path = cacheFile();
    if (!isOwn(fs.lstatSync(paths.dirname(path)))) return undefined;
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    const file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = fs.fstatSync(file);
      if (!stat.isFile() || !isOwn(stat)) return undefined;
      const bytes = fs.readFileSync(file);
      const size = bytes.readUInt32LE(0);
      return { source: bytes.subarray(4, 4 + size), code: bytes.subarray(4 + size) };
    } finally {
      fs.closeSync(file);
    }
  } catch {
    // There is no such file, or it is damaged.
    return undefined;
  }
}

/** Windows has neither owners nor modes of this kind. */
function isOwn({ uid, mode }: import("node:fs").Stats): boolean {
  const own = process.geteuid?.();
  return own === undefined || (uid === own && (mode & 0o022) === 0);
}

/** For the next call. Whatever is in the way, this one has done its work. */
function keepCompiled({ source, code }: Compiled): void {
  if (keepsNothing()) return;
  const path = cacheFile();
  const temporary = `${path}.${process.pid}`;
  try {
    fs.mkdirSync(paths.dirname(path), { recursive: true, mode: 0o700 });
    const size = Buffer.alloc(4);
    size.writeUInt32LE(source.length);
    const file = fs.openSync(temporary, "wx", 0o600);
    try {
      fs.writeFileSync(file, Buffer.concat([size, source, code]));
      // V8 takes the code as it is: after a power cut there must be all of it, or none.
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(temporary, path);
  } catch {
    fs.rmSync(temporary, { force: true });
  }
}
