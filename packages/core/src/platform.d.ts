// The platform APIs that core uses: pure functions that every runtime has. Core is compiled with
// these declarations only, so a use of a socket, a timer or a clock is a compile error.

declare class URL {
  constructor(url: string, base?: string)
  readonly href: string
  readonly origin: string
  readonly protocol: string
  readonly hostname: string
  username: string
  password: string
  hash: string
  /** Missing in Node 22.0. */
  static parse?(url: string, base?: string): URL | null
  static canParse(url: string, base?: string): boolean
}

declare class TextEncoder {
  encode(text: string): Uint8Array
  encodeInto(text: string, into: Uint8Array): { readonly read: number; readonly written: number }
}

declare class TextDecoder {
  constructor(label?: string, options?: { readonly ignoreBOM?: boolean })
  decode(bytes: Uint8Array, options?: { readonly stream?: boolean }): string
}

declare function atob(base64: string): string
