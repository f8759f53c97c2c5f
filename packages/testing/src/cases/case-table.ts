// What the tables of cases share.
import assert from 'node:assert/strict'

/** By the ability that a store needs and by the sentence of a case: what it does with an open store. */
export type CasesByAbility<A extends string, S, K> = Readonly<
  Record<A | 'every', Readonly<Record<string, (store: S, kit: K) => Promise<void>>>>
>

/** Returns a list of the cases. `run` opens the store. */
export function caseList<A extends string, S, K, G>(
  cases: CasesByAbility<A, S, K>,
  run: (kit: G, test: (store: S, kit: K) => Promise<void>) => Promise<void>,
): readonly { readonly name: string; readonly needs?: A; run(kit: G): Promise<void> }[] {
  return (Object.keys(cases) as (A | 'every')[]).flatMap((ability) =>
    Object.entries(cases[ability]).map(([name, test]) => ({
      name,
      ...(ability !== 'every' && { needs: ability }),
      run: (kit: G) => run(kit, test),
    })),
  )
}

/** Returns a case for each value. */
export function each<T, C>(values: readonly T[], caseOf: (value: T) => readonly [name: string, test: C]) {
  return Object.fromEntries(values.map(caseOf)) as Readonly<Record<string, C>>
}

export function ascending(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, n) => from + n)
}

/** Park and Miller's generator of numbers from 0 to 1, so that each run makes the same calls. */
export function randomNumbers(seed: number): () => number {
  let state = seed + 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

export function assertWithin(maxBytes: number | undefined, bytes: number): void {
  assert(maxBytes !== undefined && bytes <= maxBytes, `${bytes} bytes exceed the size limit of ${maxBytes} bytes`)
}
