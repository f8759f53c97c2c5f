// Options in the words of other programs, and the options of Politely for them.
import { mostSimilar } from './most-similar.ts'

/** What is read of the spec of a command. */
interface Command {
  readonly name: string
  readonly usage: string
  readonly flags: readonly { readonly name: string; readonly choices?: readonly string[] }[]
  readonly noOperands?: string
}

/** Words in lower case without `-` and `_`, separated by blanks, and the options to write instead. */
const SYNONYMS: readonly (readonly [words: string, ...flags: string[]])[] = [
  ['u ua a agent useragents useragentstring useragentheader header headers', 'user-agent'],
  ['b bot crawler robot spider name botname', 'crawler', 'user-agent', 'product-token'],
  ['t token tokens producttokens product useragenttoken', 'product-token'],
  ['o f output out fmt outputformat reporter formatter type', 'format'],
  ['r file i input robotsfile robotstxt robotsurl rules', 'robots'],
  ['severity minseverity level failon threshold maxwarnings', 'max-severity'],
  ['autofix write', 'fix'],
  ['x httpproxy httpsproxy', 'proxy'],
  ['allowip allowprivate allowlocalhost allowhost', 'allow-address'],
  ['mode standard spec parser', 'dialect'],
  ['baseurl base site host', 'origin', 'robots'],
  ['url urllist urlfile list sitemap', 'urls', 'robots'],
]

/** Words for what a command takes without an option, by its name in the usage. */
const OPERANDS: Readonly<Record<string, string>> = {
  URL: 'url urls uri page site link',
  FILE: 'file files robots robotstxt robotsfile path i input',
  EXPECTATIONS: 'expect expectations expectation',
  OLD: 'old new before after base head',
  SHELL: 'shell',
}

/** Says what to write in place of an option that a command does not have. */
export function explainUnknownFlag(
  rawName: string,
  { name: command, usage, flags, noOperands }: Command,
  commands: readonly Command[],
): string {
  const word = normalized(rawName)
  const unknown = `unknown option ${rawName}; write`
  const same = flags.find((flag) => normalized(flag.name) === word)
  if (same !== undefined) return `${unknown} --${same.name}`
  const [operand = ''] = usage.split(/[ …]/)
  if (includesWord(OPERANDS[operand], word))
    return `${unknown} the value without ${rawName}, as in politely ${command} ${usage}`
  if (noOperands !== undefined && includesWord(OPERANDS.URL, word)) return `unknown option ${rawName}; ${noOperands}`
  if (word === 'v' || word === 'version') return `${unknown} politely --version`
  if (formatsOf(flags).includes(word)) return `${unknown} --format ${word}`
  const names = flags.map((flag) => flag.name)
  const synonyms = SYNONYMS.find(([words]) => includesWord(words, word))?.slice(1) ?? []
  // Without --product-token, --user-agent is only the name that a request sends.
  const isOfRequests = synonyms[0] === 'crawler' && !names.includes('product-token')
  const known = isOfRequests ? [] : synonyms.filter((name) => names.includes(name)).map((name) => `--${name}`)
  if (known.length > 0) return `${unknown} ${known.slice(0, 2).join(' or ')}`
  const ownersOf = (flagName?: string) =>
    commands.filter((each) => each.flags.some(({ name }) => name === flagName)).map(({ name }) => name)
  const given = rawName.replace(/^-+/, '')
  const owners = ownersOf(given)
  if (owners.length > 0) return `${rawName} is an option of ${owners.join(', ')}, not of ${command}`
  const similar = mostSimilar(given.toLowerCase(), names)
  if (similar !== undefined) return `${unknown} --${similar}`
  const [other] = ownersOf(synonyms[0])
  if (other !== undefined) return `${unknown} politely ${other}, which has --${synonyms[0]}`
  if (names.length === 0) return `${unknown} politely ${command} ${usage}`
  return `${unknown} one of ${names.map((name) => `--${name}`).join(', ')}`
}

function normalized(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase()
}

function includesWord(words: string | undefined, word: string): boolean {
  return words?.split(' ').includes(word) ?? false
}

function formatsOf(flags: Command['flags']): readonly string[] {
  return flags.find(({ name }) => name === 'format')?.choices ?? []
}

/** Commands in the words of other programs. */
const COMMAND_SYNONYMS: Readonly<Record<string, string>> = {
  check: 'allowed isallowed canfetch can verdict url',
  explain: 'why trace which',
  test: 'verify assert expect',
  lint: 'validate fix format parse',
  diff: 'compare changes',
  match: 'filter grep batch',
}

/** Returns the command that a word stands for, if it is known or similar to one. */
export function commandFor(name: string, names: readonly string[]): string | undefined {
  const word = normalized(name)
  const synonym = names.find((each) => includesWord(COMMAND_SYNONYMS[each], word))
  return synonym ?? mostSimilar(name.toLowerCase(), names)
}
