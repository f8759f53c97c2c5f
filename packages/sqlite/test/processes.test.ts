// @module-tag nodes
// @module-tag process
// @module-tag full
// Several processes that write to one file, and processes that are killed while they write.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { startWriter } from '@politely/testkit/writer-process'
import { expect } from 'vitest'
import { test } from './folder.ts'
import { LANES, stepsOf } from './steps.ts'

/**
 * POLITELY_KILL_ROUNDS=100 runs 100 rounds and prints the counts. That takes longer than a test
 * should.
 */
const requestedRounds = process.env.POLITELY_KILL_ROUNDS
const ROUNDS = Number(requestedRounds ?? sampled(20))
const WRITER = join(import.meta.dirname, 'writer.ts')

/** Runs SQLite's own check of the whole file. */
function checkIntegrity(path: string): unknown {
  const db = new DatabaseSync(path)
  try {
    return db.prepare('PRAGMA integrity_check').get()
  } finally {
    db.close()
  }
}

test('three processes that create and write one file at the same time lose no write', async ({ folder }) => {
  const steps = 100
  const writers = [1, 2, 3].map((seed) => startWriter(WRITER, [folder.path, seed, steps]))
  const ends = await Promise.all(writers.map(({ ended }) => ended))
  expect(ends.map(({ status, stderr }) => [status, stderr])).toEqual(Array(3).fill([0, '']))

  const store = folder.open()
  const expected = new Map<string, string | undefined>()
  for (const seed of [1, 2, 3]) {
    for (let lane = 0; lane < LANES; lane++) {
      for (const { origin, text } of stepsOf(seed, lane, steps)) expected.set(origin, text)
    }
  }
  const wrong: string[] = []
  for (const [origin, text] of expected) if ((await store.get(origin)) !== text) wrong.push(origin)
  expect(wrong).toEqual([])
  expect(expected.size).toBeGreaterThan(400)
  expect(checkIntegrity(folder.path)).toEqual({ integrity_check: 'ok' })
  expect(folder.fileNames().filter((name) => name.includes('corrupt'))).toEqual([])
})

test(`loses no acknowledged write in ${ROUNDS} processes ended by kill -9`, { timeout: 300_000 }, async ({
  folder,
}) => {
  const random = seededRandom(20_260_101)
  const counts = { rounds: 0, acknowledged: 0, lost: 0, unreadable: 0, damaged: 0 }
  for (let round = 1; round <= ROUNDS; round++) {
    // Kills the writer after a number of writes. Every eighth round kills it after 40 to 160 ms,
    // maybe before the file is open.
    const maxWrites = Math.floor(random() * 1_500)
    const killAfterMs = round % 8 === 0 ? 40 + random() * 120 : undefined
    const writer = startWriter(WRITER, [folder.path, round, 1_000_000], {
      onOutput: () => {
        if (killAfterMs === undefined && writer.output().split('\n').length > maxWrites) writer.child.kill('SIGKILL')
      },
    })
    if (killAfterMs !== undefined) setTimeout(() => writer.child.kill('SIGKILL'), killAfterMs)
    const { stdout, stderr } = await writer.ended
    expect(stderr).toBe('')
    expect(writer.child.signalCode).toBe('SIGKILL')

    const store = folder.open({ onSetAside: () => counts.damaged++ })
    for (let lane = 0; lane < LANES; lane++) {
      const acknowledged = stdout.match(new RegExp(`^${lane}\\n`, 'gm'))?.length ?? 0
      counts.acknowledged += acknowledged
      const { known, possible } = expectedTexts(round, lane, acknowledged)
      for (const origin of possible.keys()) {
        const found = await store.get(origin)
        if (found === known.get(origin) || found === possible.get(origin)) continue
        if (found === undefined || isEarlierText(found, origin, round, lane, acknowledged)) counts.lost++
        else counts.unreadable++
      }
    }
    await store.close()
    if (JSON.stringify(checkIntegrity(folder.path)) !== '{"integrity_check":"ok"}') counts.damaged++
    counts.rounds++
  }
  if (requestedRounds !== undefined) console.log(JSON.stringify(counts))
  expect(counts).toMatchObject({ rounds: ROUNDS, lost: 0, unreadable: 0, damaged: 0 })
  expect(counts.acknowledged).toBeGreaterThan(ROUNDS)
})

/**
 * Returns the texts after the acknowledged steps, and the texts after one more step, which may be
 * committed but not acknowledged.
 */
function expectedTexts(seed: number, lane: number, acknowledged: number) {
  const acknowledgedTexts = new Map<string, string | undefined>()
  let possible = acknowledgedTexts
  let step = 0
  for (const { origin, text } of stepsOf(seed, lane, acknowledged + 1)) {
    if (++step > acknowledged) possible = new Map(acknowledgedTexts)
    possible.set(origin, text)
  }
  return { known: acknowledgedTexts, possible }
}

/** Returns whether `found` is a complete text of an earlier step. */
function isEarlierText(found: string, of: string, seed: number, lane: number, acknowledged: number): boolean {
  return Array.from(stepsOf(seed, lane, acknowledged)).some(({ origin, text }) => origin === of && text === found)
}
