/** The stores of this project, as docs/stores.md names them. */
export type StoreName = 'MemoryStore' | 'SqliteStore' | 'RedisStore' | 'PostgresStore' | 'fromKeyv over a Map'

type Ability = 'ordered' | 'bounded' | 'closing' | 'shared' | 'lasting' | 'leasing'

/** The abilities of each store, by which `@politely/testing/cases` chooses its cases. */
export const storeAbilities: Readonly<Record<StoreName, readonly Ability[]>> = {
  MemoryStore: ['ordered', 'bounded', 'closing'],
  SqliteStore: ['ordered', 'bounded', 'closing', 'shared', 'lasting'],
  RedisStore: ['shared', 'lasting', 'leasing'],
  PostgresStore: ['shared', 'lasting', 'leasing'],
  'fromKeyv over a Map': ['shared', 'lasting'], // several Keyvs over one Map; other storages may have other abilities
}
