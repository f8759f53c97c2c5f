// Random exchanges of a site, `politely(fetch)` and a PageCache, which a model of RFC 9111 judges:
// 1. A body that is given was sent whole, for this URL, and for a request with the same varied fields.
// 2. What is given without asking the site is fresh, or may be stale and is told as stale.
// 3. What must not be stored is not stored.
// 4. `reload`, `no-cache` and `must-revalidate` ask the site. What is known to be fresh does not.
// A failed test prints the seed, and the shortest history that fails.
import { politely } from '@politely/gate'
import { seededRandom } from '@politely/testkit/random-robots'
import { firstInShortRun, isFullRun } from '@politely/testkit/scope'
import { expect, onTestFinished, test } from 'vitest'
import type { CacheReport } from '../src/cache-report.ts'
import { cacheOf, MemoryPageStore, PageCache, type PageCacheOptions } from '../src/index.ts'
import { type Answer, type Exchange, RandomSite } from './random-site.ts'
import {
  afterFailure,
  age,
  confirmed,
  type Entry,
  isConfirmedBy,
  isOutdatedBy,
  matches,
  mayStore,
  type Request,
  surelyMatches,
  wants,
  withoutAsking,
} from './rfc9111-model.ts'
import { listOf, START } from './site.ts'

/** One request of the caller, and how the site answers if it is asked. */
interface Step extends Request {
  /** How much later than the last step. Milliseconds. */
  readonly afterMs: number
  readonly path: string
  /** `late`: after the next step. */
  readonly read: 'text' | 'stream' | 'clone' | 'late' | 'cancel'
  readonly answer: Answer
}

interface History {
  readonly options: Pick<PageCacheOptions, 'stale' | 'refresh'>
  readonly steps: readonly Step[]
}

const STEPS = 25
const HISTORIES = isFullRun ? 200 : 12

const LIFETIMES = ['0', '1', '10', '60', '600']
const TOLD = [
  ...LIFETIMES.flatMap((seconds) => [`max-age=${seconds}`, `private, max-age=${seconds}, stale-if-error=60`]),
  'max-age=10, must-revalidate',
  'max-age=60, must-revalidate, stale-if-error=600',
  'no-cache',
  'no-cache, max-age=60, stale-if-error=60',
  'no-cache="set-cookie", max-age=60',
  'no-store',
  'max-age=60, No-Store',
  'must-understand, no-store, max-age=60',
  'public',
  'private',
  's-maxage=600',
  'max-age=0, s-maxage=600',
  'max-age=10, stale-while-revalidate=600',
  'max-age=10, immutable',
  'immutable',
  'max-age=0, stale-if-error=99999999999',
  'max-age=99999999999',
  'MAX-AGE="10"',
  'max-age=10, max-age=600',
  'max-age=600, max-age=0',
  'x="a, no-store", max-age=60',
  ',,max-age=10,',
  'max-age=x',
  'max-age=-60',
  'max-age=6 0',
  'max-age=60.5',
  'max-age',
  'max-age=',
  'max-age=60;no-store',
]
const ASKED = [
  'no-cache',
  'no-store',
  'max-age=0',
  'max-age=10',
  'max-age=600',
  'max-age=x',
  'max-stale',
  'max-stale=10',
  'max-stale=600',
  'max-stale=x',
  'max-stale=99999999999',
  'max-stale, max-age=60',
  'min-fresh=5',
  'min-fresh=60',
  'min-fresh=99999999999',
  'only-if-cached',
  'only-if-cached, max-stale=60',
  'stale-if-error=60',
]
const VARY = [
  'accept-language',
  'Accept-Language, X-Theme',
  'x-theme',
  '*',
  'accept-language, *',
  'accept-encoding',
  ',',
]
const MODES = ['default', 'reload', 'no-cache', 'no-store', 'force-cache', 'only-if-cached']
const STATUSES = [203, 204, 205, 206, 299, 300, 301, 302, 303, 307, 308, 400, 403, 404, 405, 410, 414, 418, 429, 451]
const FAILURES = [undefined, undefined, 429, 500, 502, 503, 503, 504, 599, 600, 999]
const PHRASES = ['OK', '', 'Успешно', '成功', 'caf\u00e9', 'Not so OK']
const CREDENTIALS = ['authorization', 'cookie', 'x-api-key']

