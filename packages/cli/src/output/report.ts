// The runner: how a command prints its rows, and which exit code they lead to.
//
// A command that says something about each URL, entry or check is an iterable of rows, and a few
// functions of one row: its text for people, its JSON, and the exit code that it leads to. Such a
// report is data; `printReport` is the only code that knows the formats:
//
//     --format  for each row                            after the last row
//     text      `text`, with `between` between two      the text of `end`
//     ndjson    {"version":1,…`json`}                   nothing
//     json      nothing                                 {"version":1,"`list`":[…`json`]}
//
// For example, `politely check A B --format json` passes an iterable that fetches two robots.txt
// files. A terminal says after three seconds that the first verdict is late. Each verdict raises the
// exit code if it is more severe. At the end one line has both verdicts. A report without `list`
// has one row, whose JSON is that line.
//
// Rows are printed as they come, so that a slow row doesn't hold back what is known. `rowsWithin`
// makes an iterable of rows that need an open file or client. program.ts ends reports at Ctrl-C and
// SIGTERM, apart from commands with `leavesSignals`.
import type { Arguments } from '../command-line.ts'
import { EXITS, type ExitName, moreSevere } from '../exit-code.ts'
import { lateNotice } from './late-notice.ts'
import { errorLine } from './style.ts'
import { jsonLine, write } from './write.ts'

export interface Report<R> {
  readonly rows: Iterable<R> | AsyncIterable<R>
  /** Returns what people read about a row. Nothing is printed for an empty text. */
  text(row: R): string | Promise<string>
  json(row: R): object
  /** Returns the exit code by a row. The most severe one counts. Default: success. */
  exit?(row: R): ExitName
  /** Returns a line for stderr in every format. */
  problem?(row: R): string | undefined
  /** The name of the list in `--format json`. Without it, each row is a line, as in `ndjson`. */
  readonly list?: string
  /** What stands between two texts. */
  readonly between?: string
  /** Whether a terminal says that the first row is late. */
  readonly isSlow?: true
  /** Where the rows go. Default: stdout. */
  readonly write?: (text: string) => unknown
  /** Returns what is known after the last row. */
  end?(): { readonly text?: string; readonly exit?: ExitName }
}

/** Prints a report in the format of the command line. Returns the exit code. */
export async function printReport<R>(args: Arguments, report: Report<R>): Promise<number> {
  const { list, between = '', write: print = write } = report
  const format = args.get('format')
  const all: object[] = []
  let exit: ExitName = 'success'
  let texts = 0
  using late = report.isSlow && lateNotice(args)
  for await (const row of report.rows) {
    late?.[Symbol.dispose]()
    exit = raised(exit, report.exit?.(row))
    const problem = report.problem?.(row)
    if (problem !== undefined) process.stderr.write(errorLine(problem))
    if (format === 'text') {
      const text = await report.text(row)
      if (text !== '') await print(`${texts++ === 0 ? '' : between}${text}`)
    } else if (format === 'json' && list !== undefined) all.push(report.json(row))
    else await print(jsonLine({ version: 1, ...report.json(row) }))
  }
  const end = report.end?.() ?? {}
  exit = raised(exit, end.exit)
  if (format === 'text' && end.text !== undefined) await print(end.text)
  if (format === 'json' && list !== undefined) await print(jsonLine({ version: 1, [list]: all }))
  return EXITS[exit].code
}

/** Prints one row, which is the whole report. Returns the exit code. */
export function printOne(
  args: Arguments,
  json: () => object,
  text: () => string | Promise<string>,
  exit: ExitName = 'success',
): Promise<number> {
  return printReport(args, { rows: [undefined], json, text, exit: () => exit })
}

/** `main.ts` exits with the code so far if the reader closes the output. */
function raised(before: ExitName, by: ExitName = 'success'): ExitName {
  const exit = moreSevere(before, by)
  process.exitCode = EXITS[exit].code
  return exit
}

/**
 * Yields the rows that `produce` passes on, such as the entries of a file that it opens and closes.
 * `pass` resolves when the reader wants another row. Rejects as `produce` does, after the last row.
 */
export async function* rowsWithin<R>(
  produce: (pass: (row: R) => Promise<void>) => Promise<unknown>,
): AsyncGenerator<R> {
  type Passed = readonly [row: R, taken: () => void]
  const { readable, writable } = new TransformStream<Passed, Passed>()
  const writer = writable.getWriter()
  const pass = (row: R) => new Promise<void>((taken, fail) => void writer.write([row, taken]).catch(fail))
  const done = produce(pass).then(
    () => writer.close(),
    (error) => writer.abort(error),
  )
  done.catch(() => undefined) // a reader that stops early does not get to `await done`
  for await (const [row, taken] of readable) {
    try {
      yield row
    } finally {
      taken()
    }
  }
  await done
}
