import { expect, it } from "vitest";
import { programOf } from "../../../src/core/process/program.ts";

it.each([
  ["npx -y @a/files@1.2.0 /tmp", "package @a/files"],
  ["uvx --from git+https://a.example/b thing", "package thing from git+https://a.example/b"],
  ["uvx --from=thing==1.0 thing-cli", "package thing-cli from thing"],
  ["npx ./local.js", "script ./local.js"],
  ["docker run -i --rm -e TOKEN ghcr.io/a/b:1", "image ghcr.io/a/b"],
  ["docker compose up", "command docker"],
  ["python3 -m server", "module server"],
  ["/usr/bin/node --import x dist/index.js --flag", "script dist/index.js"],
  ["/opt/my-server --flag value", "command /opt/my-server"],
  ["cmd /c npx -y files", "package files"],
  ["env -i A=1 npx -y files", "package files"],
  ["env -u B npx -y files", "package files"],
  ["toString files", "command toString"],
  ["dnx Files.Mcp@1.0.0 --yes", "package Files.Mcp"],
  ["npx --package=evil files", "package evil"],
  ["npx -y -p evil files", "package evil"],
  ["java -cp lib -jar files.jar --flag", "script files.jar"],
  ["dotnet run files.dll", "script files.dll"],
  ["python3 -u files.py", "script files.py"],
  // What comes behind a program is its own, and names no other.
  ["npx files@npm:evil@1.0.0", "package files@npm:evil"],
  ["npx files@file:evil", "package files@file:evil"],
  ["npx evil -p files", "package evil"],
  ["npx evil --package=files", "package evil"],
  ["uvx evil --from files", "package evil"],
  ["python3 evil.py -m files", "script evil.py"],
  ["docker run --no-healthcheck evil files", "image evil"],
])("%s runs the %s", (line, expected) => {
  const [command = "", ...args] = line.split(" ");
  const { kind, name, from } = programOf(command, args);
  expect(`${kind} ${name}${from === undefined ? "" : ` from ${from}`}`).toBe(expected);
});
