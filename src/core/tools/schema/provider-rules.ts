// What each provider accepts in the parameters of a tool. If a vendor's documentation and its error messages
// disagree, the narrower of the two counts.

export type SchemaProvider = "openai" | "openai-strict" | "anthropic" | "google" | "generic";

export interface Rules {
  provider: SchemaProvider;
  /** Accepted property names. Others are renamed. */
  names: RegExp;
  /** Every object must list its properties, so open values (any value, a map) are passed as JSON text. */
  closed: boolean;
  /** Every property must be required; an optional one accepts null instead. */
  allRequired: boolean;
  /** Below the root, an object without properties is refused. */
  filledObjects: boolean;
  /** How a schema says that null is valid. */
  null: "type" | "branch" | "keyword";
  /** `type` may be a list of several types besides null. */
  typeLists: boolean;
  /** `anyOf` must be the only keyword of its schema. */
  loneUnions: boolean;
  enums: "any" | "scalars" | "strings";
  /** Accepted constraints; the others move to the description. Absent: all of them. */
  constraints?: ReadonlySet<string>;
  /** Accepted formats by type. Absent: all of them. */
  formats?: Readonly<Record<string, ReadonlySet<string>>>;
  /** `default`, `examples` and `title` are accepted. */
  annotations: boolean;
  limits?: Limits;
}

interface Limits {
  /** Nested objects and arrays, including the root. */
  levels: number;
  properties: number;
  enumValues: number;
  /** In property names and enum values together. */
  characters: number;
  /** An enum of more than `longEnum` strings may have at most `longEnumCharacters` characters. */
  longEnum: number;
  longEnumCharacters: number;
}

export const NUMERIC = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

const DEFAULT_RULES = {
  // `__proto__` does not survive every JavaScript client.
  names: /^(?!__proto__$)[^]*$/,
  closed: false,
  allRequired: false,
  filledObjects: false,
  null: "type",
  typeLists: true,
  loneUnions: false,
  enums: "any",
  annotations: true,
} as const;

const PORTABLE_NAME = /^(?!__proto__$)[a-zA-Z0-9_.-]{1,64}$/;

const RULES: Readonly<Record<SchemaProvider, Rules>> = {
  openai: { ...DEFAULT_RULES, provider: "openai" },
  anthropic: { ...DEFAULT_RULES, provider: "anthropic", names: PORTABLE_NAME },
  generic: {
    ...DEFAULT_RULES,
    provider: "generic",
    names: PORTABLE_NAME,
    null: "branch",
    typeLists: false,
  },
  "openai-strict": {
    ...DEFAULT_RULES,
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
    ...DEFAULT_RULES,
    provider: "google",
    names: /^(?!__proto__$)[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
    closed: true,
    filledObjects: true,
    null: "keyword",
    typeLists: false,
    loneUnions: true,
    enums: "strings",
    constraints: new Set(
      "minimum maximum minLength maxLength pattern format minItems maxItems".split(" "),
    ),
    formats: {
      string: new Set(["date-time"]),
      number: new Set(["float", "double"]),
      integer: new Set(["int32", "int64"]),
    },
    annotations: false,
  },
};

export const SCHEMA_PROVIDERS = Object.keys(RULES) as SchemaProvider[];

/** Undefined for an unknown name, which a program without types may pass. */
export function rulesOf(provider: SchemaProvider): Rules | undefined {
  return Object.hasOwn(RULES, provider) ? RULES[provider] : undefined;
}
