// punycode ships no types, and those of `node:punycode` are another module's.
declare module 'punycode/punycode.js' {
  const punycode: { toUnicode(domain: string): string }
  export default punycode
}
