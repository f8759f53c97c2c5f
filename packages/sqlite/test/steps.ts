// The writes of writer.ts. A test computes the same list to know what the file must contain.
import { seededRandom } from '@politely/testkit/random-robots'

export interface Step {
  readonly origin: string
  /** Undefined: the step deletes the origin's text. */
  readonly text: string | undefined
}

export const LANES = 8
const ORIGINS_PER_LANE = 20

/**
 * Yields the steps of one lane. They depend on the seed and the lane only, and each pair has its
 * own origins. Nine in ten texts have at most 700 characters, most others at most 50,000, and one
 * in a hundred up to 1.5 million.
 */
export function* stepsOf(seed: number, lane: number, steps: number): Generator<Step> {
  const random = seededRandom(seed * LANES + lane)
  for (let step = 1; step <= steps; step++) {
    const origin = `https://n${Math.floor(random() * ORIGINS_PER_LANE)}.lane${lane}.seed${seed}.test`
    const length = random() < 0.9 ? 700 : random() < 0.9 ? 50_000 : 1_500_000
    const mark = `${step} of ${origin}\n`
    const text = mark.repeat(1 + Math.floor((random() * length) / mark.length))
    yield { origin, text: random() < 0.1 ? undefined : text }
  }
}
