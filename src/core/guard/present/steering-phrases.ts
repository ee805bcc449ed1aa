// The phrases with which texts try to steer a model, in the languages of most attempts. suspicious.ts searches for them.
// Every quantifier is bounded, and no two quantifiers next to each other can match the same character: the search must
// stay linear in the text.

/** Up to `most` words of one sentence, with what separates them. */
const words = (most: number): string => String.raw`(?:[^\s.!?;]{1,24}\s{1,4}){0,${most}}`;

/** One of several words, at most so many characters later in the sentence. */
const within = (most: number, one: string): string => `[^\\n.!?。！？।؟]{0,${most}}?(?:${one})`;

const GAP = String.raw`\s{1,4}`;

const ORDERS = "(?:instruction|prompt|rule|guideline|directi)";
const LIMITS =
  "(?:instruction|prompt|rule|guideline|directi|polic|restriction|constraint|guard-?rail|safeguard|programming|training|limitation|filter|protocol|alignment|moderation|safety|ethic|setting|configuration|command|context|message|conversation)";
const BOUNDS =
  "(?:restriction|filter|limit|censor|guideline|constraint|boundar|moral|ethic|rules|safe|polic)";
const OF_BEFORE =
  "(?:previous|prior|above|earlier|preceding|your|safety|ethical|moral|content|openai|anthropic)";
const OF_THE_SYSTEM =
  "(?:system|initial|initialization|hidden|original|internal|secret|developer|underlying|pre-?set|confidential)";

const TO_WHOM = `(?:the${GAP}|this|it\\b|that|any|your|them|him|her|about|to${GAP}|user|being|you|first|for${GAP}(?:permission|confirm|approval))`;

/** What is done with a tool, and what must follow. */
const USING = `(?:you${GAP})?(?:use|using|call|calling|invok|answer|respond|do|doing)[a-z]{0,4}${GAP}`;
const A_TOOL = `(?:tools?|else|functions?|question)\\b[^.\\n]{0,40}(?:you${GAP}must|always|first|read|store|send|call)`;

interface Phrase {
  name: string;
  /** One of these begins the phrase. Its first four characters are ASCII; if it has three, a blank follows. */
  starts: readonly string[];
  /** What must follow. */
  rest: string;
}

function phrase(name: string, starts: string | readonly string[], rest: string): Phrase {
  return { name, starts: typeof starts === "string" ? starts.split("|") : starts, rest };
}

