// The Lua script that stores the circuits of origins. It knows no rules: core computes the next
// state (core/src/pace/circuit.ts), and the script stores it, unless another worker has stored a
// state meanwhile.
import { type Script, scriptOf } from './client.ts'

/**
 * KEYS: the circuit of one origin. Without arguments, the script only reads it. ARGV: the value that
 * the caller has read, its next value, and for how long Redis keeps the next value. An empty value
 * stands for no key, so Redis needs no right to delete.
 *
 * Replies whether the next value is stored, the present value, and the time by the clock of Redis.
 */
export const CIRCUIT_SCRIPT: Script = scriptOf(`
local value, isStored = redis.call('GET', KEYS[1]) or '', '0'
if ARGV[2] and value == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  value, isStored = ARGV[2], '1'
end
local time = redis.call('TIME')
return { isStored, value, string.format('%.17g', time[1] * 1000 + time[2] / 1000) }
`)
