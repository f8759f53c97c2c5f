// @module-tag nodes
// Runs the tests of all adapters on the tool fetch_url. The server runs in this process, because
// the tests observe its gates; the client talks to it over the real protocol.
import { LocalPacer } from '@politely/gate'
import { adapterCasesFor, runAdapterCase, type Visit } from '@politely/testkit/cases/adapter-cases'
import { expect, test } from 'vitest'
import { PageReader } from '../src/page-reader.ts'
import { connectInProcess } from './connect.ts'

test.each(adapterCasesFor('MCP server'))('MCP server, $capability: $name', async (row) => {
  const outcome = await runAdapterCase(row, async (settings) => {
    const pacer = new LocalPacer()
    // Longer than the crawl-delay of a minute: a call that fails at once could not be cancelled.
    const options = { ...settings, pacer, allowAddresses: ['127.0.0.0/8'], timeoutMs: 120_000 }
    const [autonomous, user] = [new PageReader(options), new PageReader({ ...options, userAgent: 'Nobody/1.0' })]
    const close = async () => void (await Promise.all([autonomous.close(), user.close()]))
    const client = await connectInProcess({ autonomous, user, close })
    const fetchUrl = async (url: string, signal: AbortSignal): Promise<Visit> => {
      const { isError, content, structuredContent } = await client.callTool(
        { name: 'fetch_url', arguments: { url } },
        { signal },
      )
      const [first] = content
      if (!isError) {
        const status = first?.type === 'text' ? / responded with (\d+)/.exec(first.text)?.[1] : undefined
        return { kind: 'answered', status: Number(status) }
      }
      const data = structuredContent as { reason?: string; verdict?: Extract<Visit, { kind: 'refused' }>['verdict'] }
      if (data.reason === 'robots.txt') return { kind: 'refused', verdict: data.verdict }
      throw new Error(JSON.stringify(content))
    }
    return {
      visit: async (url, signal) => {
        try {
          return await fetchUrl(url, signal)
        } catch (error) {
          await client.ping() // after the ping, the server has processed the cancellation
          throw error
        }
      },
      close: async () => {
        await client.close()
        await close()
      },
    }
  })
  expect(outcome).toEqual(row.expected)
})
