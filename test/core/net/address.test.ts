import { describe, expect, it } from "vitest";
import { classifyAddress, parseAddress } from "../../../src/core/net/address.ts";

describe("classifyAddress", () => {
  it.each([
    ["93.184.215.14", "public", "a public address"],
    ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "public", "a public address"],
    ["64:ff9b::5db8:d70e", "public", "a public address"],
    ["127.0.0.1", "loopback", "a loopback address"],
    ["127.255.255.254", "loopback", "a loopback address"],
    ["::1", "loopback", "a loopback address"],
    ["::ffff:127.0.0.1", "loopback", "a loopback address"],
    ["10.0.0.1", "private", "a private address"],
    ["172.16.0.1", "private", "a private address"],
    ["172.31.255.255", "private", "a private address"],
    ["192.168.1.1", "private", "a private address"],
    ["::ffff:10.0.0.1", "private", "a private address"],
    ["::ffff:c0a8:101", "private", "a private address"],
    ["fc00::1", "private", "a private address"],
    ["fdff::1", "private", "a private address"],
    ["fec0::1", "private", "a private address"],
    ["64:ff9b::a00:1", "private", "a private address"],
    ["64:ff9b::7f00:1", "private", "a reserved address"],
    ["64:ff9b:1::a00:1", "private", "a reserved address"],
    ["100.64.0.1", "private", "a carrier's shared address"],
    ["169.254.1.1", "private", "a link-local address"],
    ["fe80::1", "private", "a link-local address"],
    ["fe80::1%eth0", "private", "a link-local address"],
    ["169.254.169.254", "private", "a cloud metadata address"],
    ["::ffff:169.254.169.254", "private", "a cloud metadata address"],
    ["64:ff9b::a9fe:a9fe", "private", "a cloud metadata address"],
    ["fd00:ec2::254", "private", "a cloud metadata address"],
    ["100.100.100.200", "private", "a cloud metadata address"],
    ["168.63.129.16", "private", "a cloud metadata address"],
    ["192.0.2.1", "private", "a reserved address"],
    ["198.18.0.1", "private", "a reserved address"],
    ["240.0.0.1", "private", "a reserved address"],
    ["::127.0.0.1", "private", "a reserved address"],
    ["2002:a00:1::", "private", "a reserved address"],
    ["2001::1", "private", "a reserved address"],
    ["2001:db8::1", "private", "a reserved address"],
    ["4000::1", "private", "a reserved address"],
    ["0.0.0.0", "unusable", "the unspecified address"],
    ["0.1.2.3", "unusable", "the unspecified address"],
    ["::", "unusable", "the unspecified address"],
    ["::ffff:0.0.0.0", "unusable", "the unspecified address"],
    ["255.255.255.255", "unusable", "the broadcast address"],
    ["224.0.0.1", "unusable", "a multicast address"],
    ["ff02::1", "unusable", "a multicast address"],
    ["100::1", "unusable", "a discard address"],
  ])("%s is %s: %s", (text, kind, label) => {
    expect(classifyAddress(parseAddress(text)!)).toEqual({ kind, label });
  });
});

describe("parseAddress", () => {
  it.each(["example.com", "", "1", "0x7f000001", "127.1", "010.0.0.1", "[::1]", "10.0.0.0/8"])(
    "does not take %j for an address",
    (text) => {
      expect(parseAddress(text)).toBeUndefined();
    },
  );
});
