// Evidence as lines for a place of the caller's, such as a log collector.
import { withMethods } from '@politely/fetcher/internal'
import { type Evidence, openJournal, textOfLines } from './journal.ts'
import { type EvidenceOptions, STREAM_EXAMPLE, settingsOf } from './options.ts'

/** Options of `evidenceStream`. */
export interface EvidenceStreamOptions extends EvidenceOptions {
  /**
   * Takes one or more whole lines of NDJSON, each with its line end. If it throws, the same lines
   * are passed again later. Example: `(lines) => void stream.write(lines)`.
   */
  readonly write: (lines: string) => void
}

/**
 * Creates a sink that passes NDJSON to a function. A stream has no files, so the record of a
 * robots.txt has its `content`.
 * @throws {OptionError} for an invalid or unknown option.
 * @throws {EvidenceError} if `write` throws at once, unless `onFailure` is `continue`.
 */
export function evidenceStream(options: EvidenceStreamOptions): Evidence {
  const settings = settingsOf(options, true)
  withMethods('options', options, ['write'], STREAM_EXAMPLE)
  let isNew = true
  return openJournal(settings, () => ({
    begin: () => isNew,
    write: (lines) => {
      options.write(textOfLines(lines))
      isNew = false
    },
  }))
}
