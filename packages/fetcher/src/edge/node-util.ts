// What the package uses of node:util, in runtimes without it.
export const types = {
  isNativeError: (value: unknown): boolean => Object.prototype.toString.call(value) === '[object Error]',
}
