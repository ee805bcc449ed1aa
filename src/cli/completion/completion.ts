// `plugboard completion`: the scripts that make a shell ask `plugboard __complete` what can come next. Names come from
// servers and from files of other people, so no script evaluates what it is answered.

import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { type CompletionRequest, INSTALL, type Shell } from "./command.ts";

/** Works from bash 3.2 on, which has no compopt. What is inserted comes quoted: bash inserts it as it is. */
const BASH = `# Completion of plugboard for bash. To load it: eval "$(plugboard completion bash)"
_plugboard() {
  local kind="" line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$line"); fi
  done < <(command plugboard __complete bash "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
  type compopt &>/dev/null || return 0
  case $kind in
    files) compopt +o nospace -o default ;;
    directories) compopt +o nospace -o dirnames ;;
    commands)
      compopt +o nospace
      while IFS= read -r line; do
        printf -v line %q "$line"
        COMPREPLY+=("$line")
      done < <(compgen -c -- "$2")
      ;;
  esac
}
if type compopt &>/dev/null; then
  complete -o nospace -F _plugboard plugboard
else
  complete -o nospace -o default -F _plugboard plugboard
fi
`;

const ZSH = `#compdef plugboard
# Completion of plugboard for zsh. To load it: source <(plugboard completion zsh)
_plugboard() {
  local kind="" line value about
  local -a before ends goes_on ends_shown goes_on_shown rows
  if (( CURRENT > 2 )); then before=("\${(@Q)words[2,CURRENT-1]}"); fi
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
      continue
    fi
    value=\${line%%$'\\t'*}
    about=\${line#*$'\\t'}
    if [[ -n $about ]]; then
      about="\${(r:28:)value} $about"
      rows=(-l)
    else
      about=$value
    fi
    about=\${about[1,COLUMNS-1]}
    if [[ $value == *[=/] ]]; then
      goes_on+=("$value")
      goes_on_shown+=("$about")
    else
      ends+=("$value")
      ends_shown+=("$about")
    fi
  done < <(command plugboard __complete zsh "\${before[@]}" "\${(Q)PREFIX}" 2>/dev/null)
  case $kind in
    files) _files ;;
    directories) _files -/ ;;
    commands) _command_names -e ;;
    *)
      compadd $rows -d goes_on_shown -S '' -a -- goes_on
      compadd $rows -d ends_shown -a -- ends
      ;;
  esac
}
if (( ! $+functions[compdef] )); then
  autoload -Uz compinit && compinit -i
fi
if [[ "\${funcstack[1]}" == _plugboard ]]; then
  _plugboard "$@"
else
  compdef _plugboard plugboard
fi
`;

const FISH = `# Completion of plugboard for fish. To load it: plugboard completion fish | source
function __plugboard_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command plugboard __complete fish $words[2..-1] (string unescape -- $current; or echo -- $current) 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path $current
        case directories
            __fish_complete_directories $current
        case commands
            __fish_complete_command
        case '*'
            printf '%s\\n' $lines[2..-1]
    end
end
complete -c plugboard -f -a '(__plugboard_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

export function runCompletion(
  { shell }: CompletionRequest,
  { screen }: Pick<CliContext, "screen">,
): number {
  screen.out(SCRIPTS[shell]);
  if (screen.terminal.out.isTerminal) {
    screen.note("This is the script. To have it in every new shell, run once:");
    screen.note(`  ${INSTALL[shell]}`);
  }
  return EXIT.ok;
}
