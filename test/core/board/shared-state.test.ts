// How a gateway says where the others reach it.

import { expect, it } from "vitest";
import { replicaUrl } from "../../../src/core/board/shared-state.ts";

const fill =
  (variables: Readonly<Record<string, string>>) =>
  async (part: string): Promise<string> =>
    part.replace(/\$\{(\w+)\}/g, (_, name: string) => variables[name] ?? "");

it.each<[string, Record<string, string>, string]>([
  ["http://${A}:7584", { A: "10.0.0.7" }, "http://10.0.0.7:7584"],
  ["http://${A}:7584", { A: "fd00::7" }, "http://[fd00::7]:7584"],
  ["http://${A}:${P}", { A: "fd00:0:0:1::7", P: "7685" }, "http://[fd00:0:0:1::7]:7685"],
  ["https://${A}", { A: "fd00::7" }, "https://[fd00::7]"],
  ["http://[${A}]:7584", { A: "fd00::7" }, "http://[fd00::7]:7584"],
  ["http://${A}:7584", { A: "[fd00::7]" }, "http://[fd00::7]:7584"],
  ["http://gateway-${A}:7584", { A: "1" }, "http://gateway-1:7584"],
  ["${A}", { A: "http://10.0.0.7:7584" }, "http://10.0.0.7:7584"],
])("%s is a URL, with %j", async (url, variables, expected) => {
  expect(await replicaUrl(url, fill(variables))).toBe(expected);
});

it.each<Record<string, string>>([{}, { A: "fd00::7/x" }, { A: "a b" }])(
  "refuses what is none: %j",
  async (variables) => {
    await expect(replicaUrl("http://${A}:7584", fill(variables))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: "gateway.shared.replica.url is not the address of a gateway",
    });
  },
);
