// Throw-away certificates, made by openssl: an authority, and what it signs.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

interface Identity {
  cert: string;
  key: string;
}

export interface Certificates {
  ca: string;
  /** For localhost and 127.0.0.1. */
  server: Identity;
  /** For mcp.example. */
  example: Identity;
  /** For localhost, expired. */
  expired: Identity;
  /** For localhost, signed by itself. */
  selfSigned: Identity;
  client: Identity;
}

export async function makeCertificates(): Promise<Certificates> {
  const dir = await mkdtemp(join(tmpdir(), "plugboard-tls-"));
  const openssl = (...args: string[]) => run("openssl", args, { cwd: dir });
  const read = (name: string) => readFile(join(dir, name), "utf8");
  const root = async (name: string, subject: string) => {
    const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const out = ["-keyout", `${name}.key`, "-out", `${name}.pem`, "-days", "2"];
    const names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    await openssl("req", "-x509", ...made, "-subj", `/CN=${subject}`, ...out, ...names);
  };
  const signed = async (name: string, altNames: string, days: string): Promise<Identity> => {
    const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const out = ["-keyout", `${name}.key`, "-out", `${name}.csr`];
    await openssl("req", "-new", ...made, "-subj", `/CN=${name}`, ...out);
    await writeFile(join(dir, `${name}.ext`), `subjectAltName=${altNames}\n`);
    const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
    const how = ["-days", days, "-extfile", `${name}.ext`, "-out", `${name}.pem`];
    await openssl("x509", "-req", "-in", `${name}.csr`, ...by, ...how);
    return { cert: await read(`${name}.pem`), key: await read(`${name}.key`) };
  };
  try {
    await root("ca", "Throw-away authority");
    await root("self", "localhost");
    const local = "DNS:localhost,IP:127.0.0.1";
    return {
      ca: await read("ca.pem"),
      server: await signed("server", local, "2"),
      example: await signed("example", "DNS:mcp.example", "2"),
      expired: await signed("expired", local, "-1"),
      selfSigned: { cert: await read("self.pem"), key: await read("self.key") },
      client: await signed("client", "DNS:client.example", "2"),
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
