// Each page of the documentation as Markdown, for assistants: `/waiting.md` for `/waiting/`. The
// links of the files lead from one of these to another. A page that is gone says where it is now.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { APIRoute } from 'astro'
import { MOVED_PAGES, movedFrom } from '../docs/moved-pages.ts'
import { pageFiles } from '../docs/pages.ts'
import { ROOT } from '../docs/repository.ts'

export const getStaticPaths = () => [
  ...pageFiles().map(({ page, file }) => ({
    params: { page },
    props: { text: readFileSync(join(ROOT, file), 'utf8') },
  })),
  ...MOVED_PAGES.map((page) => ({ params: { page }, props: { text: movedText(page) } })),
]

export const GET: APIRoute = ({ props }) => new Response(props.text, { headers: { 'content-type': 'text/markdown' } })

function movedText(page: string): string {
  const address = `/${movedFrom(page)['']?.replace('/', '.md')}`
  return `# This page has moved\n\nIt is now at [${address}](${address}).\n`
}
