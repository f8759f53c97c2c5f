// Several processes on one file, and processes that are killed while they write.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { expect } from 'vitest'
import { test } from './folder.ts'
import { LANES, stepsOf } from './steps.ts'

/** All of a hundred take longer than a test should: POLITELY_KILL_ROUNDS=100 asks for them. */
const asked = process.env.POLITELY_KILL_ROUNDS
const ROUNDS = Number(asked ?? sampled(20))

interface Writer {
  readonly child: ChildProcess
  /** What it says of itself so far. */
  said(): string
  /** What it said until its end, and how it ended. */
  readonly ended: Promise<{ said: string; complaints: string; status: number | null }>
}

function startWriter(path: string, seed: number, steps: number, onSaid?: () => void): Writer {
  const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'writer.ts')]
  const child = spawn(process.execPath, [...args, path, `${seed}`, `${steps}`])
  let said = ''
  let complaints = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
    onSaid?.()
  })
  child.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  const ended = new Promise<{ said: string; complaints: string; status: number | null }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve({ said, complaints, status }))
  })
  return { child, said: () => said, ended }
}

/** What SQLite says of the whole file. */
function integrityOf(path: string): unknown {
  const db = new DatabaseSync(path)
  try {
    return db.prepare('PRAGMA integrity_check').get()
  } finally {
    db.close()
  }
}

test('three processes that begin a file and write it at once lose nothing', async ({ folder }) => {
  const steps = 100
  const writers = [1, 2, 3].map((seed) => startWriter(folder.path, seed, steps))
  const ends = await Promise.all(writers.map(({ ended }) => ended))
  expect(ends.map(({ status, complaints }) => [status, complaints])).toEqual(Array(3).fill([0, '']))

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
  expect(integrityOf(folder.path)).toEqual({ integrity_check: 'ok' })
  expect(folder.names().filter((name) => name.includes('corrupt'))).toEqual([])
})

test(`kill -9: ${ROUNDS} times nothing is lost of what was said to be kept`, { timeout: 300_000 }, async ({
  folder,
}) => {
  const random = seededRandom(20_260_101)
  const figures = { rounds: 0, acknowledged: 0, lost: 0, unreadable: 0, damaged: 0 }
  for (let round = 1; round <= ROUNDS; round++) {
    // Mostly after so many sets; every eighth time after so many milliseconds, which may be before the file is open.
    const enough = Math.floor(random() * 1_500)
    const soon = round % 8 === 0 ? 40 + random() * 120 : undefined
    const writer = startWriter(folder.path, round, 1_000_000, () => {
      if (soon === undefined && writer.said().split('\n').length > enough) writer.child.kill('SIGKILL')
    })
    if (soon !== undefined) setTimeout(() => writer.child.kill('SIGKILL'), soon)
    const { said, complaints } = await writer.ended
    expect(complaints).toBe('')
    expect(writer.child.signalCode).toBe('SIGKILL')

    const store = folder.open({ onSetAside: () => figures.damaged++ })
    for (let lane = 0; lane < LANES; lane++) {
      const acknowledged = said.match(new RegExp(`^${lane}\\n`, 'gm'))?.length ?? 0
      figures.acknowledged += acknowledged
      const { known, possible } = outcomesOf(round, lane, acknowledged)
      for (const origin of possible.keys()) {
        const found = await store.get(origin)
        if (found === known.get(origin) || found === possible.get(origin)) continue
        if (found === undefined || isText(found, origin, round, lane, acknowledged)) figures.lost++
        else figures.unreadable++
      }
    }
    await store.close()
    if (JSON.stringify(integrityOf(folder.path)) !== '{"integrity_check":"ok"}') figures.damaged++
    figures.rounds++
  }
  if (asked !== undefined) console.log(JSON.stringify(figures))
  expect(figures).toMatchObject({ rounds: ROUNDS, lost: 0, unreadable: 0, damaged: 0 })
  expect(figures.acknowledged).toBeGreaterThan(ROUNDS)
})

/** What is kept after so many steps, and what is if one more was done that the process did not live to speak of. */
function outcomesOf(seed: number, lane: number, acknowledged: number) {
  const known = new Map<string, string | undefined>()
  let possible = known
  let step = 0
  for (const { origin, text } of stepsOf(seed, lane, acknowledged + 1)) {
    if (++step > acknowledged) possible = new Map(known)
    possible.set(origin, text)
  }
  return { known, possible }
}

/** Whether it is a whole text, though not the last one. */
function isText(found: string, of: string, seed: number, lane: number, acknowledged: number): boolean {
  return Array.from(stepsOf(seed, lane, acknowledged)).some(({ origin, text }) => origin === of && text === found)
}
