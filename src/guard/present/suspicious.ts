// Names what in a text looks like an attempt to steer a model, for the log and the audit. It blocks nothing,
// because it misses attempts that use other words, and also matches honest text about such attempts.
//
// The time is linear in the text: every phrase has a fixed beginning, every quantifier is bounded, and no two
// quantifiers next to each other can match the same character. Most phrases are only tried where three
// characters of the text are the first three of their beginning, so ordinary text costs one walk over it.

/** Up to `most` words of one sentence, with what separates them. */
const words = (most: number): string => String.raw`(?:[^\s.!?;]{1,24}\s{1,4}){0,${most}}`;

const GAP = String.raw`\s{1,4}`;

const ORDERS = "(?:instruction|prompt|rule|guideline|directi|command|context)";
const LIMITS =
  "(?:instruction|prompt|rule|guideline|directi|polic|restriction|constraint|guard-?rail|safeguard|programming|training|limitation|filter|protocol|alignment|moderation|safety|ethic|setting|configuration)";
const BOUNDS =
  "(?:restriction|filter|limit|censor|guideline|constraint|boundar|moral|ethic|rules|safe|polic)";
const OF_BEFORE =
  "(?:previous|prior|above|earlier|preceding|your|safety|ethical|moral|content|openai|anthropic)";
const OF_THE_SYSTEM =
  "(?:system|initial|initialization|hidden|original|internal|secret|developer|underlying|pre-?set|confidential)";

interface Phrase {
  name: string;
  /** One of these begins the phrase: at least three characters of ASCII, in lower case. */
  starts: readonly string[];
  /** What must follow. */
  rest: string;
}

function phrase(name: string, starts: string, rest: string): Phrase {
  return { name, starts: starts.split("|"), rest };
}

