// punycode ships no types, and the types of `node:punycode` belong to another module.
declare module 'punycode/punycode.es6.js' {
  export function toUnicode(domain: string): string
}
