// Gets robots.txt: makes the requests that core asks for, until core names an outcome.
import {
  type AccessPolicy,
  advance,
  type Copy,
  isWorthRetrying,
  type Outcome,
  type Reply,
  type RobotsRequest,
  startAttempt,
} from '@politely/core'
import pRetry from 'p-retry'
import type { Deadline } from './deadline.ts'

export interface ObtainOptions {
  /** Makes one request; never throws. */
  readonly send: (asking: RobotsRequest) => Promise<Reply>
  readonly policy: AccessPolicy
  /** How many times one request is made again after a failure that may pass. */
  readonly retries: number
  /** Ends everything: one deadline for hops and retries together. */
  readonly deadline: Deadline
}

/** The wait before the first retry, doubled by each further one. Milliseconds. */
const FIRST_RETRY_MS = 500

/** Never throws for what a site does. The number of requests is bounded by `maxRedirects` and `retries`. */
export async function fetchRobotsTxt(
  robotsUrl: string,
  copy: Copy | undefined,
  options: ObtainOptions,
): Promise<Outcome> {
  let state: RobotsRequest | Outcome = startAttempt(robotsUrl, copy)
  while (state.kind === 'request') state = advance(state, await sendPatiently(state, options), options.policy)
  return state
}

/** A reply that another try may better, on its way through p-retry, which knows errors only. */
class PassingReply extends Error {
  readonly reply: Reply
  constructor(reply: Reply) {
    super(reply.kind)
    this.reply = reply
  }
}

async function sendPatiently(
  asking: RobotsRequest,
  { send, policy, retries, deadline }: ObtainOptions,
): Promise<Reply> {
  let last = await send(asking)
  if (!isWorthRetrying(last, policy)) return last // as nearly all are
  const attempt = async (number: number) => {
    if (number > 1) last = await send(asking)
    if (isWorthRetrying(last, policy)) throw new PassingReply(last)
    return last
  }
  try {
    return await pRetry(attempt, { retries, minTimeout: FIRST_RETRY_MS, factor: 2, signal: deadline.signal })
  } catch (error) {
    // Out of tries, or out of time between two of them: what the site said last is the most telling.
    if (error instanceof PassingReply || deadline.isOver) return last
    throw error
  }
}
