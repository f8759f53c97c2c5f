// The flags of a command as one table. Its help and what it parses come from it.

/** An option of a command. */
export interface Flag {
  /** Without its dashes: `user-agent`. */
  readonly name: string
  /** What its value is called in the help: `NAME`. Undefined for a flag without a value. */
  readonly value?: string
  readonly text: string
  /** The value may be left out: `--fix` or `--fix=all`. */
  readonly isValueOptional?: true
  /** The flag may be given several times. */
  readonly isRepeatable?: true
  /** The values that it may have. */
  readonly choices?: readonly string[]
  /** The value, or the values of a repeatable flag, if it is not given. `Arguments` returns it. */
  readonly byDefault?: string | readonly string[]
  /** Says in the help what happens if the flag is not given and has no `byDefault`. */
  readonly defaultText?: string
  /** The flag and the value that this flag is short for, such as `--json` for `--format json`. */
  readonly shortFor?: readonly [flag: string, value: string]
}

/** The operands and flags of a command, as they were given. */
export class Arguments {
  readonly operands: readonly string[]
  readonly #values: ReadonlyMap<string, readonly string[]>
  readonly #defaults: ReadonlyMap<string, readonly string[]>

  /** @param flags The table, which has the values of flags that are not given. */
  constructor(
    operands: readonly string[],
    values: ReadonlyMap<string, readonly string[]>,
    flags: readonly Flag[] = [],
  ) {
    this.operands = operands
    this.#values = values
    this.#defaults = new Map(
      flags.flatMap(({ name, byDefault }) => (byDefault === undefined ? [] : [[name, [byDefault].flat()]])),
    )
  }

  /** Whether a flag was given. */
  has(name: string): boolean {
    return this.#values.has(name)
  }

  /** The names of the flags that were given. */
  get names(): readonly string[] {
    return [...this.#values.keys()]
  }

  /** Returns the last value of a flag, or its default. */
  get(name: string): string | undefined {
    return this.all(name).at(-1)
  }

  /** Returns all values of a repeatable flag, in order, or its default. */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? this.#defaults.get(name) ?? []
  }
}

/** An option of `parseArgs` of node:util. */
interface ParsedOption {
  readonly type: 'string' | 'boolean'
  readonly multiple: boolean
  readonly short?: string
}

/** Returns the options of `parseArgs` for a table. */
export function parseOptions(flags: readonly Flag[]): Record<string, ParsedOption> {
  const options = flags.map(({ name, value, isValueOptional, isRepeatable = false }): [string, ParsedOption] => {
    const type = value === undefined || isValueOptional ? 'boolean' : 'string'
    return [name, { type, multiple: isRepeatable, ...(name === 'help' && { short: 'h' }) }]
  })
  return Object.fromEntries(options)
}

/**
 * Reads a command line that has only flags.
 * @param parseArgs The function of node:util, whose errors this function throws.
 */
export function readFlags(
  flags: readonly Flag[],
  args: readonly string[],
  parseArgs: (config: { args: string[]; options: Record<string, ParsedOption> }) => { readonly values: object },
): Arguments {
  const { values } = parseArgs({ args: [...args], options: parseOptions(flags) })
  const texts = Object.entries(values).map(([name, value]): [string, string[]] => [name, [value].flat().map(String)])
  return new Arguments([], new Map(texts), flags)
}

/** Returns the help of flags, one line for each. */
export function flagHelp(flags: readonly Flag[]): string {
  const width = Math.max(...flags.map((flag) => flagText(flag).length))
  return flags.map((flag) => `  ${flagText(flag).padEnd(width)}  ${describeFlag(flag)}`).join('\n')
}

export function flagText({ name, value, isValueOptional }: Flag): string {
  if (value === undefined) return `--${name}`
  return isValueOptional ? `--${name}[=${value}]` : `--${name} ${value}`
}

/** Returns what a flag that is not given means. */
export function defaultOf({ byDefault, defaultText }: Flag): string | undefined {
  return byDefault === undefined ? defaultText : [byDefault].flat().join(', ')
}

export function describeFlag(flag: Flag): string {
  const { text, choices, isRepeatable } = flag
  const byDefault = defaultOf(flag)
  const notes = [
    ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
    ...(byDefault === undefined ? [] : [`default ${byDefault}`]),
    ...(isRepeatable ? ['may be repeated'] : []),
  ]
  return notes.length === 0 ? text : `${text} (${notes.join('; ')})`
}

// The flags that commands of several packages share.

export const USER_AGENT: Flag = {
  name: 'user-agent',
  value: 'NAME',
  text: "the crawler's User-Agent: a name (ExampleBot) or a whole header; sent with each request",
}

export const ALLOW_ADDRESS: Flag = {
  name: 'allow-address',
  value: 'ADDRESS',
  text: 'a private address or block, such as 10.0.0.0/8, to which requests may go',
  isRepeatable: true,
}

/** Of the commands of the packages @politely/mcp and @politely/server. `politely` has common flags. */
export const HELP_FLAG: Flag = { name: 'help', text: 'print this text' }

/** Of the commands that request pages. */
export const MIN_DELAY: Flag = {
  name: 'min-delay',
  value: 'SECONDS',
  text: 'the shortest time between two requests to one site',
  byDefault: '1',
}

/**
 * Imports a package that only users of some flags and commands install.
 * @param load Imports the package. A bundler has to see the name in its `import`.
 * @param missing Returns the error for a package that is not installed.
 */
export async function loadOptional<M>(name: string, load: () => Promise<M>, missing: () => Error): Promise<M> {
  try {
    return await load()
  } catch (error) {
    const { code, message } = error as Error & { readonly code?: unknown }
    throw code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`) ? missing() : error
  }
}
