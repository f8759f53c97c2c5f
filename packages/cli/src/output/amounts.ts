// Durations, sizes and counts for people.
import type { WaitReason } from '@politely/gate/internal'

const UNITS = [
  [86_400_000, 'days'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
] as const

/**
 * Uses the largest unit that fits twice, so that a day is "24 h". Counts below 10 have one decimal.
 */
export function durationText(ms: number): string {
  if (ms === 0) return '0 s'
  const [unit, name] = UNITS.find(([size]) => ms >= (size === 1000 ? 1 : 1.95) * size) ?? [1, 'ms']
  const count = ms / unit
  return `${Number(count.toFixed(count < 10 && name !== 'ms' ? 1 : 0))} ${name}`
}

/** What a request waited for: `5 s (crawl-delay)`. Undefined if nothing held it up. */
export function waitText(waitedMs: number, waitedFor: WaitReason | 'none' | undefined): string | undefined {
  if (waitedFor === undefined || waitedFor === 'none') return undefined
  return `${durationText(waitedMs)} (${waitedFor === 'own-delay' ? '--min-delay' : waitedFor})`
}

/** `812 bytes`, `1.2 kB`, `34 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  const name = bytes < 1e6 ? 'kB' : bytes < 1e9 ? 'MB' : 'GB'
  const count = bytes / { kB: 1e3, MB: 1e6, GB: 1e9 }[name]
  return `${count.toFixed(count < 10 ? 1 : 0)} ${name}`
}

/** `1 page`, `12,000 pages`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
