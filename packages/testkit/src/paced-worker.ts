// Makes requests without a network, for tests of the gaps that a pacer keeps.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The part of the interface `Pacer` of @politely/gate that is called. The testkit does not depend
 * on it.
 */
export interface PacerUnderTest {
  reserve(key: string, limits: Limits, ticket?: Ticket): Promise<Reply>
  cancel(key: string, ticket: Ticket): Promise<void>
}

type Ticket = string | number

interface Limits {
  readonly ownDelayMs: number
  readonly maxDelayMs: number | undefined
  readonly crawlDelayMs: number | undefined
}

type Reply =
  | {
      readonly kind: 'slot'
      readonly ticket: Ticket
      readonly delay: { readonly delayMs: number }
      readonly startWithinMs?: number | undefined
    }
  | { readonly kind: 'wait'; readonly ticket: Ticket | undefined; readonly waitMs: number }

/**
 * Makes requests of one key until `isDone`, one after the other. Calls `onStart` with the start
 * of each, by the monotonic clock that all processes of this machine share. Milliseconds.
 */
export async function crawlKey(
  pacer: PacerUnderTest,
  key: string,
  delayMs: number,
  onStart: (at: number) => void,
  isDone: () => boolean,
): Promise<void> {
  const limits = { ownDelayMs: delayMs, maxDelayMs: undefined, crawlDelayMs: undefined }
  let ticket: Ticket | undefined
  while (!isDone()) {
    const calledAt = process.hrtime.bigint()
    const reply = await pacer.reserve(key, limits, ticket)
    const at = process.hrtime.bigint()
    ticket = reply.kind === 'wait' ? reply.ticket : undefined
    if (reply.kind === 'slot') {
      // As the gate does: on a busy machine, the process may be stopped after the reply.
      if (Number(at - calledAt) / 1e6 > (reply.startWithinMs ?? 0)) {
        await pacer.cancel(key, reply.ticket)
        continue
      }
      onStart(Number(at) / 1e6)
    }
    await sleep(Math.ceil(Math.max(1, reply.kind === 'slot' ? reply.delay.delayMs : reply.waitMs)))
  }
}

/**
 * The whole program of a worker process: for each key it makes this many requests. It prints
 * `ready`, and starts when it gets a line. It prints `KEY TIME` for each request, and at the end
 * the pacer's counters as JSON.
 */
export async function runPacedWorker(
  pacer: PacerUnderTest & { readonly counters: object },
  {
    delayMs,
    requests,
    keys,
  }: { readonly delayMs: number; readonly requests: number; readonly keys: readonly string[] },
): Promise<void> {
  console.log('ready')
  await once(process.stdin, 'data')
  await Promise.all(
    keys.map((key) => {
      let starts = 0
      const onStart = (at: number) => {
        starts++
        console.log(`${key} ${at}`)
      }
      return crawlKey(pacer, key, delayMs, onStart, () => starts >= requests)
    }),
  )
  console.log(JSON.stringify(pacer.counters))
  process.exit()
}
