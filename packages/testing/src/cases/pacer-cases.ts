// Test cases that every pacer must pass: ours, and yours. Each is a sentence and the script of
// pacer-script.ts that shows it.
//
// A pacer may keep its own queue, or none. So for the second request of a queue the cases only
// say how long it has to wait at least.
import { each } from './case-table.ts'
import { type PacerKit, runScript } from './pacer-script.ts'

/**
 * What only some pacers can do. `pause` and `sent`: has this method. `clock`: reads the time from
 * the function that the kit's `open` gets.
 */
export type PacerAbility = 'pause' | 'sent' | 'clock'

/** One requirement for a pacer. */
export interface PacerCase {
  /** A sentence about the pacer. */
  readonly name: string
  /** What the pacer must be able to do for this case. */
  readonly needs: readonly PacerAbility[]
  /** Rejects with an `AssertionError` if the pacer does not do what the name says. */
  run(kit: PacerKit): Promise<void>
}

/**
 * Pushbacks one after the other, each to a request that starts at the end of the pause before.
 * @param pauses Seconds.
 * @param lateMs How long after the pause the next request starts.
 */
function series(pauses: readonly number[], backoff?: string, lateMs = 0): string {
  const more = backoff === undefined ? '' : ` backoff=${backoff}`
  return pauses
    .map((seconds, n) => {
      const ms = seconds * 1_000
      const request = `${n}-${lateMs}`
      return `${request} slot 0 /no-delay | report ${request} 429${more} | estimate 0 ${ms} backoff /no-delay | +${ms + lateMs}`
    })
    .join(' | ')
}

