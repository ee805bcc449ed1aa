// `plugboard deploy` on the command line.

import { command } from "../command.ts";

const FORMS = ["kustomize", "compose", "systemd"] as const;

export interface DeployRequest {
  form: (typeof FORMS)[number];
  /** The directory to write. Absent: everything is shown. */
  out?: string;
  /** The image of the containers. */
  image: string;
  /** With systemd: the machine that runs the workers. */
  workersOn?: string;
}

const NOTES = `
Writes what runs several gateways with this configuration, and a worker for
each program that must run once: for Kubernetes, for Compose, or as units of
systemd. Without --out it shows the files and writes nothing. No secret is in
them: they name the variables that you have to set.

It needs gateway.shared in the configuration. docs/fleet.md explains it.`;

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
        about: "the image of the containers, by default plugboard",
      },
      workersOn: {
        kind: "value",
        name: "--workers-on",
        value: "host",
        about: "with systemd: how the gateways reach the machine with the workers",
      },
    },
    notes: NOTES,
    examples: [
      "plugboard deploy kustomize",
      "plugboard deploy kustomize --out fleet --image example.com/plugboard:0.1.0",
      "plugboard deploy systemd --out units --workers-on 10.0.0.11",
    ],
    read: ([form], { out, image = "plugboard", workersOn }): DeployRequest => ({
      form,
      image,
      ...(out !== undefined && { out }),
      ...(workersOn !== undefined && { workersOn }),
    }),
    run: async (request, context) => (await import("./deploy.ts")).runDeploy(request, context),
  }),
];
