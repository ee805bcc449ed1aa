// A deployment as units of systemd: the same gateway on every machine, and the workers on one of them.

import { type DeploymentFile, type DeploymentPlan, OWN_ADDRESS, workerArguments } from "./plan.ts";

export function systemdFiles(plan: DeploymentPlan): DeploymentFile[] {
  return [
    { path: "plugboard.json", text: plan.config },
    {
      path: "plugboard.service",
      text: unit({ about: "Plugboard gateway", state: "plugboard", args: "up" }),
    },
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
          }),
        },
        { path: `${name}.environment`, text: environment(worker.variables) },
      ];
    }),
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
  /** The name of its directory under /var/lib, and of its file with variables. */
  state: string;
  args: string;
}

function unit({ about, state, args }: UnitOptions): string {
  return `# Written by \`plugboard deploy systemd\`. Put what you change into a drop-in: systemctl edit ${state}.

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
EnvironmentFile=/etc/plugboard/${state}.environment
ExecStart=/usr/bin/env plugboard ${args} --config /etc/plugboard/plugboard.json
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
