// punycode ships no types, and the types of `node:punycode` belong to another module.
declare module 'punycode/punycode.js' {
  const punycode: { toUnicode(domain: string): string }
  export default punycode
}
