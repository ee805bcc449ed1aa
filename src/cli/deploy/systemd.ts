// A deployment as units of systemd: the same gateway on every machine, and the workers on one of them.

import { haproxyConfig, hostOf } from "./haproxy.ts";
import { type DeploymentFile, type DeploymentPlan, OWN_ADDRESS, workerArguments } from "./plan.ts";

/** Where each of several gateways on one machine listens. */
export const OWN_PORT = "PLUGBOARD_PORT";
/** Of the first of several gateways, after that of HAProxy. Workers are before it. */
const FIRST_AFTER = 101;
/** HAProxy finds the key in the same file, or beside it with `.key` at its end. */
const BALANCER_CERT = "/etc/haproxy/gateway.pem";

/** `gateways` is how many are on each machine, if it is more than one: then they are behind a HAProxy of that machine. */
export function systemdFiles(plan: DeploymentPlan, gateways?: number): DeploymentFile[] {
  return [
    { path: "plugboard.json", text: plan.config },
    ...(gateways === undefined ? [oneGateway()] : severalGateways(plan, gateways)),
    { path: "plugboard.environment", text: environment([OWN_ADDRESS, ...plan.variables]) },
    ...plan.workers.flatMap((worker): DeploymentFile[] => {
      const name = `plugboard-worker-${worker.id}`;
      return [
        {
          path: `${name}.service`,
          text: unit({
            about: `Plugboard worker of ${described(worker.server)}`,
            state: name,
            args: workerArguments(worker).map(word).join(" "),
            writable: worker.writable,
          }),
        },
        { path: `${name}.environment`, text: environment(worker.variables) },
      ];
    }),
  ];
}

function oneGateway(): DeploymentFile {
  const text = unit({ about: "Plugboard gateway", state: "plugboard", args: "up" });
  return { path: "plugboard.service", text };
}

/** A template: `systemctl start plugboard@7685` starts the one that listens there. */
function severalGateways(
  { port, isTls, publicUrl }: DeploymentPlan,
  count: number,
): DeploymentFile[] {
  const ports = Array.from({ length: count }, (_, at) => port + FIRST_AFTER + at);
  const template = unit({
    about: "Plugboard gateway at port %i",
    state: "plugboard-%i",
    environment: "plugboard",
    edited: "plugboard@",
    more: [`Environment=${OWN_PORT}=%i`],
    args: "up --port %i",
  });
  const haproxy = haproxyConfig({
    form: "systemd",
    gateways: ports.map((each) => ({ name: `gateway-${each}`, address: `127.0.0.1:${each}` })),
    bind: `:${port}`,
    ...(isTls && { tls: { cert: BALANCER_CERT, ca: "@system-ca", host: hostOf(publicUrl) } }),
  });
  return [
    { path: "plugboard@.service", text: template },
    { path: "haproxy.cfg", text: haproxy },
  ];
}

/** `%` begins what systemd puts in its place, and a backslash at the end takes the next line along. */
function described(text: string): string {
  return text.replaceAll("%", "%%").replaceAll("\\", "/");
}

/** As systemd reads a word: quotes, and `%` and `$` stand for themselves only if they are doubled. */
function word(text: string): string {
  const escaped = text.replace(/["\\]/g, (each) => `\\${each}`);
  return /^[\w.-]+$/.test(text)
    ? text
    : `"${escaped.replaceAll("%", "%%").replaceAll("$", () => "$$")}"`;
}

function environment(variables: readonly string[]): string {
  const head = [
    "# Written by `plugboard deploy systemd`. Fill in the values on the machine, with mode 0600: /etc/plugboard/ is its place.",
  ];
  return `${[...head, ...variables.map((name) => `${name}=`)].join("\n")}\n`;
}

interface UnitOptions {
  about: string;
  /** The name of its directory under /var/lib. */
  state: string;
  args: string;
  /** The name of its file with variables. Default: `state`. */
  environment?: string;
  /** What `systemctl edit` calls it. Default: `state`. */
  edited?: string;
  /** Further lines about the process. */
  more?: readonly string[];
  /** Directories that its program writes to. */
  writable?: readonly string[];
}

function unit(options: UnitOptions): string {
  const { about, state, args, environment: file = state, edited = state } = options;
  const { more = [], writable = [] } = options;
  const own = [...more, ...writable.map((each) => `ReadWritePaths=${word(each)}`)];
  return `# Written by \`plugboard deploy systemd\`. Put what you change into a drop-in: systemctl edit ${edited}.

[Unit]
Description=${about}
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
User=plugboard
Group=plugboard
# The audit waits there while PostgreSQL is away.
StateDirectory=${state}
StateDirectoryMode=0700
Environment=PLUGBOARD_HOME=/var/lib/${state}
Environment=PLUGBOARD_LOG_FORMAT=json
EnvironmentFile=/etc/plugboard/${file}.environment
${own.map((line) => `${line}\n`).join("")}ExecStart=/usr/bin/env plugboard ${args} --config /etc/plugboard/plugboard.json
WorkingDirectory=/var/lib/${state}
KillMode=mixed
KillSignal=SIGTERM
# Load balancers notice, calls end, and programs stop.
TimeoutStopSec=70
Restart=on-failure
RestartSec=2
# A mistake in the configuration does not go away by itself.
RestartPreventExitStatus=2
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictSUIDSGID=yes
RestrictRealtime=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
LockPersonality=yes
CapabilityBoundingSet=
UMask=0077
LimitNOFILE=65536
TasksMax=4096

[Install]
WantedBy=multi-user.target
`;
}
