// What the audit finds in a folder: with the sinks, and with folders that were changed.
import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import {
  type EvidenceFinding,
  type EvidenceItem,
  type EvidenceVerification,
  explainEvidence,
  type ReplayDifference,
  readEvidence,
  replayEvidence,
  verifyEvidence,
} from '../src/audit/index.ts'
import { type Evidence, evidenceStream, evidenceWarc } from '../src/index.ts'
import { decisionOf, entryOf, invalidDecision, ROBOTS, START } from './decisions.ts'
import { linesIn, newFolder, writeLines, writtenFolder } from './evidence-folder.ts'

const ORIGIN = 'https://a.example'
const entry = entryOf(ORIGIN)

/** Two decisions with their results, and one without. */
function crawl(sink: Evidence): void {
  const refused = sink.decided(decisionOf(`${ORIGIN}/private/x`, entry, { at: START + 1000 }))
  const allowed = sink.decided(decisionOf(`${ORIGIN}/page`, entry, { at: START + 2000 }))
  const delay = { delayMs: 2000, because: 'crawl-delay' } as const
  const permit = { at: START + 4000, waitedMs: 2000, waitedFor: 'crawl-delay', waitedLevel: 'gate', key: ORIGIN, delay }
  sink.ended({ id: allowed.id, at: START + 4100, outcome: 'answered', status: 200, permit, tookMs: 100 })
  sink.ended({ id: refused.id, at: START + 4200, outcome: 'not-sent', error: new Error('disallowed') })
  sink.decided(decisionOf(`${ORIGIN}/other`, entry, { at: START + 5000 }))
}

async function verified(
  dir: string,
  keys?: readonly { readonly x?: string }[],
): Promise<EvidenceVerification & { readonly findings: readonly EvidenceFinding[] }> {
  const findings: EvidenceFinding[] = []
  const result = await verifyEvidence(dir, { keys, onFinding: (finding) => void findings.push(finding) })
  return { ...result, findings }
}

async function itemsIn(dir: string): Promise<readonly EvidenceItem[]> {
  const items: EvidenceItem[] = []
  for await (const item of readEvidence(dir)) items.push(item)
  return items
}

const problemsOf = (findings: readonly EvidenceFinding[]) =>
  findings.map(({ level, problem, line }) => [level, problem.replace(/[\da-f]{12,64}/g, 'HASH'), line])

test('reads what the sinks have written, each robots.txt included', async () => {
  const files = await writtenFolder(crawl)
  const warc = newFolder()
  const sink = evidenceWarc({ dir: warc, now: () => START })
  crawl(sink)
  await sink.close()
  const stream = newFolder()
  const texts: string[] = []
  const streamed = evidenceStream({ write: (lines) => void texts.push(lines), now: () => START })
  crawl(streamed)
  await streamed.close()
  writeFileSync(join(stream, 'a.ndjson'), texts.join(''))
  for (const dir of [files, warc, stream]) {
    const kinds = (await itemsIn(dir)).map(({ record }) => record?.kind)
    expect(kinds).toEqual(['start', 'robots-txt', 'decision', 'decision', 'result', 'result', 'decision', 'end'])
    const { findings, limits, ...counts } = await verified(dir)
    expect(counts).toMatchObject({ records: 8, chains: 1, errors: 0, notes: 1 })
    expect(findings).toMatchObject([
      { level: 'note', problem: expect.stringContaining('requests without a result, as after a kill: 1, the first') },
    ])
    expect(limits).toEqual([
      expect.stringContaining('No signature was compared with a key of yours'),
      expect.stringContaining('(7 now) can be changed or removed unseen'),
    ])
    expect(await replayEvidence(dir)).toMatchObject({ decisions: 3, same: 3, different: 0, notReplayable: {} })
    expect((await explainEvidence(dir, `${ORIGIN}/private/x`)).sentences[0]).toContain(
      'line 2 of robots.txt says "Disallow: /private"',
    )
  }
})

