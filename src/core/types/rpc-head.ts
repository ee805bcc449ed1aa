// Whose a JSON-RPC message is that is too much to be parsed: its beginning and its end say it.

import { tryParseJson } from "./json.ts";

export interface RpcHead {
  /** Undefined if it is not there: then nobody waits for an answer, or nobody can be given one. */
  id: string | number | undefined;
  /** It answers a question, and asks nothing. */
  isAnswer: boolean;
}

const END_CHARACTERS = 1024;
const MEMBER = /\s*[{,]\s*"(\w+)"\s*:\s*(?:("[^"\\]*"|-?\d+)\s*(?=,))?/y;
/** One brace only: within `params` there would be another. */
const LAST_ID = /,\s*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*\}\s*$/;

/** Most write the id before `params` or `result`, so of a message that has not been kept the beginning is enough. */
export function readHead(head: string): RpcHead {
  let id: unknown;
  MEMBER.lastIndex = 0;
  for (let match = MEMBER.exec(head); match !== null; match = MEMBER.exec(head)) {
    const [, key, value] = match;
    if (value === undefined) return { id: asId(id), isAnswer: key === "result" || key === "error" };
    if (key === "id") id = tryParseJson(value);
  }
  return { id: asId(id), isAnswer: false };
}

/** The same of one that is there as a whole: some write the id last. */
export function readEnds(line: Buffer | string): RpcHead {
  const { id, isAnswer } = readHead(textIn(line, 0, END_CHARACTERS));
  const end = (): string => textIn(line, Math.max(0, line.length - END_CHARACTERS), line.length);
  return { id: id ?? asId(tryParseJson(LAST_ID.exec(end())?.[1] ?? "")), isAnswer };
}

function asId(value: unknown): RpcHead["id"] {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}

function textIn(line: Buffer | string, from: number, to: number): string {
  return typeof line === "string" ? line.slice(from, to) : line.toString("utf8", from, to);
}
