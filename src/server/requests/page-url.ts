// The address of a page that a server wants a person to open: what it may be, and how it is shown.

/** As long as browsers take them. */
const MAX_URL = 8192;
const THIS_MACHINE: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** In ASCII, so that nothing in it can hide or look like something else; or in words why not. */
export function pageUrl(given: unknown): { url: string } | { refusal: string } {
  if (typeof given !== "string" || given.length > MAX_URL || !URL.canParse(given)) {
    return { refusal: "it is no address" };
  }
  const { protocol, hostname, username, password, href } = new URL(given);
  const isSafe = protocol === "https:" || (protocol === "http:" && THIS_MACHINE.has(hostname));
  if (!isSafe) return { refusal: "it is neither https nor on this machine" };
  // https://bank.example@evil.example is not the bank's.
  if (username !== "" || password !== "") return { refusal: "it has a user name in it" };
  return { url: href };
}
