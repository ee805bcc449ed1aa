// `plugboard deploy`: the files of each form, as they are kept in test/fixtures/deploy, and what Kubernetes says to them. To
// write them anew: npx vitest run test/cli/deploy --update

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { PersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim";
import { Service } from "kubernetes-models/v1/Service";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../../src/core/config/load.ts";
import { packageVersion } from "../../../src/util/version.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();
const ROOT = join(import.meta.dirname, "../../..");
const CONTAINERFILE = join("image", "Containerfile");

const MODELS = {
  Deployment,
  Service,
  PodDisruptionBudget,
  HorizontalPodAutoscaler,
  NetworkPolicy,
  PersistentVolumeClaim,
  Ingress,
} as const;

const SHARED = {
  postgres: {
    url: "postgres://plugboard@db.example.com/plugboard",
    password: "secret://env/PLUGBOARD_DB_PASSWORD",
  },
  valkey: { url: "valkey://cache.example.com", sentinels: ["sentinel-1:26379"] },
  keys: ["secret://env/PLUGBOARD_KEY"],
};

const FILE = `{
  // Kept as it is.
  "mcpServers": {
    "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] },
    "search": { "command": "npx", "args": ["-y", "search"], "env": { "KEY": "\${SEARCH_KEY}" }, "replicas": "each" },
    "crm": {
      "command": "npx",
      "args": ["-y", "crm"],
      "env": { "CRM_TOKEN": "secret://env/CRM_TOKEN" },
      "worker": { "url": "http://crm-worker:9000/mcp", "token": "secret://env/CRM_WORKER_TOKEN", "allowInsecure": true }
    },
    "docs": { "url": "https://docs.example.com:8443/mcp", "headers": { "X-Key": "secret://env/DOCS_KEY" } },
    "browser": { "command": "npx", "args": ["-y", "browser"], "scope": "session" },
    "old": { "command": "old", "enabled": false }
  },
  "gateway": { "publicUrl": "https://gateway.example.com", "shared": ${JSON.stringify(SHARED)} }
}
`;

/** Has the form of a token, and is none. */
const GITHUB = `ghp_${"Ab1".repeat(12)}`;
const PACKED = Buffer.from(GITHUB).toString("base64");
const PACKED_JSON = Buffer.from('{"apiKey":"abcd1234efgh5678"}').toString("base64");

function configured(text = FILE): { env: Record<string, string> } {
  const path = join(scratch.directory, "team.json");
  writeFileSync(path, text);
  return { env: { PLUGBOARD_CONFIG: path } };
}

const words = { kustomize: [], compose: [], systemd: ["--workers-on", "10.0.0.11"] } as const;

/** With TLS, and on IPv6. */
const WITH_TLS = FILE.replace(
  '"gateway": {',
  '"gateway": { "host": "::", "tls": { "cert": "/etc/plugboard/cert.pem", "key": "/etc/plugboard/key.pem" },',
);
/** With all that is written on request. */
const ON_REQUEST = {
  "kustomize-ingress": [
    WITH_TLS,
    ["--ingress", "nginx", "--monitor", "--writable", "memory=/data"],
  ],
  "kustomize-route": [FILE, ["--http-route", "infra/public", "--image", "example.com/plugboard:1"]],
  "compose-tls": [WITH_TLS, ["--writable", "memory=/data"]],
  "systemd-several": [
    WITH_TLS,
    ["--workers-on", "fd00::11", "--gateways", "3", "--writable", "memory=/srv/a b%"],
  ],
} as const;

/** The files of a directory and of those in it. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)))
    .toSorted();
}

/** The version changes with each release, and nothing else then. */
function textAt(path: string): string {
  return readFileSync(path, "utf8").replaceAll(
    `plugboard@${packageVersion()}`,
    "plugboard@VERSION",
  );
}

it.each(Object.entries(ON_REQUEST))(
  "%s writes the files that are expected",
  async (name, given) => {
    const [text, options] = given;
    const [form = ""] = name.split("-");
    const { code, stderr } = await scratch.run(
      ["deploy", form, "--out", "out", ...options],
      configured(text),
    );
    expect([code, stderr.match(/^error.*/m)]).toEqual([0, null]);
    const out = join(scratch.directory, "out");
    const golden = join(import.meta.dirname, "../../fixtures/deploy", name);
    for (const path of filesIn(out)) {
      if (path === CONTAINERFILE) continue;
      await expect(textAt(join(out, path))).toMatchFileSnapshot(join(golden, path));
    }
    expect(filesIn(golden)).toEqual(filesIn(out).filter((path) => path !== CONTAINERFILE));
  },
);

describe.each(["kustomize", "compose", "systemd"] as const)("%s", (form) => {
  async function written(): Promise<Map<string, string>> {
    const argv = ["deploy", form, "--out", "out", ...words[form]];
    const { code, stderr } = await scratch.run(argv, configured());
    expect(stderr).not.toContain("error");
    expect(code).toBe(0);
    const out = join(scratch.directory, "out");
    return new Map(filesIn(out).map((path) => [path, textAt(join(out, path))]));
  }

  it("writes the files that are expected", async () => {
    const files = await written();
    const golden = join(import.meta.dirname, "../../fixtures/deploy", form);
    // The image is built of what the package has for it, and of nothing else in the directory.
    const image = files.get(CONTAINERFILE);
    if (form === "compose") {
      expect(image?.replace(/^.*\n/, "")).toBe(textAt(join(ROOT, "deploy/Containerfile")));
    }
    files.delete(CONTAINERFILE);
    for (const [name, text] of files) await expect(text).toMatchFileSnapshot(join(golden, name));
    expect(filesIn(golden)).toEqual([...files.keys()]);
  });

  it("has a configuration that all of them take: the same servers, each once or in each", async () => {
    await written();
    const { servers } = await loadConfig(join(scratch.directory, "out", "plugboard.json"));
    const places = servers.map(({ name, target, worker, replicas }) => [
      name,
      "url" in target ? target.url : target.kind,
      worker?.token ?? replicas,
    ]);
    const memory =
      form === "systemd" ? "http://10.0.0.11:7585/mcp" : "http://plugboard-worker-memory:7584/mcp";
    expect(places).toEqual([
      ["memory", memory, "secret://env/PLUGBOARD_WORKER_MEMORY"],
      ["search", "stdio", "each"],
      ["crm", "http://crm-worker:9000/mcp", "secret://env/CRM_WORKER_TOKEN"],
      ["docs", "https://docs.example.com:8443/mcp", undefined],
      ["browser", "stdio", undefined],
      ["old", "stdio", undefined],
    ]);
  });
});

it("makes what Kubernetes takes, by its own schemas", async () => {
  const out = join(scratch.directory, "out");
  await scratch.run(["deploy", "kustomize", "--out", "out", "--ingress", "nginx"], configured());
  const { resources } = parse(readFileSync(join(out, "kustomization.yaml"), "utf8"));
  const kinds: string[] = [];
  for (const path of resources) {
    for (const document of parseAllDocuments(readFileSync(join(out, path), "utf8"))) {
      expect(document.errors).toEqual([]);
      const value = document.toJS();
      const Model = MODELS[value.kind as keyof typeof MODELS];
      const model = new (Model as new (value: object) => { apiVersion: string; validate(): void })(
        value,
      );
      expect(model.apiVersion).toBe(value.apiVersion);
      model.validate();
      kinds.push(value.kind);
    }
  }
  const ofWorker = ["Deployment", "PersistentVolumeClaim", "Service", "NetworkPolicy"];
  expect(kinds).toEqual([
    "Deployment",
    "Service",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
    "NetworkPolicy",
    "Ingress",
    ...ofWorker,
    ...ofWorker,
  ]);
});

it.each([
  ["compose", ["--gateways", "2"], "--gateways means nothing to compose"],
  ["systemd", ["--ingress", "nginx"], "--ingress means nothing to systemd"],
  ["systemd", ["--http-route", "a/b"], "--http-route means nothing to systemd"],
  ["compose", ["--monitor"], "--monitor means nothing to compose"],
  ["systemd", ["--image", "x"], "--image means nothing to systemd"],
  ["kustomize", ["--workers-on", "10.0.0.1"], "--workers-on means nothing to kustomize"],
  ["kustomize", ["--ingress", "a", "--http-route", "b"], "cannot be used with option"],
  ["kustomize", ["--http-route", "a/b/c"], "expected a Gateway, such as public or infra/public"],
  ["kustomize", ["--ingress", "No class"], "expected the class of an Ingress"],
  ["compose", ["--writable", "memory=data"], "expected a server and a directory, such as memory="],
  ["compose", ["--writable", "memory=/"], "expected a server and a directory"],
  [
    "compose",
    ["--writable", "docs=/data"],
    "--writable docs=/data names no server that a worker runs",
  ],
] as const)("%s refuses %j", async (form, options, why) => {
  const { code, stdout, stderr } = await scratch.run(["deploy", form, ...options], configured());
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(why);
});

it.each([
  ["/srv/notes", ["/srv/notes", "/data"]],
  // Somewhere else on the machine of the worker.
  ["notes", ["/data"]],
  ["~/notes", ["/data"]],
])("a worker in %s writes to %j", async (cwd, expected) => {
  const gateway = { shared: SHARED };
  const given = configured(
    JSON.stringify({ mcpServers: { memory: { command: "npx", cwd } }, gateway }),
  );
  const argv = ["deploy", "compose", "--json", "--writable", "memory=/data"];
  const { workers } = JSON.parse((await scratch.run(argv, given)).stdout);
  expect(workers).toMatchObject([{ server: "memory", writable: expected }]);
});

it("needs the name that clients use, where it says how they come in", async () => {
  const given = configured(FILE.replace('"publicUrl": "https://gateway.example.com", ', ""));
  const { code, stderr } = await scratch.run(["deploy", "kustomize", "--ingress", "nginx"], given);
  expect(code).toBe(2);
  expect(stderr).toContain("an Ingress needs the name that clients use");
});

it("gives each pod only the variables that it needs", async () => {
  const { stdout } = await scratch.run(["deploy", "kustomize", "--json"], configured());
  const { variables, workers } = JSON.parse(stdout);
  expect(variables).toEqual([
    "CRM_WORKER_TOKEN",
    "DOCS_KEY",
    "PLUGBOARD_DB_PASSWORD",
    "PLUGBOARD_KEY",
    "PLUGBOARD_WORKER_MEMORY",
    "SEARCH_KEY",
  ]);
  expect(workers).toMatchObject([
    { server: "memory", variables: ["PLUGBOARD_WORKER_MEMORY"] },
    { server: "crm", variables: ["CRM_TOKEN", "CRM_WORKER_TOKEN"] },
  ]);
});

it.each([
  ["kustomize", "in the image or in a volume of your overlay"],
  ["compose", "in the image or in a volume of compose.override.yaml"],
  ["systemd", "on each machine"],
] as const)("%s says what is not there where it runs", async (form, where) => {
  const postgres = { url: "postgres://plugboard@localhost/plugboard", tls: { ca: "/etc/ca.pem" } };
  const servers = {
    docs: { url: "http://127.0.0.1:3000/mcp" },
    far: { url: "https://example.com/mcp" },
    notes: { command: "npx", replicas: "each", cwd: "/srv/notes" },
  };
  const gateway = { shared: { ...SHARED, postgres } };
  const given = configured(JSON.stringify({ mcpServers: servers, gateway }));
  const { notes } = JSON.parse((await scratch.run(["deploy", form, "--json"], given)).stdout);
  expect(notes).toEqual([
    "each machine or container has a localhost of its own: give localhost and 127.0.0.1:3000 an address that all of them reach",
    `these files have to be there as well, ${where}: /etc/ca.pem, /srv/notes`,
  ]);
});

it("writes nothing without --out, and never replaces a file of somebody else", async () => {
  const shown = await scratch.run(["deploy", "compose"], configured());
  expect(shown.stdout).toContain("# compose.yaml");
  expect(shown.stderr).toContain("nothing was written");
  expect(existsSync(join(scratch.directory, "compose.yaml"))).toBe(false);

  const deploy = ["deploy", "compose", "--out", "."];
  expect((await scratch.run(deploy, configured())).stdout).toContain("made compose.yaml");
  expect((await scratch.run(deploy, configured())).stdout).toContain("kept compose.yaml");
  const changed = configured(FILE.replace('"search": {', '"search": { "toolTimeout": 1000,'));
  expect((await scratch.run(deploy, changed)).stdout).toContain("replaced plugboard.json");

  const intoFile = await scratch.run(["deploy", "compose", "--out", "compose.yaml"], configured());
  expect(intoFile.stderr).toContain("compose.yaml is not a directory");

  writeFileSync(join(scratch.directory, "haproxy.cfg"), "mine\n");
  const refused = await scratch.run(deploy, configured());
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("haproxy.cfg exists and was not written by this command");
  expect(readFileSync(join(scratch.directory, "haproxy.cfg"), "utf8")).toBe("mine\n");
});

it.each([
  [
    "without gateway.shared",
    FILE.replace('"shared"', '"limits"').replace(JSON.stringify(SHARED), "{}"),
    "has no gateway.shared",
  ],
  [
    "with a password written out",
    FILE.replace("secret://env/PLUGBOARD_DB_PASSWORD", "hunter2hunter2"),
    "gateway.shared.postgres.password",
  ],
  [
    "with a worker's token written out",
    FILE.replace("secret://env/CRM_WORKER_TOKEN", "t".repeat(40)),
    "crm.worker.token",
  ],
  [
    "with a server's key written out",
    FILE.replace("secret://env/CRM_TOKEN", "sk-live-4f9d8a7c6b5e4d3c2b1a0f9e8d7c"),
    "has a secret written out",
  ],
  ...(
    [
      ["in the path of a URL", "8443/mcp", `8443/${GITHUB}/mcp`, "mcpServers.docs.url"],
      ["in its query", "8443/mcp", `8443/mcp?v=1&x=${GITHUB}`, "mcpServers.docs.url"],
      [
        "as a key in the path of a URL",
        "8443/mcp",
        "8443/s/Zx81kQp0vT3mLw9RbY2c",
        "mcpServers.docs.url",
      ],
      [
        "that is percent-encoded",
        "8443/mcp",
        `8443/${GITHUB.replace("_", "%5F")}/mcp`,
        "mcpServers.docs.url",
      ],
      [
        "in base64 of JSON",
        '"env": { "CRM_TOKEN"',
        `"env": { "X": "${PACKED_JSON}", "CRM_TOKEN"`,
        "mcpServers.crm.env.X",
      ],
      ["in base64 in a comment", "Kept as it is.", `Was ${PACKED}`, "the comment in line 2"],
      [
        "with a character that nobody sees",
        '"-y", "search"',
        `"-y", "${GITHUB.slice(0, 9)}\u200b${GITHUB.slice(9)}"`,
        "mcpServers.search.args[1]",
      ],
      [
        "as the default of a variable",
        '"-y", "search"',
        '"-y", "${SEARCH_PASSWORD:-pw1 pw1}"',
        "mcpServers.search.args[1]",
      ],
      [
        "as the default of a key",
        '"secret://env/PLUGBOARD_KEY"',
        '"${FIRST:-pw1pw1pw1pw1pw1pw1pw1pw1pw1pw1pw1}"',
        "gateway.shared.keys[0]",
      ],
      [
        "in an argument of a helper",
        '"gateway": {',
        '"secrets": { "exec": { "h": { "command": "/h", "args": ["--token", "pw1a2b3c4d5"] } } }, "gateway": {',
        "secrets.exec.h.args[1]",
      ],
      [
        "in an option that is a comment",
        "Kept as it is.",
        "docs --token pw1a2b3c4d5",
        "the comment in line 2",
      ],
      ["in a comment", "Kept as it is.", `Not ${GITHUB} any more.`, "the comment in line 2"],
      [
        "in an entry that is a comment",
        "Kept as it is.",
        '"X_TOKEN": "a1b2c3d4"',
        "the comment in line 2",
      ],
      [
        "in an address in a comment",
        "Kept as it is.",
        "https://u:pw1@a.example",
        "the comment in line 2",
      ],
      ["in a block of comments", "// Kept as it is.", `/*\n ${GITHUB} */`, "the comment in line 2"],
      [
        "in a command",
        '"command": "old"',
        `"command": "/opt/${GITHUB}/old"`,
        "mcpServers.old.command",
      ],
      ["in an argument", '"-y", "search"', `"-y", "search:${GITHUB}"`, "mcpServers.search.args[1]"],
      [
        "in an escape",
        '"-y", "search"',
        `"-y", "\\u0067${GITHUB.slice(1)}"`,
        "mcpServers.search.args[1]",
      ],
      [
        "in a directory",
        '"enabled": false',
        `"enabled": false, "cwd": "/x-${GITHUB}"`,
        "mcpServers.old.cwd",
      ],
      ["in a name", '"old"', `"${GITHUB}"`, "a key of mcpServers"],
      [
        "in a rule",
        '"enabled": false',
        `"enabled": false, "tools": { "deny": ["${GITHUB}"] }`,
        "mcpServers.old.tools.deny[0]",
      ],
      [
        "of a proxy",
        '"gateway": {',
        '"network": { "proxy": "http://u:pw1@p.example" }, "gateway": {',
        "network.proxy",
      ],
      [
        "of a model",
        '"gateway": {',
        '"models": { "providers": { "lab": { "type": "openai", "apiKey": "lab-lab-1" } } }, "gateway": {',
        "models.providers.lab.apiKey",
      ],
      [
        "in a prompt",
        '"gateway": {',
        `"agents": { "list": [{ "id": "a", "systemPrompt": "Use ${GITHUB}." }] }, "gateway": {`,
        "agents.list[0].systemPrompt",
      ],
    ] as const
  ).map(([where, text, secret, place]): [string, string, string] => [
    `with a secret ${where}`,
    FILE.replace(text, secret),
    `has a secret written out, at ${place},`,
  ]),
])("refuses a configuration %s", async (_, text, why) => {
  const { code, stderr, stdout } = await scratch.run(["deploy", "kustomize"], configured(text));
  expect(code).not.toBe(0);
  expect(stderr).toContain(why);
  expect(stderr).not.toMatch(/Ab1Ab1|pw1/);
  expect(stdout).toBe("");
});

it("takes no words, names of tenants and references for a secret", async () => {
  const tenant = "https://login.example.com/3f0a7c1e-52b1-4c8e-9d3a-1f2e3d4c5b6a/v2.0";
  const jwt = { issuers: [{ issuer: tenant, algorithms: ["RS256"] }] };
  const text = FILE.replace('"gateway": {', `"gateway": { "jwt": ${JSON.stringify(jwt)},`).replace(
    "Kept as it is.",
    'The token: see the wiki. "API_TOKEN": "secret://env/API_TOKEN_2", Bearer ${CRM_TOKEN}',
  );
  const { code, stderr } = await scratch.run(["deploy", "kustomize"], configured(text));
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.not.stringContaining("secret written"),
  });
});