/** For text in lower case that begins with a newline. */
const PHRASES: readonly Phrase[] = [
  // English.
  phrase(
    "ignore-instructions",
    "ignor|disregard|forget|overrid|bypass",
    `(?:e|es|ing|s|ting)?${GAP}${words(4)}${ORDERS}`,
  ),
  phrase(
    "ignore-instructions",
    "ignor|disregard|forget|overrid|bypass|dismiss|discard|abandon|set aside|throw away|pay no attention to|stop following|not follow|n't follow|not obey|circumvent|disabl|suspend|remov|lift|turn off|switch off|break",
    `[a-z]{0,3}${GAP}${words(3)}${OF_BEFORE}${GAP}${words(3)}${LIMITS}`,
  ),
  phrase(
    "ignore-instructions",
    "ignore|forget|disregard",
    `${GAP}(?:everything|anything|all|what)${GAP}(?:you|i|that|above|before|said|prior)`,
  ),
  phrase(
    "ignore-instructions",
    "disabl|bypass",
    `(?:e|es|ing)?${GAP}(?:all${GAP}|any${GAP}|the${GAP})?(?:guard-?rails|safety|restrictions|content${GAP}filter)`,
  ),
  phrase(
    "ignore-instructions",
    "previous|prior|above|earlier|safety|ethical|all restrictions|all your|instructions you",
    `${GAP}${words(7)}(?:deprecated|void|incorrect|invalid|obsolete|lifted|suspended|reversed|cancell?ed|supersed|removed|null|false|(?:do${GAP}not|don['’]t|no${GAP}longer)${GAP}(?:apply|exist))`,
  ),
  phrase(
    "ignore-instructions",
    "supersede",
    `[sd]?${GAP}(?:all|any|every|your|the)${GAP}${words(2)}(?:previous|prior|other|above|earlier|instruction|configuration|rule)`,
  ),
  phrase(
    "new-instructions",
    "new|updated|real|actual|important|correct|hidden|true",
    `${GAP}(?:system${GAP})?(?:instructions?|prompt|task|rules|directives?|objective|purpose|protocol)(?:\\s{0,4}[:>]|${GAP}(?:follows?|supersede|received|is${GAP}to|are${GAP}as|for${GAP}(?:ai|llm|the${GAP}assistant)))`,
  ),
  phrase(
    "new-instructions",
    "your ",
    `(?:new|real|actual|true|only)${GAP}(?:system${GAP}|primary${GAP})?(?:task|goal|purpose|instruction|role|objective|mission|directive|identity)`,
  ),
  phrase("new-instructions", "from this ", `(?:point|moment)${GAP}(?:on|forward|onward)`),
  phrase(
    "role-change",
    "you",
    `${GAP}(?:are${GAP}(?:now|no${GAP}longer)\\b|must${GAP}now\\b|will${GAP}now${GAP}|(?:are${GAP})?(?:going|about)${GAP}to${GAP}(?:act|pretend|immerse|play|be${GAP})|are${GAP}(?:replaced|freed|liberated|unrestricted)|have${GAP}been${GAP}(?:liberated|freed|jailbroken|unlocked|replaced))`,
  ),
  phrase("role-change", "you're now|you’re now|from now on", "\\b"),
  phrase(
    "role-change",
    "developer|jailbreak|god|dan|unrestricted|debug|maintenance|diagnostic|admin|sudo|root",
    `${GAP}mode${GAP}?(?:enabled|activated|on\\b|and|[.,!:;"')]|$)`,
  ),
  phrase("role-change", "developer|jailbreak|god|dan|unrestricted", `${GAP}mode\\b`),
  phrase(
    "role-change",
    "pretend",
    `(?:ing)?${GAP}(?:to${GAP}be|you|that${GAP}you|this${GAP}is|there)\\b`,
  ),
  phrase(
    "role-change",
    "act ",
    `(?:(?:as${GAP})?(?:if|like|though)${GAP}you|as${GAP}(?:an?${GAP}|the${GAP}|my${GAP})?${words(2)}(?:ai|llm|gpt|chat-?gpt|chatbot|dan|assistant|hacker|persona|character|grandm)\\b)`,
  ),
  phrase(
    "role-change",
    "want you to act|must act as|will act as|roleplay as|role-play as|role play as|roleplay where|play the role of|take on the role|into the role of|stay in character|break character|in the role of|simulate being|simulate an ai|simulate a chatbot|transform into an|imagine you are|imagine you're|imagine that you|suppose you were|suppose you are|if you were dan|replaced by the",
    "\\b",
  ),
  phrase(
    "role-change",
    "opposite day|do anything now|jailbroken|[jailbreak]|uncensored|unfiltered|nonmoral|non-moral|amoral|anti-gpt|antigpt|evil ai|alter ego|broken free|breaking free|strive to avoid norms",
    "",
  ),
  phrase(
    "role-change",
    "unrestricted",
    `${GAP}(?:ai|assistant|model|chatbot|access|zone|version|llm|agent)\\b`,
  ),
  phrase(
    "role-change",
    "without|no|zero|free of|free from|liberated from|freed from|not bound by|not restricted by|never restricted by|not confined by|regardless of",
    `${GAP}(?:all${GAP}|any${GAP}|the${GAP}|its${GAP}|your${GAP}|further${GAP})?(?:concern${GAP}for${GAP})?(?:ethic|moral|content|safety|censor|openai|legal,|legality|ai${GAP}|guardrail)${words(0)}[a-z]{0,6}[\\s,/]{0,4}(?:${words(3)})${BOUNDS}`,
  ),
  phrase(
    "role-change",
    "answer|respond|reply|comply|act|operat|speak|generat|outputs|does",
    `[a-z]{0,6}${GAP}${words(6)}(?:without|no|not${GAP}have)${GAP}(?:any${GAP}|all${GAP}|a${GAP})?(?:ethical${GAP}|moral${GAP}|safety${GAP}|content${GAP})?(?:restriction|filter|limitation|censor|guideline|refus|hesitat|disclaimer|warning)`,
  ),
  phrase(
    "role-change",
    "ai |character |assistant |chatbot |model ",
    `${words(5)}(?:no|without|free${GAP}of|beyond)${GAP}(?:any${GAP}|all${GAP}|absolutely${GAP})?(?:ethical|moral|safety|content|restriction|filters|rules|limitations|limits|censor)`,
  ),
  phrase(
    "role-change",
    "hypothetical|thought experiment|fictional scenario|educational purpose|alternate universe|simulation where|world where|scenario where|creative writing",
    `[a-z]{0,3}\\b`,
  ),
  phrase(
    "prompt-extraction",
    "repeat|reveal|show|print|output|display|tell me|give me|share|summari|list|translat|dump|leak|expos|recit|format|describ|what is|what are|what were|what was|return|includ|send|provid|copy|write|paste|disclos|echo|verbatim",
    `[a-z]{0,4}${GAP}${words(6)}(?:your|the|its|any|all|full|complete|exact)${GAP}${words(2)}${OF_THE_SYSTEM}(?:[\\s-]{1,4}(?:level)?)${words(1)}(?:prompt|instruction|message|rule|guideline|configuration|directive|setting)`,
  ),
  phrase(
    "prompt-extraction",
    "your ",
    `${words(1)}${OF_THE_SYSTEM}(?:[\\s-]{1,4}(?:level)?)(?:prompt|instruction|rule|guideline|directive|message)`,
  ),
  phrase(
    "prompt-extraction",
    "repeat|reveal|show|print|output|display|tell me|give me|share|summari|list|translat|dump|leak|expos|recit",
    `[a-z]{0,4}${GAP}${words(4)}(?:your|were|everything|text)${GAP}(?:full${GAP}|complete${GAP}|entire${GAP}|exact${GAP}|own${GAP}|given|told|above)?(?:instruction|prompt|rules|guideline|programming|restriction|constraint|directive|${GAP}?this|${GAP}?before|${GAP}?\\bby\\b|$|\\.)`,
  ),
  phrase(
    "prompt-extraction",
    "everything above|text above this|words above|instructions you were given|instructions you received|instructions above|were you told|you were told|rules that govern|what tools|list your tools|tools you have",
    "\\b",
  ),
  phrase(
    "addressed-to-a-model",
    "attention|instruction|instructions|note|notes|message|important|notice|reminder|directive|hint",
    `[\\s:]{1,4}(?:for|to)?[\\s:]{0,4}(?:all${GAP}|any${GAP}|the${GAP}|our${GAP})?(?:ai|a\\.i\\.|llms?|language${GAP}models?|chat-?gpt|claude|gemini|gpt|copilot)\\b(?:${GAP}(?:agent|assistant|model|reader|code|system|review|summar|bot|crawl|tool)|\\s{0,2}[:,\\]!]|s\\b)`,
  ),
  phrase(
    "addressed-to-a-model",
    "if you are a|if you're a|when you are a|as an ai",
    `n?${GAP}${words(1)}(?:ai|llm|language|assistant|agent|bot|model|chatbot)\\b`,
  ),
  phrase(
    "addressed-to-a-model",
    "ai assistant|ai agent|ai model|llm|language model|ai system|ai instruction",
    `s?(?:${GAP}(?:reading|must|should|processing|summari|parsing|that${GAP}read|who${GAP}read)|:)`,
  ),
  phrase(
    "addressed-to-a-model",
    "hi ai|hello ai|hey ai|hi chatgpt|hello chatgpt|hey chatgpt|dear ai|dear assistant|dear llm|hi gpt|hello gpt|hello, chatgpt|hi, chatgpt",
    "\\b",
  ),
  phrase(
    "claimed-authority",
    "i am |i'm |i’m |this is |as ",
    `(?:the|your|an?|from${GAP}(?:the|your)|overriding|authorizing)${GAP}${words(3)}(?:developer|creator|system${GAP}admin[a-z]{0,10}|openai|anthropic|safety${GAP}team|security${GAP}audit|penetration${GAP}test[a-z]{0,3}|authori[sz]ed${GAP}[a-z]{1,12}|admin|administrator|senior${GAP}engineer|life${GAP}or${GAP}death)\\b${words(0)}[\\s,.]{1,3}(?:who|of|and|i${GAP}|i['’]m|temporarily|you|we|for|authori|test|audit|team|message|at|from|safety|disable|on|speaking|mode|override)`,
  ),
  phrase(
    "claimed-authority",
    "admin|system|priority|emergency|security|developer|root|safety|instruction|authority",
    `[\\s_-]{1,4}(?:override|update|notice|alert|command|directive|note|console|instruction|message|access${GAP}granted|bypass)s?\\s{0,2}(?:[:\\]!#*-]|${GAP}(?:code|granted|initiated|accepted|engaged|activated|\\())`,
  ),
  phrase(
    "claimed-authority",
    "admin credentials|admin privileges|administrator access|elevated privileges|admin access granted|root access granted|access level: root|authorized penetration|authorized security|authorized message|authorized personnel|life-threatening|life or death|life depends on",
    "\\b",
  ),
  phrase(
    "secrecy",
    "do not|don't|don’t|dont|never|without",
    `${GAP}(?:tell|inform|mention|notify|alert|reveal|ask)(?:ing)?\\b${GAP}?(?:the${GAP}|this|it\\b|that|any|your|them|him|her|about|to${GAP}|user|being|you|first|for${GAP}(?:permission|confirm|approval))`,
  ),
  phrase(
    "exfiltration",
    "send|post|upload|forward|exfiltrat|leak|email|e-mail|transmit|embed|append|includ|encod|put|past|deliver|smuggl",
    `(?:s|e|ing)?\\b[^.\\n]{0,60}(?:passw|secret|token|api.?key|credential|\\.ssh|\\.env\\b|private.?key|environment${GAP}variable|connection${GAP}string|conversation|chat${GAP}history|sensitive|personal${GAP}data|user${GAP}data|all${GAP}(?:user|files|data|emails))[^\\n]{0,50}(?:\\bto${GAP}(?:me\\b|http|[a-z0-9._-]{1,40}@|an?${GAP}|the${GAP}(?:following|attacker|external)|external|this${GAP}(?:url|address|server|endpoint)|attacker|evil)|https?:|webhook|external|query${GAP}string|hidden|markdown${GAP}(?:image|link)|in${GAP}the${GAP}url)`,
  ),
  phrase(
    "exfiltration",
    "send|upload|forward|exfiltrat|leak|email|transmit|read|cat|print|dump|reveal|show|give me",
    `(?:s|e|ing)?${GAP}${words(5)}(?:~/\\.ssh|~/\\.aws|~/\\.env|id_rsa|\\.ssh\\b|/etc/passwd|/etc/shadow|(?:every|all|any)${GAP}${words(2)}(?:api.?keys?|passwords?|secrets?|credentials?|tokens?))`,
  ),
  phrase(
    "tool-steering",
    "before |when |whenever |after |instead of ",
    `(?:you${GAP})?(?:use|using|call|calling|invok|answer|respond|do|doing)[a-z]{0,4}${GAP}(?:this|any|the|anything|a)${GAP}${words(2)}(?:tools?|else|functions?|question)\\b[^.\\n]{0,40}(?:you${GAP}must|always|first|read|store|send|call)`,
  ),
  phrase(
    "tool-steering",
    "call it now|call this tool|run the most privileged|long-term memory|store this as|remember this for|for future sessions",
    "\\b",
  ),
  phrase(
    "payload-in-parts",
    "decode|combine|concatenat|merge|join|reassembl|read in reverse|reverse this|read the first letter|base64|hex string|rot13",
    `[a-z]{0,4}\\b[^\\n]{0,80}(?:execute|follow|obey|comply|respond|act${GAP}on|carry${GAP}out|perform|fragments${GAP}above|instruction)`,
  ),
  phrase(
    "payload-in-parts",
    "swdub3jl|awdub3jl|lnbm9yzs|z25vcmug|49676e6f7265|69676e6f7265|snoitcurtsni|tpmorp metsys|1gn0r3|ign0re|1gnore|pr0mpt|1nstruct|5y5t3m",
    "",
  ),
  phrase(
    "output-steering",
    "start|begin|end|respond|reply|prefix|say|output|print|write",
    `(?:s|ing)?${GAP}(?:all${GAP}your${GAP}|your${GAP}|every${GAP}|each${GAP}|format:${GAP}start${GAP})?(?:outputs?${GAP}|response${GAP}|answer${GAP}|reply${GAP}|it${GAP})?(?:with|only|exactly|by${GAP}saying)${GAP}(?:the${GAP}(?:word|phrase|text)s?${GAP}|only${GAP})?['"“‘][^'"”’\\n]{0,60}(?:comply|granted|pwned|hacked|sure|unrestricted|i${GAP}will|jailbr|absolutely|of${GAP}course|dan\\b|owned)`,
  ),
  phrase(
    "fake-turn",
    "\nsystem|\nassistant|\nhuman|\nuser|\ndeveloper|\\nsystem|\\nassistant|\\nhuman|\\nuser|\\ndeveloper",
    "[ \\t]{0,2}:",
  ),
  phrase(
    "fake-turn",
    "\nobservation:|\nthought:|\naction:|\\nobservation:|\ntool result:|\ntool output:|end of user message|end of user input|end of system prompt|begin system prompt|end of prompt|```system",
    "",
  ),

  // Spanish, Portuguese, French, German, Italian.
  phrase(
    "ignore-instructions",
    "ignor|olvid|descart|desestim|haz caso omiso|no sigas|no obede|omit|esque|desconsider|desobede|oubli|ne tiens pas compte|ne tenez pas compte|ne suis pas|ne suivez pas|faites abstraction|fais abstraction|vergiss|vergesst|vergessen sie|missacht|umgeh|dimentic|negeer|vergeet|abaikan|lupakan|zignoruj|zapomnij",
    `[^\\s.!?;]{0,8}${GAP}${words(5)}(?:instruc|instruç|istruzion|regla|regra|regole|reglas|directri|diretri|indicaci|órdenes|ordens|comandos|orientaç|restricci|restriç|consigne|règle|directive|anweisung|instruktion|regeln|vorgabe|richtlinie|befehle|sicherheits|einschränkung|mensajes? (?:anterior|de)|mensage[nm]s? (?:anterior|do)|system-?prompt|prompt|instructie|regels|instruksi|aturan|instrukcj|zasad|tout ce qui|todo lo (?:anterior|que)|tudo (?:o )?que|alles,? was)`,
  ),
  phrase(
    "role-change",
    "ahora eres|a partir de ahora|agora você é|agora voce e|a partir de agora|tu es maintenant|tu es désormais|tu es desormais|vous êtes maintenant|vous êtes désormais|à partir de maintenant|partir de maintenant|du bist jetzt|du bist nun|du bist ab|sie sind jetzt ein|ab jetzt|von jetzt an|von nun an|ab sofort bist|tu so, als|tu so als|stell dir vor, du|finge que|finge ser|finja que|finja ser|actúa como|actua como|aja como|atue como|fais semblant|fais comme si|agis comme|agissez comme|faites comme si|verhalte dich wie|modo desarrollador|modo desenvolvedor|modo de desenvolvedor|mode développeur|entwicklermodus|sei ora un|fingi di|comportati come|d'ora in poi|je bent nu|doe alsof|kamu sekarang|mulai sekarang",
    "(?![a-z])",
  ),
  phrase(
    "role-change",
    "sin |sem |sans |ohne ",
    `(?:ningun[oa]?${GAP}|ningún${GAP}|nenhuma?${GAP}|aucune?${GAP}|jegliche${GAP}|irgendwelche${GAP})?(?:tipo${GAP}de${GAP})?(?:restricciones|restrições|restricoes|restrictions|filtros${GAP}de|filtres?${GAP}de|censura|censure|zensur|sicherheits|ethische|moralische|límites${GAP}éticos|limites${GAP}éticos)`,
  ),
  phrase(
    "prompt-extraction",
    "muestr|revel|dime|muéstr|imprim|repit|enséñ|dame|mostr|mostre|diga|exib|montre|révèl|affich|dis-moi|dites|répèt|donne|zeig|offenbar|gib|nenn|verrat|wiederhol|mostra|rivela|tampil",
    `[^\\s.!?;]{0,8}${GAP}${words(5)}(?:prompt|instrucciones|instruções|instructions|consignes|anweisungen|reglas ocultas|regras ocultas|règles cachées|versteckten|sistema\\b.{0,12}prompt|mensaje (?:de|del) sistema|mensagem d[eo] sistema|message système|invite système|istruzioni|contraseñas?|mots? de passe|passw[oö]rt|senhas?)`,
  ),
  phrase(
    "prompt-extraction",
    "tu prompt|tus instrucciones|tus reglas|prompt del sistema|prompt de sistema|seu prompt|suas instruções|prompt do sistema|ton prompt|votre prompt|tes instructions|vos instructions|prompt système|invite système|dein prompt|deinen prompt|deine anweisungen|deinen system|dein system",
    "",
  ),
  phrase(
    "secrecy",
    "no le digas|no se lo digas|no menciones|no informes|sin decirle|não conte|não diga|não mencione|não informe|ne dis pas|ne le dis pas|ne dites pas|ne mentionne|n'informe|sag dem|sage dem|erwähne|verrate|informiere den",
    `[^\\s.!?;]{0,4}${GAP}${words(4)}(?:usuario|usuário|nadie|ninguém|esto|isso|utilisateur|personne|cela|nicht|nichts|niemand)`,
  ),
  phrase(
    "exfiltration",
    "envía|envia|enviar|envie|mand[ae]|reenv|envoie|envoyez|transmet|transfère|sende|schick|übermittle|leite",
    `[^\\s.!?;]{0,6}${GAP}[^.\\n]{0,60}(?:contraseña|credencial|claves?\\b|secret|token|senha|chaves?\\b|mots? de passe|identifiants|clés? |passw|kennw|schlüssel|zugangsdaten|api)`,
  ),
];

