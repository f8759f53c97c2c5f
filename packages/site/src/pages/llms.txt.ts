// An index of the documentation for assistants, in the form of llmstxt.org: a title, a summary, and
// a list of links for each group of the sidebar.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { APIRoute } from 'astro'
import { pageFiles } from '../docs/pages.ts'
import { ROOT } from '../docs/repository.ts'
import { index } from '../docs/sidebar.ts'

export const GET: APIRoute = () => {
  const files = new Map(pageFiles().map(({ page, file }) => [page, file]))
  const titleOf = (page: string) => {
    const [, title = page] = /^# (.+)/.exec(readFileSync(join(ROOT, files.get(page) ?? ''), 'utf8')) ?? []
    return title
  }
  const groups = index().map(
    ({ label, pages }) => `## ${label}\n\n${pages.map(({ id }) => `- [${titleOf(id)}](/${id}.md)`).join('\n')}\n`,
  )
  const summary = 'A robots.txt client for crawlers, in TypeScript: may I fetch this URL, when, and why?'
  return new Response(`# Politely\n\n> ${summary}\n\n${groups.join('\n')}`)
}
