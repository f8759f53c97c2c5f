// The answers that docs/serve.md shows are what the server answers to the calls that it shows.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RobotsClient } from '@politely/fetcher'
import { LocalPacer, PoliteGate } from '@politely/gate'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newToken, PolitelyServer } from '../src/index.ts'
import { type Answer, startSite } from './kit.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/serve.md'), 'utf8')
const ANSWERS: readonly Answer[] = Array.from(PAGE.matchAll(/^```json\n(.*?)^```/gms), ([, json = '']) =>
  JSON.parse(json),
)
/** The path and the body of each call of curl. */
const CALLS = Array.from(
  PAGE.matchAll(/^curl -s localhost:7420(\S+) .*? -d '(.*?)'$/gms),
  ([, path = '', body = '']) => [path, body] as const,
)
const ORIGIN = 'https://example.com'
const LONG_MS = 60_000

/** Returns an answer without what differs each time: times, permits and tickets. */
function lasting(answer: Answer, site: string): Answer {
  const text = JSON.stringify(answer)
    .replaceAll(site, ORIGIN)
    .replaceAll(/"([pt])2?\.[^"]*"/g, '"$1.…"')
    .replaceAll(/("(?:wait|held)_ms"):\d+/g, '$1:0')
    .replaceAll(/in \d+ m?s\b/g, 'in 0 ms')
  return JSON.parse(text)
}

/** Returns an answer with those fields only that the page shows, if the page leaves out some of them. */
function shownPart(answer: Answer, shown: Answer): Answer {
  if (Object(answer) !== answer || Object(shown) !== shown) return answer
  if (Array.isArray(answer)) return answer.map((one, n) => shownPart(one, shown[n]))
  const names = Object.keys('…' in shown ? shown : answer)
  return Object.fromEntries(names.map((name) => [name, name === '…' ? '…' : shownPart(answer[name], shown[name])]))
}

test('docs/serve.md shows the answers of the server', async () => {
  const site = await startSite('User-agent: *\nDisallow: /cart\n')
  const other = await startSite('')
  const robots = new RobotsClient({ userAgent: `ExampleBot/1.0 (+${ORIGIN}/bot)` })
  let passedMs = 0
  const now = () => Date.now() + passedMs
  // The command does the same for a second. A busy machine needs longer between two calls.
  const gate = new PoliteGate({ robots, now, pacer: new LocalPacer(now, now() + LONG_MS), rateLimitHeaders: true })
  const { token, line } = newToken('one')
  const server = new PolitelyServer({ gate, tokens: `${line} permits=1`, allowPrivate: true })
  onTestFinished(async () => {
    await server.close()
    gate.close()
    await robots.close()
  })
  const address = await server.listen({ port: 0 })
  const call = async ([path, body]: readonly [string, string], sealed = '') => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const whole = body.replaceAll(ORIGIN, site.origin).replace(/[pt]\.…/, sealed)
    return (await (await fetch(address + path, { method: 'POST', headers, body: whole })).json()) as Answer
  }
  const until = (body: readonly [string, string], accepts: (first: Answer) => boolean, sealed?: string) =>
    vi.waitFor(
      async () => {
        const answer = await call(body, sealed)
        if (!accepts(answer.results[0])) throw new Error(JSON.stringify(answer))
        return answer
      },
      { timeout: 20_000, interval: 20 },
    )

  const [asking, withTicket, mistaken, reporting] = CALLS as [(typeof CALLS)[0], ...typeof CALLS]
  const first = await call(asking)
  const known = await until(asking, ({ because }) => because !== 'robots-txt')
  const { ticket } = known.results[0]
  passedMs = 2 * LONG_MS
  const granted = await until(withTicket as never, ({ state }) => state === 'go', ticket)
  const elsewhere = ['/v1/permits', JSON.stringify({ requests: [{ url: `${other.origin}/` }] })] as const
  const full = await until(elsewhere, ({ state }) => state === 'full')
  const unknown = await call(['/v1/permits', '{ "requests": [{ "url": "x", "ticket": "t.x" }] }'])
  const fault = await call(mistaken as never)
  const reported = await call(reporting as never, granted.results[0].permit)

  const actual = [first, known, granted, [full.results[0], unknown.results[0]], fault, reported]
  expect(ANSWERS.map((shown) => lasting(shown, ORIGIN))).toEqual(
    actual.map((answer, n) => shownPart(lasting(answer, site.origin), ANSWERS[n])),
  )
})
