// Makes the calls of RedisPacer: runs the scripts in Redis, and reads their replies.
import { circuitReplyOf, type PaceReply, type PaceTransport, paceReplyOf, type ReplyFields } from '@politely/fleet'
import { CIRCUIT_SCRIPT } from './circuit-script.ts'
import type { Commands } from './client.ts'
import { RedisReplyError, RedisTimeoutError } from './errors.ts'
import { warnOfEviction } from './eviction-warning.ts'
import { keyOf } from './keys.ts'
import { PACE_SCRIPT } from './pace-script.ts'

/** The fields of each kind of reply, in the order in which the script lists them after the kind. */
const FIELDS: Readonly<Record<PaceReply['kind'], readonly string[]>> = {
  slot: ['epoch', 'isEpochLost', 'slot', 'delayMs', 'because', 'hasPushbacks'],
  wait: ['epoch', 'isEpochLost', 'waitMs', 'because', 'turnAt', 'turnBefore', 'turnStepMs'],
  failures: ['epoch', 'isEpochLost'],
  estimate: ['epoch', 'isEpochLost', 'waitMs', 'because'],
  pause: ['epoch', 'isEpochLost', 'pauseMs', 'because'],
  done: ['epoch', 'isEpochLost'],
}
const CIRCUIT_FIELDS = ['isStored', 'value', 'now']

/** A bucket is a hash tag of the keys, so its keys are on one server of a cluster. */
export function redisTransport(commands: Commands, keyPrefix: string): PaceTransport {
  const circuitKey = (origin: string, bucket: string) => keyOf(keyPrefix, bucket, `circuit:${origin}`)
  return {
    isEpochShared: false,
    channels: { failure: 'politely:redis:failure', recovered: 'politely:redis:recovered' },
    pace: async (key, request, bucket) => {
      const keys: [string, ...string[]] = [keyOf(keyPrefix, bucket, `pace:${key}`), keyOf(keyPrefix, bucket, 'epoch')]
      if (request.ifClear) keys.push(circuitKey(key, bucket))
      const raw = await commands.evalScript(PACE_SCRIPT, keys, [JSON.stringify(request)])
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
