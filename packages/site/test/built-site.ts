// The built site: its pages, and a server for them.

import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

const DIST = join(import.meta.dirname, '../dist')

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
}

/** The paths of the built files, such as `waiting/index.html`. */
export const files: ReadonlySet<string> = new Set(
  globSync('**/*.*', { cwd: DIST }).map((file) => file.replaceAll('\\', '/')),
)

/** The HTML of each page, by its file. */
export const html: ReadonlyMap<string, string> = new Map(
  [...files].filter((file) => file.endsWith('.html')).map((file) => [file, read(file).toString()]),
)

export function read(file: string): Buffer {
  return readFileSync(join(DIST, file))
}

/** Returns the file that a server sends for a path. */
export function fileFor(path: string): string {
  const file = decodeURIComponent(path).slice(1)
  return file === '' || file.endsWith('/') ? `${file}index.html` : file
}

/** Serves the site on loopback. */
export async function startServer(): Promise<{ origin: string; close: () => void }> {
  const server = createServer(({ url = '/' }, response) => {
    const file = fileFor(new URL(url, 'http://site').pathname)
    if (!files.has(file)) return response.writeHead(404).end()
    return response
      .writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
      .end(read(file))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, close: () => server.close() }
}