test('names each changed, missing and repeated record', async () => {
  const dir = await writtenFolder(crawl)
  const lines = linesIn(dir)
  const with_ = async (change: (lines: string[]) => void) => {
    const changed = [...lines]
    change(changed)
    writeLines(dir, changed)
    return problemsOf((await verified(dir)).findings.filter(({ level }) => level === 'error'))
  }
  expect(await with_(() => undefined)).toEqual([])
  expect(await with_((all) => (all[2] = all[2]?.replace('private', 'Private') ?? ''))).toEqual([
    ['error', 'the record before it (2026-11-28T16.ndjson.zst:3) was changed', 4],
  ])
  expect(await with_((all) => all.splice(3, 2))).toEqual([['error', 'records 3 to 4 of its chain are missing', 4]])
  expect(await with_((all) => all.splice(0, 1))).toEqual([['error', 'records 0 to 0 of its chain are missing', 1]])
  expect(await with_((all) => all.splice(4, 0, all[3] ?? ''))).toEqual([
    ['error', 'record 3 of its chain comes again, or in the wrong place', 5],
  ])
  expect(await with_((all) => (all[2] = 'x'))).toEqual([
    ['error', 'the line is not a record', 3],
    ['error', 'records 2 to 2 of its chain are missing', 4],
    ['error', 'its decision HASH-0 is missing', 6],
  ])
  expect(await with_((all) => (all[2] = all[2]?.replace('"url"', '"uri"') ?? ''))).toContainEqual([
    'error',
    '"decision": its field "url" is missing, or has another type',
    3,
  ])
})

test('finds a robots.txt that is missing or was changed', async () => {
  const dir = await writtenFolder(crawl)
  const [folder = ''] = readdirSync(join(dir, 'files'))
  const [name = ''] = readdirSync(join(dir, 'files', folder))
  const path = join(dir, 'files', folder, name)
  writeFileSync(path, zstdCompressSync('User-agent: *\nAllow: /private\n'))
  expect(problemsOf((await verified(dir)).findings)).toContainEqual(['error', 'the robots.txt HASH is damaged', 3])
  expect(await replayEvidence(dir)).toMatchObject({ same: 0, notReplayable: { 'robots-txt-damaged': 3 } })
  writeFileSync(path, 'not compressed')
  expect(await verified(dir)).toMatchObject({ errors: 1 })
  rmSync(path)
  expect(problemsOf((await verified(dir)).findings)).toContainEqual(['error', 'the robots.txt HASH is missing', 3])
  expect(await replayEvidence(dir)).toMatchObject({ same: 0, notReplayable: { 'robots-txt-missing': 3 } })
})

