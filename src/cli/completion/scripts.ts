/** What the shells load: each asks the program itself for candidates, so that the scripts need no change with the commands. */

/** Splits at "=" and ":" by itself, so the line is split again, and what stands before them is taken off the candidates. */
const bash = String.raw`# bash completion of snapkeep: source <(snapkeep completion bash)
_snapkeep() {
  local line="\${COMP_LINE:0:COMP_POINT}" words answer directive current candidate
  read -ra words <<< "$line"
  [[ $line == *" " ]] && words+=("")
  current="\${words[-1]}"
  answer=$("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null) || return
  directive="\${answer##*:}"
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    [[ $candidate == :* || -z $candidate ]] && continue
    [[ $current == *=* && $candidate == *=* ]] && candidate="\${candidate#*=}"
    COMPREPLY+=("$candidate")
  done <<< "$answer"
  (( directive & 2 )) && compopt -o nospace 2>/dev/null
  (( directive & 4 )) || compopt -o default 2>/dev/null
  return 0
}
complete -F _snapkeep snapkeep
`;

const zsh = String.raw`#compdef snapkeep
# zsh completion of snapkeep: source <(snapkeep completion zsh)
_snapkeep() {
  local -a lines names
  local answer directive line
  answer=$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null) || return
  directive="\${answer##*:}"
  lines=("\${(@f)answer}")
  for line in "\${(@)lines[1,-2]}"; do names+=("\${line%%$'\t'*}"); done
  if (( directive & 2 )); then compadd -S '' -a names; else compadd -a names; fi
  (( \${#names} == 0 && !(directive & 4) )) && _files
  return 0
}
compdef _snapkeep snapkeep
`;

const fish = String.raw`# fish completion of snapkeep: snapkeep completion fish | source
function __snapkeep_complete
    set -l words (commandline -opc)
    set -l answer ($words[1] __complete $words[2..] (commandline -ct) 2>/dev/null)
    or return
    set -l directive (string replace ':' '' -- $answer[-1])
    set -e answer[-1]
    printf '%s\n' $answer
    if test (math "$directive % 8") -lt 4
        __fish_complete_path (commandline -ct)
    end
end
complete -c snapkeep -f -a '(__snapkeep_complete)'
`;

/** In the sources above a backslash keeps JavaScript from reading what the shell is to read. */
const shellText = (source: string): string => source.replaceAll("\\${", "${");

export const shellScripts = { bash: shellText(bash), zsh: shellText(zsh), fish: shellText(fish) } as const;
export type Shell = keyof typeof shellScripts;
export const shells = Object.keys(shellScripts) as readonly Shell[];
