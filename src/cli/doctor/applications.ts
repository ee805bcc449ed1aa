// Other applications: whether those that have the board can still start it, and which could have it or have servers of
// their own.

import { findOtherFiles } from "../../core/config/other-files.ts";
import { oneLine, plural } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { CONNECTED } from "../../install/applications/applications.ts";
import { findApplication, type FoundApplication } from "../../install/applications/found.ts";
import type { DoctorContext } from "./context.ts";
import type { CheckGroup, Finding } from "./finding.ts";

export const applicationsGroup: CheckGroup = {
  title: "Other applications",
  async run(context) {
    const { io } = context.cli;
    const found = await Promise.all(
      CONNECTED.map((application) => findApplication(application, io)),
    );
    return [
      ...found.flatMap(connectedFindings),
      ...absentFindings(found),
      ...(await importable(context)),
    ];
  },
};

function connectedFindings(found: FoundApplication): Finding[] {
  const { application, path, state, isInstalled } = found;
  const { id, name } = application;
  switch (state.kind) {
    case "absent":
      return [];
    case "unknown":
      // In a home directory that cannot be read, nobody knows what is there.
      if (!isInstalled) return [];
      return [
        {
          level: "warning",
          check: "application-unreadable",
          subject: name,
          message: `the file of ${name} cannot be read: ${oneLine(state.problem, 300)}`,
          remedy: `correct ${visible(path)}; ${name} itself may not be able to read it either`,
        },
      ];
    case "connected":
      if (state.missing === undefined) {
        const message = `${name} has the board`;
        return [{ level: "ok", check: "application-connected", subject: name, message }];
      }
      return [
        {
          level: "broken",
          check: "application-broken",
          subject: name,
          message: `${name} cannot start the board: ${visible(state.missing)} is gone, and ${visible(path)} names it`,
          remedy: `to connect it again: plugboard connect ${id}`,
        },
      ];
  }
}

function absentFindings(found: readonly FoundApplication[]): Finding[] {
  const absent = found.filter(({ isInstalled, state }) => isInstalled && state.kind === "absent");
  const [first] = absent;
  if (first === undefined) return [];
  const names = absent.map(({ application }) => application.name).join(", ");
  return [
    {
      level: "note",
      check: "application-not-connected",
      message: `${absent.length === 1 ? "this application" : "these applications"} could use your servers: ${names}`,
      remedy: `to connect one: plugboard connect ${first.application.id}`,
    },
  ];
}

/** Servers that are configured elsewhere and not here. */
async function importable({ cli, config }: DoctorContext): Promise<Finding[]> {
  const { env, cwd, homedir } = cli.io;
  const found = await config();
  const { servers = [], untrusted = [] } = found.kind === "usable" ? found.agent : {};
  const own = new Set(
    [...servers, ...untrusted.flatMap((each) => each.servers)].map((each) => each.name),
  );
  const used = found.kind === "usable" ? [found.source.path, found.source.base] : [];
  const files = await findOtherFiles({ platform: process.platform, env, homedir, cwd });
  const holding = files
    .filter(({ path }) => !used.includes(path))
    .map(({ name, servers: theirs }) => ({
      name,
      names: [...theirs.keys()].filter((each) => !own.has(each)),
    }))
    .filter(({ names }) => names.length > 0);
  if (holding.length === 0) return [];
  const names = new Set(holding.flatMap((each) => each.names));
  const whose = [...new Set(holding.map(({ name }) => name))].join(", ");
  return [
    {
      level: "note",
      check: "servers-to-import",
      message: `${plural(names.size, "server")} of ${whose} ${names.size === 1 ? "is" : "are"} not in your configuration`,
      remedy: "to see them, and to bring those that you want: plugboard import",
    },
  ];
}
