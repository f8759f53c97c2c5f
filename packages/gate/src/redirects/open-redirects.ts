// Limits the connections of redirects whose bodies have not ended.
//
// A redirect releases its permit when its headers arrive, since many clients never read its body. A
// hostile site may never end that body. So both the time and the number of open connections are
// limited, and the oldest is closed first. The body of an honest redirect ends at once.
import { type Site, siteOf } from '@politely/fetcher/internal'
import { OpenRedirectError } from '../report/errors.ts'

const MAX_OPEN_PER_SITE = 8
const MAX_OPEN_PER_PLATFORM = 32
const MAX_OPEN = 64
const MAX_OPEN_MS = 30_000

interface OpenRedirect {
  readonly site: Site
  readonly close: () => void
  readonly timer: NodeJS.Timeout
}

export class OpenRedirects {
  /** Oldest first. */
  readonly #all = new Set<OpenRedirect>()

  /**
   * Adds a redirect whose headers have arrived.
   * @param close Closes its connection, which must lead to a call of the returned function.
   * @returns A function to call when the body or the connection ends.
   */
  add(url: string, close: (error: OpenRedirectError) => void): () => void {
    const site = siteOf(url)
    const { name, platform } = site
    this.#makeRoom(MAX_OPEN_PER_SITE, (other) => other.name === name)
    if (platform !== undefined) this.#makeRoom(MAX_OPEN_PER_PLATFORM, (other) => other.platform === platform)
    this.#makeRoom(MAX_OPEN, () => true)
    const timer = setTimeout(() => this.#close(redirect), MAX_OPEN_MS).unref()
    const redirect: OpenRedirect = { site, close: () => close(new OpenRedirectError(url)), timer }
    this.#all.add(redirect)
    return () => this.#remove(redirect)
  }

  /**
   * Closes the oldest redirect of some sites if there are `max` of them. There are few redirects,
   * so a search is fast enough.
   */
  #makeRoom(max: number, isAffected: (site: Site) => boolean): void {
    if (this.#all.size < max) return
    const redirects = [...this.#all].filter(({ site }) => isAffected(site))
    if (redirects.length >= max) this.#close(redirects[0])
  }

  #close(redirect: OpenRedirect | undefined): void {
    if (redirect === undefined) return
    this.#remove(redirect)
    redirect.close()
  }

  #remove(redirect: OpenRedirect): void {
    clearTimeout(redirect.timer)
    this.#all.delete(redirect)
  }
}