/** For text in lower case that begins with a newline. */
export const PHRASES: readonly Phrase[] = [
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
    `(?:e|es|ing)?${GAP}(?:all${GAP}|any${GAP}|the${GAP})?(?:guard-?rails|(?<!ing${GAP})safety|restrictions|content${GAP}filter)`,
  ),
  phrase(
    "ignore-instructions",
    "previous|prior|above|earlier|safety|ethical|all restrictions|all your|instructions you",
    `${GAP}${words(2)}(?:instruct|rule|guideline|restriction|prompt|directi|filter|constraint|polic|training|you${GAP})[^\\s.!?;]{0,12}${GAP}${words(5)}(?:deprecated|void|incorrect|invalid|obsolete|lifted|suspended|reversed|cancell?ed|supersed|removed|null|false|(?:do${GAP}not|don['’]t|no${GAP}longer)${GAP}(?:apply|exist))`,
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
    `${GAP}mode\\s{0,4}(?:enabled|activated|on\\b|and|[.,!:;"')]|$)`,
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
    "want you to act|must act as|will act as|roleplay as|role-play as|role play as|roleplay where|play the role of|take on the role|into the role of|stay in character|break character|in the role of|simulate being|simulate an ai|simulate a chatbot|transform into an|if you were dan|replaced by the",
    "\\b",
  ),
  phrase(
    "role-change",
    "opposite day|do anything now|jailbroken|[jailbreak]|uncensored|nonmoral|non-moral|amoral|anti-gpt|antigpt|evil ai|alter ego|broken free|breaking free|strive to avoid norms",
    "",
  ),
  phrase(
    "role-change",
    "unfiltered",
    `(?!${GAP}(?:responses?${GAP}(?:are|include|is)|lists?|results?|quer))`,
  ),
  phrase(
    "role-change",
    "unrestricted",
    `${GAP}(?:ai|assistant|model|chatbot|access|zone|version|llm|agent)\\b`,
  ),
  phrase(
    "role-change",
    "without|have no|has no|with no|zero|free of|free from|liberated from|freed from|not bound by|restricted by|not confined by|regardless of",
    `${GAP}(?:all|any|the|its|your|further|concern${GAP}for)?\\s{0,4}(?:ethic|moral|content|safety|censor|openai|legal|guardrail)[a-z]{0,6}[\\s,/]{1,4}${words(3)}${BOUNDS}`,
  ),
  phrase(
    "role-change",
    "answer|respond|reply|comply|acts|act |operat|speak|generat|outputs|does",
    `[a-z]{0,6}${GAP}${words(6)}(?:without|no|not${GAP}have)${GAP}(?:any${GAP}|all${GAP}|a${GAP})?(?:ethical${GAP}|moral${GAP}|safety${GAP}|content${GAP})?(?:restriction|filter|limitation|censor|guideline|refus|hesitat|disclaimer|warning)`,
  ),
  phrase(
    "role-change",
    "ai that|ai with|ai who|ai has|an ai|ai model|ai from|character|assistant|chatbot|bot that|bot with|model named|model that|model with",
    `${words(5)}(?:no|without|free${GAP}of|beyond)${GAP}(?:any${GAP}|all${GAP}|absolutely${GAP})?(?:ethical|moral|safety|content|restriction|filters|rules|limitations|limits|censor)`,
  ),
  phrase(
    "role-change",
    "hypothetical|thought experiment|fictional|alternate universe|simulation|world where|scenario where|imagine you|imagine that you|suppose you|let's say hypothetically",
    `[a-z']{0,4}[\\s,:]{1,4}${words(8)}(?:you${GAP}(?:had|were|have|could|can)${GAP}no\\b|an?${GAP}ai\\b|restriction|ethic|safety|guideline|rules|filters|your${GAP}|unrestricted)`,
  ),
  phrase(
    "role-change",
    "without any safety|without any ethical|without any moral|without ethical|without moral|without censorship|with no filters|with no restrictions|with no ethical|no ethical|no moral|let's play a game|bypass security|ignores all|no longer bound",
    "\\b",
  ),
  phrase("role-change", "for educational purposes|purely hypothetical|with no real-world", "\\b"),
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
    `[a-z]{0,4}${GAP}${words(4)}(?:your|were|everything|text)${GAP}(?:(?:full|complete|entire|exact|own)${GAP})?(?:instruction|prompt|rules|guideline|programming|restriction|constraint|directive|given|told|above)`,
  ),
  phrase(
    "prompt-extraction",
    "everything above|text above this|words above|instructions you were given|instructions you received|instructions above|were you told|you were told|rules that govern|what tools are available to you",
    "\\b",
  ),
  phrase(
    "addressed-to-a-model",
    "attention|instruction|instructions|note|notes|message|important|notice|reminder|directive|hint",
    `[\\s:]{1,4}(?:for|to)?[\\s:]{0,4}(?:all${GAP}|any${GAP}|the${GAP}|our${GAP})?(?:ai|a\\.i\\.|llms?|language${GAP}models?|chat-?gpt|claude|gemini|gpt|copilot)\\b(?:${GAP}(?:agent|assistant|model|reader|code|system|review|summar|bot|crawl|tool)|\\s{0,2}[:,\\]!]|s\\b)`,
  ),
  phrase(
    "addressed-to-a-model",
    "if you are a|if you're a|when you are a",
    `n?${GAP}${words(1)}(?:ai|llm|language|assistant|agent|bot|model|chatbot)\\b`,
  ),
  phrase(
    "role-change",
    "as an ai",
    `${GAP}${words(1)}(?:ai|llm|language|assistant|agent|bot|model|chatbot)\\b`,
  ),
  phrase(
    "addressed-to-a-model",
    "ai assistant|ai agent|ai model|llms|llm agent|language model|ai system|ai instruction",
    `s?(?:${GAP}(?:reading|must|should|processing|summari|parsing|that${GAP}read|who${GAP}read)|:)`,
  ),
  phrase(
    "role-change",
    "hi ai|hello ai|hey ai|hi chatgpt|hello chatgpt|hey chatgpt|dear ai|dear assistant|dear llm|hi gpt|hello gpt|hello, chatgpt|hi, chatgpt",
    "\\b",
  ),
  phrase(
    "claimed-authority",
    "i am |i'm the|i'm your|i’m the|i’m your|i'm over|i'm auth|this is |as the|as your|as an ",
    `(?:the|your|an?|from${GAP}(?:the|your)|overriding|authorizing)${GAP}${words(3)}(?:developer|creator|system${GAP}admin[a-z]{0,10}|openai|anthropic|safety${GAP}team|security${GAP}audit|penetration${GAP}test[a-z]{0,3}|authori[sz]ed${GAP}[a-z]{1,12}|admin|administrator|senior${GAP}engineer|life${GAP}or${GAP}death)[\\s,.]{1,3}(?:who|of|and|i${GAP}|i['’]m|temporarily|you|we|for|authori|test|audit|team|message|at|from|safety|disable|on|speaking|mode|override)`,
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
    `${GAP}(?:tell|inform|mention|notify|alert|reveal)(?:ing)?${GAP}${TO_WHOM}`,
  ),
  phrase("unasked", "do not|don't|don’t|dont|never|without", `${GAP}ask(?:ing)?${GAP}${TO_WHOM}`),
  phrase(
    "exfiltration",
    "send|post|upload|forward|exfiltrat|leak|email|e-mail|transmit|embed|deliver|smuggl",
    `(?:s|e|ing)?\\b[^.\\n]{0,60}(?:passw|secret|token|api.?key|credential|\\.ssh|\\.env\\b|private.?key|environment${GAP}variable|connection${GAP}string|conversation|chat${GAP}history|sensitive|personal${GAP}data|user${GAP}data|all${GAP}(?:user|files|data|emails))[^\\n]{0,50}(?:\\bto${GAP}(?:me\\b|http|[a-z0-9._-]{1,40}@|an?${GAP}|the${GAP}(?:following|attacker|external)|external|this${GAP}(?:url|address|server|endpoint)|attacker|evil)|https?:|webhook|external|query${GAP}string|hidden|markdown${GAP}(?:image|link)|in${GAP}the${GAP}url)`,
  ),
  phrase(
    "exfiltration",
    "send|upload|forward|exfiltrat|leak|email|transmit|read|cat|print|dump|reveal|show|give me",
    `(?:s|e|ing)?${GAP}${words(5)}(?:~/\\.ssh|~/\\.aws|~/\\.env|id_rsa|\\.ssh\\b|/etc/passwd|/etc/shadow|(?:every|all|any)${GAP}${words(2)}(?:api.?keys?|passwords?|secrets?|credentials?|tokens?))`,
  ),
  phrase(
    "exfiltration",
    "include|append|embed|put the|encode|paste|output|send this",
    `[a-z]{0,3}${GAP}${words(4)}(?:user|sensitive|secret|credential|api|environment|password|token|private|data)[^.\\n]{0,60}(?:markdown${GAP}(?:image|link)|hidden|external|query${GAP}string|webhook|in${GAP}the${GAP}url)`,
  ),
  phrase(
    "tool-steering",
    "before |when |whenever |after |instead of ",
    `${USING}(?:any|anything|a|another|every|each|other)${GAP}${words(2)}${A_TOOL}`,
  ),
  phrase("tool-steering", "run the most privileged|call it now", "\\b"),
  phrase(
    "tool-usage",
    "before |when |whenever |after |instead of ",
    `${USING}(?:this|the)${GAP}${words(2)}${A_TOOL}`,
  ),
  phrase(
    "tool-usage",
    "call this tool|long-term memory|store this as|remember this for|for future sessions",
    "\\b",
  ),
  phrase(
    "payload-in-parts",
    "decode|reassembl|read in reverse|reverse this|read the first letter|base64|hex string|rot13",
    `[a-z]{0,4}\\b[^\\n]{0,80}(?:execute|follow|obey|comply|respond|act${GAP}on|carry${GAP}out|perform|fragments${GAP}above|instruction)`,
  ),
  phrase(
    "payload-in-parts",
    "combine|concatenat|merge|join",
    `[a-z]{0,4}\\b(?!${GAP}(?:request|commit)s?\\b)[^\\n]{0,80}\\b(?:execute|follow(?!ing)|obey|comply|respond|act${GAP}on|carry${GAP}out|fragments${GAP}above|instruction)`,
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
    "ignor|olvid|descart|desestim|haz caso omiso|no sigas|no obede|omit|esqueç|esquec|desconsider|desobede|oubli|ne tiens pas compte|ne tenez pas compte|ne suis pas|ne suivez pas|faites abstraction|fais abstraction|vergiss|vergesst|vergessen sie|missacht|umgeh|dimentic|negeer|vergeet|abaikan|lupakan|zignoruj|zapomnij",
    `[^\\s.!?;]{0,8}${GAP}${words(5)}(?:instruc|instruç|istruzion|regla|regra|regole|reglas|directri|diretri|indicaci|órdenes|ordens|comandos|orientaç|restricci|restriç|consigne|règle|directive|anweisung|instruktion|regeln|vorgabe|richtlinie|befehle|sicherheits|einschränkung|mensajes? (?:anterior|de)|mensage[nm]s? (?:anterior|do)|system-?prompt|prompt|instructie|regels|instruksi|aturan|instrukcj|zasad|tout ce qu|tutto|todas esas|todo lo (?:anterior|que)|tudo (?:o )?que|alles,? was)`,
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
  // Russian.
  phrase(
    "ignore-instructions",
    "игнорир|проигнорир|забудь|забыть|не обращай|отмени|пренебре|не следуй|не выполняй|обойди|отбрось|нарушь",
    within(
      60,
      "инструкц|указани|правил|команд|промпт|сообщени|контекст|ограничени|фильтр|всё, что|все, что",
    ),
  ),
  phrase(
    "role-change",
    "ты теперь|вы теперь|теперь ты|теперь вы|с этого момента|отныне|притворись|представь, что ты|действуй как|веди себя как|режим разработчика|без ограничений|без каких-либо ограничений|без цензуры|без фильтров",
    "",
  ),
  phrase(
    "prompt-extraction",
    "покажи|раскрой|выведи|скажи|напиши|повтори|сообщи|каков|назови",
    within(40, "системн|промпт|скрыт|инструкци|парол|секретн"),
  ),
  phrase(
    "secrecy",
    "не говори|не сообщай|не упоминай|не рассказывай",
    within(30, "пользовател|никому|об этом"),
  ),
  phrase(
    "exfiltration",
    "отправь|перешли|пришли|передай",
    within(60, "парол|токен|ключ|секрет|данные|учётн"),
  ),

  // Chinese.
  phrase(
    "ignore-instructions",
    "忽略|无视|無視|忘记|忘掉|忘記|不要遵|不再遵|不要理|绕过|繞過|抛弃|拋棄|覆盖|覆蓋|停止遵|违反|丢弃",
    within(
      16,
      "之前|以前|以上|上面|先前|前面|此前|所有|你的|您的|任何|全部|上述|系统|系統|安全|一切|原有|既有",
    ) +
      within(
        12,
        "指令|指示|规则|規則|提示|命令|要求|限制|设定|設定|说明|說明|约束|約束|上下文|内容|過濾|过滤|措施|准则|政策",
      ),
  ),
  phrase(
    "role-change",
    "你现在是|你現在是|从现在开始|从现在起|從現在開始|從現在起|扮演|假装你|假裝你|假设你是|开发者模式|開發者模式|越狱|越獄|不受限制|不受任何限制|不受约束|没有任何限制|没有限制的|没有任何安全|没有道德",
    "",
  ),
  phrase(
    "prompt-extraction",
    "显示|顯示|告诉我|告訴我|输出|輸出|泄露|透露|公开|公開|打印|重复|重複|展示|揭示|说出",
    within(
      12,
      "系统提示|系統提示|提示词|提示詞|初始指令|初始提示|隐藏|隱藏|你的指令|你的规则|你的规定|你的密码|你的系统|密钥",
    ),
  ),
  phrase(
    "secrecy",
    "不要告诉|不要告訴|不要提及|不要通知|别告诉|请勿告诉|请勿透露",
    "(?:用户|用戶|任何人|他|使用者)",
  ),
  phrase(
    "exfiltration",
    "发送|發送|上传|上傳|转发|轉發",
    within(24, "密码|密碼|密钥|密鑰|令牌|凭证|憑證|凭据"),
  ),

  // Japanese.
  phrase(
    "ignore-instructions",
    "指示|命令|ルール|プロンプト|制約|ガイドライン|指令|規則|制限",
    within(
      12,
      "無視し|無視せ|忘れて|忘れろ|忘れな|忘れ、|破棄し|上書きし|従わない|従わず|無効に|解除し",
    ),
  ),
  phrase(
    "role-change",
    "あなたは今から|あなたはこれから|今からあなたは|これからあなたは|開発者モード|脱獄|ふりをし|なりきって|制限のない|制限がない|無制限の|として振る舞|として行動|自由に行動",
    "",
  ),
  phrase(
    "prompt-extraction",
    "システムプロンプト|システム指示|隠された指示|初期の指示|内部の指示|初期プロンプト",
    "",
  ),
  phrase(
    "secrecy",
    "ユーザーに",
    within(8, "言わない|言わず|知らせない|知らせず|伝えない|教えない"),
  ),
  phrase(
    "exfiltration",
    "パスワード|秘密鍵|トークン|認証情報",
    within(20, "送信し|送って|転送し|アップロードし|教えて"),
  ),

  // Arabic.
  phrase(
    "ignore-instructions",
    "تجاهل|انسَ |انس كل|انس جميع|انسى|تجاوز|لا تتبع|أهمل|تخط|تغاض",
    within(40, "تعليمات|أوامر|اوامر|قواعد|توجيه|موجه|موجّه|قيود|مرشح|إرشاد|ما سبق"),
  ),
  phrase(
    "role-change",
    "أنت الآن|انت الآن|انت الان|أنت الان|من الآن فصاعد|تظاهر|تصرف ك|بدون قيود|بدون أي قيود|بلا قيود|بلا أي قيود|وضع المطور",
    "",
  ),
  phrase("prompt-extraction", "موجه النظام|موجّه النظام|مطالبة النظام", ""),
  phrase(
    "prompt-extraction",
    "اكشف|أظهر|اظهر|اعرض|أخبرني|اطبع|كرر|ما هي|ما هو",
    within(30, "النظام|تعليمات|المخفي|قواعدك|السري|كلمة المرور|كلمات المرور|كلمة السر"),
  ),
  phrase("secrecy", "لا تخبر|لا تذكر|لا تبلغ", within(20, "المستخدم|أحد|احد|ذلك|هذا")),
  phrase(
    "exfiltration",
    "أرسل|ارسل|قم بإرسال",
    within(50, "كلمة المرور|كلمات المرور|كلمة السر|مفتاح|مفاتيح|بيانات|رمز"),
  ),

  // Hindi and Bengali. Some letters are written with one character or with two.
  phrase(
    "ignore-instructions",
    "निर्देश|नियम|आदेश|प्रॉम्प्ट|प्रोम्प्ट|प्रतिबंध|हिदायत|अनुदेश",
    within(40, "अनदेख|नज़र|नजर|नज\u093cर|भूल|भुला|उपेक्षा|अवहेलना|मत मान|पालन न|पालन मत|छोड़|रद्द|ध्यान न"),
  ),
  phrase("ignore-instructions", "अनदेखा|भूल जा|उपेक्षा", within(40, "निर्देश|नियम|आदेश")),
  phrase(
    "role-change",
    "अब से|अब आप|अब तुम|डेवलपर मोड|बिना किसी सुरक्षा|बिना किसी प्रतिबंध|बिना किसी रोक|बिना किसी पाबंदी|होने का नाटक",
    "",
  ),
  phrase(
    "prompt-extraction",
    "सिस्टम प्रॉम्प्ट|सिस्टम प्रोम्प्ट|सिस्टम निर्देश|छिपे हुए निर्देश|छिपे हुए नियम|गुप्त निर्देश",
    "",
  ),
  phrase("prompt-extraction", "पासवर्ड|गुप्त कुंजी|गुप्त", within(24, "दिखा|बता|दो|भेज|क्या है")),
  phrase("secrecy", "उपयोगकर्ता को मत|उपयोगकर्ता को न|किसी को मत|किसी को न", ""),
  phrase(
    "ignore-instructions",
    "নির্দেশ|নিয়ম|নিয়ম|আদেশ|প্রম্পট|সীমাবদ্ধতা",
    within(40, "উপেক্ষা|অগ্রাহ্য|ভুলে|ভুলো|বাদ দ|এড়িয়ে|এড়িয়ে|অমান্য"),
  ),
  phrase("ignore-instructions", "উপেক্ষা|ভুলে যা", within(40, "নির্দেশ|নিয়ম|নিয়ম")),
  phrase(
    "role-change",
    "এখন থেকে|তুমি এখন|আপনি এখন|এখন তুমি|এখন আপনি|ডেভেলপার মোড|কোনো বাধা|কোনো বিধিনিষেধ",
    "",
  ),
  phrase(
    "prompt-extraction",
    "সিস্টেম প্রম্পট|সিস্টেম প্রম্প্ট|সিস্টেম নির্দেশ|গোপন নির্দেশ|লুকানো নির্দেশ",
    "",
  ),
  phrase("prompt-extraction", "পাসওয়ার্ড|পাসওয়ার্ড|গোপন", within(24, "দেখা|দাও|বল|পাঠা|কি\\?|কী\\?")),
  phrase("secrecy", "ব্যবহারকারীকে|কাউকে", within(12, "বলো না|বলবেন না|জানাবেন না|জানাবে না")),

  // Korean.
  phrase(
    "ignore-instructions",
    "지시|명령|규칙|프롬프트|지침|제한",
    within(
      15,
      "무시하고|무시하세|무시하십|무시하라|무시해|잊어|잊고|잊으|따르지 마|따르지 말|우회하",
    ),
  ),
  phrase(
    "role-change",
    "지금부터 너|지금부터 당신|이제부터 너|이제부터 당신|너는 이제|당신은 이제|개발자 모드|제한 없는 ai|탈옥",
    "",
  ),
  phrase("prompt-extraction", "시스템 프롬프트|시스템프롬프트", ""),

  // Markup around turns, calls and results, and text that is not shown.
  phrase(
    "chat-markup",
    [
      "im_",
      "start",
      "end",
      "eot",
      "begin",
      "system",
      "user",
      "assistant",
      "tool",
      "call",
      "return",
      "channel",
      "message",
    ].map((token) => `<|${token}`),
    String.raw`[a-z_]{0,20}\|>`,
  ),
  phrase(
    "chat-markup",
    [
      "system",
      "assistant",
      "important",
      "new_instruction",
      "admin",
      "tool_result",
      "tool_call",
      "tool_response",
      "tool_output",
      "function_result",
      "function_call",
      "search_result",
      "system_prompt",
      "system-prompt",
      "user_input",
      "policy",
      "override",
    ].flatMap((tag) => [`<${tag}`, `</${tag}`]),
    String.raw`s?(?:\s[^<>\n]{0,60})?>`,
  ),
  phrase("instruction-markup", "<instruction|</instruction", String.raw`s?(?:\s[^<>\n]{0,60})?>`),
  phrase(
    "chat-markup",
    "[inst]|[/inst]|[system]|[/system]|[admin]|[system message]|[system_message]|[instruction]|[tool_result]|<<sys>>|<</sys>>|{{system}}|{{#system}}|{{/system}}|{{user}}|{{assistant}}",
    "",
  ),
  phrase(
    "chat-markup",
    "## system|### system|##system|###system|### instruction|###instruction|### assistant|### human|## assistant|## human",
    String.raw`s?(?: (?:prompt|instruction|message|override|update)s?)?\s{0,2}(?:[:#]|\n)`,
  ),
  phrase(
    "chat-markup",
    `role": "system|role":"system|role: system|role: "system|role: 'system|'role': 'system`,
    String.raw`["']?,?\s{0,4}["']?(?:content["']?: {0,2}["'][^"'\n]{0,40}(?:override|new |updated|ignore|unrestricted|you are now)|priority|policy|override)`,
  ),
  phrase(
    "hidden-html",
    "style=",
    String.raw`["'][^"'<>]{0,80}(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0[;"' ]|color\s?:\s?(?:white|#fff\b|#ffffff|transparent))[^<>]{0,60}>[^<>]{0,120}(?:system|assistant|instruction|ignore|prompt|\bai\b|you must)`,
  ),
  phrase(
    "hidden-html",
    "<!--",
    String.raw`[^<>]{0,120}(?:system (?:override|prompt|instruction)|assistant|instructions? (?:for|to)|\bai (?:agent|model|assistant|instruction)|\bllm|ignore (?:all|any|the|previous|prior)|you (?:must|are (?:now|an))|copilot:)`,
  ),
  phrase("hidden-html", String.raw`\textcolor{white}`, ""),
];
