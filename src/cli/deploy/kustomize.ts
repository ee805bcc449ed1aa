// A deployment for Kubernetes, as a base for Kustomize. Names have no prefix of a namespace: `namespace:` in your overlay sets it.

import { PlugboardError } from "../../core/types/errors.ts";
import { toYaml, type YamlValue } from "../../util/yaml.ts";
import {
  checkHosts,
  type DeploymentFile,
  type DeploymentPlan,
  OWN_ADDRESS,
  workerArguments,
  type WorkerPlan,
} from "./plan.ts";

const NAME = "plugboard";
const HOME = "/var/lib/plugboard";
const CONFIG = "/etc/plugboard";
/** The user of the image. */
const USER = 1000;
const FEWEST = 2;
const MOST = 6;
/** Of the one core that a gateway can use, in thousandths: then another one is started. */
const BUSY = "700m";
/** The Secret with the token that Prometheus shows. */
const SCRAPE_SECRET = `${NAME}-metrics`;
/** Time for a load balancer to notice, for calls to end, and for programs to stop. */
const STOP_SECONDS = 70;

type Manifest = { readonly [key: string]: YamlValue | undefined };

export interface KustomizeOptions {
  image: string;
  /** How clients come in, if something is to be written for that. */
  entry?: Entry | undefined;
  /** Prometheus' operator finds the gateways. */
  isMonitored: boolean;
}

export type Entry =
  /** An Ingress of this class. */
  | { kind: "ingress"; className: string }
  /** A HTTPRoute at this Gateway. */
  | { kind: "route"; gateway: string };

export function kustomizeFiles(plan: DeploymentPlan, options: KustomizeOptions): DeploymentFile[] {
  const { image, entry, isMonitored } = options;
  checkHosts(plan, nameOf, [NAME]);
  const workers = plan.workers.map((worker) => ({
    path: `${nameOf(worker)}.yaml`,
    text: withHead(
      `runs ${worker.server} once, for all gateways`,
      workerDeployment(worker, plan, image),
      workerVolume(worker),
      service(nameOf(worker), worker.port, labels("worker", worker)),
      workerPolicy(worker),
    ),
  }));
  const resources = ["gateway.yaml", ...workers.map(({ path }) => path)];
  return [
    { path: "kustomization.yaml", text: kustomization(plan, resources, isMonitored) },
    { path: "plugboard.json", text: plan.config },
    {
      path: "gateway.yaml",
      text: withHead(
        "the gateways, and how clients reach them",
        gatewayDeployment(plan, image),
        service(NAME, plan.port, labels("gateway")),
        disruptionBudget(),
        autoscaler(),
        gatewayPolicy(plan),
        ...(entry === undefined ? [] : [entryManifest(plan, entry)]),
        ...(isMonitored ? [serviceMonitor(plan)] : []),
      ),
    },
    ...workers,
  ];
}

function kustomization(
  { variables, workers }: DeploymentPlan,
  resources: string[],
  isMonitored: boolean,
): string {
  const names = [...new Set([...variables, ...workers.flatMap((each) => each.variables)])];
  const literals = names.toSorted().map((name) => `#     --from-literal=${name}=…`);
  const head = [
    "# Written by `plugboard deploy kustomize`. Put what you change into an overlay of your own: it is written anew.",
    ...(names.length === 0
      ? []
      : [
          "#",
          "# The values of these are nowhere in here. Make the secret before you apply it:",
          "#",
          `#   kubectl create secret generic ${NAME} \\`,
          literals.join(" \\\n"),
        ]),
    ...(isMonitored ? SCRAPE_HEAD : []),
  ];
  const value = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources,
    // Its name has a hash in it, so that another configuration replaces the pods one by one.
    configMapGenerator: [{ name: NAME, files: ["plugboard.json"] }],
  };
  return `${head.join("\n")}\n${toYaml(value)}`;
}

const SCRAPE_HEAD = [
  "#",
  "# Prometheus shows a token, which you make once the gateways run:",
  "#",
  `#   kubectl create secret generic ${SCRAPE_SECRET} --from-literal=token="$(kubectl exec deploy/${NAME} -- \\`,
  `#     plugboard tokens add prometheus --approval ask --calls-per-day 1 | sed 's/^Authorization: Bearer //')"`,
];

function withHead(about: string, ...documents: readonly YamlValue[]): string {
  return `# Written by \`plugboard deploy kustomize\`: ${about}.\n${toYaml(...documents)}`;
}

/** The first part of its host: a Service is found under its own name. */
function nameOf({ host, server }: WorkerPlan): string {
  const [label = server] = host.split(".");
  return label;
}

function labels(component: string, worker?: WorkerPlan): Manifest {
  return {
    "app.kubernetes.io/name": NAME,
    "app.kubernetes.io/component": component,
    ...(worker && { "app.kubernetes.io/instance": nameOf(worker) }),
  };
}

