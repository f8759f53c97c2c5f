// `politely completion`: prints a script that completes commands, flags and their values in a shell.
import type { Arguments, CommandSpec, Flag } from '../../command-line.ts'
import { COMMON_FLAGS } from '../../command-line.ts'
import { UsageError } from '../../errors.ts'
import { EXITS } from '../../exit-code.ts'
import { write } from '../../output/write.ts'

/** Returns the exit code. */
export async function completion(args: Arguments, commands: readonly CommandSpec[]): Promise<number> {
  const [shell = ''] = args.operands
  if (!Object.hasOwn(SCRIPTS, shell)) {
    const problem = shell === '' ? 'no shell was given' : `${JSON.stringify(shell)} is not known`
    throw new UsageError(`${problem}; write one of ${Object.keys(SCRIPTS).join(', ')}`, shell || undefined)
  }
  await write(SCRIPTS[shell as keyof typeof SCRIPTS](commands))
  return EXITS.success.code
}

const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name).join(' ')
const flagsOf = ({ flags }: CommandSpec): readonly Flag[] => [...flags, ...COMMON_FLAGS]
const longFlags = (spec: CommandSpec) =>
  flagsOf(spec)
    .map(({ name }) => `--${name}`)
    .join(' ')

/** All flags with fixed values, once each. */
function choicesIn(specs: readonly CommandSpec[]): readonly (readonly [flag: string, choices: readonly string[]])[] {
  const all = specs.flatMap(({ flags }) => flags)
  return all.flatMap(({ name, choices, isValueOptional }) =>
    choices === undefined || isValueOptional ? [] : [[name, choices] as const],
  )
}

const SCRIPTS = {
  bash: (specs: readonly CommandSpec[]) => `# politely completion bash > /etc/bash_completion.d/politely
_politely() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} words=""
  case "\${COMP_WORDS[1]} $previous" in
${specs.flatMap((spec) => choicesIn([spec]).map(([flag, choices]) => `    "${spec.name} --${flag}") words="${choices.join(' ')}" ;;`)).join('\n')}
  esac
  if [ -z "$words" ]; then
    case "$COMP_CWORD \${COMP_WORDS[1]}" in
      "1 "*) words="${names(specs)} --help --version" ;;
${specs.map((spec) => `      *" ${spec.name}") [[ $current == -* ]] && words="${longFlags(spec)}" ;;`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _politely politely
`,
  zsh: (specs: readonly CommandSpec[]) => `#compdef politely
# politely completion zsh > "\${fpath[1]}/_politely"
_politely() {
  local -a commands
  commands=(${specs.map(({ name, summary }) => quote(`${name}:${summary}`)).join(' ')})
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  case $words[2] in
${specs.map((spec) => `    ${spec.name}) _arguments ${flagsOf(spec).map(zshFlag).join(' ')} '*:file:_files' ;;`).join('\n')}
  esac
}
compdef _politely politely
`,
  fish: (specs: readonly CommandSpec[]) => `# politely completion fish > ~/.config/fish/completions/politely.fish
${specs
  .flatMap((spec) => [
    `complete -c politely -n __fish_use_subcommand -a ${spec.name} -d ${quote(spec.summary)}`,
    ...flagsOf(spec).map(({ name, value, text, choices, isValueOptional }) => {
      const isRequired = value !== undefined && !isValueOptional
      const values =
        isRequired && choices !== undefined ? ` -x -a ${quote(choices.join(' '))}` : isRequired ? ' -r' : ''
      return `complete -c politely -n '__fish_seen_subcommand_from ${spec.name}' -l ${name}${values} -d ${quote(text)}`
    }),
  ])
  .join('\n')}
`,
} as const

/** A text in single quotes, for all three shells. */
function quote(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}

function zshFlag({ name, value, text, choices, isValueOptional }: Flag): string {
  const label = `--${name}[${text.replace(/[[\]:]/g, ' ')}]`
  if (value === undefined || isValueOptional) return quote(label)
  return quote(`${label}:${value}:${choices === undefined ? '_files' : `(${choices.join(' ')})`}`)
}
