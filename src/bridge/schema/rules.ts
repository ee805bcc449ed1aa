// What each provider takes in a tool's parameters, as data for the conversion. Where a vendor's documents
// and its error messages disagree, the narrower of the two stands here.

export type SchemaProvider = "openai" | "openai-strict" | "anthropic" | "google" | "generic";

export interface Rules {
  provider: SchemaProvider;
  /** Property names that are taken. Others are renamed. */
  names: RegExp;
  /** Every object lists its properties, so what is open (any value, a map) travels as JSON text. */
  closed: boolean;
  /** Every property is required; an optional one takes null instead. */
  allRequired: boolean;
  /** An object without any property is refused, below the root. */
  filledObjects: boolean;
  /** How a schema says that null is taken. */
  null: "type" | "branch" | "keyword";
  /** `type` may be a list of several, beside null. */
  typeLists: boolean;
  /** `anyOf` must be alone in its schema. */
  loneUnions: boolean;
  enums: "any" | "scalars" | "strings";
  /** Constraints that stay; every other one is put into words. */
  constraints: ReadonlySet<string>;
  /** Undefined: every format. */
  formats: Readonly<Record<string, ReadonlySet<string>>> | undefined;
  /** `default`, `examples` and `title` stay. */
  annotations: boolean;
  limits: Limits | undefined;
}

interface Limits {
  /** Objects and arrays inside each other, the root included. */
  levels: number;
  properties: number;
  enumValues: number;
  /** Of property names and enum values together. */
  characters: number;
  /** One enum of more than `longEnum` strings has at most `longEnumCharacters`. */
  longEnum: number;
  longEnumCharacters: number;
}

const NUMERIC = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const COMMON = new Set([
  ...NUMERIC,
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
]);

const PLAIN = {
  // `__proto__` does not survive every JavaScript client.
  names: /^(?!__proto__$)[^]*$/,
  closed: false,
  allRequired: false,
  filledObjects: false,
  null: "type",
  typeLists: true,
  loneUnions: false,
  enums: "any",
  constraints: COMMON,
  formats: undefined,
  annotations: true,
  limits: undefined,
} as const;

const PORTABLE_NAME = /^(?!__proto__$)[a-zA-Z0-9_.-]{1,64}$/;

const RULES: Readonly<Record<SchemaProvider, Rules>> = {
  openai: { ...PLAIN, provider: "openai" },
  anthropic: { ...PLAIN, provider: "anthropic", names: PORTABLE_NAME },
  generic: {
    ...PLAIN,
    provider: "generic",
    names: PORTABLE_NAME,
    null: "branch",
    typeLists: false,
  },
  "openai-strict": {
    ...PLAIN,
    provider: "openai-strict",
    closed: true,
    allRequired: true,
    typeLists: false,
    enums: "scalars",
    constraints: new Set([...NUMERIC, "pattern", "format", "minItems", "maxItems"]),
    formats: {
      string: new Set("date-time time date duration email hostname ipv4 ipv6 uuid".split(" ")),
    },
    annotations: false,
    limits: {
      levels: 10,
      properties: 5000,
      enumValues: 1000,
      characters: 120_000,
      longEnum: 250,
      longEnumCharacters: 15_000,
    },
  },
  google: {
    ...PLAIN,
    provider: "google",
    names: /^(?!__proto__$)[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
    closed: true,
    filledObjects: true,
    null: "keyword",
    typeLists: false,
    loneUnions: true,
    enums: "strings",
    constraints: new Set([
      "minimum",
      "maximum",
      "minLength",
      "maxLength",
      "pattern",
      "format",
      "minItems",
      "maxItems",
    ]),
    formats: {
      string: new Set(["date-time"]),
      number: new Set(["float", "double"]),
      integer: new Set(["int32", "int64"]),
    },
    annotations: false,
  },
};

/** Undefined for a name that only a program without types can come up with. */
export function rulesOf(provider: SchemaProvider): Rules | undefined {
  return Object.hasOwn(RULES, provider) ? RULES[provider] : undefined;
}
