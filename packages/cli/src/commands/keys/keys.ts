// `politely keys`: creates, rotates, publishes and checks keys.
import { open, rm } from 'node:fs/promises'
import type { OwnKey } from '@politely/web-bot-auth/operator'
import type { Arguments } from '../../command-line.ts'
import { UsageError, writeError } from '../../exit-code.ts'
import { daysMsOf, keysIn, strangerOptionsOf, withOperator } from '../../input/operator.ts'
import { replaceFile } from '../../output/file.ts'
import { printFindings } from '../../output/findings.ts'
import { printOne } from '../../output/report.ts'
import { writeSite } from '../../output/site-folder.ts'
import { errorLine, printable } from '../../output/style.ts'
import { runVerb, type Verbs } from '../../verb.ts'

const FORMAT = ['format', 'json']
/** For how long a directory may be valid, and a key be published. Days. */
const VALID = [0.01, 90] as const
const KEY_VALID = [1, 3_650] as const

const VERBS: Verbs = {
  new: { operands: 'bot.jwk', count: [1, 1], flags: ['valid', ...FORMAT], run: create },
  rotate: { operands: 'bot.jwk bot-2.jwk', count: [2, 2], flags: ['lead', 'overlap', ...FORMAT], run: rotate },
  directory: {
    operands: 'bot.jwk --agent https://bot.example',
    count: [1, 100],
    flags: ['agent', 'output', 'valid', ...FORMAT],
    run: directory,
  },
  check: {
    operands: 'https://bot.example',
    count: [1, 1],
    flags: ['key', 'timeout', 'allow-address', ...FORMAT],
    run: check,
  },
}

/** Returns the exit code. */
export function keys(args: Arguments): Promise<number> {
  return runVerb('keys', VERBS, args)
}

async function create(args: Arguments, [file = '']: readonly string[]): Promise<number> {
  const validMs = daysMsOf(args, 'valid', KEY_VALID)
  return withOperator('keys new', async ({ createKey, keyText }) => {
    const now = Date.now()
    const created = await createKey(now)
    const key = validMs === undefined ? created : { ...created, exp: Math.floor((now + validMs) / 1000) }
    await writeNewKey(file, keyText(key))
    return printOne(
      args,
      () => ({ keys: [shown(file, key)] }),
      () =>
        `${printable(file)}  a new key, which only you may read\n  keyid  ${key.kid}\n  next   publish it: politely keys directory ${printable(file)} --agent https://bot.example --output public\n`,
    )
  })
}

async function rotate(args: Arguments, [oldFile = '', newFile = '']: readonly string[]): Promise<number> {
  const leadMs = daysMsOf(args, 'lead', [0, 90]) as number // it has a default
  const overlapMs = daysMsOf(args, 'overlap', [0, 365]) as number
  return withOperator('keys rotate', async ({ readKeyFile, rotateKey, keyText }) => {
    const { old, next } = await rotateKey(await readKeyFile(oldFile), { leadMs, overlapMs, now: Date.now() })
    await writeNewKey(newFile, keyText(next))
    try {
      await replaceFile(undefined, oldFile, [keyText(old)])
    } catch (error) {
      await rm(newFile) // so that nothing has changed, and the next try may take its name
      throw error
    }
    const both = `${printable(oldFile)} ${printable(newFile)}`
    const lines = [
      `${printable(newFile)}  a new key, which only you may read; keyid ${next.kid}`,
      `  now                       publish both: politely keys directory ${both} --agent https://bot.example --output public`,
      `  from ${timeText(next.nbf)}  sign with ${printable(newFile)}`,
      `  from ${timeText(old.exp as number)}  publish without ${printable(oldFile)}, and delete it`,
    ]
    return printOne(
      args,
      () => ({ keys: [shown(oldFile, old), shown(newFile, next)] }),
      () => `${lines.join('\n')}\n`,
    )
  })
}

async function directory(args: Arguments, files: readonly string[]): Promise<number> {
  const agent = args.get('agent')
  if (agent === undefined)
    throw new UsageError('--agent: is missing; write the origin of your directory, such as https://bot.example')
  const validMs = daysMsOf(args, 'valid', VALID)
  const folder = args.get('output')
  return withOperator('keys directory', async (operator) => {
    const own = await keysIn(operator, files)
    const signed = await operator.signDirectory({ keys: own, agent, validMs })
    const validUntil = new Date(signed.validUntil).toISOString()
    const written = folder === undefined ? undefined : await writeSite(folder, [signed])
    const exitCode = await printOne(
      args,
      () => ({ ...signed, ...(written && { files: written }) }),
      () => {
        if (written === undefined) {
          const headers = Object.entries(signed.headers).map(([name, value]) => `${name}: ${value}`)
          return `${[...headers, '', signed.body].join('\n')}\n`
        }
        const lines = [
          ...written.map(({ file, url }) => `${printable(file)}${url === undefined ? '' : `  for ${url}`}`),
          `  keys   ${signed.kids.join(', ')}`,
          `  valid  until ${validUntil}; sign again before`,
          `  then   politely keys check ${printable(agent)}`,
        ]
        return `${lines.join('\n')}\n`
      },
    )
    if (written === undefined && args.get('format') === 'text')
      process.stderr.write(errorLine(`serve this at ${signed.url}, and sign again before ${validUntil}`))
    return exitCode
  })
}

async function check(args: Arguments, [agent = '']: readonly string[]): Promise<number> {
  const options = strangerOptionsOf(args)
  return withOperator('keys check', async (operator) => {
    const own = await keysIn(operator, args.all('key'))
    const kids = own.map(({ kid }) => kid)
    return printFindings(args, await operator.checkDirectory(agent, kids, options))
  })
}

/** Returns what the command prints about a key: never its private part. */
function shown(file: string, { kid, x, nbf, exp }: OwnKey): object {
  const publicKey = { kty: 'OKP', crv: 'Ed25519', x }
  return { file, kid, publicKey, signsFrom: nbf * 1000, ...(exp !== undefined && { publishedUntil: exp * 1000 }) }
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** Creates a key file. A file that exists is never overwritten: the key in it would be lost. */
async function writeNewKey(file: string, text: string): Promise<void> {
  const name = JSON.stringify(file)
  try {
    await using handle = await open(file, 'wx', 0o600)
    await handle.writeFile(text)
    await handle.sync()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new UsageError(`${name} exists, and a key is never overwritten; write the name of a new file`)
    throw writeError(name, error as NodeJS.ErrnoException)
  }
}