test('a cut file is what a kill leaves: a note, and everything before the cut is read', async () => {
  const dir = await writtenFolder(crawl)
  const lines = linesIn(dir)
  rmSync(join(dir, '2026-11-28T16.ndjson.zst'))
  const plain = join(dir, '2026-11-28T16.ndjson')
  writeFileSync(plain, lines.join('\n').slice(0, -20))
  const cut = ['note', 'the last line is cut, as after a kill', 8]
  expect(problemsOf((await verified(dir)).findings)).toContainEqual(cut)
  expect(await verified(dir)).toMatchObject({ errors: 0, records: 7 })
  rmSync(plain)
  const whole = zstdCompressSync(`${lines.join('\n')}\n`)
  writeFileSync(join(dir, 'a.ndjson.zst'), whole.subarray(0, whole.length - 40))
  expect(problemsOf((await verified(dir)).findings)).toEqual([
    ['error', expect.stringMatching(/^the file (?:can't be read after this line \(Z_BUF_ERROR\)|has no records)$/), 0],
  ])

  const warc = newFolder()
  const sink = evidenceWarc({ dir: warc, now: () => START })
  crawl(sink)
  await sink.close()
  const [name = ''] = readdirSync(warc)
  const open = join(warc, `${name}.open`)
  renameSync(join(warc, name), open)
  truncateSync(open, readFileSync(open).length - 30)
  expect(await verified(warc)).toMatchObject({ errors: 0, records: 7 })
  expect(problemsOf((await verified(warc)).findings)).toContainEqual([...cut.slice(0, 2), expect.any(Number)])
})

test('reads chains in order: files by number, not by name, and one of two copies of a file', async () => {
  const dir = newFolder()
  let now = START
  await writtenFolder(
    (sink) => {
      for (let hour = 0; hour < 3; hour++) {
        sink.decided(decisionOf(`${ORIGIN}/${hour}`, entry, { at: now }))
        now -= 3_600_000 // the clock is set back, so names go back too
      }
    },
    { dir, now: () => now, mode: 'before-sending', rotateEveryMs: 3_600_000 },
  )
  const [first = ''] = readdirSync(dir).filter((name) => name.startsWith('2026-11-28T16'))
  writeFileSync(
    join(dir, first.replace('.zst', '')),
    linesIn(dir, first)
      .map((line) => `${line}\n`)
      .join(''),
  )
  const { findings, ...counts } = await verified(dir)
  expect(findings.filter(({ level }) => level === 'error')).toEqual([])
  expect(findings).toContainEqual(
    expect.objectContaining({ problem: 'the time goes back here: the clock was set back' }),
  )
  expect(counts).toMatchObject({ chains: 1 })
  rmSync(join(dir, '2026-11-28T15.ndjson.zst'))
  expect(problemsOf((await verified(dir)).findings)).toContainEqual([
    'error',
    expect.stringMatching(/^records \d to \d of its chain are missing$/),
    1,
  ])
})

test('compares signed heads with keys, and says what no signature covers', async () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const key = privateKey.export({ format: 'jwk' }) as Record<string, unknown>
  const dir = await writtenFolder(crawl, { key })
  const own = [{ x: String(key.x) }]
  expect(await verified(dir, own)).toMatchObject({
    errors: 0,
    limits: [expect.stringContaining('(0 now) can be changed or removed unseen')],
  })
  expect((await verified(dir)).limits[0]).toContain('No signature was compared with a key of yours')
  const { findings } = await verified(dir, [{ x: 'other' }])
  const strange = expect.stringMatching(/^the key .* is none of the keys you gave$/)
  expect(findings.filter(({ level }) => level === 'error')).toMatchObject([{ problem: strange }, { problem: strange }])
  const lines = linesIn(dir)
  const last = lines.findLastIndex((line) => line.includes('"kind":"head"'))
  writeLines(
    dir,
    lines.map((line, n) => (n === last ? line.replace(/"signature":"./, '"signature":"_') : line)),
  )
  const wrong = ['error', 'the signature of this head is wrong', last + 1]
  expect(problemsOf((await verified(dir)).findings)).toContainEqual(wrong)
})

test('ignores the WARC records of other programs, and finds records in a WARC of another name', async () => {
  const dir = newFolder()
  const sink = evidenceWarc({ dir, now: () => START })
  crawl(sink)
  await sink.close()
  const [name = ''] = readdirSync(dir)
  const page = 'HTTP/1.1 200 OK\r\n\r\nhello'
  const other = (type: string, content: string, contentType: string) =>
    gzipSync(
      `WARC/1.1\r\nWARC-Type: ${type}\r\nContent-Type: ${contentType}\r\nContent-Length: ${content.length}\r\n\r\n${content}\r\n\r\n`,
    )
  const others = [
    other('response', page, 'application/http;msgtype=response'),
    other('metadata', 'via: x', 'application/warc-fields'),
    other('metadata', '{"pages":3}', 'application/json'),
  ]
  writeFileSync(join(dir, 'crawl.warc.gz'), Buffer.concat([...others, readFileSync(join(dir, name))]))
  rmSync(join(dir, name))
  expect(await verified(dir)).toMatchObject({ records: 8, errors: 0 })
  expect(await replayEvidence(dir)).toMatchObject({ same: 3 })
})

test('replay names the decisions that come out differently, and never counts what it can not replay', async () => {
  const dir = await writtenFolder((sink) => {
    crawl(sink)
    sink.decided(invalidDecision('http://user:p/w@host/'))
    sink.decided(invalidDecision('http://[bad'))
  })
  const lines = linesIn(dir)
  writeLines(
    dir,
    lines.map((line, n) =>
      n === 2 ? line.replace('"line":2', '"line":1') : n === 3 ? line.replace('{"v":1', '{"v":2') : line,
    ),
  )
  const differences: ReplayDifference[] = []
  const result = await replayEvidence(dir, { onDifference: (one) => void differences.push(one) })
  expect(result).toMatchObject({
    decisions: 5,
    same: 2,
    different: 1,
    notReplayable: { 'newer-version': 1, 'url-incomplete': 1 },
  })
  expect(differences).toMatchObject([
    {
      line: 3,
      url: `${ORIGIN}/private/x`,
      recorded: expect.stringContaining('line 1'),
      replayed: expect.stringContaining('line 2'),
    },
  ])
  const hashed = await writtenFolder(crawl, { urls: 'hashed' })
  expect(await replayEvidence(hashed)).toMatchObject({
    decisions: 3,
    same: 0,
    different: 0,
    notReplayable: { 'url-incomplete': 3 },
  })
  expect(await explainEvidence(hashed, `${ORIGIN}/page`)).toMatchObject({ decision: { line: 4 } })
})

test('replay counts records with missing parts as unreadable', async () => {
  const dir = await writtenFolder(crawl)
  const lines = linesIn(dir)
  for (const [from, to] of [
    ['"latest":{', '"last":{'],
    ['"policy":{', '"polity":{'],
    ['"dialect":"rfc9309"', '"dialect":"rfc"'],
    ['"because":"rule"', '"because":"x"'],
    [/"time":"[^"]*"/, '"time":"x"'],
  ] as const) {
    writeLines(
      dir,
      lines.map((line, n) => (n === 2 ? line.replace(from, to) : line)),
    )
    expect(await replayEvidence(dir)).toMatchObject({
      decisions: 3,
      same: 2,
      different: 0,
      notReplayable: { unreadable: 1 },
    })
  }
  writeLines(dir, lines.with(2, (lines[2] as string).replace('"productTokens"', '"tokens"')))
  expect((await explainEvidence(dir, `${ORIGIN}/private/x`)).sentences).toEqual([
    `The record about ${ORIGIN}/private/x was changed: a part of it is missing.`,
  ])
  await expect(replayEvidence(dir, { dialect: 'rfc' as 'rfc9309' })).rejects.toMatchObject({
    code: 'ERR_POLITELY_OPTION',
  })
})

test('replay asks what if: another name, another dialect', async () => {
  const text = 'User-agent: *\nAllow: /p\nDisallow: /private\n\nUser-agent: Other\nDisallow: /\n'
  const dir = await writtenFolder((sink) => {
    sink.decided(decisionOf(`${ORIGIN}/page`, entryOf(ORIGIN, text)))
    sink.decided(decisionOf(`${ORIGIN}/private`, entryOf(ORIGIN, text)))
  })
  expect(await replayEvidence(dir, { productTokens: ['Other'] })).toMatchObject({ different: 2 })
  expect(await replayEvidence(dir, { dialect: 'koster-1996' })).toMatchObject({ different: 1 })
})

test('explains in sentences: who, why, which file, what then', async () => {
  const dir = await writtenFolder(crawl, { purpose: 'archive' })
  const { sentences } = await explainEvidence(dir, `${ORIGIN}/page`)
  expect(
    sentences
      .join('\n')
      .replace(/[\da-f]{64}/, 'HASH')
      .replace(/Politely \S+/, 'Politely X'),
  ).toMatchInlineSnapshot(`
    "At 2026-11-28T16:00:02Z (request), https://a.example/page was allowed: no rule of the group for * (line 1) matches.
    The robots.txt was https://a.example/robots.txt, SHA-256 HASH, which the site last confirmed at 2026-11-28T16:00:00Z.
    The last attempt to fetch robots.txt ended at 2026-11-28T16:00:00Z.
    The crawler calls itself "ExampleBot/1.0 (+https://example.com/bot)", and looks in robots.txt for ExampleBot, in the dialect rfc9309.
    The purpose of the crawl is "archive".
    What followed: a start at 2026-11-28T16:00:04Z after a wait of 2000 ms (crawl-delay), answered with status 200 after 100 ms.
    Recorded by Politely X in 2026-11-28T16.ndjson.zst, line 4."
  `)
  expect((await explainEvidence(dir, `${ORIGIN}/private/x`)).sentences).toContain(
    'What followed: not-sent (Error: disallowed).',
  )
  const other = await explainEvidence(dir, `${ORIGIN}/private/y`)
  expect(other.decision).toBe(undefined)
  expect(other.sentences.slice(0, 2)).toEqual([
    `No decision about ${ORIGIN}/private/y is recorded.`,
    `The last one about ${ORIGIN} is of 2026-11-28T16:00:05Z.`,
  ])
  const url = `${ORIGIN}/page`
  expect((await explainEvidence(dir, url, { at: START })).sentences).toEqual([`No decision about ${url} is recorded.`])
})

test('rejects what is not a folder with records', async () => {
  const dir = newFolder()
  await expect(verifyEvidence(dir)).rejects.toThrow(
    'has no records (.ndjson, .ndjson.zst or .warc.gz); write the folder that the sink writes to',
  )
  await expect(replayEvidence(join(dir, 'x'))).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION' })
  await expect(explainEvidence(dir, `${ORIGIN}/`)).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION' })
  await expect(itemsIn(dir)).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION' })
  expect(ROBOTS).toContain('Disallow')
})
