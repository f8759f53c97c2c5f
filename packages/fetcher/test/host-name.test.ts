// Which hosts share one registrable domain, and so its limits. Our choice.
import { expect, test } from 'vitest'
import { registrableDomainOf } from '../src/index.ts'

test.for([
  ['https://www.example.co.uk', 'example.co.uk'],
  ['https://www.example.co.uk:8443', 'example.co.uk'],
  ['https://example.co.uk.', 'example.co.uk'],
  ['https://EXAMPLE.com', 'example.com'],
  ['https://bücher.example.com', 'example.com'],
  ['https://a.github.io', 'github.io'],
  // Invalid host names that resolvers accept.
  ['http://a-.example.com', 'example.com'],
  ['http://-a.example.com', 'example.com'],
  ['http://a~b.example.com', 'example.com'],
  ['http://a_b.example.com', 'example.com'],
  ['http://a..example.com', 'example.com'],
  ['http://a.b.example.com..', 'example.com'],
  [`http://${'a'.repeat(64)}.example.com`, 'example.com'],
  [`http://${'a.'.repeat(150)}example.com`, 'example.com'],
  // A suffix that is not in the Public Suffix List.
  ['http://a-.b.nosuchtld', 'b.nosuchtld'],
  // Hosts without a registrable domain are their own domain.
  ['http://localhost:8080', 'localhost'],
  ['http://co.uk', 'co.uk'],
  ['http://127.0.0.1:8080', '127.0.0.1'],
  // All addresses of an IPv6 /64 belong to one site.
  ['http://[2001:db8:1:2:3:4:5:6]:8080', '2001:db8:1:2::/64'],
  ['http://[2001:db8:1:2::]', '2001:db8:1:2::/64'],
  ['http://[::ffff:127.0.0.1]', '127.0.0.1'],
  ['http://[::1]:8080', '::/64'],
] as const)('%s belongs to %s', ([origin, domain]) => {
  expect(registrableDomainOf(origin)).toBe(domain)
})
