// A folder for one test, and the stores in it; both are gone afterwards.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestAPI, test as vitestTest } from 'vitest'
import { SqliteStore, type SqliteStoreOptions } from '../src/index.ts'

export interface Folder {
  /** Where the stores of `open` keep their texts. */
  readonly path: string
  open(options?: Partial<SqliteStoreOptions>): SqliteStore
  /** Bytes of all files. */
  heldBytes(): number
  /** The names of all files. */
  names(): string[]
}

export const test: TestAPI<{ folder: Folder }> = vitestTest.extend<{ folder: Folder }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures that are needed from it
  folder: async ({}, use) => {
    const root = mkdtempSync(join(tmpdir(), 'politely-store-'))
    const path = join(root, 'robots.sqlite')
    const stores: SqliteStore[] = []
    await use({
      path,
      open: (options) => {
        const store = new SqliteStore({ path, ...options })
        stores.push(store)
        return store
      },
      heldBytes: () => readdirSync(root).reduce((sum, name) => sum + statSync(join(root, name)).size, 0),
      names: () => readdirSync(root).sort(),
    })
    for (const store of stores) await store.close()
    rmSync(root, { recursive: true })
  },
})

export const later: number = Date.now() + 3_600_000
