// The loops that questions are measured in. A platform compiles a function for what it has been called with: in one loop for all, each
// question would go through a call that nobody foresees, which takes 15 ns, a tenth of what ours takes. A crawler's loop knows one
// library only, and so does a copy of these.

export async function countAllowed(
  isAllowed: (url: string) => Promise<boolean>,
  urls: readonly string[],
): Promise<number> {
  let allowed = 0
  for (const url of urls) if (await isAllowed(url)) allowed++
  return allowed
}

/** The same for answers that nobody has to wait for. */
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
