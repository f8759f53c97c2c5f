// axios with its adapter for node:http, and politeHttpAgent in place of a polite fetch.

import { globalAgent as httpAgent } from 'node:http'
import { globalAgent as httpsAgent } from 'node:https'
import { politeHttpAgent } from '@politely/gate'
import axios from 'axios'
import { expect, test } from 'vitest'
import { findRefusal } from '../demo.ts'
import { HOME, openTestWeb } from './test-web.ts'

test('axios with politeHttpAgent: each request and each hop of a redirect passes the gate', async () => {
  const { sites, gate } = await openTestWeb()
  sites.respond(`${HOME}/hop`, { status: 302, headers: { location: '/private' } })
  const client = axios.create({
    adapter: 'http',
    httpAgent: politeHttpAgent(httpAgent, gate),
    httpsAgent: politeHttpAgent(httpsAgent, gate),
    headers: { 'User-Agent': gate.robots.userAgent },
  })
  expect((await client.get(sites.withPort(`${HOME}/open`))).status).toBe(200)
  for (const path of ['/private', '/hop']) {
    const error: unknown = await client.get(sites.withPort(`${HOME}${path}`)).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
    expect(findRefusal(error)?.verdict.because).toBe('rule')
  }
  await gate.drain()
  expect(gate.counters).toMatchObject({ started: 2 })
  expect(sites.requestedUrls).not.toContain(`${HOME}/private`)
})
