// Decides by its name whether a variable, header, parameter or option holds a credential, and how certain that is; and by
// its form whether a value is one, whatever its name.

/**
 * `password`: every value is a credential. `credential`: every value that is not a switch or a number.
 * `maybe`: only a value that looks like nothing else, because such names also hold paths, modes and regions.
 */
export type Likeness = "password" | "credential" | "maybe" | undefined;

const PASSWORD = new Set(["password", "passwd", "passphrase", "pwd"]);
const CREDENTIAL = new Set([
  "token",
  "tokens",
  "secret",
  "secrets",
  "apikey",
  "authtoken",
  "jwt",
  "bearer",
  "cookie",
  "authorization",
]);
/** Words that count only at the end of a name: `DB_PASS`, but not `PASS_THROUGH`. */
const LAST = new Map<string, Likeness>([
  ["pass", "password"],
  ["pin", "password"],
  ["pat", "credential"],
  ["key", "maybe"],
]);
/** A `key` after one of these words is a credential. */
const KEY_KINDS = new Set(["api", "access", "private", "secret", "auth", "account", "license"]);
const MAYBE = new Set(["auth", "credential", "credentials", "creds", "sig", "signature"]);

/** A name that ends like this describes a credential: where it is, how long it is valid. */
const ABOUT = new Set(
  (
    "url uri file path dir directory sock socket type kind name host port ttl expiry expires expiration " +
    "timeout limit limits count max min size length mode method enabled disabled required header scheme " +
    "endpoint provider audience issuer scope scopes region domain user username email algorithm alg version server"
  ).split(" "),
);

/** Shells keep the working directory in these variables. */
const WORKING_DIRECTORY = /^(?:OLD)?PWD$/i;

export function credentialLikeness(name: string): Likeness {
  if (WORKING_DIRECTORY.test(name)) return undefined;
  const words = wordsOf(name);
  const last = words.at(-1);
  if (last === undefined || ABOUT.has(last) || words.includes("public")) return undefined;
  // `MAX_TOKENS` is a number; `TOKEN_LIMIT` was excluded above.
  if (words[0] === "max" || words[0] === "min") return undefined;
  // Words may be joined: `PGPASSWORD`.
  if (words.some((word) => PASSWORD.has(word)) || /passw(?:or)?d$/.test(last)) return "password";
  const isKey = words.some((word, at) => word === "key" && KEY_KINDS.has(words[at - 1] ?? ""));
  if (isKey || words.some((word) => CREDENTIAL.has(word))) return "credential";
  if (/(?:token|secret|authkey|authcode)$/.test(last)) return "credential";
  const isMaybe = words.some((word) => MAYBE.has(word)) || last.endsWith("auth");
  return isMaybe ? "maybe" : LAST.get(last);
}

/** The beginnings and forms that services give their keys, so that people and programs can tell what they are. */
const FORMS: readonly RegExp[] = [
  /^gh[oprsu]_\w{20,}$/,
  /^github_pat_\w{20,}$/,
  /^gl(?:pat|ptt|dt|rt|soat|agent)-[\w-]{20,}$/,
  // OpenAI, Anthropic, OpenRouter. A name with hyphens may begin like this too, so one part of it must be long.
  /^sk-[\w-]*[A-Za-z0-9]{16}/,
  /^[prs]k_(?:live|test)_\w{10,}$/,
  /^xox[abeoprs]-[\w-]{10,}$/,
  /^xapp-\d-[\w-]{10,}$/,
  /^(?:AKIA|ASIA)[A-Z0-9]{16}$/,
  /^AIza[\w-]{35}$/,
  /^ya29\.[\w-]{20,}$/,
  /^eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*$/,
  /^(?:npm|hf|ntn|figd|dop_v1|lin_api|shpat|gsk|dckr_pat)_[\w-]{20,}$/,
  /^(?:tvly|pplx|xai)-(?:[a-z]+-)?[A-Za-z0-9]{20,}$/,
  /^hv[sb]\.[\w-]{20,}$/,
  /^SG\.[\w-]{16,}\.[\w-]{16,}$/,
  /^pypi-[\w-]{40,}$/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /^(?:bearer|basic) +(?=\S*\d)[\w.~+/=-]{16,}$/i,
];

function hasCredentialForm(value: string): boolean {
  const text = value.trim();
  // Words alone are no key.
  return /[\dA-Z]/.test(text) && FORMS.some((form) => form.test(text));
}

/** The same forms anywhere in a text: in a path, a command, a comment. */
const FORMS_IN_TEXT = FORMS.map(({ source, flags }) => {
  const anywhere = source.replace(/^\^/, "(?<![A-Za-z0-9])").replace(/\$$/, "(?![A-Za-z0-9])");
  return new RegExp(anywhere, `${flags}g`);
});

/** Whether a part of the text has the form of a credential. */
export function hasCredentialIn(text: string): boolean {
  return FORMS_IN_TEXT.some((form) =>
    Array.from(text.matchAll(form)).some(([part]) => /[\dA-Z]/.test(part)),
  );
}

/** Whether a value under such a name is a credential. Its length does not matter here. */
export function isCredential(value: string, likeness: Likeness): boolean {
  if (likeness === undefined) return hasCredentialForm(value);
  if (likeness === "password") return true;
  if (isSwitch(value) || /^[\d.,]+$/.test(value)) return false;
  return likeness === "credential" || !isOrdinary(value);
}

function isSwitch(value: string): boolean {
  return /^(?:true|false|yes|no|on|off|null|none|undefined|enabled|disabled|required|optional)$/i.test(
    value,
  );
}

/** Long, of letters and digits that are no words. A header of any name may identify the caller. */
export function looksRandom(value: string): boolean {
  return /^(?=\S*\d)(?=\S*[A-Za-z])[\w.~+/=-]{16,}$/.test(value) && !isOrdinary(value);
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const SHORTEST_KEY_IN_PATH = 20;

/** Whether a part of a URL's path may be what lets its holder in: it is long, and neither words nor a date. */
export function isKeyInPath(part: string): boolean {
  if (UUID.test(part)) return true;
  if (part.length < SHORTEST_KEY_IN_PATH || !/^[\w-]+$/.test(part) || !looksRandom(part))
    return false;
  return !part.split(/[-_]/).every((word) => /^(?:[A-Z]?[a-z]{0,20}\d{0,4}|\d{1,8})$/.test(word));
}

/**
 * For a member of JSON, or an element of the list under that name. Names such as `key`, and names of lists, often stand over
 * plain words in JSON: under these, only what looks random counts.
 */
export function memberLikeness(name: string, value: string, isInList = false): Likeness {
  const likeness = credentialLikeness(name);
  const isDoubtful = isInList || likeness === "maybe";
  return isDoubtful && !looksRandom(value) ? undefined : likeness;
}

/** A path, an address, or words: `eu-west-1`, `oauth2`, `client_credentials`. */
function isOrdinary(value: string): boolean {
  return (
    /^(?:~|\.{1,2})?\/[\w.@ /-]*$/.test(value) ||
    /^[\w.@-]+(?:\/[\w.@-]+)*\.[a-z]{2,5}$/.test(value) ||
    /^[A-Za-z]:[\\/]/.test(value) ||
    /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ||
    /^[a-z]{1,12}\d?(?:[-_.][a-z0-9]{1,12})*$/.test(value)
  );
}

/** `apiKey`, `API_KEY`, `x-api-key` and `api.key` alike. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}
