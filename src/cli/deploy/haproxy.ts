// HAProxy's configuration for a deployment. deploy/haproxy.cfg in the package is the same, with its reasons.

import { isIP } from "node:net";
import { plainHost } from "../../core/net/host-list.ts";

export interface HaproxyOptions {
  form: "compose" | "systemd";
  gateways: readonly { name: string; address: string }[];
  /** Where clients come in. */
  bind: string;
  tls?: {
    /** The certificate of the gateways, with its key beside it. */
    cert: string;
    /** The authorities of the gateways' certificate: a file, or `@system-ca`. */
    ca: string;
    /** What it is for, if that is known. */
    host: string | undefined;
  };
}

export function haproxyConfig(options: HaproxyOptions): string {
  const { form, gateways, bind, tls } = options;
  // There, gateways are found by the names of their containers.
  const inContainers = form === "compose";
  const shown = tls === undefined ? "" : ` ssl crt ${tls.cert} alpn h2,http/1.1`;
  const names = inContainers ? " resolvers containers init-addr last,libc,none" : "";
  return `# Written by \`plugboard deploy ${form}\`. A POST may have run when its connection breaks, so none is ever sent twice.
# Without maxconn, HAProxy reserves memory for as many connections as a container may open files: a thousand million.
global
    maxconn 4000

defaults
    mode http
    log stdout format raw local0 info
    option httplog
    option forwardfor
    timeout connect 2s
    timeout client 1h
    timeout server 1h
    timeout http-request 30s
    timeout http-keep-alive 60s
${inContainers ? RESOLVERS : ""}
frontend clients
    bind ${bind}${shown}
    default_backend gateways

backend gateways
    balance leastconn
    retries 3
    retry-on conn-failure
    option redispatch 1
    http-reuse safe
    option httpchk
    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost
    http-check expect status 200
    default-server check inter 1s fall 2 rise 1${names}${tls === undefined ? "" : toGateways(tls)}
${gateways.map(({ name, address }) => `    server ${name} ${address}`).join("\n")}
`;
}

const RESOLVERS = `
# A gateway that is made anew has another address, and HAProxy must start while one of them is away.
resolvers containers
    parse-resolv-conf
    hold valid 5s
`;

/** What has no certificate for the name of the gateways is none of them. */
function toGateways({ ca, host }: NonNullable<HaproxyOptions["tls"]>): string {
  const name = host === undefined ? "" : ` sni str(${host}) check-sni ${host} verifyhost ${host}`;
  return ` ssl verify required ca-file ${ca}${name}`;
}

/** No certificate is asked for by an address. */
export function hostOf(url: URL | undefined): string | undefined {
  return url === undefined || isIP(plainHost(url.hostname)) !== 0 ? undefined : url.hostname;
}
