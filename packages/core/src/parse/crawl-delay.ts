// Crawl-delay, an extension (RFC 9309 §2.2.4) that many sites write and Bing, Yandex and others have read.

/**
 * Decimal seconds, `10`, `1.5`, `.5`, as whole milliseconds. Anything else (`10s`, `-1`, `1e3`) is not understood and so not
 * obeyed: docs/records.md lists the doubtful forms. A number too large for JavaScript still means "very long", and stays
 * one that clocks and JSON can hold.
 */
export function crawlDelayMsOf(value: string): number | undefined {
  if (!/^(\d+(\.\d*)?|\.\d+)$/.test(value)) return undefined
  return Math.min(Math.round(Number(value) * 1000), Number.MAX_SAFE_INTEGER)
}
