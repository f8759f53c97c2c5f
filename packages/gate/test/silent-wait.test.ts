// @module-tag full
// What a program sees that has no logger, or fake timers, when a request waits: process warnings.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { Step } from './silent-child.ts'

const DAY = { robots: 'Crawl-delay: 86400' }
const LONG_WAIT =
  'POLITELY_LONG_WAIT: https://a.example/2 waits 24 h, until about DATE (crawl-delay, origin); write the option logger: console to see such waits, maxWaitMs to refuse them, or maxDelayMs to shorten'
const STUCK =
  'but setTimeout is faked, and its time stands still; write const response = fetch(url); await vi.advanceTimersByTimeAsync(5_000); await response ('

/** Each row is one process. A warning comes once for the process. */
test.concurrent.for<[what: string, steps: (readonly [step: Step, warnings: string[]])[]]>([
  [
    'a long wait that the site asks for, without a logger and without a limit',
    [
      [{ ...DAY, hasLogger: true }, []],
      [{ ...DAY, options: { maxWaitMs: 90_000_000 } }, []],
      [{ ...DAY, options: { maxDelayMs: 1_000 } }, []],
      [{ options: { minDelayMs: 3_600_000 } }, []],
      [{ robots: 'Crawl-delay: 30', waiting: 30 }, []],
      [DAY, [LONG_WAIT]],
      [DAY, []],
    ],
  ],
  [
    'progressMs without a logger, and a Retry-After',
    [
      [{ hasLogger: true, options: { progressMs: 1_000 } }, []],
      [
        { options: { progressMs: 1_000 } },
        [
          'POLITELY_PROGRESS: progressMs: 1000 has no effect without a logger that has the method info; write logger: console',
        ],
      ],
      [
        { retryAfter: '3600', options: { progressMs: 1_000 } },
        ['POLITELY_LONG_WAIT: https://a.example/2 waits 60 min, until about DATE (retry-after, origin)'],
      ],
    ],
  ],
  [
    'fake timers that stand still while a request waits for its delay',
    [
      [{ robots: 'Crawl-delay: 9', timers: 'advanced' }, []],
      [
        { robots: 'Crawl-delay: 9', timers: 'stuck' },
        [`POLITELY_FAKE_TIMERS: https://a.example/2 waits (crawl-delay, origin), ${STUCK}`],
      ],
    ],
  ],
  [
    'fake timers that stand still while robots.txt waits for a retry',
    [
      [
        { robotsStatus: 500, timers: 'stuck' },
        [`POLITELY_FAKE_TIMERS: https://a.example/robots.txt is unreachable, and waits for a retry, ${STUCK}`],
      ],
    ],
  ],
])('%s', async ([, steps]) => {
  const child = join(import.meta.dirname, 'silent-child.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [child, JSON.stringify(steps.map(([step]) => step))])
  const results = (JSON.parse(stdout) as string[][]).map((texts) =>
    texts.map((text) => text.replace(/\d{4}-\S+Z/, 'DATE')),
  )
  expect(results).toEqual(steps.map(([, warnings]) => warnings.map((text) => expect.stringContaining(text))))
})
