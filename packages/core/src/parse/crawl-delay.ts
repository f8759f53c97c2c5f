// Crawl-delay, an extension (RFC 9309 §2.2.4). Many sites use it; Bing, Yandex and others have obeyed it.

/**
 * Returns a number of decimal seconds, such as `10`, `1.5` or `.5`, as whole milliseconds. Any other value (`10s`, `-1`, `1e3`) gives
 * undefined and is ignored; docs/records.md lists the doubtful ones. The result is at most `Number.MAX_SAFE_INTEGER`, which clocks and
 * JSON can represent.
 */
export function crawlDelayMsOf(value: string): number | undefined {
  if (!/^(\d+(\.\d*)?|\.\d+)$/.test(value)) return undefined
  return Math.min(Math.round(Number(value) * 1000), Number.MAX_SAFE_INTEGER)
}
