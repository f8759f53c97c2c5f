/**
 * Options of Node that import the sources of our packages instead of their builds: then
 * `@politely/core` is packages/core/src/index.ts. The condition is in the `exports` of each package,
 * but not in its tarball. Node 22 warns that it strips types.
 */
export const FROM_SOURCES = ['--conditions=politely-source', '--disable-warning=ExperimentalWarning']

/** Gives these options to all processes that this one starts. */
export function useSources() {
  const { NODE_OPTIONS = '' } = process.env
  const missing = FROM_SOURCES.filter((option) => !NODE_OPTIONS.includes(option))
  process.env.NODE_OPTIONS = [NODE_OPTIONS, ...missing].join(' ').trim()
}
