// SqliteStore keeps the contract of stores, with a file in a folder of its own.
import { startClock, storeRowsFor } from '@politely/testkit'
import { test } from './folder.ts'

const maxBytes = 16 * 1024 * 1024

test.for(storeRowsFor('SqliteStore'))('store contract, $name', async ({ run }, { folder }) => {
  const clock = startClock()
  await run({ open: () => folder.open({ maxBytes, now: clock.now }), clock, maxBytes, heldBytes: folder.heldBytes })
})
