// What every adapter has to do, done by the tool that a model calls. In process, since the contract listens to the gates of this one; the
// protocol between them is the real one.
import { LocalPacer } from '@politely/gate'
import { adapterCasesFor, playAdapter, type Visit } from '@politely/testkit/adapter-cases'
import { expect, test } from 'vitest'
import { PageReader } from '../page-reader.ts'
import { connectHere } from './connect.ts'

test.each(adapterCasesFor('MCP server'))('MCP server, $capability: $name', async (row) => {
  const outcome = await playAdapter(row, async (settings) => {
    const pacer = new LocalPacer(() => performance.timeOrigin + performance.now())
    // A site asks for a minute between requests; a call that would be turned away at once could not give up.
    const options = { ...settings, pacer, allowAddresses: ['127.0.0.0/8'], timeoutMs: 120_000 }
    const [autonomous, user] = [new PageReader(options), new PageReader({ ...options, userAgent: 'Nobody/1.0' })]
    const close = async () => void (await Promise.all([autonomous.close(), user.close()]))
    const client = await connectHere({ autonomous, user, close })
    const fetchUrl = async (url: string, signal: AbortSignal): Promise<Visit> => {
      const { isError, content, structuredContent } = await client.callTool(
        { name: 'fetch_url', arguments: { url } },
        { signal },
      )
      const [first] = content
      if (!isError) {
        const status = first?.type === 'text' ? / answered (\d+)/.exec(first.text)?.[1] : undefined
        return { kind: 'answered', status: Number(status) }
      }
      const told = structuredContent as { reason?: string; verdict?: Extract<Visit, { kind: 'refused' }>['verdict'] }
      if (told.reason === 'robots.txt') return { kind: 'refused', verdict: told.verdict }
      throw new Error(JSON.stringify(content))
    }
    return {
      visit: async (url, signal) => {
        try {
          return await fetchUrl(url, signal)
        } catch (error) {
          await client.ping() // the server has heard by now that the call was given up
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
