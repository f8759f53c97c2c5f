// Reads the URLs of a list, or of an access log.
import { AccessLog, COMMENT } from '../access-log.ts'
import { isUrlOrPath, urlIn } from './url-in-text.ts'
import type { UrlReader } from './url-reader.ts'

/** Reads lines without line ends. */
export class LineUrls implements UrlReader {
  readonly problem = undefined
  skipped = 0
  firstSkipped = 0
  readonly #log: AccessLog | undefined
  #line = 0

  constructor(format: 'text' | 'log') {
    this.#log = format === 'log' ? new AccessLog() : undefined
  }

  write(lines: readonly string[]): readonly string[] {
    const urls: string[] = []
    for (const line of lines) {
      this.#line++
      const url = this.#log === undefined ? ofList(line) : this.#log.urlOf(line)
      if (typeof url === 'string') urls.push(url)
      else if (url !== COMMENT && ++this.skipped === 1) this.firstSkipped = this.#line
    }
    return urls
  }

  end(): readonly string[] {
    return []
  }
}

function ofList(line: string): string | typeof COMMENT {
  if (isUrlOrPath(line.trimStart())) return line
  return line.startsWith('#') ? COMMENT : (urlIn(line) ?? line)
}
