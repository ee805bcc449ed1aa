// `plugboard serve --session <session>`, the session program: through it an agent reaches the board of its session, where
// it takes no URL. Copies bytes between stdio and the front's socket. Imports next to nothing: an agent starts one with
// every session, and waits for it.

import { connect, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { type Environment, SESSION_SOCKET, SESSION_TOKEN } from "../../util/environment.ts";
import { readFirstLine } from "../../util/first-line.ts";

export interface SessionProgramIo {
  env: Environment;
  stdin: Readable;
  stdout: Writable;
  stderr: Pick<Writable, "write">;
}

const LONGEST_ANSWER = 4096;
const OK = 0;
const FAILED = 1;

const NOT_STARTED_BY_FRONT =
  `--session is for an agent behind \`plugboard acp -- …\`, which starts this program with ${SESSION_TOKEN} and ${SESSION_SOCKET} set. ` +
  "Without an agent, leave --session out";
const GONE =
  "the front of this session is gone, so its tools are too; open a new session in the editor";

/** Resolves to the exit code, when either side has ended and everything is written. */
export async function runSessionProgram(session: string, io: SessionProgramIo): Promise<number> {
  const { env, stdin, stderr } = io;
  const [token, path] = [env[SESSION_TOKEN], env[SESSION_SOCKET]];
  const failure = token && path ? await reach(path, { session, token }, io) : NOT_STARTED_BY_FRONT;
  // An agent that keeps the pipe open would otherwise keep the process alive.
  stdin.destroy();
  if (failure === undefined) return OK;
  stderr.write(`plugboard: ${failure}\n`);
  return FAILED;
}

/** Resolves to undefined if the agent has ended the connection, else to a sentence about the failure. */
function reach(path: string, hello: object, io: SessionProgramIo): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once("error", () => resolve(GONE));
    socket.write(`${JSON.stringify(hello)}\n`);
    readFirstLine(socket, LONGEST_ANSWER, (line) => {
      const refused = line === undefined ? GONE : refusalIn(line);
      if (refused === undefined) return void copy(socket, io).then(resolve);
      socket.destroy();
      resolve(refused);
    });
  });
}

function refusalIn(line: string): string | undefined {
  try {
    const { admitted, refused } = JSON.parse(line) as { admitted?: unknown; refused?: unknown };
    if (admitted === true) return undefined;
    return typeof refused === "string" ? refused : GONE;
  } catch {
    return GONE;
  }
}

function copy(socket: Socket, { stdin, stdout }: SessionProgramIo): Promise<string | undefined> {
  return new Promise((resolve) => {
    let hasEnded = false;
    const agentEnded = (): void => {
      hasEnded = true;
    };
    stdin.once("end", agentEnded).once("close", agentEnded).once("error", agentEnded);
    // The agent is gone, so nobody reads the answers.
    stdout.once("error", () => {
      agentEnded();
      socket.destroy();
    });
    stdin.pipe(socket);
    socket.pipe(stdout, { end: false });
    // The other half is of no use without this one.
    socket.once("end", () => socket.end());
    socket.once("close", () => {
      stdout.write("", () => resolve(hasEnded ? undefined : GONE));
    });
  });
}
