// Makes the calls of RedisPacer: runs the scripts in Redis, and reads their replies.
import {
  circuitReplyOf,
  type PaceReply,
  type PaceRequest,
  type PaceTransport,
  paceReplyOf,
  type ReplyFields,
} from '@politely/fleet'
import { CIRCUIT_SCRIPT } from './circuit-script.ts'
import type { Commands } from './client.ts'
import { RedisReplyError, RedisTimeoutError } from './errors.ts'
import { warnOfEviction } from './eviction-warning.ts'
import { redisKeyOf } from './keys.ts'
import { PACE_SCRIPT } from './pace-script.ts'

const EPOCH = ['epoch', 'isEpochLost']
const TURN = ['turnAt', 'turnBefore', 'turnStepMs']
/** The fields of each kind of reply, in the order in which the script lists them after the kind. */
const FIELDS: Readonly<Record<PaceReply['kind'], readonly string[]>> = {
  slot: [...EPOCH, 'slot', 'delayMs', 'because', 'hasPushbacks', 'ended', 'waitMs', 'nextWaitMs', ...TURN],
  wait: [...EPOCH, 'waitMs', 'because', ...TURN, 'ended'],
  full: [...EPOCH, 'waitMs', 'since', 'ended'],
  failures: EPOCH,
  estimate: [...EPOCH, 'waitMs', 'because'],
  pause: [...EPOCH, 'pauseMs', 'because'],
  renewed: EPOCH,
  done: EPOCH,
}
const CIRCUIT_FIELDS = ['isStored', 'value', 'now']

/** Requests for one key that become one call of the script. */
interface JoinedCall {
  readonly requests: PaceRequest[]
  /** The replies, in the order of the requests. */
  readonly replies: Promise<readonly unknown[]>
  send(): void
}

/**
 * A bucket is a hash tag of the keys, so its keys are on one server of a cluster. What a worker tells
 * of a key in one turn of the event loop becomes one call, together with the next `reserve`.
 * @param hasLeases Whether the server counts the requests under way.
 */
export function redisTransport(commands: Commands, keyPrefix: string, hasLeases = false): PaceTransport {
  const circuitKey = (origin: string, bucket: string) => redisKeyOf(keyPrefix, bucket, `circuit:${origin}`)
  const joined = new Map<string, JoinedCall>()
  const callScript = async (key: string, requests: readonly PaceRequest[], bucket: string) => {
    const paceKey = (kind: string) => redisKeyOf(keyPrefix, bucket, `${kind}:${key}`)
    const keys: [string, ...string[]] = [paceKey('pace'), redisKeyOf(keyPrefix, bucket, 'epoch')]
    if (hasLeases || requests.some(({ ifClear, onceMs }) => ifClear || onceMs)) keys.push(circuitKey(key, bucket))
    if (hasLeases || requests.some(({ onceMs }) => onceMs)) keys.push(paceKey('leases'), paceKey('reported'))
    const raw = await commands.evalScript(
      PACE_SCRIPT,
      keys,
      requests.map((request) => JSON.stringify(request)),
    )
    return requests.length > 1 && Array.isArray(raw) ? raw : [raw]
  }
  const join = (key: string, bucket: string): JoinedCall => {
    const name = `${bucket} ${key}`
    const known = joined.get(name)
    if (known !== undefined) return known
    const { promise: replies, resolve } = Promise.withResolvers<readonly unknown[]>()
    const requests: PaceRequest[] = []
    const send = () => {
      if (joined.get(name) !== call) return
      joined.delete(name)
      resolve(callScript(key, requests, bucket))
    }
    const call = { requests, replies, send }
    joined.set(name, call)
    return call
  }
  return {
    isEpochShared: false,
    channels: { failure: 'politely:redis:failure', recovered: 'politely:redis:recovered' },
    pace: async (key, request, bucket) => {
      const { op } = request
      if (op === 'estimate') joined.get(`${bucket} ${key}`)?.send() // it is alone in its call
      const call = join(key, bucket)
      const n = call.requests.push(request) - 1
      if (op === 'reserve' || op === 'estimate') call.send()
      else if (n === 0) setImmediate(call.send)
      const raw = (await call.replies)[n]
      const [kind = '', ...values] = textsOf(raw)
      const fields = fieldsOf(FIELDS[kind as PaceReply['kind']] ?? [], values)
      return paceReplyOf(request.op, kind, fields, () => new RedisReplyError(raw))
    },
    circuit: async (origin, change, bucket) => {
      const args = change === undefined ? [] : [change.value, change.next, `${change.keepMs}`]
      const raw = await commands.evalScript(CIRCUIT_SCRIPT, [circuitKey(origin, bucket)], args)
      return circuitReplyOf(fieldsOf(CIRCUIT_FIELDS, textsOf(raw)), () => new RedisReplyError(raw))
    },
    isRejection: (error) => error instanceof Error && /^ERR user_script:\d+:/.test(error.message),
    timeoutError: (timeoutMs) => {
      const { missingAt } = commands
      return new RedisTimeoutError(timeoutMs, missingAt && `: no connection to ${missingAt}`)
    },
    onFirstReply: (key, pacer) => void warnOfEviction(commands, key, pacer),
  }
}

function fieldsOf(names: readonly string[], values: readonly string[]): ReplyFields {
  const fields: Record<string, unknown> = {}
  for (const [n, name] of names.entries()) fields[name] = values[n]
  return fields
}

function textsOf(raw: unknown): readonly string[] {
  return Array.isArray(raw) ? raw.map(String) : []
}
