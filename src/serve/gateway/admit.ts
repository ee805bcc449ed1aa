// Asks access/ about every request, and answers those that are refused.

import { sendRefusal } from "../endpoint/http/refusal.ts";
import type { Access } from "./access/access.ts";
import { WELL_KNOWN } from "./access/protected-resource.ts";
import type { Admission, Admitted } from "./access/admission.ts";
import { type GatewayOptions, pathOf, type Route } from "./gateway.ts";
import type { Seeing } from "./seeing/seeing.ts";

export function admitRequests(
  access: Access,
  agentIds: readonly string[],
  seeing: Pick<Seeing, "refused">,
): Pick<GatewayOptions, "admit" | "checkSource" | "openRoutes"> {
  const showMetadata: Route = (request, reply) => {
    const document = access.metadata(pathOf(request), agentIds);
    if (document === undefined) return void reply.writeHead(404).end();
    reply.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(document));
  };
  return {
    admit(request, reply, agent) {
      const decide = (admission: Admission): Admitted | undefined => {
        if (admission.isAdmitted) return admission;
        seeing.refused(request, admission, "caller");
        sendRefusal(reply, admission);
        return undefined;
      };
      const admission = access.admit(request, agent);
      return admission instanceof Promise ? admission.then(decide) : decide(admission);
    },
    checkSource(request, reply) {
      const refusal = access.check(request);
      if (refusal !== undefined) {
        seeing.refused(request, refusal, "source");
        sendRefusal(reply, refusal);
        return false;
      }
      const headers = access.cors(request);
      for (const [name, value] of Object.entries(headers ?? {})) reply.setHeader(name, value);
      if (headers === undefined || request.method !== "OPTIONS") return true;
      reply.writeHead(204).end();
      return false;
    },
    // RFC 9728: where a client signs in for an endpoint. Some clients leave out the path of the endpoint.
    openRoutes: new Map([
      [WELL_KNOWN, showMetadata],
      [`${WELL_KNOWN}/`, showMetadata],
    ]),
  };
}
