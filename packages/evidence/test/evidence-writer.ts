// A process that writes decisions to a folder:
//   node evidence-writer.ts DIR FORMAT OPTIONS COUNT
// It prints the ID of each decision when `decided` has returned and `written` has resolved, or the code
// of the error. It ends without a `close`.
import { setImmediate } from 'node:timers/promises'
import { evidenceFiles, evidenceWarc } from '../src/index.ts'
import { decisionOf, entryOf } from './decisions.ts'

const [dir = '', format = '', options = '{}', count = ''] = process.argv.slice(2)
const sink = (format === 'warc' ? evidenceWarc : evidenceFiles)({ dir, ...JSON.parse(options) })
process.stdout.write(`chain ${sink.state.chain}\n`)
for (let n = 0; n < Number(count); n++) {
  const origin = `https://${n % 20}.example`
  const entry = entryOf(origin, `User-agent: *\nDisallow: /${n % 20}\n`, Date.now())
  try {
    const { id, written } = sink.decided(decisionOf(`${origin}/${n}`, entry, { at: Date.now() }))
    await written
    sink.ended({ id, at: Date.now(), outcome: 'answered', status: 200 })
    process.stdout.write(`${id}\n`)
  } catch (error) {
    const { code, cause } = error as { readonly code?: string; readonly cause?: { readonly code?: string } }
    process.stdout.write(`failed ${code} ${cause?.code}\n`)
  }
  if (n % 10 === 0) await setImmediate()
}
