// `plugboard deploy` on the command line.

import { isAbsolute, posix } from "node:path";
import { command } from "../command.ts";
import type { ReadValue } from "../option.ts";
import { wholeNumber } from "../shared-options.ts";
import type { Entry } from "./kustomize.ts";
import type { WritableDirectory } from "./plan.ts";

const FORMS = ["kustomize", "compose", "systemd"] as const;

export interface DeployRequest {
  form: (typeof FORMS)[number];
  /** The directory to write. Absent: everything is shown. */
  out?: string;
  /** The image of the containers. Absent: Compose builds one. */
  image?: string;
  /** With systemd: the machine that runs the workers. */
  workersOn?: string;
  /** With systemd: so many gateways on each machine, behind one HAProxy. Absent: one, without. */
  gateways?: number;
  /** With Kubernetes: how clients come in. */
  entry?: Entry;
  /** With Kubernetes: Prometheus' operator finds the gateways. */
  isMonitored: boolean;
  /** Directories that the programs of workers write to. */
  writable: readonly WritableDirectory[];
}

const NOTES = `
Writes what runs several gateways with this configuration, and a worker for
each program that must run once: for Kubernetes, for Compose, or as units of
systemd. Without --out it shows the files and writes nothing. No secret is in
them: they name the variables that you have to set.

It needs gateway.shared in the configuration. docs/fleet.md explains it.`;

const MOST_GATEWAYS = 64;

const readWritable = (text: string): ReadValue<WritableDirectory> => {
  const at = text.lastIndexOf("=/");
  const directory = posix.normalize(text.slice(at + 1)).replace(/\/$/, "");
  const isUsable = at > 0 && isAbsolute(directory) && !/[\p{Cc}:]/u.test(directory);
  return isUsable
    ? { value: { server: text.slice(0, at), directory } }
    : { expected: "a server and a directory, such as memory=/data" };
};

/** A name as Kubernetes has them, with its namespace before it where `hasNamespace`. */
const readName =
  (expected: string, hasNamespace = false) =>
  (text: string): ReadValue<string> => {
    const name = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
    const parts = hasNamespace ? text.split("/") : [text];
    return parts.length <= 2 && parts.every((each) => name.test(each))
      ? { value: text }
      : { expected };
  };

export const COMMANDS = [
  command({
    name: "deploy",
    about: "write what runs several gateways: Kubernetes, Compose, systemd",
    args: [{ kind: "one", name: "form", about: "what runs the gateways", choices: FORMS }],
    options: {
      out: {
        kind: "value",
        name: "--out",
        short: "-o",
        value: "directory",
        about: "write the files there, instead of showing them",
        offers: "file",
      },
      image: {
        kind: "value",
        name: "--image",
        value: "image",
        about: "the image of the containers; Compose builds one without it",
      },
      workersOn: {
        kind: "value",
        name: "--workers-on",
        value: "host",
        about: "with systemd: how the gateways reach the machine with the workers",
      },
      gateways: {
        kind: "value",
        name: "--gateways",
        value: "n",
        about: "with systemd: how many are on each machine, behind one HAProxy",
        read: wholeNumber(2, MOST_GATEWAYS, `a number from 2 to ${MOST_GATEWAYS}`),
      },
      writable: {
        kind: "list",
        name: "--writable",
        value: "server=directory",
        about: "what a worker's program writes to; can be given several times",
        read: readWritable,
      },
      ingress: {
        kind: "value",
        name: "--ingress",
        value: "class",
        about: "with Kubernetes: also an Ingress of this class",
        read: readName("the class of an Ingress, such as nginx"),
        without: ["httpRoute"],
      },
      httpRoute: {
        kind: "value",
        name: "--http-route",
        value: "gateway",
        about: "with Kubernetes: also a HTTPRoute at this Gateway",
        read: readName("a Gateway, such as public or infra/public", true),
      },
      monitor: {
        kind: "flag",
        name: "--monitor",
        about: "with Kubernetes: also a ServiceMonitor",
      },
    },
    notes: NOTES,
    examples: [
      "plugboard deploy kustomize",
      "plugboard deploy kustomize --out fleet --image example.com/plugboard:0.1.0",
      "plugboard deploy kustomize --ingress nginx --monitor",
      "plugboard deploy systemd --out units --workers-on 10.0.0.11 --gateways 4",
    ],
    read: (
      [form],
      { out, image, workersOn, gateways, ingress, httpRoute, monitor, writable },
    ): DeployRequest => ({
      form,
      writable,
      isMonitored: monitor,
      ...(out !== undefined && { out }),
      ...(image !== undefined && { image }),
      ...(workersOn !== undefined && { workersOn }),
      ...(gateways !== undefined && { gateways }),
      ...(ingress !== undefined && { entry: { kind: "ingress", className: ingress } }),
      ...(httpRoute !== undefined && { entry: { kind: "route", gateway: httpRoute } }),
    }),
    run: async (request, context) => (await import("./deploy.ts")).runDeploy(request, context),
  }),
];
