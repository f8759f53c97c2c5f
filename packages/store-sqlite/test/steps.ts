// What a writing process does, so that another one can tell what it should find.
import { seededRandom } from '@politely/testkit/random-robots'

export interface Step {
  readonly origin: string
  /** Undefined: the origin is forgotten. */
  readonly text: string | undefined
}

export const LANES = 8
const ORIGINS_OF_A_LANE = 20

/**
 * The steps of one lane, which are taken one after the other; always the same for a seed. Each seed and lane has origins of its own.
 * Most texts are short, some are long, and some are very long.
 */
export function* stepsOf(seed: number, lane: number, steps: number): Generator<Step> {
  const random = seededRandom(seed * LANES + lane)
  for (let step = 1; step <= steps; step++) {
    const origin = `https://n${Math.floor(random() * ORIGINS_OF_A_LANE)}.lane${lane}.seed${seed}.test`
    const length = random() < 0.9 ? 700 : random() < 0.9 ? 50_000 : 1_500_000
    const mark = `${step} of ${origin}\n`
    const text = mark.repeat(1 + Math.floor((random() * length) / mark.length))
    yield { origin, text: random() < 0.1 ? undefined : text }
  }
}
