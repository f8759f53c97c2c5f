// Bounds the connections of redirects whose bodies do not end.
//
// A redirect frees its slot with its headers, since many clients never read its body. A site may never end that body, so the number of connections that
// stay open is limited: beyond it the oldest is closed. Honest redirects end at once.

const MAX_OPEN_PER_DOMAIN = 8
const MAX_OPEN = 64

interface OpenRedirect {
  readonly close: () => void
  readonly ofDomain: Set<OpenRedirect>
}

export class OpenRedirects {
  /** The oldest first, here and in each domain. */
  readonly #all = new Set<OpenRedirect>()
  readonly #domains = new Map<string, Set<OpenRedirect>>()

  /**
   * Counts a redirect whose headers have come.
   * @param close Closes its connection. It must lead to a call of the function that is returned.
   * @returns A function to call when the body ends, or the connection does.
   */
  add(domain: string, close: () => void): () => void {
    const ofDomain = this.#domains.get(domain) ?? new Set()
    const redirect: OpenRedirect = { close, ofDomain }
    if (ofDomain.size >= MAX_OPEN_PER_DOMAIN) this.#closeFirst(ofDomain)
    else if (this.#all.size >= MAX_OPEN) this.#closeFirst(this.#all)
    this.#all.add(redirect)
    ofDomain.add(redirect)
    this.#domains.set(domain, ofDomain)
    return () => {
      this.#remove(redirect)
      if (ofDomain.size === 0 && this.#domains.get(domain) === ofDomain) this.#domains.delete(domain)
    }
  }

  #closeFirst(redirects: Set<OpenRedirect>): void {
    const [first] = redirects
    if (first === undefined) return
    this.#remove(first)
    first.close()
  }

  #remove(redirect: OpenRedirect): void {
    this.#all.delete(redirect)
    redirect.ofDomain.delete(redirect)
  }
}
