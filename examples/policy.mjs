// Rules decide which tools an agent has, and you approve the calls that matter. Run it after `npm ci`:
//   node examples/policy.mjs
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { openBoard } from "plugboard";

const directory = await mkdtemp(join(tmpdir(), "plugboard-policy-"));
await writeFile(join(directory, "notes.txt"), "Buy milk.\n");

const board = await openBoard(
  {
    servers: {
      files: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-filesystem", directory],
        // The agent has these tools only. A tool that is denied too stays denied.
        tools: { allow: ["read_*", "write_file", "move_file"], deny: ["move_file"] },
        approval: { default: "never", tools: { write_file: "ask" } },
      },
    },
  },
  {
    // An editor or a terminal would ask you here. This one allows notes only.
    onApproval: ({ tool, args }) => {
      const answer = basename(args.path) === "notes.txt" ? "once" : "refuse";
      console.log(`may ${tool} write ${basename(args.path)}? ${answer}`);
      return answer;
    },
  },
);

async function show(name, args) {
  const { content, failure } = await board.call(name, args);
  console.log(`${name}: ${failure ? `${failure.code}: ${failure.message}` : content[0].text}`);
}

try {
  console.log(
    `the agent sees: ${board
      .tools()
      .map(({ source }) => source.tool)
      .join(", ")}`,
  );
  await show("files/read_text_file", { path: join(directory, "notes.txt") });
  await show("files/write_file", { path: join(directory, "notes.txt"), content: "Done." });
  await show("files/write_file", { path: join(directory, "other.txt"), content: "Done." });
  await show("files/move_file", { source: directory, destination: "/elsewhere" });
} finally {
  await board.close();
  await rm(directory, { recursive: true });
}
