// `politely identity`: makes and checks what an operator publishes.
import { Resolver } from 'node:dns/promises'
import { describeValue } from '@politely/core/engine'
import type { Identity } from '@politely/web-bot-auth/operator'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../exit-code.ts'
import { timeoutOf } from '../../input/client.ts'
import { daysMsOf, keysIn, type Operator, strangerOptionsOf, withOperator } from '../../input/operator.ts'
import { readText } from '../../input/robots-file.ts'
import { printFindings } from '../../output/findings.ts'
import { printOne } from '../../output/report.ts'
import { writeSite } from '../../output/site-folder.ts'
import { printable } from '../../output/style.ts'
import { runVerb } from '../../verb.ts'

const FORMAT = ['format', 'json']

/** Returns the exit code. */
export function identity(args: Arguments): Promise<number> {
  const verbs = {
    init: {
      operands: 'bot.json --output public',
      count: [1, 1],
      flags: ['output', 'key', 'valid', 'overwrite', ...FORMAT],
      run: init,
    },
    check: {
      operands: 'bot.json',
      count: [1, 1],
      flags: ['key', 'user-agent', 'dns-server', 'timeout', 'allow-address', ...FORMAT],
      run: check,
    },
  } as const
  return runVerb('identity', verbs, args)
}

async function readIdentity(operator: Operator, file: string): Promise<Identity> {
  const bytes = await readText(file, 'identity', 'write the name of a JSON file about your crawler, or - for stdin')
  return operator.parseIdentity(new TextDecoder().decode(bytes))
}

async function init(args: Arguments, [file = '']: readonly string[]): Promise<number> {
  const folder = args.get('output')
  if (folder === undefined)
    throw new UsageError('--output: is missing; write the folder for the files, such as --output public')
  const validMs = daysMsOf(args, 'valid', [0.01, 90])
  return withOperator(`identity init ${file}`, async (operator) => {
    const own = await readIdentity(operator, file)
    const keys = await keysIn(operator, args.all('key'))
    if (own.directory === undefined && keys.length > 0)
      throw new UsageError('--key: the identity file has no "directory"; add "directory": "https://bot.example"')
    if (own.directory !== undefined && keys.length === 0)
      throw new UsageError(
        `--key: is missing, and ${own.directory} needs one; write --key bot.jwk, which politely keys new bot.jwk creates`,
      )
    const { files, userAgent, validUntil } = await operator.identityFiles(own, { keys, validMs })
    const written = await writeSite(folder, files, { url: own.page, overwrite: args.has('overwrite') })
    const json = () => ({ userAgent, files: written, ...(validUntil !== undefined && { validUntil }) })
    return printOne(args, json, () => {
      const width = Math.max(...written.map((each) => printable(each.file).length))
      const rows = written.map(({ file: name, url = '', isKept }) => {
        const what = url === '' ? 'the headers of these files, for static hosts' : url
        return `${printable(name).padEnd(width)}  ${what}${isKept ? '  kept as it is; --overwrite replaces it' : ''}`
      })
      const end =
        validUntil === undefined
          ? []
          : [`valid       until ${new Date(validUntil).toISOString()}; run this again before`]
      const next = `then        politely identity check ${printable(file)}`
      return `${[...rows, '', `User-Agent  ${printable(userAgent)}`, ...end, next].join('\n')}\n`
    })
  })
}

async function check(args: Arguments, [file = '']: readonly string[]): Promise<number> {
  const options = strangerOptionsOf(args)
  const resolver = resolverOf(args)
  return withOperator(`identity check ${file}`, async (operator) => {
    const own = await readIdentity(operator, file)
    const kids = (await keysIn(operator, args.all('key'))).map(({ kid }) => kid)
    const userAgent = args.get('user-agent') ?? own.userAgent
    if (!/^[\x20-\x7e]+$/.test(userAgent))
      throw new UsageError(`--user-agent: ${describeValue(userAgent)} cannot be a header; write ASCII`)
    return printFindings(args, operator.checkIdentity({ ...own, userAgent }, { ...options, kids, resolver }))
  }).finally(() => resolver?.cancel()) // what it still waits for would keep the process alive
}

/** @throws {UsageError} for a value of `--dns-server` that is not an address. */
function resolverOf(args: Arguments): Resolver | undefined {
  const given = args.get('dns-server')
  if (given === undefined) return undefined
  const resolver = new Resolver({ timeout: timeoutOf(args), tries: 2 })
  try {
    resolver.setServers([given])
  } catch {
    throw new UsageError(
      `--dns-server: ${describeValue(given)} is not an address; write one such as 9.9.9.9 or 127.0.0.1:53`,
    )
  }
  return resolver
}
