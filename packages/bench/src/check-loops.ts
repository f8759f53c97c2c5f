// The loops that check URLs. V8 optimizes a function for the types of its calls. In one loop for
// all libraries V8 could not inline the check, which costs 15 ns, a tenth of our time. A crawler's
// loop calls one library only. So each library gets its own copy of these loops.

export async function countAllowed(
  isAllowed: (url: string) => Promise<boolean>,
  urls: readonly string[],
): Promise<number> {
  let allowed = 0
  for (const url of urls) if (await isAllowed(url)) allowed++
  return allowed
}

/** The same for a library that does not return promises. */
export function countAllowedSync<Prepared>(
  isAllowed: (prepared: Prepared, url: string) => boolean,
  prepared: Prepared,
  urls: readonly string[],
): number {
  let allowed = 0
  for (const url of urls) if (isAllowed(prepared, url)) allowed++
  return allowed
}

/**
 * Returns a copy of a loop that V8 compiles separately. The copy contains the owner's name, because
 * V8 caches code by its source.
 */
export function separateCopy<Loop extends typeof countAllowed | typeof countAllowedSync>(
  loop: Loop,
  owner: string,
): Loop {
  return new Function(`return ${loop} // for ${owner}`)() as Loop
}
