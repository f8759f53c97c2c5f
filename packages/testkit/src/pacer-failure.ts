// What a worker sees while the server of its pacer fails, for the tables of docs/fleet.md.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'

/** The part of a pacer of a fleet that is called. The testkit does not depend on @politely/gate. */
interface FleetPacerUnderTest {
  readonly counters: { readonly failures: number; readonly localSlots: number }
  reserve(key: string, limits: { ownDelayMs: number; maxDelayMs: undefined; crawlDelayMs: undefined }): Promise<Reply>
}

type Reply =
  | { readonly kind: 'slot'; readonly ticket: string | number; readonly delay: { readonly delayMs: number } }
  | { readonly kind: 'wait'; readonly waitMs: number; readonly because: string }

interface PacerFailure {
  readonly pacer: FleetPacerUnderTest
  /** The beginning of the names of its channels, such as `politely:redis`. */
  readonly channels: string
  readonly delayMs: number
  readonly fleetSize: number
  /** How long the failure lasts at least. Milliseconds. */
  readonly forMs?: number | undefined
  fail(): unknown
  heal(): unknown
}

/** What the worker sees. The tables have the error. */
export interface SeenFailure {
  readonly during: string
  readonly after: string
  readonly error: string
  readonly starts: readonly number[]
}

/** Makes requests of one key, one after another, while the server fails and after that. */
export async function watchFailure(failure: PacerFailure): Promise<SeenFailure> {
  const { pacer, channels, delayMs, fleetSize, forMs = 0 } = failure
  const limits = { ownDelayMs: delayMs, maxDelayMs: undefined, crawlDelayMs: undefined }
  const errors: unknown[] = []
  let recoveries = 0
  listen(`${channels}:failure`, pacer, ({ error }) => void errors.push(error))
  listen(`${channels}:recovered`, pacer, () => void recoveries++)
  const starts: number[] = []
  const reserve = async (): Promise<Reply> => {
    const reply = await pacer.reserve('k', limits)
    if (reply.kind === 'slot') starts.push(performance.now())
    return reply
  }
  /** Reserves until `isDone`, and waits as long as each reply says. */
  const until = async (isDone: (reply: Reply) => boolean) => {
    for (;;) {
      const reply = await reserve()
      if (isDone(reply)) return reply
      await sleep(Math.ceil(reply.kind === 'slot' ? reply.delay.delayMs : reply.waitMs))
    }
  }
  const isOfServer = (reply: Reply) => reply.kind === 'slot' && !`${reply.ticket}`.startsWith('local')
  const describeReply = (reply: Reply) => {
    if (reply.kind === 'wait') return `a wait, \`${reply.because}\``
    const times = reply.delay.delayMs / delayMs
    return times === 1 ? 'a slot' : `a slot with ${times === fleetSize ? '`fleetSize`' : times} times the delay`
  }

  await until(isOfServer)
  await failure.fail()
  const startsBefore = starts.length
  const during = describeReply(await until((reply) => reply.kind === 'slot' || reply.because === 'pacer-failure'))
  if (forMs > 0) {
    const ends = performance.now() + forMs
    await until(() => performance.now() > ends)
  }
  const firstLocal = starts[startsBefore]
  if (pacer.counters.localSlots > 0 && firstLocal !== undefined) {
    // Another worker may have visited just before.
    expect(firstLocal - (starts[startsBefore - 1] as number)).toBeGreaterThanOrEqual(fleetSize * delayMs)
  }
  await failure.heal()
  const after = describeReply(await until(isOfServer))
  expect(recoveries > 0).toBe(errors.length > 0)
  expect(pacer.counters.failures).toBe(errors.length)
  return { during, after, error: describeError(errors[0]), starts }
}

/**
 * Expects the replies that docs/fleet.md describes next to its tables: slots from a server that is
 * only slow, and otherwise a wait, or a slot of the worker's own, until the server is back.
 */
export function expectAsDescribed(name: string, wait: SeenFailure, local: SeenFailure): void {
  const during =
    wait.error === 'none'
      ? ['a slot', 'a slot']
      : ['a wait, `pacer-failure`', 'a slot with `fleetSize` times the delay']
  expect([wait.during, local.during, wait.after], name).toEqual([...during, 'a slot'])
}

function listen(name: string, pacer: object, listener: (message: { readonly error?: unknown }) => void): void {
  const onMessage = (message: unknown) => {
    if ((message as { readonly pacer: object }).pacer === pacer) listener(message as object)
  }
  subscribe(name, onMessage)
  onTestFinished(() => void unsubscribe(name, onMessage))
}

/** The code of an error, a SQLSTATE among them, or the first word of its message. */
function describeError(error: unknown): string {
  if (error === undefined) return 'none'
  const { code, message } = error as { code?: string; message: string }
  return `\`${/^ERR_POLITELY|^[0-9A-Z]{5}$/.test(code ?? '') ? code : message.split(' ')[0]}\``
}
