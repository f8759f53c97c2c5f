// Which hosts share one registrable domain, and which ones share one site, and so its limits. Our
// choice.
import { expect, test } from 'vitest'
import { registrableDomainOf } from '../src/index.ts'
import { siteOf } from '../src/network/host-name.ts'

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
  // All addresses of an IPv6 /48 belong to one site.
  ['http://[2001:db8:1:2:3:4:5:6]:8080', '2001:db8:1::/48'],
  ['http://[2001:db8:1:ffff::]', '2001:db8:1::/48'],
  ['http://[2001:db8:2::]', '2001:db8:2::/48'],
  ['http://[::ffff:127.0.0.1]', '127.0.0.1'],
  ['http://[::1]:8080', '::/48'],
] as const)('%s belongs to %s', ([origin, domain]) => {
  expect(registrableDomainOf(origin)).toBe(domain)
})

test.for([
  ['https://www.example.co.uk:8443', 'example.co.uk', undefined],
  ['http://localhost:8080', 'localhost', undefined],
  ['http://co.uk', 'co.uk', undefined],
  ['http://a.b.nosuchtld', 'b.nosuchtld', undefined],
  ['http://127.0.0.1:8080', '127.0.0.1', undefined],
  ['http://[2001:db8:1:2::]', '2001:db8:1::/48', undefined],
  // Tenants of a platform, under a private suffix of the Public Suffix List.
  ['https://www.a.github.io', 'a.github.io', 'github.io'],
  ['https://b.github.io.', 'b.github.io', 'github.io'],
  ['https://github.io', 'github.io', 'github.io'],
  ['https://x.uk.com', 'x.uk.com', 'uk.com'],
  // A platform may have several suffixes.
  ['https://a.s3.amazonaws.com', 'a.s3.amazonaws.com', 'amazonaws.com'],
  ['https://b.us-east-1.compute.amazonaws.com', 'b.us-east-1.compute.amazonaws.com', 'amazonaws.com'],
  ['https://www.amazonaws.com', 'amazonaws.com', undefined],
] as const)('%s belongs to the site %s of the platform %s', ([url, name, platform]) => {
  expect(siteOf(url)).toEqual({ name, platform })
})
