// The frame around what a server offers to read, and how its addresses are shown in one.

import { oneLine } from "../../util/text.ts";
import { type Frame, quotable } from "./frame.ts";
import { neutralise } from "./neutralise.ts";

const LONGEST_URI = 1000;
const LONGEST_TYPE = 100;

/** What no URI has unescaped and could end the line or the marker around it; letters are let be. */
const NOT_IN_URIS = /[^\p{L}\p{N}\-._~:/?#[\]@!$&'()*+,;=%{}| ]/gu;

export interface ReadableSource {
  server: string;
  name: string;
  uri: string;
  mimeType?: string;
}

/** `lines` say what it is; server's words among them must have been made showable. */
export function sourceFrame(lines: readonly string[], id: string): Frame {
  return {
    open: [`<<<EXTERNAL_UNTRUSTED_CONTENT id="${id}">>>`, ...lines, "---"].join("\n"),
    close: `<<<END_EXTERNAL_UNTRUSTED_CONTENT id="${id}">>>`,
  };
}

export function resourceLines({ server, name, uri, mimeType }: ReadableSource): string[] {
  const type = mimeType === undefined ? "" : `, ${quotable(oneLine(mimeType, LONGEST_TYPE))}`;
  return [
    `Source: MCP server '${quotable(server)}', resource '${quotable(name)}'${type}`,
    `URI: ${showableUri(uri)}`,
  ];
}

export function showableUri(uri: string): string {
  const clean = oneLine(uri, LONGEST_URI).replace(NOT_IN_URIS, "_");
  return neutralise([clean]).pieces[0] ?? "";
}
