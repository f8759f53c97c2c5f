// The loops that ask questions. V8 compiles a function for the types that it was called with. In one loop for all libraries, each question
// would be a call that V8 cannot inline, which takes 15 ns, a tenth of our time. A crawler's loop calls one library only, and so does each
// copy of these.

export async function countAllowed(
  isAllowed: (url: string) => Promise<boolean>,
  urls: readonly string[],
): Promise<number> {
  let allowed = 0
  for (const url of urls) if (await isAllowed(url)) allowed++
  return allowed
}

/** The same for answers without a promise. */
export function countAllowedAtOnce<Prepared>(
  isAllowed: (prepared: Prepared, url: string) => boolean,
  prepared: Prepared,
  urls: readonly string[],
): number {
  let allowed = 0
  for (const url of urls) if (isAllowed(prepared, url)) allowed++
  return allowed
}

/** A copy of a loop, compiled for its owner alone. The name is in its source, since a platform knows a source that it has seen. */
export function ownCopy<Loop extends typeof countAllowed | typeof countAllowedAtOnce>(loop: Loop, owner: string): Loop {
  return new Function(`return ${loop} // of ${owner}`)() as Loop
}
