// What the sinks write, and what they do when they cannot.
import { generateKeyPairSync, hash, verify } from 'node:crypto'
import fs, { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { dialects } from '@politely/core'
import { RobotsClient } from '@politely/fetcher'
import { rememberSentPage } from '@politely/fetcher/internal'
import { politely } from '@politely/gate'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import schema from '../data/evidence-1.schema.json' with { type: 'json' }
import { type Evidence, evidenceFiles, evidenceStream, evidenceWarc } from '../src/index.ts'
import type { DecisionRecord, HeadRecord, ResultRecord } from '../src/record.ts'
import { CLIENT, decisionOf, entryOf, HEADERS, invalidDecision, ROBOTS, START } from './decisions.ts'
import { brokenLinks, filesIn, linesOf, newFolder, recordsIn, recordsOf } from './folder.ts'

const ENTRY = entryOf('https://a.example')
const HOUR = 3_600_000

const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true })
addFormats.default(ajv)
const isRecord = ajv.compile(schema)

/** What is wrong with records, by the schema. */
function problemsOf(lines: readonly string[]) {
  return lines.flatMap((line) => (isRecord(JSON.parse(line)) ? [] : [{ line, errors: isRecord.errors }]))
}

/** The number of the first record. */
const firstSeq = (lines: readonly string[]) => recordsIn(lines)[0]?.seq ?? 0

/** A stream's sink, and its lines so far. */
function streamOf(options: Partial<Parameters<typeof evidenceStream>[0]> = {}) {
  const parts: string[] = []
  const sink = evidenceStream({ write: (lines) => void parts.push(lines), now: () => START, ...options })
  return { sink, lines: () => parts.join('').split('\n').slice(0, -1) }
}

function privateKey() {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) as Record<string, unknown>
}

/** Lets a call of the file system fail until the returned function is called. */
function failing(name: 'writeSync' | 'fdatasync', code: string, written = 0) {
  const original = fs[name] as (...args: unknown[]) => unknown
  const error = Object.assign(new Error(`${code}: injected, write`), { code })
  let part = written
  const spy = vi.spyOn(fs, name as 'writeSync').mockImplementation(((...args: unknown[]) => {
    if (name === 'fdatasync') return (args[1] as (error: Error) => void)(error)
    if (part === 0) throw error
    const [fd, data, at, length, position] = args
    const count = Math.min(part, length as number)
    part -= count
    return original(fd, data, at, count, position)
  }) as never)
  onTestFinished(() => spy.mockRestore())
  return () => spy.mockRestore()
}

/** Counts warnings, which are not shown. */
function warnings() {
  const spy = vi.spyOn(process, 'emitWarning').mockReturnValue()
  onTestFinished(() => spy.mockRestore())
  return spy
}

