// Which URLs a remote server may have. Checked at load where the URL is literal, else when it is expanded.

/** What is wrong with it and what was expected, or undefined. Never quotes the URL: it may hold a key. */
export function urlProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return "is not a URL; expected one such as https://example.com/mcp";
  const { protocol, username, password } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") {
    return `is a ${protocol} URL; expected https: or http:`;
  }
  if (username !== "" || password !== "") {
    return "has a user name or password in it; expected them in headers";
  }
  return undefined;
}
