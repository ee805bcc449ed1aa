// What the programs say that the files are for: those that `plugboard deploy` writes, and those of the package.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type Certificates, makeCertificates } from "../../core/net/certificates.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const ROOT = join(import.meta.dirname, "../../..");
const WRITTEN = join(ROOT, "test/fixtures/deploy");
const SHIPPED = join(ROOT, "deploy");

let certificates: Certificates;
beforeAll(async () => {
  certificates = await makeCertificates();
});

const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;

function describeWith(program: string, tests: () => void): void {
  const isThere = spawnSync("sh", ["-c", `command -v ${program}`], { env: { PATH } }).status === 0;
  const why = isThere ? "" : ` (skipped: ${program} is not installed)`;
  describe.skipIf(!isThere)(`${program}${why}`, () => {
    tests();
  });
}

/** What it says, with its exit code if that is not 0. */
function run(program: string, args: string[], env: Record<string, string> = {}): string {
  const { stdout, stderr, status } = spawnSync(program, args, {
    encoding: "utf8",
    env: { PATH, LANG: "C", ...env },
  });
  return `${stdout}${stderr}${status === 0 ? "" : ` exit code ${status}`}`.trim();
}

describeWith("systemd-analyze", () => {
  const units = ["systemd", "systemd-several"].flatMap((form) =>
    readdirSync(join(WRITTEN, form))
      .filter((name) => name.endsWith(".service"))
      .map((name) => [`${form}: written`, name, join(WRITTEN, form, name)] as const),
  );

  it.each([
    ...units,
    ["shipped", "plugboard.service", join(SHIPPED, "systemd/plugboard.service")] as const,
  ])("finds nothing wrong with the unit that is %s: %s", (_, name, path) => {
    // Of a template, one that it makes.
    const unit = join(temporaryDirectory(), name.replace("@.", "@7685."));
    cpSync(path, unit);
    expect(run("systemd-analyze", ["verify", "--man=no", unit])).toBe("");
  });

  it("finds nothing wrong with the unit of a user", () => {
    const directory = temporaryDirectory();
    const unit = join(directory, "plugboard.service");
    cpSync(join(SHIPPED, "systemd/plugboard-user.service"), unit);
    const runtime = join(directory, "run");
    mkdirSync(runtime);
    const env = { XDG_RUNTIME_DIR: runtime, HOME: directory };
    expect(run("systemd-analyze", ["verify", "--user", "--man=no", unit], env)).toBe("");
  });
});

describeWith("haproxy", () => {
  /** A copy whose certificates are there. */
  function withCertificate(path: string): string {
    const directory = temporaryDirectory();
    const { cert, key } = certificates.selfSigned;
    for (const [name, text] of [
      ["gateway.pem", cert],
      ["gateway.pem.key", key],
      ["ca.pem", cert],
      [
        "haproxy.cfg",
        readFileSync(path, "utf8").replace(/\/\S+\/(?=(?:gateway|ca)\.pem)/g, `${directory}/`),
      ],
    ] as const) {
      writeFileSync(join(directory, name), text);
    }
    return join(directory, "haproxy.cfg");
  }

  it.each([
    ["that is written for Compose", join(WRITTEN, "compose/haproxy.cfg")],
    ["for Compose with a certificate", join(WRITTEN, "compose-tls/haproxy.cfg")],
    ["for several gateways on one machine", join(WRITTEN, "systemd-several/haproxy.cfg")],
    ["of the package", join(SHIPPED, "haproxy.cfg")],
  ])("takes the file %s, also while no gateway can be found", (_, path) => {
    const said = run("haproxy", ["-c", "-f", withCertificate(path)]);
    expect(said).toContain("Configuration file is valid");
    const problems = said.split("\n").filter((line) => /\[(WARNING|ALERT)\]/.test(line));
    expect(problems.filter((line) => !line.includes("could not resolve address"))).toEqual([]);
  });
});

describeWith("nginx", () => {
  it("takes the file of the package", () => {
    const directory = temporaryDirectory();
    // Where it would listen, and its log, are not tried with the other settings of this machine.
    const given = ["-p", directory, "-e", "stderr", "-g", `pid ${join(directory, "pid")};`];
    const said = run("nginx", ["-t", "-c", join(SHIPPED, "nginx.conf"), ...given]);
    expect(said).toContain("test is successful");
    expect(said).not.toContain("[warn]");
  });
});
