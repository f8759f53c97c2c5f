// Each page of the documentation as Markdown, for assistants: `/waiting.md` for `/waiting/`. The
// links of the files lead from one of these to another.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { APIRoute } from 'astro'
import { pageFiles } from '../docs/pages.ts'
import { ROOT } from '../docs/repository.ts'

export const getStaticPaths = () => pageFiles().map(({ page, file }) => ({ params: { page }, props: { file } }))

export const GET: APIRoute = ({ props }) =>
  new Response(readFileSync(join(ROOT, props.file), 'utf8'), { headers: { 'content-type': 'text/markdown' } })
