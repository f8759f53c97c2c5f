// @module-tag nodes
// The cases of all stores, on the stores of the fetcher. docs/stores.md shows which store
// guarantees what.
import { fromKeyv, MemoryStore, type Store } from '@politely/fetcher'
import { type StoreName, storeAbilities } from '@politely/testkit/cases/store-abilities'
import { expectTables } from '@politely/testkit/doc-page'
import Keyv from 'keyv'
import { expect, test, vi } from 'vitest'
import { type StoreAbility, storeCases, storeCasesFor } from '../src/cases/index.ts'

test.for(storeCasesFor(storeAbilities.MemoryStore))('MemoryStore: $name', async ({ run }) => {
  const maxBytes = 4_000_000
  let store: MemoryStore | undefined
  const open = (now: () => number) => {
    store ??= new MemoryStore({ maxBytes, now })
    return store
  }
  await run({ open, maxBytes, heldBytes: () => store?.memoryBytes ?? 0 })
})

test.for(storeCasesFor(storeAbilities['fromKeyv over a Map']))('fromKeyv: $name', async ({ run }) => {
  vi.useFakeTimers({ toFake: ['Date'] }) // Keyv uses Date.now and has no option for another clock
  try {
    const map = new Map()
    const clock = { now: Date.now, advance: (ms: number) => void vi.setSystemTime(Date.now() + ms) }
    await run({ open: () => fromKeyv(new Keyv({ store: map })), clock })
  } finally {
    vi.useRealTimers()
  }
})

test('the cases detect a store that never forgets, and one that forgets at once', async () => {
  const everyStore = storeCasesFor([])
  const failedBy = async (open: () => Store) => {
    const failed: string[] = []
    for (const { name, run } of everyStore) await run({ open }).catch(() => failed.push(name))
    return failed
  }
  const texts = new Map<string, string>()
  const never = await failedBy(() => ({
    get: async (origin) => texts.get(origin),
    set: async (origin, text) => void texts.set(origin, text),
    delete: async () => {},
  }))
  expect(never).toContain('a text exists until its expiry time, and not after it')
  const always = await failedBy(() => ({ get: async () => undefined, set: async () => {}, delete: async () => {} }))
  expect(always).toContain('returns the text that was set')
  expect(always.length).toBeGreaterThan(10)
})

/** What a store does that has an ability. */
const ABILITIES: Readonly<Record<StoreAbility, string>> = {
  ordered: 'applies concurrent calls in the order of the calls',
  bounded: 'has a size limit: `maxBytes` of the kit, and `heldBytes` if it can be measured',
  closing: 'has `close`',
  shared: 'can be opened several times over one storage',
  lasting: 'keeps its texts after `close`',
  leasing: 'has `lease`, and is `shared`',
}

test('docs/stores.md contains these rows', { tags: 'page' }, async () => {
  const stores: readonly StoreName[] = [
    'MemoryStore',
    'SqliteStore',
    'RedisStore',
    'PostgresStore',
    'fromKeyv over a Map',
  ]
  const storesWith = (ability: StoreAbility) => stores.filter((store) => storeAbilities[store].includes(ability))
  const abilities = Object.entries(ABILITIES) as [StoreAbility, string][]
  await expectTables(
    'docs/stores.md',
    {
      head: ['other guarantee', 'of a store with'],
      rows: storeCases.flatMap(({ name, needs }) => (needs === undefined ? [] : [[name, `\`${needs}\``]])),
    },
    {
      head: ['ability', 'the store', 'which stores'],
      rows: abilities.map(([ability, meaning]) => [
        `\`${ability}\``,
        meaning,
        storesWith(ability)
          .map((store) => store.replace(/^\w+/, '`$&`'))
          .join(', '),
      ]),
    },
  )
})

test('no two rows have the same name', () => {
  expect(new Set(storeCases.map(({ name }) => name)).size).toBe(storeCases.length)
  expect(storeCases.length).toBeGreaterThan(30)
})
