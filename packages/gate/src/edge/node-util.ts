// What the package uses of node:util, in runtimes without it.
export const debuglog = (): { readonly enabled: boolean } => ({ enabled: false })
export const inspect: { readonly custom: symbol } = { custom: Symbol.for('nodejs.util.inspect.custom') }