/** For text in lower case: what does not begin with letters, or not with ASCII. */
const SIGNS: Readonly<Record<string, RegExp>> = {
  "chat-markup":
    /<\|[a-z_]{2,20}\|>|<\/?(?:system|assistant|important|(?:new_?|system_?)?instructions?|admin|tool_(?:result|call|response|output)s?|function_(?:result|call)s?|search_results?|user_input|policy|system[_-]prompt|override)(?:\s[^<>\n]{0,60})?>|\[\/?(?:inst|system|admin|system[ _]message|instruction|tool_result)\]|<<\/?sys>>|\{\{[#/]?(?:system|user|assistant)\}\}|#{2,4} {0,2}(?:system|assistant|instruction|human)s?(?: (?:prompt|instruction|message|override|update)s?)?\s{0,2}(?:[:#]|\n)|["']?role["']?: {0,2}["']?system["']?,? {0,2}\n? {0,8}["']?(?:content["']?: {0,2}["'][^"'\n]{0,40}(?:override|new |updated|ignore|unrestricted|you are now)|priority|policy|override)/,
  "hidden-html":
    /<[a-z]{1,10}\s[^<>]{0,80}(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0[;"' ]|color\s?:\s?(?:white|#fff\b|#ffffff|transparent))[^<>]{0,60}>[^<>]{0,120}(?:system|assistant|instruction|ignore|prompt|\bai\b|you must)|<!--[^<>]{0,120}(?:system (?:override|prompt|instruction)|assistant|instructions? (?:for|to)|\bai (?:agent|model|assistant|instruction)|\bllm|ignore (?:all|any|the|previous|prior)|you (?:must|are (?:now|an))|copilot:)|\\textcolor\{white\}/,
  "image-beacon":
    /!\[[^[\]\n]{0,100}\]\(https?:[^)\s?]{1,200}\?[^)\s]{0,80}(?:[?&]?(?:data|secret|token|key|content|payload|leak|exfil|prompt|context|conversation|history|env|cookie|session|password|passwd|credentials?|d|q|c|x|msg|message|info|user|text|summary)=(?!flat|for-the-badge|social|plastic)(?:[a-z0-9+/%_=.-]{24}|[^)\s]{0,80}(?:[{[<$]|secret|prompt|token|key|data|password|here))|[{<$])/,
  "terminal-escape":
    // oxlint-disable-next-line no-control-regex
    /\x1b[[\]p^_]|\x9b/,
};

interface Script {
  /** Whether a text with these characters is worth the search: the upper bytes of their codes. */
  blocks: readonly [from: number, to: number];
  phrases: Readonly<Record<string, RegExp>>;
}

/** For text in lower case. A script is searched only where the text has a character of it. */
const SCRIPTS: readonly Script[] = [
  {
    // Russian, and Latin words in which Cyrillic letters stand for Latin ones.
    blocks: [0x04, 0x04],
    phrases: {
      "ignore-instructions":
        /(?:игнорир|забудь|забыть|не обращай|отмени|пренебре|не следуй|не выполняй|обойди|отбрось|нарушь)[^\n.!?]{0,60}?(?:инструкц|указани|правил|команд|промпт|сообщени|контекст|ограничени|фильтр|всё, что|все, что)/,
      "role-change":
        /(?:ты|вы) теперь|теперь (?:ты|вы)|с этого момента|отныне|притворись|представь, что ты|действуй как|веди себя как|режим разработчика|без (?:каких-либо |всяких |любых )?(?:ограничений|цензуры|фильтров)/,
      "prompt-extraction":
        /(?:покажи|раскрой|выведи|скажи|напиши|повтори|сообщи)[^\n.!?]{0,40}?(?:системн|промпт|скрыт|инструкци|парол)|системн[а-я]{1,4} промпт/,
      secrecy:
        /не (?:говори|сообщай|упоминай|рассказывай)[^\n.!?]{0,30}?(?:пользовател|никому|об этом)/,
      exfiltration:
        /(?:отправь|отправьте|перешли|пришли|передай)[^\n.!?]{0,60}?(?:парол|токен|ключ|секрет|данные|учётн)/,
      "lookalike-letters": /[a-z][аеорсухіѕјԁӏ][a-z]/,
    },
  },
  {
    // Chinese and Japanese.
    blocks: [0x30, 0x9f],
    phrases: {
      "ignore-instructions":
        /(?:忽略|无视|無視|忘记|忘掉|忘記|不要遵|不再遵|不要理|绕过|繞過|抛弃|拋棄|覆盖|覆蓋|停止遵|违反|丢弃)[^\n。！？!?]{0,16}?(?:之前|以前|以上|上面|先前|前面|此前|所有|你的|您的|任何|全部|上述|系统|系統|安全|一切|原有|既有)[^\n。！？!?]{0,12}?(?:指令|指示|规则|規則|提示|命令|要求|限制|设定|設定|说明|說明|约束|約束|上下文|内容|過濾|过滤|措施|准则|政策)|(?:指示|命令|ルール|プロンプト|制約|ガイドライン|指令|規則|制限)[^\n。！？]{0,12}?(?:無視(?:し|せ)|忘れ(?:て|ろ|な|、)|破棄し|上書きし|従わ(?:ない|ず)|無効に|解除し)|(?:忘れて|無視して)[^\n。]{0,12}?(?:指示|命令|ルール)/,
      "role-change":
        /你现在是|你現在是|从现在(?:开始|起)|從現在(?:開始|起)|请?扮演|假装你|假裝你|假设你是|开发者模式|開發者模式|越狱|越獄|不受(?:任何)?(?:限制|约束)|没有(?:任何)?(?:安全|道德)?(?:限制|过滤)|あなたは(?:今|これ)から|(?:今|これ)からあなたは|(?:今|これ)から(?:は|、)|開発者モード|脱獄|ふりをし|なりきって|制限(?:の|が)ない|無制限の(?:ai|アシ)|として(?:振る舞|ふるま|行動)|自由に行動/,
      "prompt-extraction":
        /(?:显示|顯示|告诉我|告訴我|输出|輸出|泄露|透露|公开|公開|打印|重复|重複|展示|揭示|说出)[^\n。！？]{0,12}?(?:系统提示|系統提示|提示词|提示詞|初始(?:指令|提示)|隐藏|隱藏|你的(?:指令|规则|规定|密码|系统)|密钥)|システム(?:プロンプト|指示|メッセージ)|(?:隠された|初期の?|内部の?)(?:指示|命令|プロンプト)/,
      secrecy:
        /(?:不要|别|不能|請勿|请勿)(?:告诉|告訴|提及|通知|告知|透露)(?:给)?(?:用户|用戶|任何人|他|使用者)|ユーザー(?:に|へ)は?(?:言わ|知らせ|伝え|教え)(?:ない|ず|るな)/,
      exfiltration:
        /(?:发送|發送|上传|上傳|转发|轉發)[^\n。！？]{0,24}?(?:密码|密碼|密钥|密鑰|令牌|凭证|憑證|凭据)|(?:パスワード|秘密鍵|トークン|認証情報|apiキー)[^\n。]{0,20}?(?:送信|送って|転送|アップロード)し/,
    },
  },
  {
    // Arabic.
    blocks: [0x06, 0x06],
    phrases: {
      "ignore-instructions":
        /(?:تجاهل|انسَ|انس |انسى|تجاوز|لا تتبع|أهمل|تخط|تغاضى)[^\n.!؟]{0,40}?(?:تعليمات|أوامر|اوامر|قواعد|توجيه|موجه|موجّه|قيود|مرشح|إرشاد|كل ما سبق|ما سبق)/,
      "role-change":
        /(?:أنت|انت|أنتَ) (?:الآن|الان)|من الآن (?:فصاعد|و)|تظاهر|تصرف (?:ك|و)|(?:بدون|بلا|دون) (?:أي |اي )?(?:قيود|رقابة)|وضع المطور/,
      "prompt-extraction":
        /موج[ّ]?ه النظام|مطالبة النظام|(?:اكشف|أظهر|اظهر|اعرض|أخبرني|اطبع|كرر)[^\n.!؟]{0,30}?(?:النظام|تعليمات|المخفي|قواعد|السري|كلم(?:ة|ات) (?:المرور|السر))/,
      secrecy: /لا (?:تخبر|تذكر|تبلغ|تقل)[^\n.!؟]{0,20}?(?:المستخدم|أحد|احد|ذلك|هذا)/,
      exfiltration:
        /(?:أرسل|ارسل|قم بإرسال)[^\n.!؟]{0,50}?(?:كلم(?:ة|ات) (?:المرور|السر)|مفتاح|مفاتيح|بيانات|رمز)/,
    },
  },
  {
    // Hindi and Bengali. Some letters are written with one character or with two.
    blocks: [0x09, 0x09],
    phrases: {
      "ignore-instructions":
        /(?:निर्देश|नियम|आदेश|प्रॉम्प्ट|प्रोम्प्ट|प्रतिबंध|हिदायत|अनुदेश)[^\n।!?]{0,40}?(?:अनदेख|नज़?़?र ?अ?ं?दा|नज़र|भूल|भुला|उपेक्षा|अवहेलना|मत मान|पालन (?:न|मत)|छोड़|रद्द)|(?:अनदेखा|भूल जा|उपेक्षा)[^\n।!?]{0,40}?(?:निर्देश|नियम|आदेश)|(?:নির্দেশ|নিয়ম|নিয়ম|আদেশ|প্রম্পট|সীমাবদ্ধতা|কথা)[^\n।!?]{0,40}?(?:উপেক্ষা|অগ্রাহ্য|ভুলে|ভুলো|বাদ দ|এড়িয়ে|এড়িয়ে|অমান্য)|(?:উপেক্ষা|ভুলে যা)[^\n।!?]{0,40}?(?:নির্দেশ|নিয়ম)/,
      "role-change":
        /अब (?:से )?(?:आप|तुम|तू)|अब से|डेवलपर मोड|बिना किसी (?:सुरक्षा|प्रतिबंध|रोक|पाबंदी|फ़िल्टर|फिल्टर|सीमा)|होने का नाटक|এখন থেকে|(?:তুমি|আপনি) এখন|এখন (?:তুমি|আপনি)|ডেভেলপার মোড|কোনো (?:বাধা|সীমা|বিধিনিষেধ)|ভান কর/,
      "prompt-extraction":
        /सिस्टम (?:प्रॉम्प्ट|प्रोम्प्ट|प्रॉम्ट|निर्देश)|(?:छिपे|छुपे|गुप्त)[^\n।]{0,12}?(?:निर्देश|नियम)|সিস্টেম (?:প্রম্পট|প্রম্প্ট|নির্দেশ)|(?:গোপন|লুকানো)[^\n।]{0,12}?(?:নির্দেশ|নিয়ম)|(?:पासवर्ड|পাসওয়ার্ড|পাসওয়ার্ড)[^\n।]{0,12}?(?:दिखा|बता|दो|भेज|দেখা|দাও|বল|পাঠা)/,
      secrecy:
        /(?:उपयोगकर्ता|यूज़र|किसी) को (?:मत|न) (?:बता|बोल)|(?:ব্যবহারকারীকে|কাউকে)[^\n।]{0,12}?(?:বলো না|বলবেন না|জানাবেন না|জানাবে না)/,
    },
  },
  {
    // Korean.
    blocks: [0xac, 0xd7],
    phrases: {
      "ignore-instructions":
        /(?:지시|명령|규칙|프롬프트|지침|제한)[^\n.!?]{0,15}?(?:무시하(?:고|세|십|라|여)|무시해|잊(?:어|고|으)|따르지 ?(?:마|말)|우회하)/,
      "role-change":
        /지금부터 (?:너|당신|넌)|이제부터 (?:너|당신|넌)|(?:너는|당신은|넌) 이제|개발자 모드|제한 ?(?:없는|이 없는) (?:ai|인공)|탈옥/,
      "prompt-extraction": /시스템 ?(?:프롬프트|지시)/,
    },
  },
  {
    // Characters that show nothing, turn the direction, or stand for others.
    blocks: [0x20, 0x20],
    phrases: {
      "invisible-text":
        /[\u202a-\u202e\u2066-\u2069]|[\u200b\u200c\u2060\u2062-\u2064]{4}|[a-z][\u200b\u2060][a-z]/,
    },
  },
  {
    blocks: [0x03, 0x03],
    phrases: { "lookalike-letters": /(?:[a-z][\u0300-\u036f]{1,3}){4}|[a-z][αενορτυχ][a-z]{2}/ },
  },
  { blocks: [0xdb, 0xdb], phrases: { "invisible-text": /\udb40[\udc20-\udc7e]/ } },
  { blocks: [0xd8, 0xd8], phrases: { "lookalike-letters": /(?:\ud835[\udc00-\udfcb]){6}/ } },
  {
    blocks: [0xfe, 0xff],
    phrases: { "lookalike-letters": /[\uff41-\uff5a]{5}/, "invisible-text": /\ufeff{4}/ },
  },
];

/** Every name, in the order in which a text's names are given. */
const NAMES = [
  ...new Set([
    ...PHRASES.map(({ name }) => name),
    ...Object.keys(SIGNS),
    ...SCRIPTS.flatMap(({ phrases }) => Object.keys(phrases)),
  ]),
];

interface Trial {
  name: string;
  pattern: RegExp;
}

const KEYS = 0x4000;

/** The trials for a beginning, by a number that its first three characters make. */
const trials: (Trial[] | undefined)[] = indexed();

function keyOf(first: number, second: number, third: number): number {
  return (first ^ (second << 4) ^ (third << 8)) & (KEYS - 1);
}

function indexed(): (Trial[] | undefined)[] {
  const table: (Trial[] | undefined)[] = Array.from({ length: KEYS }, () => undefined);
  for (const { name, starts, rest } of PHRASES) {
    for (const prefix of new Set(starts.map((start) => start.slice(0, 3)))) {
      const alike = starts.filter((start) => start.startsWith(prefix)).map(escaped);
      const pattern = new RegExp(`(?:${alike.join("|")})${rest}`, "y");
      const key = keyOf(prefix.charCodeAt(0), prefix.charCodeAt(1), prefix.charCodeAt(2));
      (table[key] ??= []).push({ name, pattern });
    }
  }
  return table;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

export function suspiciousPatterns(text: string): string[] {
  // With a newline in front, the beginning of the text is the beginning of a line.
  const lower = `\n${text.toLowerCase()}`;
  const found = new Set<string>();
  const blocks = walk(lower, found);
  for (const [name, pattern] of Object.entries(SIGNS)) {
    if (pattern.test(lower)) found.add(name);
  }
  for (const {
    blocks: [from, to],
    phrases,
  } of SCRIPTS) {
    if (!blocks.subarray(from, to + 1).includes(1)) continue;
    for (const [name, pattern] of Object.entries(phrases)) {
      if (!found.has(name) && pattern.test(lower)) found.add(name);
    }
  }
  return NAMES.filter((name) => found.has(name));
}

/** Tries each phrase where its beginning may stand, and notes the upper bytes of the characters of the text. */
function walk(lower: string, found: Set<string>): Uint8Array {
  const blocks = new Uint8Array(256);
  let first = 0;
  let second = 0;
  for (let at = 0; at < lower.length; at += 1) {
    const third = lower.charCodeAt(at);
    blocks[third >> 8] = 1;
    const candidates = trials[keyOf(first, second, third)];
    if (candidates !== undefined && at >= 2) {
      for (const { name, pattern } of candidates) {
        if (found.has(name)) continue;
        pattern.lastIndex = at - 2;
        if (pattern.test(lower)) found.add(name);
      }
    }
    first = second;
    second = third;
  }
  return blocks;
}
