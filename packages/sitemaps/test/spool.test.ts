// @module-tag nodes
// The spool alone: order, room, and what it leaves behind.
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Spool } from '../src/read/spool.ts'
import { withTemporaryFolder } from './reading-site.ts'

const MIB = 1024 * 1024
const noRest = async () => undefined

/** Bytes of which each depends on its position. */
function pattern(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(at, at)
  return bytes
}

async function* chunksOf(bytes: Uint8Array, sizes: () => number, isBroken = false) {
  for (let at = 0; at < bytes.length; ) {
    const size = sizes()
    yield bytes.subarray(at, at + size)
    at += size
    if (size % 3 === 0) await turn()
  }
  if (isBroken) throw new Error('reset')
}

/** Reads the spool to its end, and closes it. */
async function drain(spool: Spool, pause: () => Promise<unknown> = async () => undefined) {
  const parts: Uint8Array[] = []
  try {
    for (let next = await spool.next(); !next.done; next = await spool.next()) {
      parts.push(next.value)
      await pause()
    }
  } finally {
    await spool.return()
  }
  return Buffer.concat(parts)
}

const withoutDisk = () => withTemporaryFolder('/no/such/folder')

/** The temporary files in a folder that this process has open. Linux only. */
const openFiles = (folder: string) =>
  readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        return ''
      }
    })
    .filter((path) => path.startsWith(`${folder}/`))

const kinds: Readonly<Record<string, () => void>> = { 'with a disk': () => undefined, 'without a disk': withoutDisk }
it.each(Object.keys(kinds))('keeps all bytes in order, %s', async (kind) => {
  kinds[kind]?.()
  const random = seededRandom(53)
  for (let round = 0; round < sampled(60); round++) {
    const bytes = pattern(Math.floor(random() ** 2 * 12 * MIB))
    const most = 1 + Math.floor(random() ** 3 * 300_000) + bytes.length / 2_000
    const source = chunksOf(bytes, () => 1 + Math.floor(random() * most))
    const pauses = random() < 0.5 ? 0 : random()
    const read = await drain(new Spool(source, Number.POSITIVE_INFINITY, noRest), async () => {
      for (let turns = random() < pauses ? 20 * random() : 0; turns > 0; turns--) await turn()
    })
    if (!read.equals(bytes)) expect.fail(`round ${round}: ${read.length} of ${bytes.length} bytes`)
  }
})

it('takes everything from the network although nothing is read, then rejects after the last byte', async () => {
  const bytes = pattern(10 * MIB)
  let isAtEnd = false
  const source = (async function* () {
    yield* chunksOf(bytes, () => 50_000)
    isAtEnd = true
    throw new Error('reset')
  })()
  const spool = new Spool(source, Number.POSITIVE_INFINITY, noRest)
  await expect.poll(() => isAtEnd).toBe(true)
  const parts: Uint8Array[] = []
  const reading = (async () => {
    for (let next = await spool.next(); !next.done; next = await spool.next()) parts.push(next.value)
  })()
  await expect(reading).rejects.toThrow('reset')
  expect(Buffer.concat(parts).equals(bytes)).toBe(true)
  await spool.return()
})

it('keeps little memory for many small chunks', { tags: 'full' }, async () => {
  const network = Buffer.alloc(64 * 1024) // fetch yields parts of a buffer like this one
  let sent = 0
  const source = (async function* () {
    for (; sent < 1_000_000; sent++) yield network.subarray(sent % 65_536, (sent % 65_536) + 1)
  })()
  const before = process.memoryUsage().arrayBuffers
  const spool = new Spool(source, Number.POSITIVE_INFINITY, noRest)
  await expect.poll(() => sent).toBe(1_000_000)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * MIB)
  expect((await drain(spool)).length).toBe(1_000_000)
})

it('stops soon after the limit', async () => {
  let sent = 0
  let isClosed = false
  const source = (async function* () {
    try {
      for (;;) {
        sent += 1_000
        yield new Uint8Array(1_000)
      }
    } finally {
      isClosed = true
    }
  })()
  const read = await drain(new Spool(source, 5 * MIB, noRest))
  expect(read.length).toBeGreaterThan(5 * MIB)
  expect(sent).toBeLessThan(5 * MIB + 10_000)
  expect(isClosed).toBe(true)
})

describe.skipIf(process.platform !== 'linux')('a temporary file', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'spool-'))
    withTemporaryFolder(folder)
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  const filled = async () => {
    const spool = new Spool(
      chunksOf(pattern(8 * MIB), () => 65_536),
      Number.POSITIVE_INFINITY,
      noRest,
    )
    // The spool opens the file, then deletes its name. Linux shows that in the link.
    await expect.poll(() => openFiles(folder)).toEqual([expect.stringMatching(/ \(deleted\)$/)])
    return spool
  }

  it('has no name, and is closed at the end of the reading', async () => {
    const spool = await filled()
    expect(readdirSync(folder)).toEqual([])
    await drain(spool)
    expect(openFiles(folder)).toEqual([])
  })

  it('is closed if the reading ends early', async () => {
    const spool = await filled()
    await spool.next()
    await spool.return()
    await expect.poll(() => openFiles(folder)).toEqual([])
  })

  it('is not needed for a small file', async () => {
    const spool = new Spool(
      chunksOf(pattern(4 * MIB), () => 65_536),
      Number.POSITIVE_INFINITY,
      noRest,
    )
    await turn()
    expect(openFiles(folder)).toEqual([])
    await drain(spool)
  })
})

describe('without a disk', () => {
  const bytes = pattern(20 * MIB)
  /** A server that closes the connection when it had to wait. */
  const stalling = (from: number) => {
    let sent = 0
    return (async function* () {
      for await (const chunk of chunksOf(bytes.subarray(from), () => 100_000)) {
        if (sent > 6 * MIB) throw new Error('closed')
        sent += chunk.length
        yield chunk
      }
    })()
  }

  it('requests the rest, as often as it takes', async () => {
    withoutDisk()
    const positions: number[] = []
    const spool = new Spool(stalling(0), Number.POSITIVE_INFINITY, async (position) => {
      positions.push(position)
      return stalling(position)
    })
    expect((await drain(spool, () => turn())).equals(bytes)).toBe(true)
    expect(positions.length).toBeGreaterThan(1)
  })

  it('says why the rest is missing if the server does not send it', async () => {
    withoutDisk()
    const spool = new Spool(stalling(0), Number.POSITIVE_INFINITY, noRest)
    await expect(drain(spool, () => turn())).rejects.toThrow(
      /^closed, while it waited for the caller, since no temporary file could be written \(ENOENT/,
    )
  })
})
