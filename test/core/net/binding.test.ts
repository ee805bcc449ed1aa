import { expect, it } from "vitest";
import { type Binding, bindingProblem } from "../../../src/core/net/binding.ts";

it.each<Binding>([
  { host: "127.0.0.1" },
  { host: "127.8.9.1" },
  { host: "::1" },
  { host: "[::1]" },
  { host: "localhost" },
  { host: "LocalHost." },
  { host: "0.0.0.0", tls: {} },
  { host: "0.0.0.0", behindProxy: true },
  { host: "gateway.example.com", tls: {} },
])("the gateway may listen with %j", (binding) => {
  expect(bindingProblem(binding)).toBeUndefined();
});

it.each<Binding>([
  { host: "0.0.0.0" },
  { host: "::" },
  { host: "192.168.1.5" },
  { host: "::ffff:10.0.0.1" },
  { host: "gateway.example.com" },
  { host: "localhost.example.com" },
  { host: "0.0.0.0", behindProxy: false },
])("the gateway may not listen with %j", (binding) => {
  expect(bindingProblem(binding)).toMatch(
    /plain text; expected gateway\.tls, or gateway\.behindProxy: true/,
  );
});
