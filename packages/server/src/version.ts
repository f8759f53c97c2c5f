// The version of the server, from its package.json.
import { createRequire } from 'node:module'

const manifest = createRequire(import.meta.url)('@politely/server/package.json') as { readonly version: string }

export const serverVersion: string = manifest.version
