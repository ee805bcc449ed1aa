// A deployment for Compose: two gateways behind HAProxy, and the workers, on one machine. The engines are where the
// configuration says.

import { toYaml, type YamlValue } from "../../util/yaml.ts";
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

export function composeFiles(plan: DeploymentPlan, image: string): DeploymentFile[] {
  const { workers, port } = plan;
  checkHosts(plan, ({ host }) => host, [...GATEWAYS, BALANCER]);
  const gateways = GATEWAYS.map(
    (name) => [name, container({ name, args: ["up"], image, variables: plan.variables })] as const,
  );
  const ofWorkers = workers.map((worker) => {
    const { host: name, variables } = worker;
    // Compose puts variables in place of `$NAME`.
    const args = workerArguments(worker).map((each) => each.replaceAll("$", () => "$$"));
    return [name, container({ name, args, image, variables })] as const;
  });
  const names = [...GATEWAYS, ...workers.map(({ host }) => host)];
  const value = {
    services: {
      [BALANCER]: {
        image: "haproxy:3.0",
        restart: "unless-stopped",
        volumes: ["./haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro"],
        // Whoever ends TLS in front of it is on this machine.
        ports: [`127.0.0.1:${port}:${BALANCER_PORT}`],
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
    { path: "haproxy.cfg", text: haproxyConfig(GATEWAYS, port, BALANCER_PORT) },
    { path: "plugboard.json", text: plan.config },
  ];
}

interface ContainerOptions {
  name: string;
  args: readonly string[];
  image: string;
  variables: readonly string[];
}

/** A volume for each: the audit waits there while PostgreSQL is away, and two gateways cannot share a home. */
function container({ name, args, image, variables }: ContainerOptions): YamlValue {
  return {
    image,
    command: args,
    restart: "unless-stopped",
    stop_grace_period: "70s",
    environment: {
      PLUGBOARD_CONFIG: CONFIG,
      PLUGBOARD_HOME: HOME,
      PLUGBOARD_LOG_FORMAT: "json",
      HOME,
      [OWN_ADDRESS]: name,
      ...Object.fromEntries(variables.map((each) => [each, `\${${each}:?is not set}`])),
    },
    volumes: [`./plugboard.json:${CONFIG}:ro`, `${name}:${HOME}`],
    read_only: true,
    tmpfs: ["/tmp"],
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
  };
}

/** `gateways` are their hosts, which all listen at `port`. deploy/haproxy.cfg in the package is the same, with its reasons. */
function haproxyConfig(gateways: readonly string[], port: number, bind: number): string {
  return `# Written by \`plugboard deploy compose\`. A POST may have run when its connection breaks, so none is ever sent twice.
# Without maxconn, HAProxy reserves memory for as many connections as a container may open files: a thousand million.
global
    maxconn 4000

defaults
    mode http
    log stdout format raw local0 info
    option httplog
    option forwardfor
    timeout connect 2s
    timeout client 1h
    timeout server 1h
    timeout http-request 30s
    timeout http-keep-alive 60s

# A gateway that is made anew has another address, and HAProxy must start while one of them is away.
resolvers containers
    parse-resolv-conf
    hold valid 5s

frontend clients
    bind :${bind}
    default_backend gateways

backend gateways
    balance leastconn
    retries 3
    retry-on conn-failure
    option redispatch 1
    http-reuse safe
    option httpchk
    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost
    http-check expect status 200
    default-server check inter 1s fall 2 rise 1 resolvers containers init-addr last,libc,none
${gateways.map((host) => `    server ${host} ${host}:${port}`).join("\n")}
`;
}
