import { describe, expect, it } from "vitest";
import { labelledArgs, parseContainerRun } from "../../../src/core/process/containers.ts";

const label = ["--label", "plugboard.cookie=c"];

describe("a container run", () => {
  it.each<[string, string[], string[], string[]]>([
    ["docker", ["run", "-i", "--rm", "img"], ["run", ...label, "-i", "--rm", "img"], []],
    ["podman", ["run", "img"], ["run", ...label, "img"], []],
    ["/usr/bin/docker", ["run", "img"], ["run", ...label, "img"], []],
    ["C:\\Program Files\\Docker\\docker.exe", ["run", "i"], ["run", ...label, "i"], []],
    ["Docker.EXE", ["run", "i"], ["run", ...label, "i"], []],
    ["docker", ["container", "run", "i"], ["container", "run", ...label, "i"], []],
    ["docker", ["--debug", "run", "i"], ["--debug", "run", ...label, "i"], ["--debug"]],
    [
      "docker",
      ["--context", "run", "-H=tcp://h", "container", "run", "i"],
      ["--context", "run", "-H=tcp://h", "container", "run", ...label, "i"],
      ["--context", "run", "-H=tcp://h"],
    ],
    [
      "podman",
      ["--url", "ssh://h", "run", "i"],
      ["--url", "ssh://h", "run", ...label, "i"],
      ["--url", "ssh://h"],
    ],
    ["docker", ["run"], ["run", ...label], []],
  ])("%s %j is labelled", (command, args, labelled, globals) => {
    const run = parseContainerRun(command, args);
    expect(run && labelledArgs(run, "c")).toEqual(labelled);
    expect(run?.globals).toEqual(globals);
  });

  it.each<[string, string[]]>([
    ["npx", ["run", "img"]],
    ["docker-compose", ["run", "img"]],
    ["docker", []],
    ["docker", ["exec", "-i", "c", "run"]],
    ["docker", ["compose", "run", "s"]],
    ["docker", ["container", "ls"]],
    ["docker", ["--context"]],
    ["docker", ["--context", "run"]],
    ["run", ["docker"]],
  ])("%s %j is not one", (command, args) => {
    expect(parseContainerRun(command, args)).toBeUndefined();
  });
});
