// A machine that can be cut off: a network namespace with one link to whoever calls and one to the engines.

import { find, run } from "./programs.mjs";

/** The addresses of private networks that nobody here is likely to have. */
const FRONT = "10.213.74";
const BACK = "10.213.75";

/** Needs the rights of root. The result has the addresses at both ends, and `cut()` and `mend()` for the link to the engines. */
export function openMachine(name) {
  const ip = find("ip");
  const links = { front: `${name}f`, back: `${name}b` };
  run(ip, ["netns", "add", name]);
  const inside = (...words) => run(ip, ["netns", "exec", name, ip, ...words]);
  try {
    for (const [link, network] of [
      [links.front, FRONT],
      [links.back, BACK],
    ]) {
      const peer = `${link}p`;
      run(ip, ["link", "add", link, "type", "veth", "peer", "name", peer]);
      run(ip, ["link", "set", peer, "netns", name]);
      run(ip, ["addr", "add", `${network}.1/24`, "dev", link]);
      run(ip, ["link", "set", link, "up"]);
      inside("addr", "add", `${network}.2/24`, "dev", peer);
      inside("link", "set", peer, "up");
    }
    inside("link", "set", "lo", "up");
  } catch (error) {
    run(ip, ["netns", "del", name]);
    throw error;
  }
  return {
    /** Where the gateway listens. */
    address: `${FRONT}.2`,
    /** Where the engines listen. */
    engines: `${BACK}.1`,
    under: [ip, "netns", "exec", name],
    cut: () => run(ip, ["link", "set", links.back, "down"]),
    mend: () => run(ip, ["link", "set", links.back, "up"]),
    /** Its links go with it. */
    close: () => run(ip, ["netns", "del", name]),
  };
}