function gatewayDeployment(plan: DeploymentPlan, image: string): Manifest {
  const { port, variables } = plan;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: NAME, labels: labels("gateway") },
    spec: {
      // The autoscaler decides how many.
      selector: { matchLabels: labels("gateway") },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels: labels("gateway") },
        spec: podSpec({
          args: ["up"],
          port,
          variables,
          image,
          isTls: plan.isTls,
          writable: [],
          // The audit waits here while PostgreSQL is away. It outlives the container, not the pod.
          home: { emptyDir: { sizeLimit: "2Gi" } },
        }),
      },
    },
  };
}

function workerDeployment(worker: WorkerPlan, plan: DeploymentPlan, image: string): Manifest {
  const { port, variables, writable } = worker;
  // Kubernetes puts variables in place of `$(NAME)`.
  const args = workerArguments(worker).map((each) => each.replaceAll("$", () => "$$"));
  const name = nameOf(worker);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, labels: labels("worker", worker) },
    spec: {
      // What it keeps must not be there twice, not even while it is replaced.
      replicas: 1,
      strategy: { type: "Recreate" },
      selector: { matchLabels: labels("worker", worker) },
      template: {
        metadata: { labels: labels("worker", worker) },
        spec: podSpec({
          args,
          port,
          variables,
          image,
          isTls: plan.isTls && !worker.isPlain,
          writable,
          home: { persistentVolumeClaim: { claimName: name } },
        }),
      },
    },
  };
}

/** What its program keeps outlives the pod. */
function workerVolume(worker: WorkerPlan): Manifest {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: nameOf(worker), labels: labels("worker", worker) },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } },
  };
}

interface PodOptions {
  args: readonly string[];
  port: number;
  variables: readonly string[];
  image: string;
  isTls: boolean;
  /** Further directories, which are on that volume too. */
  writable: readonly string[];
  /** The volume of Plugboard's home, which is the home of its programs too. */
  home: Manifest;
}

function podSpec({ args, port, variables, image, isTls, writable, home }: PodOptions): Manifest {
  const probe = (path: string, more: Manifest): Manifest => ({
    httpGet: { path, port: "http", ...(isTls && { scheme: "HTTPS" }) },
    ...more,
  });
  return {
    terminationGracePeriodSeconds: STOP_SECONDS,
    automountServiceAccountToken: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      fsGroup: USER,
      seccompProfile: { type: "RuntimeDefault" },
    },
    topologySpreadConstraints: args.includes("--only")
      ? undefined
      : [
          {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "ScheduleAnyway",
            labelSelector: { matchLabels: labels("gateway") },
          },
        ],
    containers: [
      {
        name: NAME,
        image,
        args,
        ports: [{ name: "http", containerPort: port }],
        env: [
          { name: "PLUGBOARD_CONFIG", value: `${CONFIG}/plugboard.json` },
          { name: "PLUGBOARD_HOME", value: HOME },
          // The volume belongs to the group of the pod.
          { name: "PLUGBOARD_SHARED_HOME", value: "1" },
          { name: "PLUGBOARD_LOG_FORMAT", value: "json" },
          { name: "HOME", value: HOME },
          { name: OWN_ADDRESS, valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
          ...variables.map((name) => ({
            name,
            valueFrom: { secretKeyRef: { name: NAME, key: name } },
          })),
        ],
        startupProbe: probe("/healthz", { periodSeconds: 2, failureThreshold: 60 }),
        livenessProbe: probe("/healthz", {
          periodSeconds: 10,
          timeoutSeconds: 5,
          failureThreshold: 3,
        }),
        readinessProbe: probe("/readyz", {
          periodSeconds: 2,
          timeoutSeconds: 2,
          failureThreshold: 2,
        }),
        resources: {
          requests: { cpu: "250m", memory: "256Mi" },
          limits: { memory: "1Gi" },
        },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        volumeMounts: [
          { name: "config", mountPath: CONFIG, readOnly: true },
          { name: "home", mountPath: HOME },
          ...writable.map((directory) => ({
            name: "home",
            mountPath: directory,
            subPath: `writable${directory}`,
          })),
          { name: "tmp", mountPath: "/tmp" },
        ],
      },
    ],
    volumes: [
      { name: "config", configMap: { name: NAME } },
      { name: "home", ...home },
      { name: "tmp", emptyDir: { sizeLimit: "1Gi" } },
    ],
  };
}

function service(name: string, port: number, selector: Manifest): Manifest {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, labels: selector },
    spec: { selector, ports: [{ name: "http", port, targetPort: "http" }] },
  };
}

function disruptionBudget(): Manifest {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: NAME, labels: labels("gateway") },
    spec: { maxUnavailable: 1, selector: { matchLabels: labels("gateway") } },
  };
}

