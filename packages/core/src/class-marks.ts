// Marks classes, so that their objects are recognised in another copy of the package. There,
// `instanceof` is false for them.

/** A registered symbol is the same one in every copy of this module. */
const markOf = (className: string) => Symbol.for(`politely.${className}`)

/** Marks all objects of a class. */
export function markClass(className: string, { prototype }: { readonly prototype: object }): void {
  Object.defineProperty(prototype, markOf(className), { value: true })
}

/** Returns whether a value is an object of this marked class, of any copy. */
export function isOfClass(className: string, value: unknown): boolean {
  return typeof value === 'object' && value !== null && markOf(className) in value
}

/**
 * Returns what is wrong with an object of another copy of a package, and what to do. Returns
 * undefined if the value is not an object of this marked class.
 */
export function otherCopyProblem(className: string, packageName: string, value: unknown): string | undefined {
  return isOfClass(className, value)
    ? `is a ${className} of another copy of ${packageName}; npm ls ${packageName} lists the copies; install one version only, and leave the package out of bundles`
    : undefined
}
