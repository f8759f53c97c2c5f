// A worker of a fleet in a process of its own:
//   node pacing-worker.ts DATABASE_URL SCHEMA DELAY_MS REQUESTS KEYS…
import { runPacedWorker } from '@politely/testkit/paced-worker'
import { Pool } from 'pg'
import { PostgresPacer } from '../src/index.ts'

const [connectionString = '', schema = '', delayMs = '', requests = '', ...keys] = process.argv.slice(2)
const client = new Pool({ connectionString, max: 2 })
client.on('error', () => undefined) // a lost connection, which is opened again
const pacer = new PostgresPacer({ client, schema, timeoutMs: 30_000 })
await runPacedWorker(pacer, { delayMs: Number(delayMs), requests: Number(requests), keys })
