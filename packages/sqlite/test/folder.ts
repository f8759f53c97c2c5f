// A temporary folder and its stores. The fixture closes the stores and deletes the folder after
// each test.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestAPI, test as vitestTest } from 'vitest'
import { SqliteStore, type SqliteStoreOptions } from '../src/index.ts'

export interface Folder {
  /** The file that `open` opens. */
  readonly path: string
  open(options?: Partial<SqliteStoreOptions>): SqliteStore
  /** The total size of all files. */
  diskBytes(): number
  /** The names of all files. */
  fileNames(): string[]
}

export const test: TestAPI<{ folder: Folder }> = vitestTest.extend<{ folder: Folder }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of other fixtures from it
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
      diskBytes: () => readdirSync(root).reduce((sum, name) => sum + statSync(join(root, name)).size, 0),
      fileNames: () => readdirSync(root).sort(),
    })
    for (const store of stores) await store.close()
    rmSync(root, { recursive: true })
  },
})

export const inOneHour: number = Date.now() + 3_600_000
