// Writes a Content-Security-Policy into each page of the built site.

import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AstroIntegration } from 'astro'

export function contentSecurityPolicy(): AstroIntegration {
  return {
    name: 'content-security-policy',
    hooks: {
      'astro:build:done': ({ dir }) => {
        const folder = fileURLToPath(dir)
        for (const page of globSync('**/*.html', { cwd: folder })) {
          const file = join(folder, page)
          const html = readFileSync(file, 'utf8')
          const policy = policyOf(html, /^playground[\\/]/.test(page))
          writeFileSync(
            file,
            html.replace(/<head>/, `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`),
          )
        }
      },
    },
  }
}

/**
 * Returns the policy of a page. Scripts in the page itself are allowed by their hash. The playground
 * may not make any request: what is typed there stays there.
 */
function policyOf(html: string, isPlayground: boolean): string {
  const inline = Array.from(html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g), ([, code = '']) => code)
  const hashes = new Set(inline.map((code) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`))
  return [
    "default-src 'none'",
    // Pagefind, the search, is WebAssembly, and fetches the parts of its index.
    ["script-src 'self'", ...(isPlayground ? [] : ["'wasm-unsafe-eval'"]), ...hashes].join(' '),
    `connect-src ${isPlayground ? "'none'" : "'self'"}`,
    "style-src 'self'",
    // The colours of examples, and the depth of entries in the sidebar, are attributes.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}
