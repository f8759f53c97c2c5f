// What a request of an HTTP client asks for.

/** A path that is a whole URL is one for a proxy, and the proxy is no site. @param origin Of who is asked. */
export function askedUrl(origin: string, path: string): string {
  return /^https?:\/\//i.test(path) ? path : `${origin}${path}`
}
