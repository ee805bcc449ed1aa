// HAProxy and nginx before the gateways. Each writes a line for every request: which gateway had it, when, and what came of it; HAProxy
// does not where it is told to be quick.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../lib/run-gateway.mjs";
import { find, Program, takesConnections } from "./programs.mjs";

const HOST = "127.0.0.1";

/** HAProxy with the file that `plugboard deploy` has written, which listens at `port`. */
export async function startWrittenHaproxy({ file, port, env }) {
  const program = new Program([find("haproxy"), "-db", "-f", file], { env }, () =>
    takesConnections(HOST, port),
  );
  await program.start();
  return { port, program, close: () => program.end("SIGKILL") };
}

/** `gateways` have `host` and `port`. The result has `port`, and `requests()`: `{ gateway, from, to, status }` of each until now. */
export async function startHaproxy({ root, env, gateways, isLogged = true }) {
  const port = await freePort();
  const servers = gateways.map(
    (gateway, at) => `  server g${at + 1} ${gateway.host}:${gateway.port} check`,
  );
  const file = join(root, `haproxy-${port}.cfg`);
  writeFileSync(file, `${HAPROXY(port, servers, isLogged)}\n`);
  const lines = [];
  let rest = "";
  const onOutput = (chunk) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop();
    lines.push(...parts);
  };
  const program = new Program([find("haproxy"), "-db", "-f", file], { env, onOutput }, () =>
    takesConnections(HOST, port),
  );
  await program.start();
  return {
    name: "HAProxy",
    port,
    program,
    requests: () =>
      lines.flatMap((line) => {
        const found = /^request g(\d+) (\d+) (\d+) (\d+) (\d+) (-?\d+)/.exec(line);
        if (found === null) return [];
        const [, gateway, seconds, milliseconds, idle, took, status] = found.map(Number);
        const accepted = seconds * 1_000 + milliseconds;
        return [{ gateway: gateway - 1, from: accepted + idle, to: accepted + took, status }];
      }),
    close: () => program.end("SIGKILL"),
  };
}

const HAPROXY = (port, servers, isLogged) => `
global
  ${isLogged ? "log stdout format raw local0 info" : ""}
  maxconn 4000
  # One thread is enough, and does not wake the other.
  nbthread 1

defaults
  mode http
  log global
  log-format "request %s %Ts %ms %Ti %Tt %ST"
  timeout connect 2s
  timeout check 5s
  timeout client 1h
  timeout server 1h
  timeout http-keep-alive 1h
  # A request that was not sent goes to another gateway. One that was sent may have run, and is never sent again.
  retries 3
  retry-on conn-failure
  option redispatch 1

frontend clients
  bind ${HOST}:${port}
  option forwardfor
  default_backend gateways

backend gateways
  balance leastconn
  http-reuse safe
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost
  http-check expect status 200
  default-server inter 200ms fall 1 rise 1
${servers.join("\n")}
`;

export async function startNginx({ root, env, gateways }) {
  const port = await freePort();
  const file = join(root, `nginx-${port}.conf`);
  const log = join(root, `nginx-${port}.log`);
  writeFileSync(file, NGINX({ root, port, gateways, log }));
  const program = new Program([find("nginx"), "-c", file, "-p", root], { env }, () =>
    takesConnections(HOST, port),
  );
  await program.start();
  const at = new Map(gateways.map((gateway, index) => [`${gateway.host}:${gateway.port}`, index]));
  return {
    name: "nginx",
    port,
    program,
    requests: () =>
      readFileSync(log, "utf8")
        .split("\n")
        .flatMap((line) => {
          const [ended, took, status, ...tried] = line.split(" ");
          if (tried.length === 0) return [];
          const to = Math.round(Number(ended) * 1_000);
          const from = to - Math.round(Number(took) * 1_000);
          // The last that it tried has answered, or failed.
          return [{ gateway: at.get(tried.at(-1)), from, to, status: Number(status) }];
        }),
    close: () => program.end("SIGTERM"),
  };
}

const NGINX = ({ root, port, gateways, log }) => `
daemon off;
${process.getuid() === 0 ? "user root;" : ""}
worker_processes 1;
pid ${root}/nginx-${port}.pid;
error_log stderr error;
events { worker_connections 4000; }
http {
  log_format request "$msec $request_time $status $upstream_addr";
  access_log ${log} request;
  client_body_temp_path ${root}/nginx-body;
  proxy_temp_path ${root}/nginx-proxy;
  fastcgi_temp_path ${root}/nginx-fastcgi;
  uwsgi_temp_path ${root}/nginx-uwsgi;
  scgi_temp_path ${root}/nginx-scgi;
  upstream gateways {
    least_conn;
${gateways.map(({ host, port: its }) => `    server ${host}:${its} max_fails=1 fail_timeout=1s;`).join("\n")}
    keepalive 256;
  }
  server {
    listen ${HOST}:${port};
    location / {
      proxy_pass http://gateways;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_buffering off;
      proxy_read_timeout 1h;
      # A request that was sent may have run, and is never sent again: without "non_idempotent", that is so for POST.
      proxy_next_upstream error timeout;
    }
  }
}
`;
