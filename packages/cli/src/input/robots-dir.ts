// A folder with the robots.txt files of many origins, one file for each.

/**
 * Returns the name of the file for an origin: `example.com.txt` for https, `http_example.com.txt`
 * for http, `example.com_8443.txt` with a port.
 */
export function fileNameOf(origin: string): string {
  const { protocol, hostname, port } = new URL(origin)
  const scheme = protocol === 'https:' ? '' : `${protocol.slice(0, -1)}_`
  return `${scheme}${hostname.replaceAll(':', '-')}${port === '' ? '' : `_${port}`}.txt`
}
