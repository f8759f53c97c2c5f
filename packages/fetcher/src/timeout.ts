// A time limit for work that has none.

/** Settles like `work`. If it takes longer than `ms` milliseconds, settles with what `onTimeout` returns or throws. The work goes on. */
export async function withTimeout<T, U>(work: Promise<T>, ms: number, onTimeout: () => U): Promise<T | U> {
  const { promise: tooLong, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  try {
    return await Promise.race([work, tooLong.then(onTimeout)])
  } finally {
    clearTimeout(timer)
  }
}
