// The names of robots.txt files in a folder, one file for each origin:
//
//   https://example.com         example.com.txt
//   https://example.com:8443    example.com_8443.txt
//   http://example.com          http_example.com.txt
//   https://[2001:db8::1]       %5B2001%3Adb8%3A%3A1%5D.txt
//
// Characters of a host other than letters, digits, "." and "-" are percent-encoded. So an
// underscore separates the scheme, the host and the port, no two origins share a name, and every
// file system permits it.

/** Returns the name of the file for an origin, as `originOf` of core returns it. */
export function fileNameOf(origin: string): string {
  const { protocol, hostname, port } = new URL(origin)
  const scheme = protocol === 'https:' ? '' : `${protocol.slice(0, -1)}_`
  return `${scheme}${hostname.replace(/[^a-z0-9.-]/g, percentEncoded)}${port && `_${port}`}.txt`
}

function percentEncoded(character: string): string {
  return encodeURIComponent(character).replace(/[^%A-Z0-9]/gi, asHex)
}

/** `encodeURIComponent` does not encode `!`, `'`, `(`, `)`, `*`, `_` and `~`. */
function asHex(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