function historyOf(seed: number): History {
  const random = seededRandom(seed)
  const chance = (share: number) => random() < share
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const some = <T>(share: number, list: readonly T[]): T | undefined => (chance(share) ? pick(list) : undefined)
  const fields = (varyShare: number): Record<string, string> => {
    const [told, vary, old] = [
      some(0.7, TOLD),
      some(varyShare, VARY),
      some(0.15, ['0', '5', '600', '5, 600', 'x', '-5', '99999999999']),
    ]
    return {
      ...(told !== undefined && { 'cache-control': told }),
      ...(vary !== undefined && { vary }),
      ...(old !== undefined && { age: old }),
      ...(chance(0.05) && { expires: pick(['0', '-1', 'soon', '2099-01-01T00:00:00Z']) }),
      ...(chance(0.05) && { date: pick(['0', 'today']) }),
      ...(chance(0.1) && { 'set-cookie': 'id=1' }),
    }
  }
  const answer = (): Answer => {
    const status = chance(0.15) ? pick(FAILURES) : (some(0.2, [...STATUSES, 200 + Math.floor(random() * 800)]) ?? 200)
    const dates = {
      ...(chance(0.2) && { expires: pick([-10, 0, 1, 10, 60, 600]) }),
      ...(chance(0.4) && { date: pick([-600, -60, -10, 0, 0, 0, 0, 60]) }),
    }
    return {
      status: status === 407 ? 408 : status, // fetch keeps a 407 to itself
      phrase: pick(PHRASES),
      headers: {
        ...fields(0.3),
        ...(chance(0.7) && { 'content-type': pick(['text/html', 'text/html; charset=utf-8', 'image/png']) }),
        ...(status !== undefined && status >= 300 && status < 400 && chance(0.7) && { location: '/elsewhere' }),
      },
      dates,
      etag: some(0.5, ['strong', 'strong', 'weak'] as const),
      hasLastModified: chance(0.4),
      isUnchanged: chance(0.3),
      confirm: chance(0.7)
        ? {
            headers: { ...fields(0.2), ...(chance(0.1) && { 'content-type': 'text/plain' }) },
            validators: pick([
              'same',
              'same',
              'same',
              'same',
              'weak',
              'none',
              'other',
              'other-weak',
              'other-date',
            ] as const),
          }
        : undefined,
      coding: some(0.3, ['gzip', 'br', 'deflate'] as const),
      framing: pick(['length', 'length', 'chunks', 'close'] as const),
      cut: some(0.15, ['message', 'coding'] as const),
      takesMs: pick([0, 0, 0, 1, 1_000, 5_000]),
    }
  }
  const step = (): Step => {
    const asked = some(0.15, ASKED)
    const credential = some(0.15, CREDENTIALS)
    const [language, theme] = [some(0.4, ['de', 'fr']), some(0.2, ['dark', 'light'])]
    const method = some(0.15, ['HEAD', 'HEAD', 'HEAD', 'POST']) ?? 'GET'
    return {
      // The cache orders a POST and the requests before it by their times.
      afterMs: method === 'POST' ? 1 : pick([0, 0, 1, 999, 1_000, 5_000, 10_000, 59_999, 60_000, 600_000]),
      path: pick(['/a', '/a', '/b']),
      method,
      cache: method === 'POST' ? undefined : some(0.25, MODES),
      headers: {
        ...(asked !== undefined && method !== 'POST' && { 'cache-control': asked }),
        ...(language !== undefined && { 'accept-language': language }),
        ...(theme !== undefined && { 'x-theme': theme }),
        ...(credential !== undefined && { [credential]: pick(['one', 'two']) }),
      },
      read: pick(['text', 'text', 'text', 'stream', 'clone', 'late', 'cancel']),
      answer: answer(),
    }
  }
  const options = { ...(chance(0.2) && { stale: 'if-error' as const }), ...(chance(0.1) && { refresh: true }) }
  return { options, steps: Array.from({ length: STEPS }, step) }
}

/** A response that the cache may have stored. */
interface Known {
  entry: Entry
  readonly url: string
  readonly body: string
  /** Whether the cache has said that it is stored. */
  isCertain: boolean
}

/** What the caller got. */
interface Given {
  readonly response: Response
  readonly state: CacheReport['state'] | undefined
  readonly ageMs: number | undefined
}

/** Judges one history. Its methods return the first fault. */
class Judge {
  readonly #options: History['options']
  readonly #known: Map<string, Known> = new Map()

