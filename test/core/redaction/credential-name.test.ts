import { describe, expect, it } from "vitest";
import { credentialLikeness, isCredential } from "../../../src/core/redaction/credential-name.ts";

describe("a name", () => {
  it.each([
    [
      "password",
      "PASSWORD DB_PASSWORD dbPassword MYSQL_PWD PGPASSWD PGPASSWORD DB_PASS SSH_PASSPHRASE CARD_PIN",
    ],
    [
      "credential",
      "TOKEN GITHUB_TOKEN githubToken NPM_TOKENS MYTOKEN CLIENT_SECRET clientSecret API_KEY apiKey OPENAI_APIKEY " +
        "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY PRIVATE_KEY GITHUB_PAT x-api-key x-auth-token Authorization " +
        "Cookie JWT access_token refresh.token TS_AUTHKEY",
    ],
    [
      "maybe",
      "AUTH BASIC_AUTH PGAUTH npmAuth CREDENTIALS GOOGLE_APPLICATION_CREDENTIALS OPENAI_KEY key sig SIGNATURE",
    ],
    [
      undefined,
      "HOME PATH PWD OLDPWD USER LANG REGION AWS_REGION TOKEN_URL TOKEN_FILE SECRET_NAME PASSWORD_FILE AUTH_TYPE " +
        "SSH_AUTH_SOCK MAX_TOKENS TOKEN_LIMIT PUBLIC_KEY AUTHOR KEYBOARD PASS_THROUGH PATTERN TOKENIZER COMPASS " +
        "COOKIE_DOMAIN MONKEY KEY_PREFIX ___",
    ],
  ])("is of a %s: %s", (likeness, names) => {
    const found = names.split(" ").map((name) => [name, credentialLikeness(name)]);
    expect(found).toEqual(names.split(" ").map((name) => [name, likeness]));
  });
});

describe("a value", () => {
  it.each([
    ["password", "12345678 true /etc/x hunter2", ""],
    ["credential", "hunter2 /AbC+12/x a1b2-c3d4 letmein", "true FALSE 100000 1.5 none disabled"],
    [
      "maybe",
      "Zx81Qw user:hunter2 letmeinletmein abcdef0123456789",
      "true 100000 /etc/key.pem ~/key ./a/b C:\\key.pem keys/id.pem https://a.example/x eu-west-1 oauth2 basic client_credentials",
    ],
    [
      undefined,
      `ghp_${"a1".repeat(18)} github_pat_${"1A".repeat(20)} glpat-${"x1".repeat(10)} sk-proj-${"Ab1".repeat(8)} ` +
        `sk-ant-api03-${"Ab1".repeat(8)} sk_live_${"a1".repeat(12)} xoxb-1234567890-${"a".repeat(12)} AKIA${"A1".repeat(8)} ` +
        `AIza${"a1".repeat(17)}b eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig npm_${"a1".repeat(18)} hvs.${"a1".repeat(12)}`,
      "hunter2 ghp_short sk-learn-mcp-server-for-python3 npm-run-all-2 @scope/pkg@1.2.3 https://a.example/x1 /opt/AKIA AKIA",
    ],
  ] as const)("under a name that is %s", (likeness, yes, no) => {
    const told = (list: string) => list.split(" ").filter((value) => isCredential(value, likeness));
    expect(told(yes).join(" ")).toBe(yes);
    expect(told(no).join(" ")).toBe("");
  });
});
