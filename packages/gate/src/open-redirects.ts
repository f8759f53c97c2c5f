// Limits the connections of redirects whose bodies have not ended.
//
// A redirect releases its permit when its headers arrive, since many clients never read the body of a redirect. A hostile site may never end
// that body. So the time and the number of connections that stay open are limited, and the oldest is closed first. The body of an honest redirect
// ends at once.

const MAX_OPEN_PER_DOMAIN = 8
const MAX_OPEN = 64
const MAX_OPEN_MS = 30_000

interface OpenRedirect {
  readonly close: () => void
  readonly timer: NodeJS.Timeout
  readonly sameDomain: Set<OpenRedirect>
}

export class OpenRedirects {
  /** Oldest first, here and in each domain. */
  readonly #all = new Set<OpenRedirect>()
  readonly #domains = new Map<string, Set<OpenRedirect>>()

  /**
   * Adds a redirect whose headers have arrived.
   * @param close Closes its connection, which must lead to a call of the returned function.
   * @returns A function to call when the body or the connection ends.
   */
  add(domain: string, close: () => void): () => void {
    const sameDomain = this.#domains.get(domain) ?? new Set()
    const timer = setTimeout(() => this.#close(redirect), MAX_OPEN_MS).unref()
    const redirect: OpenRedirect = { close, sameDomain, timer }
    if (sameDomain.size >= MAX_OPEN_PER_DOMAIN) this.#close(oldestOf(sameDomain))
    else if (this.#all.size >= MAX_OPEN) this.#close(oldestOf(this.#all))
    this.#all.add(redirect)
    sameDomain.add(redirect)
    this.#domains.set(domain, sameDomain)
    return () => {
      this.#remove(redirect)
      if (sameDomain.size === 0 && this.#domains.get(domain) === sameDomain) this.#domains.delete(domain)
    }
  }

  #close(redirect: OpenRedirect | undefined): void {
    if (redirect === undefined) return
    this.#remove(redirect)
    redirect.close()
  }

  #remove(redirect: OpenRedirect): void {
    clearTimeout(redirect.timer)
    this.#all.delete(redirect)
    redirect.sameDomain.delete(redirect)
  }
}

function oldestOf(redirects: ReadonlySet<OpenRedirect>): OpenRedirect | undefined {
  return redirects.values().next().value
}