/** By the sentence about the pacer. */
const scripts: Readonly<Record<string, string>> = {
  'reserves the first slot at once': 'a slot',
  'makes the next request wait for the delay': 'a slot | +400 | b wait 600 | +600 | b slot',
  'makes a request that calls again too early wait for the rest':
    'a slot | b wait 1000 | +300 | b wait 700 | +700 | b slot',
  'does not save up an unused delay': 'a slot | +60000 | b slot | c wait 1000',
  'reserves all slots at once without a delay': 'a slot 0 /no-delay | b slot 0 /no-delay | c slot 0 /no-delay',
  'keeps keys apart': 'a@one slot | b@two slot | c@one wait 1000',
  'never reserves one slot for two requests': 'a slot | b wait 1000 | c wait 1000+ | +1000 | b slot | c wait 1000+',
  'keeps the crawl-delay of the request that started':
    'a slot 5000 crawl-delay /crawl-5s | b wait 5000 crawl-delay /crawl-5s',
  'keeps a request-rate': 'a slot 2000 request-rate /rate | b wait 2000 request-rate',
  'shortens a crawl-delay to maxDelayMs, with the reason cap': 'a slot 3000 cap /crawl-60s /max-3s | b wait 3000 cap',
  'reserves no slot until visit-time begins': 'a wait 21600000 visit-time /morning | +21600000 | a slot /morning',
  'reserves a cancelled slot for the next request at once': 'a slot | +100 | cancel a | b slot',
  'does not delay other requests by one that was cancelled while it waited':
    'a slot | b wait 1000 | cancel b | c wait 1000 | +1000 | c slot',
  'counts the delay from the moment at which the request was sent':
    'a slot | +400 | sent a | b wait 1000 | +1000 | b slot | c wait 1000',
  'counts the delay from the sending of an earlier request, if that was later than the last slot':
    'a slot | +1000 | b slot | +300 | sent a | c wait 1000',
  'keeps the delay after a request that was sent if a later slot is given back':
    'a slot | +1000 | b slot | sent a | cancel b | c wait 1000',
  'does not shorten a pause when a request was sent':
    'a slot | report a 429 retry-after=30 | +1000 | sent a | b wait 29000 retry-after',
  'changes nothing for a request without a response': 'a slot | end a 1000 | +1000 | b slot',
  'with delayFactor, makes the delay after a slow request longer':
    'a slot /factor | +500 | end a 500 /factor | b wait 1000 slow-site /factor | +1000 | b slot /factor',
  'with delayFactor, keeps the delay of the site after a quick request':
    'a slot /factor | +100 | end a 100 /factor | b wait 900 /factor',
  'with delayFactor, causes a delay of at most 30 seconds, or maxDelayMs':
    'a slot /factor | +20000 | end a 20000 /factor | b wait 10000 slow-site /factor | +10000 | b slot /factor /max-2s | +1500 | end b 1500 /factor /max-2s | c wait 500 slow-site /factor',
  'with pauseFrom end, begins the delay at the end of a request':
    'a slot /from-end | +5000 | b wait 1000 /from-end | +200 | end a 5200 /from-end | +800 | b wait 200 /from-end | +200 | b slot /from-end',
  'with pauseFrom end, gives up a request that does not end within two minutes':
    'a slot /from-end | +119000 | b wait 1000 /from-end | +1000 | b slot /from-end',
  'with pauseFrom end, applies a pushback that is longer than the delay':
    'a slot /from-end | report a 429 retry-after=30 | +1000 | end a 1000 /from-end | b wait 29000 retry-after /from-end',
  'with pauseFrom end, frees a cancelled slot at once': 'a slot /from-end | cancel a | b slot /from-end',
  'with pauseFrom end and no delay, waits for the end of a request':
    'a slot 0 /from-end /no-delay | +1000 | b wait 100 /from-end /no-delay | end a 1000 /from-end /no-delay | b slot 0 /from-end /no-delay',
  'with delayFactor, keeps the pause after a slow request if a later slot is given back':
    'a slot /factor | +1500 | b slot /factor | end a 1500 /factor | cancel b | c wait 3000 slow-site /factor',
  'with delayFactor and pauseFrom end, begins the longer delay at the end':
    'a slot /factor /from-end | +2000 | end a 2000 /factor /from-end | b wait 6000 slow-site /factor /from-end',
  'keeps the Retry-After of a 429 if a later slot is given back':
    'a slot | +1000 | b slot | report a 429 retry-after=60 | cancel b | c wait 60000 retry-after',
  'keeps the delay after the last start if an earlier slot is given back':
    'a slot | +1000 | b slot | cancel a | c wait 1000',
  'delays requests by the Retry-After of a 429':
    'a slot | report a 429 retry-after=30 | b wait 30000 retry-after | +30000 | b slot',
  'backs off after a 429 whose Retry-After is zero or in the past':
    'a slot | report a 429 retry-after=0 | b wait 5000 backoff | +5000 | b slot | report b 503 retry-after=Sun, 06 Nov 1994 08:49:37 GMT | c wait 10000 backoff',
  'does not shorten a delay by a shorter Retry-After':
    'a slot 60000 crawl-delay /crawl-60s | report a 503 retry-after=1 | b wait 60000 crawl-delay',
  'doubles the delay for each 429 or 503 without Retry-After, until another response':
    'a slot | report a 429 | b wait 5000 backoff | +5000 | b slot | report b 503 | c wait 10000 backoff | +10000 | c slot | report c 200 | +1000 | d slot | report d 429 | e wait 5000 backoff',
  ...each([403, 430, 500, 529], (status) => [
    `delays requests by the Retry-After of a ${status}`,
    `a slot | report a ${status} retry-after=30 | b wait 30000 retry-after`,
  ]),
  'reads a Retry-After with a unit': 'a slot | report a 429 retry-after=1m30s | b wait 90000 retry-after',
  'backs off after a 430 and a 529 without Retry-After, and not after a 500':
    'a slot | report a 430 | b wait 5000 backoff | +5000 | b slot | report b 529 | c wait 10000 backoff | +10000 | c slot | report c 500 | d wait 1000',
  'obeys a response that the caller calls a pushback, and none that the caller calls none':
    'a slot | report a 200 pushback=true | b wait 5000 backoff | +5000 | b slot | report b 0 pushback=true | c wait 10000 backoff | +10000 | c slot | report c 429 retry-after=60 pushback=false | d wait 1000',
  'takes a requested time in place of Retry-After':
    'a slot | report a 429 asks=2500.5 retry-after=60 | b wait 2500.5 retry-after',
  ...each(['Infinity', '1e+300'], (ms) => [
    `limits a requested time of ${ms} ms to a day`,
    `a slot | report a 200 asks=${ms} | b wait 86400000 retry-after`,
  ]),
  ...each([0, -30_000, Number.NaN], (ms) => [
    `counts a requested time of ${ms} ms as absent`,
    `a slot | report a 429 asks=${ms} retry-after=60 | b wait 5000 backoff`,
  ]),
  'with a backoff of the caller, makes pauses longer by its factor, up to its longest pause': series(
    [1, 3, 9, 20, 20],
    '1000,20000,3',
  ),
  'with a backoff whose factor is 1, makes no pause longer': series([7, 7, 7], '7000,20000,1'),
  'with a backoff whose first pause is longer than the longest one, makes the longest one': series(
    [2, 2],
    '60000,2000,2',
  ),
  'with an infinite backoff, makes pauses of a day': series([86_400, 86_400], 'Infinity,Infinity,Infinity'),
  'remembers a series for five minutes after its last pause': `${series([5, 10, 20], undefined, 299_999)} | +1 | ${series([5])}`,
  'remembers a series for the longest pause of its backoff': `${series([5, 10, 20], '5000,3600000,2', 3_599_999)} | +1 | ${series([5])}`,
  ...each(['retry-after', 'backoff', 'rate-limit'], (because) => [
    `keeps a pause of the site, with the reason ${because}`,
    `a slot | b wait 1000 | pause 30000 ${because} | +1000 | b wait 29000 ${because} | +29000 | b slot | c wait 1000`,
  ]),
  'keeps a pause for a key that had no requests':
    'pause 30000 rate-limit | estimate 0 30000 rate-limit | a wait 30000 rate-limit | +30000 | a slot',
  'keeps the longest of several pauses':
    'a slot | pause 30000 rate-limit | pause 10000 backoff | b wait 30000 rate-limit | report a 429 retry-after=60 | pause 40000 rate-limit | b wait 60000 retry-after',
  'does not shorten a delay by a shorter pause, and keeps the pause if the slot is given back':
    'a slot 60000 crawl-delay /crawl-60s | pause 10000 rate-limit | b wait 60000 crawl-delay | cancel a | b wait 10000 rate-limit',
  'does not count a pause as a pushback': 'pause 5000 backoff | +5000 | a slot | report a 429 | b wait 5000 backoff',
  'limits a pause to a day, and ignores a pause that is no time above 0':
    'pause 0 backoff | pause -1000 backoff | pause NaN backoff | a slot | pause Infinity rate-limit | b wait 86400000 rate-limit',
  'with pauseFrom end, keeps a pause that is longer than the delay':
    'a slot /from-end | pause 30000 rate-limit | +1000 | end a 1000 /from-end | b wait 29000 rate-limit /from-end',
  'counts several 429 to requests that were under way together as one step':
    'a slot 0 /no-delay | b slot 0 /no-delay | c slot 0 /no-delay | report b 429 | +200 | report a 429 | report c 429 | d wait 4800 backoff /no-delay | +4800 | d slot 0 /no-delay | report d 429 | e wait 10000 backoff /no-delay',
  'does not end the growth for a success among them':
    'a slot 0 /no-delay | b slot 0 /no-delay | report a 429 | report b 200 | +5000 | c slot 0 /no-delay | report c 429 | d wait 10000 backoff /no-delay',
  'applies a pushback to requests that wait already':
    'a slot | b wait 1000 | +500 | report a 429 retry-after=60 | +500 | b wait 59500 retry-after | +59500 | b slot',
  'adds the allowance of a slot to the delay after it':
    'a slot allowance=100 | b wait 1100 | +1100 | b slot | c wait 1000',
  'gives up what is left of the allowance when it learns when the request was sent':
    'a slot allowance=100 | +30 | sent a 20 | b wait 980 | +980 | b slot',
  'keeps the delay of a later slot when it learns when an earlier request was sent':
    'a slot allowance=100 | +1100 | b slot allowance=100 | sent a 1090 | c wait 1100',
  'keeps the pause after a pushback when it learns when the request was sent':
    'a slot allowance=100 | report a 429 retry-after=30 | sent a 0 | b wait 30000 retry-after',
  'estimates without reserving':
    'estimate 0 0 none | estimate 3 3000 own-delay | a slot | estimate 0 1000 own-delay | estimate 5000 5001000 own-delay | +1000 | b slot | report b 429 retry-after=30 | estimate 1 31000 own-delay | estimate 0 30000 retry-after',
}

/** What every pacer must do. */
export const pacerCases: readonly PacerCase[] = casesOf(scripts)

/** Returns the cases of scripts. */
export function casesOf(scriptsByName: Readonly<Record<string, string>>): readonly PacerCase[] {
  return Object.entries(scriptsByName).map(([name, script]) => ({
    name,
    needs: needsOf(script),
    run: (kit) => runScript(name, script, kit),
  }))
}

function needsOf(script: string): readonly PacerAbility[] {
  const marks = { pause: /\bpause \S/, sent: /\bsent /, clock: /\/morning/ }
  return (['pause', 'sent', 'clock'] as const).filter((ability) => marks[ability].test(script))
}
