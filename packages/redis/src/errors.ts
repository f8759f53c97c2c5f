// The errors of this package. `RedisPacer` reports them on the channel `politely:redis:failure`.
import { PolitelyError } from '@politely/core/internal'
import { describeValue } from '@politely/fetcher/internal'

/**
 * Redis did not reply to a call of `RedisPacer` within `timeoutMs`. The pacer does what `onFailure`
 * says, and tries again.
 *
 * Remedy: if there is no connection, correct the address of Redis, or start it. Otherwise look at the load of Redis
 * and at the network, or set a larger `timeoutMs`.
 */
export class RedisTimeoutError extends PolitelyError {
  override readonly name = 'RedisTimeoutError'
  readonly code = 'ERR_POLITELY_REDIS_TIMEOUT'
  /**
   * @param timeoutMs Milliseconds.
   * @param problem Why, if that is known: `: no connection to localhost:6379`.
   */
  constructor(timeoutMs: number, problem = '') {
    super(`Redis did not reply within ${timeoutMs} ms${problem}; expected a reply sooner, or a larger timeoutMs`)
  }
}

/**
 * The reply to a script of `RedisPacer` is invalid. The pacer does what `onFailure` says, and tries
 * again.
 *
 * Remedy: connect the client to Redis 7 or later, or to Valkey, and let no other program use keys
 * with this `keyPrefix`.
 */
export class RedisReplyError extends PolitelyError {
  override readonly name = 'RedisReplyError'
  readonly code = 'ERR_POLITELY_REDIS_REPLY'
  constructor(reply: unknown) {
    const given = Array.isArray(reply) ? `the list ${reply.map(String).join(', ').slice(0, 100)}` : describeValue(reply)
    super(`Redis replied to the script with ${given}; expected a slot, a wait or a confirmation`)
  }
}
