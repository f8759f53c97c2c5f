// `politely completion`: prints a script that completes commands, flags and their values in a shell.
import { type Arguments, COMMON_FLAGS, type CommandSpec, type Flag } from '../../command-line.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
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

/** Whether the value of a flag is the name of a file. */
const takesFile = ({ value = '' }: Flag) => /^(?:FILE|FOLDER|DIR)/.test(value)

/** The words that may follow a command: `ls|show`, or the shells. */
function wordsOf({ name, usage }: CommandSpec): string {
  return name === 'completion' ? SHELLS : (/^[a-z]+(?:\|[a-z]+)+/.exec(usage)?.[0].replaceAll('|', ' ') ?? '')
}

/** What a shell offers for operands: words, words and names of files, these only, or nothing for URLs. */
function operandsOf(spec: CommandSpec): 'words' | 'both' | 'files' | 'nothing' {
  const { name, usage, noOperands } = spec
  if (name === 'completion') return 'words'
  if (wordsOf(spec) !== '') return 'both'
  return noOperands !== undefined || usage.startsWith('URL') ? 'nothing' : 'files'
}

const SCRIPTS = {
  bash: (specs: readonly CommandSpec[]) => `# politely completion bash > /etc/bash_completion.d/politely
_politely() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} words="" files=""
  # bash splits --format=json into three words
  if [[ $current == = ]]; then
    current=""
    previous=$previous=
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}=
  fi
  if ((COMP_CWORD == 1)); then
    words="${names(specs)} help --help --version"
  else
    case "\${COMP_WORDS[1]} $previous" in
      "help "*) words="${names(specs)}" ;;
${specs.flatMap((spec) => flagsOf(spec).flatMap((flag) => bashValues(spec.name, flag))).join('\n')}
      *)
        case "\${COMP_WORDS[1]} $current" in
${specs.map(bashOperands).join('\n')}
        esac
        ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ -n $files ]]; then compopt -o default 2> /dev/null; fi
}
complete -F _politely politely
`,
  zsh: (specs: readonly CommandSpec[]) => `#compdef politely
# politely completion zsh > "\${fpath[1]}/_politely"
_politely() {
  local -a commands
  commands=(${specs.map(({ name, summary }) => quote(`${name}:${summary}`)).join(' ')})
  if ((CURRENT == 2)) || [[ $words[2] == help ]]; then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${specs.map((spec) => `    ${spec.name}) _arguments ${flagsOf(spec).map(zshFlag).join(' ')} ${zshOperands(spec)} ;;`).join('\n')}
  esac
}
# zsh runs the file as the function itself if it finds the file in fpath.
if [[ $funcstack[1] == _politely ]]; then
  _politely "$@"
else
  compdef _politely politely
fi
`,
  fish: (specs: readonly CommandSpec[]) => `# politely completion fish > ~/.config/fish/completions/politely.fish
complete -c politely -f -n __fish_use_subcommand -a help -d 'describe a command'
complete -c politely -f -n '__fish_seen_subcommand_from help' -a ${quote(names(specs))}
${specs.flatMap(fishLines).join('\n')}
`,
} as const

const SHELLS = Object.keys(SCRIPTS).join(' ')

/** What bash offers after a flag, and after a flag with `=`. */
function bashValues(command: string, flag: Flag): readonly string[] {
  const { name, value, choices, isValueOptional } = flag
  if (value === undefined) return []
  const pattern = isValueOptional ? `"${command} --${name}="` : `"${command} --${name}" | "${command} --${name}="`
  const offer = choices === undefined ? (takesFile(flag) ? 'files=1' : ':') : `words="${choices.join(' ')}"`
  return [`      ${pattern}) ${offer} ;;`]
}

function bashOperands(spec: CommandSpec): string {
  const flags = flagsOf(spec).map(({ name }) => `--${name}`)
  const words = `words="${wordsOf(spec)}"`
  const operands = { words, both: `${words} files=1`, files: 'files=1', nothing: ':' }
  return [
    `          "${spec.name} -"*) words="${flags.join(' ')}" ;;`,
    `          "${spec.name} "*) ${operands[operandsOf(spec)]} ;;`,
  ].join('\n')
}

function fishLines(spec: CommandSpec): readonly string[] {
  const within = `complete -c politely -n '__fish_seen_subcommand_from ${spec.name}'`
  const words = `-a ${quote(wordsOf(spec))}`
  const operands = {
    words: [`${within} -f ${words}`],
    both: [`${within} ${words}`],
    nothing: [`${within} -f`],
    files: [],
  }
  return [
    `complete -c politely -f -n __fish_use_subcommand -a ${spec.name} -d ${quote(spec.summary)}`,
    ...operands[operandsOf(spec)],
    ...flagsOf(spec).map((flag) => `${within} -l ${flag.name}${fishValues(flag)} -d ${quote(flag.text)}`),
  ]
}

function fishValues(flag: Flag): string {
  const { value, choices, isValueOptional } = flag
  if (value === undefined || isValueOptional) return ''
  if (choices !== undefined) return ` -x -a ${quote(choices.join(' '))}`
  return takesFile(flag) ? ' -r -F' : ' -x'
}

/** A text in single quotes, for all three shells. */
function quote(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}

function zshOperands(spec: CommandSpec): string {
  const words = `':word:(${wordsOf(spec)})'`
  const files = `'*:file:_files'`
  return { words, both: `${words} ${files}`, files, nothing: `'*:URL: '` }[operandsOf(spec)]
}

function zshFlag(flag: Flag): string {
  const { name, value, text, choices, isValueOptional, isRepeatable } = flag
  const label = `[${text.replace(/[[\]:]/g, ' ')}]`
  const option = `${isRepeatable ? '*' : ''}--${name}`
  if (value === undefined) return quote(`${option}${label}`)
  const values = choices === undefined ? (takesFile(flag) ? '_files' : ' ') : `(${choices.join(' ')})`
  return quote(isValueOptional ? `${option}=-${label}::${value}:${values}` : `${option}=${label}:${value}:${values}`)
}
