// PostgresStore on a Postgres in this process.
import { storeCasesFor } from '@politely/testing/cases'
import { storeAbilities } from '@politely/testkit/cases/store-abilities'
import { withoutSlow } from '@politely/testkit/scope'
import { expect, test } from 'vitest'
import { PostgresStore } from '../../src/index.ts'
import { empty, pglite } from './pglite.ts'

const A = 'https://a.test'
const client = await pglite()

test.for(withoutSlow(storeCasesFor(storeAbilities.PostgresStore), /thousand|two handles/))(
  'store contract, $name',
  async ({ run }) => {
    const schema = await empty(client)
    await run({ open: (now) => new PostgresStore({ client, schema, now }) })
  },
)

test('a text of more than 16 MiB is not saved, and deletes the text before it', { tags: 'full' }, async () => {
  const store = new PostgresStore({ client, schema: await empty(client) })
  const keepUntil = Date.now() + 60_000
  const long = 'x'.repeat(16 * 1024 * 1024)
  await store.set(A, long, keepUntil)
  expect((await store.get(A))?.length).toBe(long.length)
  await store.set(A, `${long}x`, keepUntil)
  expect(await store.get(A)).toBeUndefined()
})

test('without a clock of its own, the store uses the clock of Postgres', async () => {
  const store = new PostgresStore({ client, schema: await empty(client) })
  await store.set(A, 'of a', Date.now() + 60_000)
  expect(await store.get(A)).toBe('of a')
  await store.set(A, 'of a', Date.now() - 60_000)
  expect(await store.get(A)).toBeUndefined()
})

test('a client without the schema gets an error that says what to run', async () => {
  const store = new PostgresStore({ client, schema: 'nowhere' })
  const missing = {
    code: 'ERR_POLITELY_POSTGRES_SCHEMA',
    schema: 'nowhere',
    message: expect.stringContaining('run migrate'),
  }
  await expect(store.get(A)).rejects.toMatchObject(missing)
  await expect(store.lease(A, 1_000)).rejects.toMatchObject(missing)
})

test('replies are texts, so that type parsers of the client change nothing', async () => {
  const types: unknown[] = []
  const query = async (text: string, values: unknown[]) => {
    const result = await client.query<Record<string, unknown>>(text, values)
    types.push(typeof result.rows[0]?.reply)
    return result
  }
  const store = new PostgresStore({ client: { query: query as never }, schema: await empty(client) })
  await store.set(A, 'of a', Date.now() + 60_000)
  expect(await store.get(A)).toBe('of a')
  await (await store.lease(A, 1_000))?.release()
  await store.delete(A)
  expect(types).toEqual(['string', 'string', 'string', 'string', 'string'])
})

test.for([undefined, [], {}, { rows: {} }, { rows: [] }, { rows: [[]] }])(
  'a reply of %j is an error',
  async (reply) => {
    const store = new PostgresStore({ client: { query: async () => reply as never } })
    await expect(store.get(A)).rejects.toMatchObject({ code: 'ERR_POLITELY_POSTGRES_REPLY' })
  },
)

test.for([
  [{}, 'client'],
  [{ client: {} }, 'client: has no method query'],
  [{ client, schema: 'Politely' }, 'schema: '],
  [{ client, keyPrefix: 'a' }, 'keyPrefix'],
] as const)('rejects the options %j', ([options, message]) => {
  expect(() => new PostgresStore(options as never)).toThrow(message)
})
