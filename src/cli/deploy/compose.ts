// A deployment for Compose: two gateways behind HAProxy, and the workers, on one machine. The engines are where the
// configuration says.

import { readFileSync } from "node:fs";
import { packageVersion } from "../../util/version.ts";
import { toYaml, type YamlValue } from "../../util/yaml.ts";
import { haproxyConfig, hostOf } from "./haproxy.ts";
import {
  checkHosts,
  type DeploymentFile,
  type DeploymentPlan,
  OWN_ADDRESS,
  workerArguments,
} from "./plan.ts";

const GATEWAYS = ["gateway-1", "gateway-2"];
const BALANCER = "balancer";
const HOME = "/var/lib/plugboard";
const CONFIG = "/etc/plugboard/plugboard.json";
/** Inside the container of HAProxy, where nobody is root. */
const BALANCER_PORT = 8080;
/** Where HAProxy looks for a certificate, and beside it for its key. */
const BALANCER_CERT = "/usr/local/etc/haproxy/gateway.pem";
const BALANCER_CA = "/usr/local/etc/haproxy/ca.pem";
/** Whom to believe about the certificate of the gateways. Debian has its list of authorities there. */
const TLS_CA = "${PLUGBOARD_TLS_CA:-/etc/ssl/certs/ca-certificates.crt}";
const CONTAINERFILE = new URL("../../../deploy/Containerfile", import.meta.url);
/** The only thing that is given to the build: a directory with secrets in it must not get into an image. */
const BUILD = "image";

/** In the containers of gateways. */
export const TLS_IN_CONTAINER = {
  cert: "/etc/plugboard/tls/cert.pem",
  key: "/etc/plugboard/tls/key.pem",
};

const CA_IN_CONTAINER = "/etc/plugboard/tls/ca.pem";

/** Without an `image`, one is built from the files beside it. */
export function composeFiles(plan: DeploymentPlan, image: string | undefined): DeploymentFile[] {
  const { workers, port, isTls } = plan;
  checkHosts(plan, ({ host }) => host, [...GATEWAYS, BALANCER]);
  const common = { image, tls: plan.tls };
  const gateways = GATEWAYS.map((name) => {
    const { variables } = plan;
    return [name, container({ ...common, name, args: ["up"], port, isTls, variables })] as const;
  });
  const ofWorkers = workers.map((worker) => {
    const { host: name, variables, writable } = worker;
    // Compose puts variables in place of `$NAME`.
    const args = workerArguments(worker).map((each) => each.replaceAll("$", () => "$$"));
    const own = { port: worker.port, isTls: isTls && !worker.isPlain, variables, writable };
    return [name, container({ ...common, ...own, name, args })] as const;
  });
  const names = [...GATEWAYS, ...workers.map(({ host }) => host)];
  const value = {
    services: {
      [BALANCER]: {
        image: "haproxy:3.0",
        restart: "unless-stopped",
        volumes: [
          "./haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro",
          ...(plan.tls
            ? [
                file(plan.tls.cert, BALANCER_CERT),
                file(plan.tls.key, `${BALANCER_CERT}.key`),
                mount(TLS_CA, BALANCER_CA),
              ]
            : []),
        ],
        // Without TLS, whoever ends it in front of HAProxy is on this machine.
        ports: [`${isTls && plan.isOpen ? "" : "127.0.0.1:"}${port}:${BALANCER_PORT}`],
        depends_on: [...GATEWAYS],
      },
      ...Object.fromEntries([...gateways, ...ofWorkers]),
    },
    volumes: Object.fromEntries(names.map((name) => [name, {}])),
  };
  const head = [
    "# Written by `plugboard deploy compose`. Put what you change into compose.override.yaml: this file is written anew.",
    "# The values of variables come from your environment, or from a file .env that only you can read.",
  ];
  return [
    { path: "compose.yaml", text: `${head.join("\n")}\n${toYaml(value)}` },
    {
      path: "haproxy.cfg",
      text: haproxyConfig({
        form: "compose",
        gateways: GATEWAYS.map((name) => ({ name, address: `${name}:${port}` })),
        bind: `:${BALANCER_PORT}`,
        ...(isTls && {
          tls: { cert: BALANCER_CERT, ca: BALANCER_CA, host: hostOf(plan.publicUrl) },
        }),
      }),
    },
    ...(image === undefined ? [containerfile()] : []),
    { path: "plugboard.json", text: plan.config },
  ];
}

function containerfile(): DeploymentFile {
  const head = "# Written by `plugboard deploy compose`: the image of the gateways and workers.\n";
  return { path: `${BUILD}/Containerfile`, text: head + readFileSync(CONTAINERFILE, "utf8") };
}

/** A file that is not there is an error, and no new directory of that name. */
function file(source: string, target: string, isReadOnly = true): YamlValue {
  return mount(
    source.replaceAll("$", () => "$$"),
    target,
    isReadOnly,
  );
}

function mount(source: string, target: string, isReadOnly = true): YamlValue {
  return {
    type: "bind",
    source,
    target,
    ...(isReadOnly && { read_only: true }),
    bind: { create_host_path: false },
  };
}

interface ContainerOptions {
  name: string;
  args: readonly string[];
  image: string | undefined;
  port: number;
  isTls: boolean;
  tls: DeploymentPlan["tls"];
  variables: readonly string[];
  /** Directories of this machine, which are at the same place in the container. */
  writable?: readonly string[];
}

/** A volume for each: the audit waits there while PostgreSQL is away, and two gateways cannot share a home. */
function container(options: ContainerOptions): YamlValue {
  const { name, args, image, port, isTls, tls, variables, writable = [] } = options;
  return {
    image: image ?? "plugboard",
    ...(image === undefined && {
      build: {
        context: `./${BUILD}`,
        dockerfile: "Containerfile",
        args: {
          PLUGBOARD: `\${PLUGBOARD_PACKAGE:-plugboard@${packageVersion()}}`,
          EXTRA: "${PLUGBOARD_EXTRA:-}",
        },
      },
    }),
    command: args,
    restart: "unless-stopped",
    stop_grace_period: "70s",
    healthcheck: { test: ["CMD", "node", "-e", healthCheck(port, isTls)] },
    environment: {
      PLUGBOARD_CONFIG: CONFIG,
      PLUGBOARD_HOME: HOME,
      PLUGBOARD_LOG_FORMAT: "json",
      HOME,
      [OWN_ADDRESS]: name,
      // For the other gateways.
      ...(tls && isTls && { NODE_EXTRA_CA_CERTS: CA_IN_CONTAINER }),
      ...Object.fromEntries(variables.map((each) => [each, `\${${each}:?is not set}`])),
    },
    volumes: [
      `./plugboard.json:${CONFIG}:ro`,
      `${name}:${HOME}`,
      ...(tls && isTls
        ? [
            file(tls.cert, TLS_IN_CONTAINER.cert),
            file(tls.key, TLS_IN_CONTAINER.key),
            mount(TLS_CA, CA_IN_CONTAINER),
          ]
        : []),
      ...writable.map((directory) => file(directory, directory, false)),
    ],
    read_only: true,
    tmpfs: ["/tmp"],
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
  };
}

/** In a container, 127.0.0.1 is nobody else, and no certificate is for it. */
function healthCheck(port: number, isTls: boolean): string {
  const scheme = isTls ? "https" : "http";
  const at = `{ host: '127.0.0.1', port: ${port}, path: '/healthz', rejectUnauthorized: false }`;
  return `require('${scheme}').get(${at}, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))`;
}
