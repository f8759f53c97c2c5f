// Many questions at once, answers in the order of the questions.

/**
 * Asks about each item, with at most `atOnce` questions open, and yields the answers in the order of the items, each as
 * soon as it and all before it are there. Neither waits for the other: a slow source holds no answer back.
 */
export async function* inOrder<T, R>(
  items: AsyncIterable<T>,
  atOnce: number,
  ask: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const source = items[Symbol.asyncIterator]()
  const open: Promise<R>[] = []
  let arrival: Promise<IteratorResult<T>> | undefined = source.next()
  let ended = false
  while (true) {
    if (!ended && open.length < atOnce) arrival ??= source.next()
    const [oldest] = open
    if (arrival === undefined && oldest === undefined) return
    const arrived = await Promise.race([
      ...(arrival ? [arrival] : []),
      ...(oldest ? [oldest.then(() => 'answered' as const)] : []),
    ])
    if (arrived === 'answered') {
      open.shift()
      yield oldest as Promise<R>
      continue
    }
    arrival = undefined
    if (arrived.done) {
      ended = true
    } else {
      const answer = ask(arrived.value)
      answer.catch(() => undefined) // if one fails, the failure of those behind it is nobody's surprise
      open.push(answer)
    }
  }
}
