// Names what in a text looks like an attempt to steer a model, for the log and the audit. It blocks nothing,
// because it misses most attempts and also matches honest text.

/**
 * For text in lower case. The time is linear in the text, because each pattern begins with a fixed word or sign,
 * and every quantifier is bounded and followed by something that it cannot match.
 */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  "ignore-instructions":
    /(?:ignore|disregard|forget|override|bypass)\s{1,4}(?:[a-z]{1,12}\s{1,4}){0,4}(?:instruction|prompt|rule|guideline|direction|command|context)/,
  "new-instructions":
    /(?:new|updated|real|actual|important)\s{1,4}(?:system\s{1,4})?(?:instructions?|prompt|task|rules)\s{0,4}[:>]/,
  "role-change":
    /you\s{1,4}(?:are\s{1,4}(?:now|no\s{1,4}longer)|must\s{1,4}now)\b|from\s{1,4}now\s{1,4}on\b|(?:developer|jailbreak|god)\s{1,4}mode\b/,
  "chat-markup":
    /<\|[a-z_]{2,20}\|>|<\/?(?:system|assistant|important|instructions?|admin|tool_result|function_results)>|\[\/?inst\]|<<\/?sys>>/,
  "fake-turn": /(?:^|\n)(?:system|assistant|human|user|developer)[ \t]{0,2}:/,
  secrecy:
    /(?:do\s{1,4}not|don['’]?t|never|without)\s{1,4}(?:tell|inform|mention|notify|alert|reveal|ask)/,
  exfiltration:
    /(?:send|post|upload|forward|exfiltrate|leak|email)\b[^.\n]{0,60}(?:passw|secret|token|api.?key|credential|\.ssh|\.env|private.?key)/,
  "image-beacon": /!\[[^[\]\n]{0,100}\]\(https?:[^)\s?]{1,200}\?/,
  "invisible-text":
    /\udb40[\udc20-\udc7e]|[\u202a-\u202e\u2066-\u2069]|[\u200b\u200c\u2060\u2062-\u2064\ufeff]{4}/,
  // oxlint-disable-next-line no-control-regex
  "terminal-escape": /\x1b[[\]p^_]|\x9b/,
};

export function suspiciousPatterns(text: string): string[] {
  const lower = text.toLowerCase();
  return Object.keys(PATTERNS).filter((name) => PATTERNS[name]?.test(lower));
}
