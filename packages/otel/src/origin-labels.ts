import type { Attributes } from '@opentelemetry/api'
import { ATTRIBUTES } from './attributes.ts'

/** The labels of origins. The first origins have their own label, and all others share one. */
export class OriginLabels {
  readonly #max: number
  readonly #origins = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  /** Returns the label of an origin: itself, or `other`. */
  of(origin: string): Attributes {
    if (this.#origins.size < this.#max) this.#origins.add(origin)
    return { [ATTRIBUTES.origin]: this.#origins.has(origin) ? origin : 'other' }
  }
}
