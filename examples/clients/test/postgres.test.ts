// @module-tag slow
// @module-tag full
// Workers in Python and Go share one pace by Postgres alone.
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { migrate } from '@politely/postgres'
import { findGoWithPq, findPython, isMissing, type Part } from '@politely/testkit/parts'
import { noPostgresServer, startPostgres } from '@politely/testkit/servers/postgres'
import { Client } from 'pg'
import { expect, test } from 'vitest'

const DELAY_MS = 300
const PAGES = 8
const CLIENTS = join(import.meta.dirname, '../postgres')
const python = findPython('psycopg2')
const go = findGoWithPq()
const mayRun = !isMissing('python', python) && !isMissing('go', go) && !noPostgresServer()

test.skipIf(!mayRun)('workers in Python and Go keep one delay by `reserve` alone', async ({ onTestFinished }) => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop('fast'))
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  await client.query('CREATE ROLE crawler LOGIN')
  await migrate(client, { grantTo: 'crawler' })
  await client.end()
  let pages = 0
  const site = createServer((_, response) =>
    response.writeHead(++pages === 5 ? 429 : 200, { 'retry-after': '1' }).end(),
  )
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void site.close())

  const { port } = site.address() as AddressInfo
  const urls = Array.from({ length: PAGES }, (_, n) => `http://127.0.0.1:${port}/${n}`)
  const dsn = new URL(postgres.url)
  dsn.username = 'crawler'
  dsn.searchParams.set('sslmode', 'disable')
  const args = [dsn.href, `${DELAY_MS}`, ...urls]
  const cache = { GOCACHE: join(import.meta.dirname, '../node_modules/.cache/go'), CGO_ENABLED: '0' }
  const lines = await Promise.all([
    linesOf(python as Part, [join(CLIENTS, 'pace.py'), ...args], {}),
    linesOf(python as Part, [join(CLIENTS, 'pace.py'), ...args], {}),
    linesOf(go as Part, ['run', join(CLIENTS, 'pace.go'), ...args], cache),
  ])
  expect(lines.map((own) => own.length)).toEqual([PAGES, PAGES, PAGES])
  const sent = lines.flat().toSorted((a, b) => a.sent - b.sent)
  const gaps = sent.slice(1).map((line, n) => line.sent - (sent[n]?.sent ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(DELAY_MS)
  const after = sent.findIndex(({ status }) => status === 429)
  expect(gaps[after]).toBeGreaterThanOrEqual(1_000) // Retry-After, or the backoff of Go
})

interface Line {
  readonly sent: number
  readonly status: number
}

async function linesOf(part: Part, args: readonly string[], env: NodeJS.ProcessEnv): Promise<readonly Line[]> {
  const program = spawn(part.command, args, { env: { ...process.env, ...part.env, ...env } })
  const [output, errors] = await Promise.all([text(program.stdout), text(program.stderr)])
  if (errors !== '') throw new Error(errors)
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}
