// @module-tag nodes
// Both stores pass the published cases. Filling a file takes long, so most cases that do are in the
// full run only.
import { pageStoreCases } from '@politely/testing/cases'
import { withoutSlow } from '@politely/testkit/scope'
import { describe, test as plainTest } from 'vitest'
import { MemoryPageStore } from '../src/memory-page-store.ts'
import { test } from './folder.ts'

const needing = (bounded: boolean) => pageStoreCases.filter(({ needs }) => (needs === 'bounded') === bounded)
const maxBytes = 16 * 1_048_576

describe('MemoryPageStore', () => {
  plainTest.for(pageStoreCases.filter(({ needs = 'bounded' }) => needs === 'bounded'))('$name', ({ run }) =>
    run({ open: () => new MemoryPageStore({ maxBytes }), maxBytes }),
  )
})

describe('SqlitePageStore', () => {
  test.for(withoutSlow([...needing(false), ...needing(true)], /limit|evict|two handles/))(
    '$name',
    async ({ run }, { folder }) => {
      await run({ open: () => folder.open({ maxBytes }), maxBytes, heldBytes: folder.diskBytes })
    },
  )
})