  constructor(options: History['options']) {
    this.#options = options
  }

  /** Judges a call that rejected. */
  rejected(exchanges: readonly Exchange[], error: unknown): string | undefined {
    const last = exchanges.at(-1)
    return last?.isWhole === false ? undefined : `rejected, although the site answered: ${error}`
  }

  /** Judges the head of a response. Returns the body that it must have, too. */
  head(request: Step, url: string, exchanges: readonly Exchange[], given: Given, now: number): string | Body {
    const { response } = given
    const last = exchanges.at(-1)
    const serial = response.headers.get('x-serial') ?? undefined
    if (
      request.cache === 'reload' &&
      exchanges.some(({ asked }) => asked['if-none-match'] ?? asked['if-modified-since'])
    )
      return 'reload has sent validators'
    if (request.cache !== 'reload' && wants(request).has('only-if-cached') && last !== undefined)
      return 'only-if-cached has asked the site'
    if (serial === undefined) {
      if (last === undefined && response.status === 504 && wants(request).has('only-if-cached')) return { text: '' }
      return 'the response is neither the site’s nor stored'
    }
    if (last?.serial === serial) return this.#sent(request, last, exchanges[0], given)
    const known = this.#known.get(serial)
    if (known === undefined) return `${serial} must not have been stored`
    return this.#stored(request, url, known, last, given, now) ?? { text: known.body, of: known }
  }

  /** Judges the site's own answer. */
  #sent(request: Step, sent: Exchange, first: Exchange | undefined, { response, state }: Given): string | Body {
    const others = this.#fitting(sent.url, request, matches)
    const newest = this.#newest(sent.url, request)
    if (
      newest !== undefined &&
      !this.#options.refresh &&
      others.every(({ entry }) => withoutAsking(entry, request, sent.requestedAt) === 'fresh')
    )
      return 'the site was asked, although the stored response is fresh'
    if (first !== undefined && first !== sent && first.status === 304 && newest && isAskedWith(newest, first))
      if (isConfirmedBy(newest, first)) return 'the page was requested again, although a 304 had confirmed it'
    if (response.status !== sent.status) return `status ${response.status} instead of ${sent.status}`
    const entry: Entry = { ...sent, requests: [request] }
    if (request.method === 'HEAD' && sent.status === 200 && !wants(request).has('no-store'))
      for (const known of others)
        if (known.isCertain && isOutdatedBy(known.entry, sent)) known.entry = { ...known.entry, isOutdated: true }
    if (request.method === 'POST' && sent.status < 400)
      for (const [serial, { url }] of this.#known) if (url === sent.url) this.#known.delete(serial)
    const isStorable = mayStore(request, entry) && isPage(sent.status)
    // The site has another page now, which does not replace the stored one.
    const isReplaced = request.method === 'GET' && state === 'bypass' && isPage(sent.status) && sent.status !== 304
    if (isReplaced && !wants(request).has('no-store'))
      for (const known of others) {
        if (known.entry === newest) known.entry = { ...known.entry, isOutdated: true }
        else known.isCertain = false
      }
    if (state === 'bypass') return { text: sent.isWhole ? sent.body : undefined }
    if (state !== 'stored') return `the site’s answer is told as ${state}`
    if (!isStorable) return 'told as stored, although it must not be'
    // A redirect is stored at once, without its body.
    const isRedirect = [301, 302, 303, 307, 308].includes(sent.status) && sent.headers.location !== undefined
    const body = isRedirect ? '' : sent.body
    const known = { entry, url: sent.url, body, isCertain: isRedirect }
    if (isRedirect || (sent.isWhole && (body === '' || request.read !== 'cancel')))
      this.#known.set(sent.serial as string, known)
    return { text: sent.isWhole ? sent.body : undefined, of: known, isStoredByReading: true }
  }

