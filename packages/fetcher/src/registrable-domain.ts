// Which hosts are one house.
import { getDomain } from 'tldts'

/**
 * `example.co.uk` of `https://www.example.co.uk`; the host itself where it has none, as an address or `localhost` has not. Of the public
 * suffixes only those of ICANN count: `a.github.io` and `b.github.io` are one domain. Our choice.
 */
export function registrableDomainOf(origin: string): string {
  return getDomain(origin) ?? new URL(origin).hostname
}
