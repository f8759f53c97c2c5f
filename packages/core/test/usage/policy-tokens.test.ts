// Policy tokens: groups of robots.txt that stand for a use. The caller names them.
import { expect, test } from 'vitest'
import { parseRobots } from '../../src/index.ts'
import { describePurpose, type PolicyToken, usageDocuments, usageOf } from '../../src/usage/index.ts'

const TOKEN: PolicyToken = { token: 'example-training', purpose: 'train-ai', fallback: 'none' }
const FILE = `User-agent: *
Disallow: /cart

User-agent: Example-Training
Disallow: /
Allow: /open/
`
const answer = (file: string, path: string, policyTokens?: readonly PolicyToken[]) =>
  usageOf({ robots: parseRobots(file), url: `https://site.example${path}`, tokens: 'ExampleBot', policyTokens })
    .purposes['train-ai']

test('changes nothing by default', () => {
  expect(answer(FILE, '/page').answer).toBe('unstated')
  expect(usageOf({ robots: parseRobots(FILE), url: '/page', tokens: 'ExampleBot', policyTokens: [] })).toEqual(
    usageOf({ robots: parseRobots(FILE), url: '/page', tokens: 'ExampleBot' }),
  )
})

test('the longest rule of the group states the use, with its line', () => {
  expect(describePurpose('train-ai', answer(FILE, '/page', [TOKEN]))).toBe(
    'train-ai is disallowed: line 5 of robots.txt says Disallow: /',
  )
  const [statement] = answer(FILE, '/open/1', [TOKEN]).statements
  expect(statement).toMatchObject({
    answer: 'allowed',
    source: { channel: 'policy-token', in: 'robots.txt', name: 'example-training', line: 6 },
  })
  expect(usageDocuments).toHaveProperty(statement?.vocabulary ?? '')
})

test.each([
  ['none', '/cart', 'unstated'],
  ['star', '/cart', 'disallowed'],
  ['star', '/page', 'unstated'], // no rule matches, so nothing is said
] as const)('without a group of its own, fallback %s: %s is %s', (fallback, path, expected) => {
  const file = 'User-agent: *\nDisallow: /cart\n'
  expect(answer(file, path, [{ ...TOKEN, fallback }]).answer).toBe(expected)
})

test('says nothing of another origin, and combines as the other channels: a refusal counts', () => {
  const robots = parseRobots(FILE, { origin: 'https://other.example' })
  const input = { robots, url: 'https://site.example/', tokens: 'ExampleBot', policyTokens: [TOKEN] }
  expect(usageOf(input).purposes['train-ai'].answer).toBe('unstated')
  const both = usageOf({ ...input, robots: parseRobots(FILE), headers: { 'content-usage': 'train-ai=y' } })
  expect(both.purposes['train-ai']).toMatchObject({ answer: 'disallowed', combination: 'most-restrictive' })
})

test.each([
  [TOKEN, 'is not a list'],
  [[null], 'is not a policy token'],
  [[{ ...TOKEN, token: 'example training' }], 'token: "example training" is not a product token'],
  [[{ ...TOKEN, purpose: 'training' }], 'purpose: "training" is not one of index, follow'],
  [[{ token: 'a', purpose: 'train-ai' }], 'fallback: undefined is neither "none" nor "star"'],
])('rejects %j', (policyTokens, message) => {
  expect(() => answer(FILE, '/', policyTokens as unknown as readonly PolicyToken[])).toThrow(
    expect.objectContaining({ code: 'ERR_POLITELY_OPTION', message: expect.stringContaining(message) }),
  )
})