  /** Judges a stored response. */
  #stored(
    request: Step,
    url: string,
    known: Known,
    last: Exchange | undefined,
    { response, state, ageMs }: Given,
    now: number,
  ): string | undefined {
    if (known.url !== url) return `the page of ${known.url}`
    if (!this.#fitting(url, request, matches).includes(known)) return 'a page for other requests'
    if (request.cache === 'reload' || request.cache === 'no-store') return `${request.cache} got a stored page`
    if (last === undefined) {
      if (this.#options.refresh) return 'not revalidated, in spite of `refresh`'
      const may = withoutAsking(known.entry, request, now)
      if (may === undefined) return 'given without asking the site'
      if (state !== (may === 'fresh' ? 'hit' : 'stale')) return `a ${may} page is told as ${state}`
    } else if (last.status === 304) {
      if (!isAskedWith(known.entry, last)) return 'confirmed by a 304 to other validators'
      if (!isConfirmedBy(known.entry, last)) return 'confirmed by a 304 with other validators'
      if (state !== 'revalidated') return `a confirmed page is told as ${state}`
      known.entry = confirmed(known.entry, request, last)
      const original = known.entry.requests[0] as Request
      // Whatever was stored for the URL may be gone.
      if (!mayStore(original, known.entry)) for (const other of this.#known.values()) other.isCertain = false
    } else if (last.serial === undefined || last.status >= 500) {
      if (!afterFailure(known.entry, request, now, this.#options.stale === 'if-error'))
        return 'an old page, after a failure'
      if (state !== 'stale') return `after a failure told as ${state}`
    } else return 'a stored page instead of the site’s answer'

    const newest = this.#newest(url, request)
    if (newest && newest.receivedAt > known.entry.receivedAt && dateOf(newest) > dateOf(known.entry))
      return 'an older page than the newest'
    if (response.status !== known.entry.status) return `status ${response.status} instead of ${known.entry.status}`
    const expected = age(known.entry, now)
    if (ageMs !== expected || response.headers.get('age') !== String(Math.floor(expected / 1000)))
      return `its age is ${expected}, not ${ageMs} or ${response.headers.get('age')} s`
    const shown = known.body === '' ? SHOWN : [...SHOWN, 'content-type'] // a redirect without its body has none
    const wrong = shown.find((name) => (response.headers.get(name) ?? '') !== (known.entry.headers[name] ?? ''))
    return wrong && `${wrong}: ${response.headers.get(wrong)} instead of ${known.entry.headers[wrong]}`
  }

  /** Judges a body. */
  body(expected: Body, { state }: Pick<Given, 'state'>, text: string, read: Step['read']): string | undefined {
    const { text: whole, of, isStoredByReading = false } = expected
    if (whole === undefined) return state === 'bypass' || of?.body === '' ? undefined : `a cut body is told as ${state}`
    if (text !== whole) return `the body is ${JSON.stringify(text)} instead of ${JSON.stringify(whole)}`
    if (isStoredByReading && of && state === 'stored' && read !== 'late') of.isCertain = true
    return undefined
  }

  /** Judges what is stored. */
  page(serial: string | undefined, text: string): string | undefined {
    const known = this.#known.get(serial ?? '')
    if (known === undefined) return `${serial} must not be stored`
    if (known.body !== text) return `the body ${JSON.stringify(text)} is stored`
    return mayStore(known.entry.requests[0] as Request, known.entry) ? undefined : `${serial} must no longer be stored`
  }

  #fitting(url: string, request: Request, fits: typeof matches): readonly Known[] {
    return [...this.#known.values()].filter((known) => known.url === url && fits(withCredentials(known.entry), request))
  }

  /** The newest response that is certainly stored for such requests. */
  #newest(url: string, request: Request): Entry | undefined {
    return this.#fitting(url, request, surelyMatches)
      .filter(({ isCertain }) => isCertain)
      .map(({ entry }) => entry)
      .reduce<Entry | undefined>((a, b) => (a && a.receivedAt > b.receivedAt ? a : b), undefined)
  }
}

interface Body {
  /** Undefined: the body is cut. */
  readonly text: string | undefined
  readonly of?: Known
  readonly isStoredByReading?: boolean
}

const SHOWN = ['cache-control', 'date', 'etag', 'expires', 'last-modified', 'vary', 'x-confirmed']

/** Our choice: errors are not stored, and the page of one user is not for another. */
const REFUSALS = [401, 402, 403, 407, 408, 421, 425, 429, 430, 451]
const isPage = (status: number): boolean => status < 500 && !REFUSALS.includes(status)
const withCredentials = (entry: Entry): Entry => {
  const vary = [entry.headers.vary, ...CREDENTIALS, 'x-theme'].filter(Boolean).join(', ')
  return { ...entry, headers: { ...entry.headers, vary } }
}

/** Whether a request had the validators of a stored response, and no others. */
const isAskedWith = ({ headers }: Entry, { asked }: Exchange): boolean =>
  asked['if-none-match'] === headers.etag?.toLowerCase() &&
  asked['if-modified-since'] === headers['last-modified']?.toLowerCase()

const dateOf = ({ headers, receivedAt }: Entry): number => Date.parse(headers.date ?? '') || receivedAt

async function read(response: Response, how: Step['read']): Promise<string> {
  if (how === 'clone') return response.clone().text()
  if (how !== 'stream' || response.body === null) return response.text()
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** A site, and a polite fetch whose cache can be replaced. */
async function open() {
  const site = await RandomSite.open()
  let cache = new PageCache()
  const polite = politely(globalThis.fetch, {
    userAgent: 'CacheBot/1.0',
    minDelayMs: 0,
    backoff: { firstMs: 1, maxMs: 1 },
    circuit: false,
    cache: { respond: (request, exchange) => cache.respond(request, exchange) },
  })
  onTestFinished(async () => {
    await polite.close()
    site.close()
  })
  const counts: Record<string, number> = {}
  let plays = 0

  /** Plays a history. Returns the first fault. */
  async function play({ options, steps }: History): Promise<string | undefined> {
    const store = new MemoryPageStore({ maxBytes: 10_000_000 })
    await cache.close()
    cache = new PageCache({ ...options, store, now: () => site.now })
    const judge = new Judge(options)
    const folder = `/${++plays}`
    site.now = START
    let late: (() => Promise<string | undefined>) | undefined
    for (const [n, step] of steps.entries()) {
      site.now += step.afterMs
      site.answer = step.answer
      site.exchanges = []
      const { method, headers, cache: mode } = step
      const url = folder + step.path
      const init = { method, headers, redirect: 'manual', ...(mode && { cache: mode }) }
      const fault = await polite(site.origin + url, init as RequestInit).then(
        async (response) => {
          const about = () => ({ response, state: cacheOf(response)?.state, ageMs: cacheOf(response)?.ageMs })
          const { exchanges } = site
          const expected = judge.head(step, url, exchanges, about(), site.now)
          if (typeof expected === 'string') return expected
          const given = step.method === 'HEAD' ? { ...expected, text: expected.text && '' } : expected
          const finish = () =>
            read(response, step.read).then(
              (text) => judge.body(given, about(), text, step.read),
              (error) => judge.rejected(exchanges, error),
            )
          const before = late
          late = undefined
          if (step.read === 'cancel') await response.body?.cancel().catch(() => undefined)
          else if (step.read === 'late') late = finish
          const found = step.read === 'late' || step.read === 'cancel' ? undefined : await finish()
          const state = about().state as string
          counts[state] = (counts[state] ?? 0) + 1
          return found ?? before?.()
        },
        (error) => judge.rejected(site.exchanges, error),
      )
      if (fault !== undefined) return `step ${n + 1}: ${fault}`
    }
    const fault = await late?.()
    if (fault !== undefined) return fault
    for (const { id, record } of await listOf(
      cache.pages() as AsyncIterable<{ id: number; record: { headers: readonly (readonly [string, string])[] } }>,
    )) {
      const text = Buffer.concat([...(store.body(id) ?? [])]).toString()
      const wrong = judge.page(new Map(record.headers).get('x-serial'), text)
      if (wrong !== undefined) return `at the end: ${wrong}`
    }
    return undefined
  }
  return { play, counts }
}

test.each(firstInShortRun([1, 2, 3, 4]))('seed %i', async (seed) => {
  const { play, counts } = await open()
  for (let n = 0; n < HISTORIES; n++) {
    const history = historyOf(seed * 1_000_000 + n)
    const fault = await play(history)
    if (fault !== undefined) {
      let shortest = history
      for (let at = history.steps.length - 1; at >= 0; at--) {
        const shorter = { ...shortest, steps: shortest.steps.filter((_, index) => index !== at) }
        if ((await play(shorter)) !== undefined) shortest = shorter
      }
      const steps = shortest.steps.map((step) => JSON.stringify(step)).join('\n')
      expect.fail(
        `seed ${seed * 1_000_000 + n}: ${await play(shortest)} (at first: ${fault})\n${JSON.stringify(shortest.options)}\n${steps}`,
      )
    }
  }
  const most = isFullRun ? 100 : 1
  for (const state of ['hit', 'revalidated', 'stored', 'stale', 'bypass'])
    expect([state, (counts[state] ?? 0) >= most]).toEqual([state, true])
})
