// Writes what needs the public address of the site into its pages: canonical links and Open Graph pictures.
// `npm run site:build -- --address https://docs.example/` gives the address. Without it, no page names one.

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AstroIntegration } from 'astro'

/** The address of the site, which ends with a slash; undefined if the build has none. */
export const ADDRESS: URL | undefined = addressIn(process.env.SITE_ADDRESS)

/** Returns the address that an option has. @throws {Error} if it is not an http or https URL. */
export function addressIn(option: string | undefined): URL | undefined {
  if (option === undefined || option === '') return undefined
  const url = URL.parse(option.endsWith('/') ? option : `${option}/`)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new Error(`--address: ${option} is not the address of a site; expected one such as https://docs.example/`)
  return url
}

export function address(): AstroIntegration {
  return {
    name: 'address',
    hooks: {
      'astro:build:done': ({ dir }) => {
        if (ADDRESS === undefined) return
        const folder = fileURLToPath(dir)
        for (const file of globSync('**/index.html', { cwd: folder })) {
          const path = join(folder, file)
          const page = file.replaceAll('\\', '/').replace(/index\.html$/, '')
          writeFileSync(path, withAddress(readFileSync(path, 'utf8'), page, ADDRESS))
        }
      },
    },
  }
}

/** Returns a page with its address. `page` is its path, such as `waiting/`. */
export function withAddress(html: string, page: string, site: URL): string {
  const picture = page === 'playground/' ? 'card-playground.png' : 'card-start.png'
  const url = new URL(page, site).href
  const tags = [
    `<link rel="canonical" href="${url}">`,
    `<meta property="og:url" content="${url}">`,
    `<meta property="og:image" content="${new URL(picture, site).href}">`,
    '<meta property="og:image:width" content="1200">',
    '<meta property="og:image:height" content="630">',
    '<meta property="og:image:alt" content="A robots.txt, and which crawler may fetch what">',
  ]
  return html.replace('</head>', `${tags.join('')}</head>`)
}
