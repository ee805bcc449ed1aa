// `secret://exec/<helper>/<id>[#key]`: what a configured program says about an id. With the protocol `argument` the id is its
// last argument and its output is the value; with `json` it is asked as OpenClaw asks its helpers.

import { isJsonObject, objectIn, tryParseJson } from "../../types/json.ts";
import {
  type ExecHelper,
  type ProgramResult,
  type ProviderSurroundings,
  type SecretContext,
  type SecretProvider,
  type SecretSettings,
  secretUnavailable,
} from "../../types/secret-provider.ts";
import { closest } from "../../../util/closest.ts";
import { oneLine } from "../../../util/text.ts";
import { keyOfJson, secretText } from "../secret-text.ts";
import { requireOutput } from "../program-output.ts";

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;
const PROTOCOL_VERSION = 1;

export function createExecProvider(
  helpers: NonNullable<SecretSettings["exec"]>,
  { run }: Pick<ProviderSurroundings, "run">,
): SecretProvider {
  return {
    name: "exec",
    async resolve({ path, key }, context) {
      const [, name = "", id = ""] = /^([^/]+)\/(.+)$/s.exec(path) ?? [];
      if (id === "") throw secretUnavailable("expected secret://exec/<helper>/<id>");
      const helper = Object.hasOwn(helpers, name) ? helpers[name] : undefined;
      if (helper === undefined) throw unknownHelper(name, Object.keys(helpers));
      const { protocol = "argument" } = helper;
      const value =
        protocol === "json"
          ? await askInJson(name, helper, id, context)
          : await askByArgument(name, helper, id, context);
      return key === undefined ? value : keyOfJson(value, key);
    },
  };

  async function askByArgument(
    name: string,
    { command, args = [] }: ExecHelper,
    id: string,
    { signal }: SecretContext,
  ): Promise<string> {
    if (id.startsWith("-")) {
      throw secretUnavailable('an id that begins with "-" would be an option of the helper');
    }
    const limits = { timeout: TIMEOUT_MS, maxBytes: MAX_BYTES, signal };
    return secretText(outputOf(name, command, await run(command, [...args, id], limits)));
  }

  async function askInJson(
    name: string,
    { command, args = [] }: ExecHelper,
    id: string,
    { signal }: SecretContext,
  ): Promise<string> {
    const input = JSON.stringify({ protocolVersion: PROTOCOL_VERSION, provider: name, ids: [id] });
    const limits = { timeout: TIMEOUT_MS, maxBytes: MAX_BYTES, input: `${input}\n`, signal };
    const answer = tryParseJson(
      secretText(outputOf(name, command, await run(command, args, limits))),
    );
    const { values, errors } = objectIn(answer);
    const value = isJsonObject(values) && Object.hasOwn(values, id) ? values[id] : undefined;
    if (typeof value === "string") return value;
    const error = isJsonObject(errors) && Object.hasOwn(errors, id) ? errors[id] : undefined;
    const said = isJsonObject(error) ? error["message"] : undefined;
    if (typeof said === "string") {
      throw secretUnavailable(`the helper '${name}' says: ${oneLine(said, 200)}`);
    }
    throw secretUnavailable(`the helper '${name}' gave no value for this id`, {
      hint: 'with protocol "json" it must print { "protocolVersion": 1, "values": { "<id>": "…" } }',
    });
  }
}

/** What a helper says on stderr is not repeated: a script that traces itself prints the value there. */
function outputOf(name: string, command: string, result: ProgramResult): Buffer {
  return requireOutput(result, {
    program: `the helper '${name}'`,
    notFound: `there is no program ${command}: check secrets.exec.${name}.command`,
    notStarted: `check ${command}: it must be a program that you may run (chmod +x)`,
    failed: ({ code }) =>
      secretUnavailable(`the helper '${name}' ended with code ${code ?? "unknown"}`, {
        permanent: false,
        hint: "run it yourself to see why: what it says may contain a secret, so it is not shown",
      }),
  });
}

function unknownHelper(name: string, names: readonly string[]) {
  const meant = closest(name, names);
  return secretUnavailable(`there is no helper named '${oneLine(name, 60)}' in secrets.exec`, {
    hint:
      meant === undefined
        ? `add secrets.exec.${name} with its command`
        : `did you mean '${meant}'?`,
  });
}
