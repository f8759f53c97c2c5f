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

test('calls of one turn of the event loop are one statement, and a long text is another', async () => {
  const sizes: number[] = []
  const query = (text: string, values: unknown[] = []) => {
    sizes.push(JSON.parse(`${values[0]}`).length)
    return client.query<Record<string, unknown>>(text, values)
  }
  const store = new PostgresStore({ client: { query: query as never }, schema: await empty(client) })
  const origins = Array.from({ length: 50 }, (_, n) => `https://n${n % 7}${n}.test`)
  const textOf = (origin: string) => (origin === origins[9] ? 'long'.repeat(100_000) : origin)
  const keepUntil = Date.now() + 60_000
  await Promise.all(origins.map((origin) => store.set(origin, textOf(origin), keepUntil)))
  const leases = await Promise.all([...origins, ...origins].map((origin) => store.lease(origin, 60_000)))
  expect(leases.map((lease) => lease !== undefined)).toEqual([...Array(50).fill(true), ...Array(50).fill(false)])
  expect(await Promise.all(origins.map((origin) => store.get(origin)))).toEqual(origins.map(textOf))
  expect(sizes.toSorted((a, b) => a - b)).toEqual([1, 49, 50, 100])
})

test('a lease that another session is about to take is held', async () => {
  const locked = { query: () => Promise.reject(Object.assign(new Error('lock timeout'), { code: '55P03' })) }
  const store = new PostgresStore({ client: locked })
  expect(await store.lease(A, 60_000)).toBeUndefined()
  await expect(store.get(A)).rejects.toThrow('lock timeout')
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
