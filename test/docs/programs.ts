// Which commands of the pages are run: `plugboard`, and what every system has.

/** Run by a shell in the sandbox. */
const SHELL = /^(?:cat|cd|chmod|cp|echo|export|grep|head|ls|mkdir|mv|printf|rm|touch|unset)$/;

/** Not run, with the reason. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  acpx: "another program, not installed here",
  aws: "needs an account",
  az: "needs an account",
  claude: "another program, not installed here",
  codex: "another program, not installed here",
  curl: "talks to a server of yours",
  docker: "needs Docker",
  gcloud: "needs an account",
  gemini: "another program, not installed here",
  eval: "changes your shell",
  git: "changes a repository",
  install: "changes the system",
  journalctl: "needs systemd",
  launchctl: "needs macOS",
  loginctl: "needs systemd",
  node: "runs a program of yours",
  npm: "installs from a registry, or runs what the other tests run",
  npx: "installs from a registry",
  ollama: "needs Ollama",
  openclaw: "needs OpenClaw",
  podman: "needs Podman",
  source: "changes your shell",
  "secret-tool": "needs the keyring of a desktop",
  security: "needs macOS",
  sudo: "changes the system",
  systemctl: "needs systemd",
  vault: "needs Vault",
};

export type Kind = { kind: "plugboard" | "shell" } | { kind: "not-run"; reason: string };

/** Throws for a program that nobody has decided about. */
export function kindOf(command: string): Kind {
  const bare = command.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\\[^]/g, "_").replace(/\s#\s.*$/gm, "");
  const first = /^(?:[A-Z_a-z]\w*=\S*\s+)*(?:npx (?=plugboard\b))?(\S+)/.exec(bare)?.[1] ?? "";
  const [stage] = bare
    .split(/\s*(?:\||&&|;)\s*/)
    .slice(1)
    .map((each) => each.split(/\s/)[0] ?? "");
  for (const program of [first, stage ?? ""]) {
    const reason = ELSEWHERE[program];
    if (reason !== undefined) return { kind: "not-run", reason };
  }
  if (first === "plugboard" && !/[|<>;&`]|\$\(/.test(bare)) return { kind: "plugboard" };
  if (first === "plugboard" || SHELL.test(first)) return { kind: "shell" };
  throw new Error(
    `nobody has decided whether "${first}" is run: add it to a list in test/docs/programs.ts`,
  );
}
