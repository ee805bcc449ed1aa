import { join } from "node:path";
import { expect, it } from "vitest";
import { privateSocketPath, type SocketPlace } from "../../../src/core/net/private-socket.ts";

const place: SocketPlace = {
  directory: "/home/me/.plugboard/gateway",
  name: "0123456789abcdef",
  platform: "linux",
  tmpdir: "/tmp",
  uid: 1000,
};

it.each<[string, Partial<SocketPlace>, string | RegExp]>([
  ["in the directory", {}, join(place.directory, "0123456789abcdef.sock")],
  [
    "elsewhere, where the path would be too long for a socket",
    { directory: `/home/${"x".repeat(90)}` },
    "/tmp/plugboard-1000/0123456789abcdef.sock",
  ],
  [
    "counted in bytes",
    { directory: `/home/${"ä".repeat(50)}` },
    "/tmp/plugboard-1000/0123456789abcdef.sock",
  ],
  ["as a pipe", { platform: "win32" }, /^\\\\\.\\pipe\\plugboard-0123456789abcdef-[0-9a-f]{16}$/],
])("a gateway listens %s", (_, changes, path) => {
  expect(privateSocketPath({ ...place, ...changes })).toMatch(path);
});