function autoscaler(): Manifest {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: NAME, labels: labels("gateway") },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: NAME },
      minReplicas: FEWEST,
      maxReplicas: MOST,
      metrics: [
        {
          type: "Resource",
          // Of one core, which is all that a gateway uses; not of what its pod asks for.
          resource: { name: "cpu", target: { type: "AverageValue", averageValue: BUSY } },
        },
      ],
      // A gateway that goes ends the streams of its clients, so it goes only when it is not needed for a while.
      behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
    },
  };
}

/** Throws CONFIG_INVALID without `gateway.publicUrl`. */
function entryManifest({ publicUrl, port, isTls }: DeploymentPlan, entry: Entry): Manifest {
  if (publicUrl === undefined) {
    const what = entry.kind === "ingress" ? "an Ingress" : "a HTTPRoute";
    throw new PlugboardError("CONFIG_INVALID", `${what} needs the name that clients use`, {
      hint: 'say it in the configuration: "publicUrl": "https://gateway.example.com" in gateway',
    });
  }
  const { hostname: host, protocol } = publicUrl;
  const metadata = { name: NAME, labels: labels("gateway") };
  if (entry.kind === "route") {
    const [name = "", namespace] = entry.gateway.split("/").toReversed();
    return {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata,
      spec: {
        parentRefs: [{ name, namespace }],
        hostnames: [host],
        rules: [
          {
            backendRefs: [{ name: NAME, port }],
            // Streams are silent for long, and calls may take ten minutes.
            timeouts: { request: "0s" },
          },
        ],
      },
    };
  }
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      ...metadata,
      ...(entry.className.includes("nginx") && { annotations: nginxAnnotations(isTls) }),
    },
    spec: {
      ingressClassName: entry.className,
      ...(protocol === "https:" && { tls: [{ hosts: [host], secretName: `${NAME}-tls` }] }),
      rules: [
        {
          host,
          http: {
            paths: [
              {
                path: "/",
                pathType: "Prefix",
                backend: { service: { name: NAME, port: { name: "http" } } },
              },
            ],
          },
        },
      ],
    },
  };
}

/** As deploy/nginx.conf: nothing is held back, silence is no failure, and what was sent is not sent again. */
function nginxAnnotations(isTls: boolean): Manifest {
  const prefix = "nginx.ingress.kubernetes.io";
  return {
    [`${prefix}/proxy-buffering`]: "off",
    [`${prefix}/proxy-request-buffering`]: "off",
    [`${prefix}/proxy-read-timeout`]: "3600",
    [`${prefix}/proxy-send-timeout`]: "3600",
    [`${prefix}/proxy-body-size`]: "16m",
    [`${prefix}/proxy-next-upstream`]: "error timeout",
    ...(isTls && { [`${prefix}/backend-protocol`]: "HTTPS" }),
  };
}

/** For Prometheus' operator. */
function serviceMonitor({ isTls, publicUrl }: DeploymentPlan): Manifest {
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: { name: NAME, labels: labels("gateway") },
    spec: {
      selector: { matchLabels: labels("gateway") },
      endpoints: [
        {
          port: "http",
          path: "/metrics",
          ...(isTls && {
            scheme: "https",
            ...(publicUrl && { tlsConfig: { serverName: publicUrl.hostname } }),
          }),
          authorization: { credentials: { name: SCRAPE_SECRET, key: "token" } },
        },
      ],
    },
  };
}

const DNS: Manifest = {
  ports: [
    { protocol: "UDP", port: 53 },
    { protocol: "TCP", port: 53 },
  ],
};

/** Clients come from anywhere, through whatever is in front. */
function gatewayPolicy({ port, ports, workers }: DeploymentPlan): Manifest {
  return policy(NAME, labels("gateway"), {
    ingress: [{ ports: [{ port: "http" }] }],
    egress: [
      DNS,
      { ports: ports.map((each) => ({ port: each })) },
      // Other gateways, and workers.
      {
        to: [{ podSelector: { matchLabels: { "app.kubernetes.io/name": NAME } } }],
        ports: [...new Set([port, ...workers.map((each) => each.port)])].map((each) => ({
          port: each,
        })),
      },
    ],
  });
}

function workerPolicy(worker: WorkerPlan): Manifest {
  return policy(nameOf(worker), labels("worker", worker), {
    ingress: [
      { from: [{ podSelector: { matchLabels: labels("gateway") } }], ports: [{ port: "http" }] },
    ],
    // npx, and most services. Add what the program needs besides.
    egress: [DNS, { ports: [{ port: 443 }] }],
  });
}

function policy(
  name: string,
  selector: Manifest,
  rules: { ingress: YamlValue; egress: YamlValue },
): Manifest {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, labels: selector },
    spec: {
      podSelector: { matchLabels: selector },
      policyTypes: ["Ingress", "Egress"],
      ...rules,
    },
  };
}