describe("names that mean something where they are written", () => {
  const odd = [
    "My Notes",
    "my-notes",
    "文档",
    "笔记",
    "${PLUGBOARD_KEY}",
    "$(PLUGBOARD_KEY)",
    "50%\\",
  ];
  const text = (servers: Record<string, object>): string =>
    JSON.stringify({ mcpServers: servers, gateway: { shared: SHARED } });
  const programs = text(Object.fromEntries(odd.map((name) => [name, { command: "npx" }])));

  async function written(form: keyof typeof words): Promise<Map<string, string>> {
    const argv = ["deploy", form, "--json", ...words[form]];
    const { stdout } = await scratch.run(argv, configured(programs));
    const { files } = JSON.parse(stdout) as { files: { path: string; text: string }[] };
    expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
    return new Map(files.map((file) => [file.path, file.text]));
  }

  it("Compose and Kubernetes run a worker for each server, and put no variable in its name", async () => {
    const compose = parse((await written("compose")).get("compose.yaml") ?? "");
    const services = Object.values<{ command?: string[] }>(compose.services);
    const ofCompose = services.flatMap(({ command }) => command?.[2] ?? []);
    const manifests = [...(await written("kustomize"))].filter(([path]) =>
      path.startsWith("plugboard-w"),
    );
    const ofPods = manifests.map(([, each]) => {
      const [deployment] = parseAllDocuments(each).map((document) => document.toJS());
      return deployment.spec.template.spec.containers[0].args[2];
    });
    for (const names of [ofCompose, ofPods]) {
      expect(names).toEqual(odd.map((name) => name.replaceAll("$", () => "$$")));
    }
  });

  it("systemd reads each as it is, in a unit of its own", async () => {
    const files = await written("systemd");
    const units = [...files].filter(([path]) => /^plugboard-w.*\.service$/.test(path));
    expect(units).toHaveLength(odd.length);
    const last = units.at(-1)?.[1] ?? "";
    expect(last).toContain("Description=Plugboard worker of 50%%/\nAfter=");
    expect(last).toContain('up --only "50%%\\\\" --host');
  });

  it("systemd is told which machine has the workers, where an entry does not say it", async () => {
    const { code, stderr } = await scratch.run(["deploy", "systemd"], configured());
    expect(code).toBe(2);
    expect(stderr).toContain("the server 'memory' has to run on one machine, and nothing says");
    expect(stderr).toContain("hint: give --workers-on <host>");
  });

  it("a variable that no file can name is refused, and so is one worker for two servers", async () => {
    const env = { KEY: "secret://env/A=B" };
    const variable = configured(text({ a: { command: "npx", env, replicas: "each" } }));
    const refused = await scratch.run(["deploy", "compose"], variable);
    expect(refused.stderr).toContain("A=B is no name for a variable");
    const worker = { url: "http://w:1/mcp", token: "secret://env/T", allowInsecure: true };
    const both = { command: "npx", worker };
    const { stderr } = await scratch.run(
      ["deploy", "compose"],
      configured(text({ a: both, b: both })),
    );
    expect(stderr).toContain("a and b have the same worker.url");
  });

  it.each([
    ["compose", ["http://w:1/mcp", "http://w:2/mcp"], "names the host w, which is that of a"],
    ["kustomize", ["http://w.x:1/mcp", "http://w.y:1/mcp"], "names the host w, which is that of a"],
    ["compose", ["http://gateway-1:1/mcp"], "names the host gateway-1, which is that of another"],
    ["kustomize", ["http://plugboard:1/mcp"], "names the host plugboard, which is that of another"],
    ["compose", ["http://10.0.0.11:1/mcp"], "names the machine 10.0.0.11, where its container is"],
    ["kustomize", ["http://[::1]:1/mcp"], "names the machine [::1], where its container is not"],
    ["kustomize", ["http://localhost:1/mcp"], "names the machine localhost, where its container"],
  ])("%s refuses workers at %j, and replaces no container by them", async (form, urls, why) => {
    const entries = urls.map((url, at) => {
      const worker = { url, token: "secret://env/T", allowInsecure: true };
      return [String.fromCodePoint(97 + at), { command: "npx", worker }] as const;
    });
    const given = configured(text(Object.fromEntries(entries)));
    const { code, stdout, stderr } = await scratch.run(["deploy", form], given);
    expect(stderr).toContain(why);
    expect([code !== 0, stdout]).toEqual([true, ""]);
  });

  it("systemd runs several workers on one machine", async () => {
    const entries = [1, 2].map((port) => {
      const url = `http://10.0.0.11:${port}/mcp`;
      const worker = { url, token: "secret://env/T", allowInsecure: true };
      return [`w${port}`, { command: "npx", worker }] as const;
    });
    const given = configured(text(Object.fromEntries(entries)));
    const { code, stdout } = await scratch.run(["deploy", "systemd"], given);
    expect([code, stdout.match(/^# plugboard-worker-w\d\.service$/gm)?.length]).toEqual([0, 2]);
  });
});
