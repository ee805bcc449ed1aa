import { describe, expect, it } from "vitest";
import { proxyFindings, type ProxySettings } from "../../../src/cli/doctor/config.ts";

describe("a proxy", () => {
  const HTTPS_PROXY = "http://ada:s3cret@proxy.example";
  const PROXIED = "registry=https://npm.example\nhttps-proxy=http://proxy.example";
  it.each<[what: string, settings: Partial<ProxySettings>, told: string[]]>([
    ["that nobody has", {}, []],
    ["that servers have too", { env: { HTTPS_PROXY }, npmrc: PROXIED }, []],
    ["of the configuration", { networkProxy: "http://proxy.example", npmrc: PROXIED }, []],
    [
      "that servers do not get",
      { env: { HTTPS_PROXY }, networkInherit: false },
      ["note HTTPS_PROXY"],
    ],
    [
      "of the configuration that servers do not get",
      { networkProxy: "http://proxy.example", networkInherit: false },
      ["note network.proxy"],
    ],
    ["that only npm knows", { npmrc: PROXIED }, ["warning npm uses a proxy"]],
    ["that npm has switched off", { npmrc: "proxy = null\n#proxy=http://x" }, []],
  ])("%s", (_, settings, told) => {
    const found = proxyFindings({ env: {}, npmrc: "", ...settings });
    expect(JSON.stringify(found)).not.toContain("s3cret");
    expect(found.map(({ level, check }) => [level, check])).toEqual(
      told.map((each) => [each.split(" ", 1)[0], "proxy"]),
    );
    told.forEach((each, at) =>
      expect(found[at]?.message).toContain(each.slice(each.indexOf(" ") + 1)),
    );
  });
});
