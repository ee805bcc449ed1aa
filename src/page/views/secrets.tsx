// Secrets: the references of the configuration, who uses them, and whether they work. A value is never shown.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { SecretFacts } from "../../serve/gateway/page/wire.ts";
import { ask, GatewayError } from "../gateway.ts";
import { useAsked, Waiting } from "../parts/asked.tsx";
import { Problem, useAttempt } from "../parts/attempt.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { linkTo } from "../route.ts";
import { isOwner } from "../store.ts";

const EVERY_MS = 5000;

export function Secrets(): VNode {
  return (
    <>
      <h1>Secrets</h1>
      {isOwner.value ? <List /> : <p class="quiet">Only the owner sees the names of secrets.</p>}
    </>
  );
}

function List(): VNode {
  const found = useAsked("secrets/list", {}, EVERY_MS).value;
  const shown = found instanceof GatewayError ? undefined : found;
  return (
    <>
      <Waiting answer={found} />
      {shown?.secrets.length === 0 && (
        <p>
          The configuration refers to no secret. A server that needs one gets it as a reference,
          such as <code>secret://keyring/github</code>, in place of the value.
        </p>
      )}
      {shown && shown.secrets.length > 0 && (
        <Table
          label="References"
          columns={[
            ["Reference"],
            ["Works"],
            ["Used by", "wide"],
            [<span class="unseen">Test</span>],
          ]}
        >
          {shown.secrets.map((secret) => (
            <Row key={`${secret.agent} ${secret.reference}`} secret={secret} />
          ))}
        </Table>
      )}
    </>
  );
}

function Row({ secret: given }: { secret: SecretFacts }): VNode {
  const tested = useSignal<SecretFacts | undefined>(undefined);
  const { isBusy, problem, run } = useAttempt();
  const newest = tested.value;
  const secret = newest !== undefined && at(newest) >= at(given) ? newest : given;
  const { agent, reference, users } = secret;
  const test = (): Promise<void> =>
    run(async () => {
      tested.value = await ask("secrets/test", { agent, reference });
    });
  return (
    <tr>
      <th scope="row">
        <code>
          <Foreign text={reference} most={300} />
        </code>
      </th>
      <td>
        <Health secret={secret} />
        {problem.value && <Problem error={problem.value} />}
      </td>
      <td class="wide">
        {users.map(({ server, key }) => (
          <div key={`${server} ${key}`}>
            {server !== undefined && <a href={linkTo("servers", `${agent}/${server}`)}>{server}</a>}{" "}
            <code>{key}</code>
          </div>
        ))}
      </td>
      <td>
        <button
          type="button"
          aria-label={`Test ${reference}`}
          aria-disabled={isBusy.value}
          onClick={() => void test()}
        >
          Test
        </button>
      </td>
    </tr>
  );
}

function at({ last }: SecretFacts): number {
  return last?.at ?? 0;
}

function Health({ secret: { last } }: { secret: SecretFacts }): VNode {
  if (last === undefined) return <span class="state quiet">not needed yet</span>;
  if (last.failure === undefined) {
    return (
      <span class="state good">
        <span aria-hidden="true">✓</span> resolved <Ago at={last.at} />
      </span>
    );
  }
  return (
    <span class="state bad">
      <span aria-hidden="true">✕</span> failed <Ago at={last.at} />
      <small>
        <Foreign text={last.failure.message} most={500} />
        {last.failure.hint && `: ${last.failure.hint}`}
      </small>
    </span>
  );
}
