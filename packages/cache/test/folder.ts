// A temporary folder and its stores. The fixture closes the stores and deletes the folder after
// each test.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestAPI, test as vitestTest } from 'vitest'
import { SqlitePageStore, type SqlitePageStoreOptions } from '../src/sqlite/sqlite-page-store.ts'

export interface Folder {
  /** The file that `open` opens. */
  readonly file: string
  open(options?: Partial<SqlitePageStoreOptions>): SqlitePageStore
  /** The total size of all files. */
  diskBytes(): number
  /** The names of all files. */
  fileNames(): string[]
}

export const test: TestAPI<{ folder: Folder }> = vitestTest.extend<{ folder: Folder }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of other fixtures from it
  folder: async ({}, use) => {
    const root = mkdtempSync(join(tmpdir(), 'politely-pages-'))
    const file = join(root, 'pages.sqlite')
    const stores: SqlitePageStore[] = []
    await use({
      file,
      open: (options) => {
        const store = new SqlitePageStore({ file, ...options })
        stores.push(store)
        return store
      },
      diskBytes: () => {
        const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
        // A file may go meanwhile, and folders do not count.
        const found = names.map((name) => statSync(join(root, name), { throwIfNoEntry: false }))
        return found.reduce((sum, file) => sum + (file?.isFile() ? file.size : 0), 0)
      },
      fileNames: () => readdirSync(root).sort(),
    })
    for (const store of stores) await store.close()
    rmSync(root, { recursive: true })
  },
})
