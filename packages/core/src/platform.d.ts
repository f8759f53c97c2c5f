// What core takes from the platform: pure functions that every runtime has. Declared here, and nothing else is in
// scope, so that a socket, a timer or a clock cannot slip in unseen.

declare class URL {
  constructor(url: string, base?: string)
  readonly href: string
  readonly origin: string
  readonly protocol: string
  readonly hostname: string
  username: string
  password: string
  hash: string
  static parse(url: string, base?: string): URL | null
  static canParse(url: string, base?: string): boolean
}

declare class TextEncoder {
  encode(text: string): Uint8Array
  encodeInto(text: string, into: Uint8Array): { readonly read: number; readonly written: number }
}

declare class TextDecoder {
  constructor(label?: string, options?: { readonly ignoreBOM?: boolean })
  decode(bytes: Uint8Array): string
}
