// `plugboard init`: writes a first configuration file, with comments, and says what comes next.

import { readTextFile, writeTextFile } from "../../core/config/text/text-file.ts";
import { FILE_NAME } from "../../core/config/find.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredCommand } from "../offered-command.ts";
import type { InitRequest } from "./command.ts";
import { editorSchema } from "./editor-schema.ts";
import { alone, fileSource, modeOf, requireNoDanglingLink } from "./server-file.ts";

/** Starts nothing, so it needs no trust. */
const FIRST_FILE = `// The servers of Plugboard. \`plugboard add\` and \`plugboard remove\` change this file
// and keep its comments; so can you, by hand. Commas at the end are fine.
{
  "mcpServers": {
    // A program on this machine:
    // "files": {
    //   "command": "npx",
    //   "args": ["-y", "@modelcontextprotocol/server-filesystem", "."],
    // },

    // A server at a URL. \${DOCS_TOKEN} is read from your environment:
    // "docs": {
    //   "url": "https://example.com/mcp",
    //   "headers": { "Authorization": "Bearer \${DOCS_TOKEN}" },
    // },
  },
}
`;

/** It comes first, where people look for it. */
function withSchema(text: string, schema: string): string {
  return text.replace(/^\{$/m, () => `{\n  "$schema": ${JSON.stringify(schema)},`);
}

export async function runInit({ scope }: InitRequest, context: CliContext): Promise<number> {
  const { screen, options, io } = context;
  const isNamed = scope !== undefined || options.config || io.env["PLUGBOARD_CONFIG"];
  const source = fileSource(isNamed ? scope : "project", context);
  await requireNoDanglingLink(source);
  const path = visible(source.path);
  const next = offeredCommand("add <name> -- <command> [arguments]", options);
  await alone(source, context, async () => {
    const file = await readTextFile(source.path);
    if (file.text !== undefined) {
      throw new PlugboardError("CONFIG_INVALID", `there is a ${FILE_NAME} already: ${path}`, {
        hint: `to add a server to it: ${next}`,
      });
    }
    const schema = await editorSchema(source, context);
    const text = schema === undefined ? FIRST_FILE : withSchema(FIRST_FILE, schema);
    await writeTextFile(file, text, modeOf(source));
  });
  if (options.json) {
    screen.json({ file: source.path });
    return EXIT.ok;
  }
  screen.lines([
    `wrote ${path}`,
    "",
    "Add a server, such as one for the files in this directory:",
    `  ${offeredCommand("add files -- npx -y @modelcontextprotocol/server-filesystem .", options)}`,
    "Then see your servers:",
    `  ${offeredCommand("list", options)}`,
  ]);
  return EXIT.ok;
}