describe('records', () => {
  it('of each kind are valid by the schema, and chained', async () => {
    const key = privateKey()
    const { sink, lines } = streamOf({ key, purpose: 'archive' })
    const more = { redirectedFrom: ['https://old.example/'], obey: { rules: false, delays: true }, maxAgeMs: 60_000 }
    const { id } = sink.decided(decisionOf('https://a.example/private/x', ENTRY, more))
    const delay = { delayMs: 2000, because: 'crawl-delay' } as const
    const permit = { at: START, waitedMs: 5, waitedFor: 'own-delay', waitedLevel: 'gate', key: 'a.example', delay }
    sink.ended({ id, at: START, outcome: 'answered', status: 200, permit, tookMs: 12, keyId: 'k' })
    sink.ended({ id, at: START, outcome: 'noted', usage: { search: 'allowed' } })
    sink.decided(invalidDecision('nothing'))
    await sink.close()
    expect(
      recordsIn(lines())
        .map(({ kind }) => kind)
        .join(' '),
    ).toBe('start head robots-txt decision result result decision head end')
    expect(problemsOf(lines())).toEqual([])
    expect(brokenLinks(lines())).toEqual([])
  })

  it('name the head that a key signs', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const { sink, lines } = streamOf({ key: privateKey.export({ format: 'jwk' }) as never })
    await sink.close()
    const { chain, seq, prev, signature, key } = recordsIn(lines()).at(-2) as HeadRecord
    expect(key.x).toBe(publicKey.export({ format: 'jwk' }).x)
    const text = Buffer.from(`politely-evidence 1 ${chain} ${seq} ${prev}`)
    expect(verify(null, text, publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
  })

  it('have what the verdict depends on', async () => {
    const { sink, lines } = streamOf()
    const dialect = { ...dialects.rfc9309, name: 'mine' }
    const policy = { ...CLIENT.policy, afterDays: Number.POSITIVE_INFINITY }
    sink.decided(decisionOf('https://a.example/private', ENTRY))
    sink.decided(decisionOf('https://a.example/private', ENTRY, { client: { ...CLIENT, dialect, policy } }))
    await sink.close()
    const [, file, one, other] = recordsIn(lines()) as unknown as DecisionRecord[]
    expect(file).toMatchObject({ sha256: hash('sha256', ROBOTS), bytes: ROBOTS.length, status: 200 })
    expect(one).toMatchObject({
      verdict: { allowed: false, because: 'rule', rule: { text: '/private', line: 2 }, group: { line: 1 } },
      by: { dialect: 'rfc9309', policy: { afterDays: 30 } },
      robotsTxt: { sha256: hash('sha256', ROBOTS), confirmedAt: START, lifetimeMs: HOUR },
      state: { name: 'rules', failures: 0, latest: { kind: 'success' } },
      access: { outcome: 'success', copy: { freshness: 'fresh' } },
      asked: { crawlDelayMs: 2000 },
      headers: { 'cache-control': 'max-age=3600' },
    })
    expect(other?.by).toMatchObject({ dialect, policy: { afterDays: null } })
    expect(one?.state).not.toHaveProperty('copy')
  })

  it('have neither credentials nor cookies', async () => {
    const { sink, lines } = streamOf()
    const text = 'User-agent: *\nDisallow: https://user:secret1@a.example/x\n'
    const entry = entryOf('https://a.example', text)
    const headers = {
      ...HEADERS,
      'www-authenticate': 'secret2',
      'x-client-ip': 'secret3',
      location: 'https://u:secret4@b.example/',
    }
    const redirectedFrom = ['https://user:secret5@old.example/']
    const { id } = sink.decided(decisionOf('https://user:secret6@a.example/', entry, { headers, redirectedFrom }))
    const cause = Object.assign(new Error('no answer\nof https://user:secret7@a.example/'), { code: 'ECONNRESET' })
    const error = new TypeError('fetch failed', { cause })
    sink.ended({ id, at: START, outcome: 'failed', error })
    sink.ended({ id, at: START, outcome: 'failed', error: AbortSignal.abort().reason })
    const url = 'https://u:secret8@a.example/robots.txt'
    const { copy, latest } = entry
    const moved = { ...entry, latest: { ...latest, url, hops: [{ url, status: 301 }] }, copy: copy && { ...copy, url } }
    sink.decided(decisionOf('https://a.example/', moved))
    await sink.close()
    const [start, file, decision, result, aborted, ...rest] = lines()
    expect(JSON.parse(aborted as string).error).toMatch(/^AbortError: /)
    expect([start, file, decision, result, ...rest].join('\n').replace(/"content":"[^"]*"/, '')).not.toMatch(
      /secret|session=/,
    )
    expect(JSON.parse(file as string).headers).toEqual({
      'cache-control': 'max-age=3600',
      'content-encoding': 'gzip',
      'content-length': '51',
      'content-type': 'text/plain',
      location: 'https://b.example/',
      server: 'example',
    })
    expect(JSON.parse(decision as string)).toMatchObject({ url: 'https://a.example/', hadCredentials: true })
    expect(JSON.parse(result as string).error).toMatch(/^ECONNRESET: no answer\\u\{a\}of https:\/\/a\.example\//)
  })

  it('have hashes instead of URLs if asked', async () => {
    const { sink, lines } = streamOf({ urls: 'hashed' })
    const url = 'https://a.example/path?name=secret'
    const { id } = sink.decided(decisionOf(url, ENTRY, { redirectedFrom: ['https://b.example/secret'] }))
    sink.ended({ id, at: START, outcome: 'failed', error: new Error(`no answer of ${url}`) })
    sink.decided(invalidDecision('secret'))
    await sink.close()
    expect(lines().join('\n')).not.toMatch(/secret/)
    expect(problemsOf(lines())).toEqual([])
    expect(recordsIn(lines())[2]).toMatchObject({
      url: 'https://a.example',
      hashed: hash('sha256', url),
      redirectedFrom: [`https://b.example#sha256=${hash('sha256', 'https://b.example/secret')}`],
    })
  })

  it('have the hash of a body that was noted', async () => {
    const { sink, lines } = streamOf()
    const { id } = sink.decided(decisionOf('https://a.example/', ENTRY))
    const response = rememberSentPage(new Response('a page'), { decision: id })
    sink.noteBody(response, 'a page')
    sink.noteBody(response, Buffer.from('a page'))
    expect(() => sink.noteBody(new Response(''), '')).toThrow(/^response: .*evidence/)
    expect(() => sink.noteBody(response, { bytes: 1 } as never)).toThrow(/^body: .*Uint8Array/)
    await sink.close()
    const body = { sha256: hash('sha256', 'a page'), bytes: 6 }
    expect(recordsIn(lines()).slice(3, 5)).toMatchObject([
      { kind: 'result', id, outcome: 'noted', body },
      { kind: 'result', id, outcome: 'noted', body },
    ])
  })
})

describe('evidenceFiles', () => {
  it('writes the robots.txt once, then the records, and compresses them', async () => {
    const dir = newFolder()
    const sink = evidenceFiles({ dir, now: () => START })
    for (const path of ['a', 'b', 'private']) sink.decided(decisionOf(`https://a.example/${path}`, ENTRY))
    expect(filesIn(dir)).toEqual(['2026-11-28T16.ndjson'])
    await sink.close()
    const sha256 = hash('sha256', ROBOTS)
    const file = join(dir, 'files', sha256.slice(0, 2), `${sha256.slice(2)}.txt.zst`)
    expect(`${zstdDecompressSync(readFileSync(file))}`).toBe(ROBOTS)
    expect(filesIn(dir)).toEqual(['2026-11-28T16.ndjson.zst'])
    const kinds = recordsOf(dir).map(({ kind }) => kind)
    expect(kinds).toEqual(['start', 'robots-txt', 'decision', 'decision', 'decision', 'end'])
    expect(sink.state).toMatchObject({ lost: 0, failure: undefined })
  })

  it('has a decision on disk when `decided` returns, in mode before-sending', () => {
    const dir = newFolder()
    const sink = evidenceFiles({ dir, mode: 'before-sending', now: () => START })
    onTestFinished(() => sink.close())
    const { id, written } = sink.decided(decisionOf('https://a.example/', ENTRY))
    expect(written).toBe(undefined)
    expect(recordsOf(dir).at(-1)).toMatchObject({ kind: 'decision', id })
  })

  it('resolves `written` after one sync for all that wait', async () => {
    const dir = newFolder()
    const syncs = vi.spyOn(fs, 'fdatasync')
    onTestFinished(() => syncs.mockRestore())
    const sink = evidenceFiles({ dir, fsync: true, now: () => START })
    const receipts = ['a', 'b', 'c'].map((path) => sink.decided(decisionOf(`https://a.example/${path}`, ENTRY)))
    await Promise.all(receipts.map(({ written }) => written))
    expect(syncs).toHaveBeenCalledTimes(1)
    await sink.decided(decisionOf('https://a.example/d', ENTRY)).written
    expect(syncs).toHaveBeenCalledTimes(2)
    const repair = failing('fdatasync', 'EIO')
    await expect(sink.decided(decisionOf('https://a.example/e', ENTRY)).written).rejects.toThrow(/EIO/)
    repair()
    await sink.close()
  })

  it('begins a file each hour, and before a file is too large; the chain goes on', async () => {
    const dir = newFolder()
    let now = START
    const sink = evidenceFiles({ dir, now: () => now, maxFileBytes: 80_000, key: privateKey() })
    for (let n = 0; n < 100; n++) {
      const { id } = sink.decided(decisionOf(`https://a.example/${n}/ä`, ENTRY))
      sink.ended({ id, at: now, outcome: 'answered', status: 200 })
    }
    now += HOUR
    sink.decided(decisionOf('https://a.example/', ENTRY))
    await sink.close()
    const files = filesIn(dir)
    expect(files).toEqual([
      '2026-11-28T16.2.ndjson.zst',
      '2026-11-28T16.3.ndjson.zst',
      '2026-11-28T16.ndjson.zst',
      '2026-11-28T17.ndjson.zst',
    ])
    const parts = files.map((name) => linesOf(join(dir, name))).toSorted((a, b) => firstSeq(a) - firstSeq(b))
    for (const lines of parts) expect(Buffer.byteLength(`${lines.join('\n')}\n`)).toBeLessThanOrEqual(80_000)
    expect(parts.map((lines) => recordsIn(lines)[0])).toMatchObject([
      { kind: 'start' },
      { kind: 'start' },
      { kind: 'start' },
      { kind: 'start' },
    ])
    expect(brokenLinks(parts.flat())).toEqual([])
    expect(parts.flat().filter((line) => line.includes('"kind":"decision"'))).toHaveLength(101)
  })

  it('shares a folder with another sink', async () => {
    const dir = newFolder()
    const sinks = [1, 2].map(() => evidenceFiles({ dir, now: () => START }))
    for (const sink of sinks) sink.decided(decisionOf('https://a.example/', ENTRY))
    await Promise.all(sinks.map((sink) => sink.close()))
    expect(filesIn(dir)).toEqual(['2026-11-28T16.2.ndjson.zst', '2026-11-28T16.ndjson.zst'])
    expect(filesIn(dir).map((name) => brokenLinks(linesOf(join(dir, name))))).toEqual([[], []])
  })

  it('finishes what an earlier process has left, and nothing else', async () => {
    const dir = newFolder()
    const sink = evidenceFiles({ dir, now: () => START })
    sink.decided(decisionOf('https://a.example/', ENTRY))
    await sink.close()
    const [start = '', ...rest] = linesOf(join(dir, '2026-11-28T16.ndjson.zst'))
    const { host } = JSON.parse(start)
    const leave = (name: string, text: string, ageMs: number) => {
      writeFileSync(join(dir, name), text)
      const time = new Date(Date.now() - process.uptime() * 1000 - ageMs)
      if (ageMs > 0) fs.utimesSync(join(dir, name), time, time)
    }
    const text = `${[start, ...rest].join('\n')}\n{"v":1,"torn`
    leave('2026-11-28T15.ndjson', text, 1000) // this process had not started then: its number was another's
    leave('2026-11-28T16.ndjson', text, 1000) // was compressed, but not removed
    leave('2026-11-28T14.ndjson', text, 0)
    leave('2026-11-28T13.ndjson', text.replace(host, '0123456789ab'), 1000)
    leave('notes.ndjson', '{}\n', 1000)
    leave(`.${process.pid}-${host}-abc.tmp`, '', 1000)
    await evidenceFiles({ dir, now: () => START + 2 * HOUR }).close()
    expect(filesIn(dir)).toEqual([
      '2026-11-28T13.ndjson',
      '2026-11-28T14.ndjson',
      '2026-11-28T15.ndjson.zst',
      '2026-11-28T16.ndjson.zst',
      '2026-11-28T18.ndjson.zst',
      'notes.ndjson',
    ])
    expect(`${zstdDecompressSync(readFileSync(join(dir, '2026-11-28T15.ndjson.zst')))}`).toBe(text)
  })

  it('begins a new file if its file was removed', async () => {
    const dir = newFolder()
    const sink = evidenceFiles({ dir, mode: 'before-sending', now: () => START })
    fs.rmSync(join(dir, '2026-11-28T16.ndjson'))
    sink.decided(decisionOf('https://a.example/', ENTRY))
    await sink.close()
    expect(recordsOf(dir).map(({ kind }) => kind)).toEqual(['start', 'robots-txt', 'decision', 'end'])
  })

  it('keeps robots.txt once more if its folder was removed', async () => {
    const dir = newFolder()
    const sink = evidenceFiles({ dir, mode: 'before-sending', now: () => START })
    sink.decided(decisionOf('https://a.example/', ENTRY))
    fs.rmSync(dir, { recursive: true })
    for (let n = 0; n < 3; n++) sink.decided(decisionOf(`https://a.example/${n}`, ENTRY))
    await sink.close()
    expect(fs.readdirSync(join(dir, 'files'))).toHaveLength(1)
    const kinds = recordsOf(dir).map(({ kind }) => kind)
    expect(kinds).toEqual(['start', 'decision', 'robots-txt', 'decision', 'decision', 'end'])
  })

  test.each([
    [{ dir: '' }, /^dir: /],
    [{ dir: 'x', fsync: 'no' }, /^fsync: /],
    [{ dir: 'x', mode: 'fast' }, /^mode: /],
    [{ dir: 'x', key: { kty: 'OKP', crv: 'Ed25519', x: 'secret', d: 'secret' } }, /^key: (?!.*secret)/],
    [{ dir: 'x', key: '' }, /^key: /],
    [{ dir: 'x', purpose: 42 }, /^purpose: 42 is not a text/],
    [{ dir: 'x', maxFileBytes: 1 }, /^maxFileBytes: /],
    [{ dir: 'x', directory: 'y' }, /directory/],
  ])('refuses %j', (options, message) => {
    expect(() => evidenceFiles(options as never)).toThrow(message)
  })
})

describe('a full disk', () => {
  const modes = ['buffered', 'before-sending'] as const

  test.each(modes)('stops decisions until there is room, and keeps what was accepted (%s)', async (mode) => {
    const dir = newFolder()
    const warn = warnings()
    const sink = evidenceFiles({ dir, mode, now: () => START })
    const accepted: string[] = []
    const decide = (n: number) => accepted.push(sink.decided(decisionOf(`https://a.example/${n}`, ENTRY)).id)
    for (let n = 0; n < 10; n++) decide(n)
    const repair = failing('writeSync', 'ENOSPC', 100)
    let refused = 0
    for (let n = 0; n < 200; n++) {
      try {
        decide(n)
      } catch (error) {
        refused++
        expect(error).toMatchObject({ code: 'ERR_POLITELY_EVIDENCE', cause: { code: 'ENOSPC' } })
        expect((error as Error).message).toMatch(/evidence-\w+: .*ENOSPC.*onFailure/)
      }
    }
    expect(refused).toBeGreaterThan(100)
    expect(warn).toHaveBeenCalledTimes(1)
    sink.ended({ id: accepted[0] as string, at: START, outcome: 'answered' })
    expect(sink.state.failure).toMatchObject({ code: 'ERR_POLITELY_EVIDENCE' })
    await expect(sink.close()).rejects.toThrow(/ENOSPC/)
    repair()
    decide(0)
    await sink.close()
    const [name = ''] = filesIn(dir)
    const lines = linesOf(join(dir, name))
    expect(brokenLinks(lines)).toEqual([])
    const records = recordsIn(lines)
    expect(records.flatMap((record) => (record.kind === 'decision' ? [record.id] : []))).toEqual(accepted)
    expect(records.filter(({ kind }) => kind === 'result')).toHaveLength(1)
    expect(records.filter(({ kind }) => kind === 'robots-txt')).toHaveLength(1)
  })

  test.each(modes)('loses records, and counts them, if the crawl is to continue (%s)', async (mode) => {
    const dir = newFolder()
    const warn = warnings()
    const sink = evidenceFiles({ dir, mode, onFailure: 'continue', now: () => START })
    const repair = failing('writeSync', 'ENOSPC')
    for (let n = 0; n < 200; n++) {
      const { id } = sink.decided(decisionOf(`https://a.example/${n}`, ENTRY))
      for (let m = 0; m < 5; m++) sink.ended({ id, at: START, outcome: 'answered' })
    }
    expect(fs.writeSync).toHaveBeenCalledTimes(1) // the timer tries again, not each page
    const { lost } = sink.state
    expect(lost).toBeGreaterThan(100)
    repair()
    await sink.close()
    expect(warn).toHaveBeenCalledTimes(1)
    const [name = ''] = filesIn(dir)
    const lines = linesOf(join(dir, name))
    expect(problemsOf(lines)).toEqual([])
    expect(brokenLinks(lines)).toEqual([])
    const records = recordsIn(lines)
    expect(records.filter(({ kind }) => kind === 'gap')).toMatchObject([
      { lost, error: expect.stringMatching(/ENOSPC/) },
    ])
    expect(records.filter(({ kind }) => kind === 'decision')).toHaveLength(200 - lost)
  })

  it('is reported when the sink is created', () => {
    const dir = newFolder()
    warnings()
    writeFileSync(join(dir, 'plain'), '')
    expect(() => evidenceFiles({ dir: join(dir, 'plain') })).toThrow(/plain: evidence cannot be written/)
  })

  it('stops decisions if the robots.txt cannot be kept', async () => {
    const dir = newFolder()
    warnings()
    const sink = evidenceFiles({ dir, mode: 'before-sending', now: () => START })
    writeFileSync(join(dir, 'files'), '')
    expect(() => sink.decided(decisionOf('https://a.example/', ENTRY))).toThrow(/ENOTDIR|EEXIST/)
    fs.rmSync(join(dir, 'files'))
    sink.decided(decisionOf('https://a.example/', ENTRY))
    await sink.close()
    const kinds = recordsIn(linesOf(join(dir, '2026-11-28T16.ndjson.zst'))).map(({ kind }) => kind)
    expect(kinds).toEqual(['start', 'robots-txt', 'decision', 'end'])
  })

  it('leaves no half record, even if a file cannot be cut back', async () => {
    const dir = newFolder()
    warnings()
    const sink = evidenceFiles({ dir, mode: 'before-sending', now: () => START })
    sink.decided(decisionOf('https://a.example/', ENTRY))
    const repair = failing('writeSync', 'ENOSPC', 500)
    const spy = vi.spyOn(fs, 'ftruncateSync').mockImplementationOnce(() => {
      throw new Error('EIO')
    })
    onTestFinished(() => spy.mockRestore())
    expect(() => sink.decided(decisionOf('https://a.example/', ENTRY))).toThrow(/EIO/)
    repair()
    await sink.close()
    expect(zstdDecompressSync(readFileSync(join(dir, filesIn(dir)[0] as string))).at(-1)).toBe(10)
  })

  it('leaves no empty files if the folder cannot be synced', () => {
    const dir = newFolder()
    warnings()
    const spy = vi.spyOn(fs, 'fsyncSync').mockImplementation(() => {
      throw new Error('EINVAL')
    })
    onTestFinished(() => spy.mockRestore())
    for (let n = 0; n < 3; n++) expect(() => evidenceFiles({ dir, fsync: true })).toThrow(/EINVAL/)
    expect(filesIn(dir)).toEqual([])
  })

  it('does not let `ended` throw after the end', async () => {
    const { sink } = streamOf()
    const { id } = sink.decided(decisionOf('https://a.example/', ENTRY))
    await sink.close()
    sink.ended({ id, at: START, outcome: 'answered' })
    expect(sink.state.lost).toBe(1)
    expect(() => sink.decided(decisionOf('https://a.example/', ENTRY))).toThrow(/closed/)
  })
})

describe('the clock', () => {
  it('writes what is buffered after a second, and signs the head each minute', async () => {
    vi.useFakeTimers({ now: START, toFake: ['setInterval', 'clearInterval', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { sink, lines } = streamOf({ key: privateKey(), now: Date.now })
    const kinds = () => recordsIn(lines()).map(({ kind }) => kind)
    sink.decided(decisionOf('https://a.example/', ENTRY))
    vi.advanceTimersByTime(999)
    expect(kinds().join(' ')).toBe('start head')
    vi.advanceTimersByTime(1)
    expect(kinds().join(' ')).toBe('start head robots-txt decision')
    vi.advanceTimersByTime(58_999)
    expect(kinds().join(' ')).toBe('start head robots-txt decision')
    vi.advanceTimersByTime(1)
    expect(kinds().join(' ')).toBe('start head robots-txt decision head')
    vi.advanceTimersByTime(600_000)
    expect(kinds()).toHaveLength(5)
    vi.setSystemTime(START - HOUR) // the clock is set back
    sink.decided(decisionOf('https://a.example/', ENTRY))
    vi.advanceTimersByTime(1_000)
    expect(kinds().slice(5)).toEqual(['decision', 'head'])
    await sink.close()
    expect(kinds().slice(7)).toEqual(['end'])
  })
})

describe('evidenceWarc', () => {
  /** The records of a WARC file: fields and block. */
  function warcRecords(path: string) {
    const text = gunzipSync(readFileSync(path)).toString('latin1')
    const records: { fields: Record<string, string>; block: string }[] = []
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\r\n\r\n', at)
      const [version, ...lines] = text.slice(at, end).split('\r\n')
      expect(version).toBe('WARC/1.1')
      const fields = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s)))
      const block = text.slice(end + 4, end + 4 + Number(fields['Content-Length']))
      expect(fields['WARC-Block-Digest']).toBe(`sha256:${hash('sha256', Buffer.from(block, 'latin1'))}`)
      records.push({ fields, block })
      at = end + 4 + block.length + 4
    }
    return records
  }

  it('writes the response for robots.txt, and each line as metadata', async () => {
    const dir = newFolder()
    const sink = evidenceWarc({ dir, now: () => START })
    const { id } = sink.decided(decisionOf('https://a.example/private', ENTRY))
    sink.decided(decisionOf('https://a.example/b', ENTRY))
    sink.ended({ id, at: START, outcome: 'not-sent' })
    expect(filesIn(dir)).toEqual([`politely-20261128T160000Z-${sink.state.chain}-1.warc.gz.open`])
    await sink.close()
    const [name = ''] = filesIn(dir)
    expect(name).toBe(`politely-20261128T160000Z-${sink.state.chain}-1.warc.gz`)
    const records = warcRecords(join(dir, name))
    expect(records.map(({ fields }) => fields['WARC-Type'])).toEqual(
      'warcinfo metadata response metadata metadata metadata metadata metadata'.split(' '),
    )
    const [, , response, , decision, , result] = records
    expect(response).toMatchObject({
      fields: {
        'WARC-Target-URI': 'https://a.example/robots.txt',
        'WARC-Payload-Digest': `sha256:${hash('sha256', ROBOTS)}`,
        'Content-Type': 'application/http; msgtype=response',
      },
      block: [
        'HTTP/1.1 200 OK',
        'content-type: text/plain',
        'cache-control: max-age=3600',
        'X-Archive-Orig-content-encoding: gzip',
        'X-Archive-Orig-content-length: 51',
        'server: example',
        `Content-Length: ${ROBOTS.length}`,
        '',
        ROBOTS,
      ].join('\r\n'),
    })
    for (const record of [decision, result])
      expect(record?.fields).toMatchObject({
        'WARC-Target-URI': 'https://a.example/private',
        'WARC-Concurrent-To': response?.fields['WARC-Record-ID'],
        'Content-Type': 'application/json',
      })
    const lines = records.filter(({ fields }) => fields['WARC-Type'] === 'metadata').map(({ block }) => block)
    expect(brokenLinks(lines)).toEqual([])
    expect(problemsOf(lines)).toEqual([])
  })

  it('writes a resource if the response is not known', async () => {
    const dir = newFolder()
    const sink = evidenceWarc({ dir, now: () => START })
    sink.decided(decisionOf('https://a.example/', ENTRY, { headers: undefined }))
    const copy = ENTRY.copy && { ...ENTRY.copy, bytes: 'User-agent: *\n', truncated: true }
    sink.decided(decisionOf('https://a.example/', { ...ENTRY, latest: { ...ENTRY.latest, status: 304 }, copy }))
    await sink.close()
    const [name = ''] = filesIn(dir)
    const resources = warcRecords(join(dir, name)).filter(({ fields }) => fields['WARC-Type'] === 'resource')
    expect(resources).toMatchObject([
      { fields: { 'Content-Type': 'text/plain' }, block: ROBOTS },
      { fields: { 'WARC-Truncated': 'length' }, block: 'User-agent: *\n' },
    ])
  })
})

describe('a client', () => {
  async function startSite(): Promise<string> {
    const server = createServer(({ url }, response) => {
      response.setHeader('set-cookie', 'session=1')
      if (url === '/robots.txt') response.end(ROBOTS)
      else response.end('a page')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('has its checks written, and rejects them while nothing can be written', async () => {
    const dir = newFolder()
    const origin = await startSite()
    const sink: Evidence = evidenceFiles({ dir, mode: 'before-sending' })
    const client = new RobotsClient({ userAgent: 'ExampleBot', network: 'any', evidence: sink })
    const verdict = await client.check(`${origin}/private/x`)
    const repair = failing('writeSync', 'ENOSPC')
    await expect(client.check(`${origin}/x`)).rejects.toMatchObject({ code: 'ERR_POLITELY_EVIDENCE' })
    repair()
    await client.check(`${origin}/y`)
    await client.close()
    await sink.close()
    const [name = ''] = filesIn(dir)
    const lines = linesOf(join(dir, name))
    expect(problemsOf(lines)).toEqual([])
    const [, file, first, second] = recordsIn(lines)
    expect(file).toMatchObject({ status: 200, url: `${origin}/robots.txt`, sha256: hash('sha256', ROBOTS) })
    expect(JSON.stringify(file)).not.toMatch(/session/)
    expect(first).toMatchObject({ use: 'check', url: `${origin}/private/x`, verdict: { because: verdict.because } })
    expect(second).toMatchObject({ url: `${origin}/y`, verdict: { allowed: true } })
    expect((recordsIn(lines) as ResultRecord[]).filter(({ kind }) => kind === 'result')).toEqual([])
    expect(existsSync(join(dir, 'files'))).toBe(true)
  })

  it('that is polite has the results of its requests written', async () => {
    const dir = newFolder()
    const origin = await startSite()
    const evidence = evidenceFiles({ dir })
    const fetch = politely(globalThis.fetch, {
      userAgent: 'ExampleBot',
      network: 'any',
      minDelayMs: 0,
      maxDelayMs: 0,
      evidence,
    })
    const response = await fetch(`${origin}/page`)
    evidence.noteBody(response, await response.text())
    await expect(fetch(`${origin}/private`)).rejects.toThrow(/disallowed/)
    await fetch.close()
    await evidence.close()
    const [name = ''] = filesIn(dir)
    const lines = linesOf(join(dir, name))
    expect(problemsOf(lines)).toEqual([])
    const records = recordsIn(lines) as (DecisionRecord | ResultRecord)[]
    const page = records.find((record) => record.kind === 'decision' && record.url === `${origin}/page`)
    expect(page).toMatchObject({ use: 'request', verdict: { allowed: true } })
    expect(
      records.filter((record) => record.kind === 'result' && record.id === (page as DecisionRecord).id),
    ).toMatchObject([
      { outcome: 'answered', status: 200, permit: { delay: { because: expect.any(String) } } },
      { outcome: 'noted', body: { sha256: hash('sha256', 'a page'), bytes: 6 } },
    ])
    const refused = records.find((record) => record.kind === 'decision' && record.url === `${origin}/private`)
    expect(refused).toMatchObject({ verdict: { allowed: false, rule: { line: 2 } } })
  })
})
