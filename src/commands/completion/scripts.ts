/** The shells that words are completed in. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** What stands instead of candidates where the shell is to offer files, or folders. */
export const FILES = ":file";
export const FOLDERS = ":folder";

/**
 * What makes a shell complete the words behind `name`: it asks the program itself, called by the words `call`, for what may
 * stand there, so that it is true also of the next version.
 */
export function completionScript(shell: (typeof SHELLS)[number], name: string, call: string): string {
  const ask = `${call} completion --words --`;
  switch (shell) {
    case "bash":
      return bash(name, ask);
    case "zsh":
      return zsh(name, ask);
    case "fish":
      return fish(name, ask);
  }
}

// Nothing of what the program answers is ever evaluated: neither `compgen -W` nor an unquoted word sees it.

const bash = (
  name: string,
  ask: string,
): string => `# bash completion for ${name}: source it, or eval "$(${name} completion bash)"
_agent_bridge() {
  local line cur=\${COMP_WORDS[COMP_CWORD]} paths
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      ${FILES}) paths=(default -f) ;;
      ${FOLDERS}) paths=(dirnames -d) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(${ask} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  # The bash of macOS has no compopt.
  if [[ -z $paths ]] || compopt -o "$paths" 2>/dev/null; then return 0; fi
  [[ $cur == = ]] && cur=
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "\${paths[1]}" -- "$cur")
}
complete -F _agent_bridge ${name}
`;

const zsh = (name: string, ask: string): string => `#compdef ${name}
# zsh completion for ${name}: eval "$(${name} completion zsh)", or a file _${name} in a folder of $fpath
_agent_bridge() {
  local line value about
  local -a shown
  while IFS= read -r line; do
    case $line in
      ${FILES}) compset -P '--*='; _files; return ;;
      ${FOLDERS}) compset -P '--*='; _files -/; return ;;
    esac
    value=\${line%%$'\\t'*} about=\${line#*$'\\t'}
    shown+=("$value:$about")
  done < <(${ask} "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#shown )) && _describe -V word shown
}
if [[ $funcstack[1] == _${name} ]]; then _agent_bridge "$@"; else compdef _agent_bridge ${name}; fi
`;

const fish = (name: string, ask: string): string => `# fish completion for ${name}: ${name} completion fish | source
function __agent_bridge_words
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -e words[1]
    set -l ask ${ask}
    # What is not there any more fish tells with a trace, wherever its errors go.
    type -q $ask[1]; or return
    for line in ($ask $words "$current" 2>/dev/null)
        set -l before (string match -r -- '^--[^=]*=' "$current")
        set -l path (string replace -r -- '^--[^=]*=' '' "$current")
        set -l shown "$line"
        test "$line" = ${FILES}; and set shown "$before"(__fish_complete_path "$path")
        test "$line" = ${FOLDERS}; and set shown "$before"(__fish_complete_directories "$path" '')
        set -q shown[1]; and printf '%s\\n' $shown
    end
end
complete -c ${name} -f -k -a '(__agent_bridge_words)'
`;
