// Buffers that every parse and every check reuses. The workspace is the only state that core shares
// between files. Each parse and each check is synchronous, so it ends before the next call starts.
import { ByteBuffer, type ByteRange, FilePool, type Source } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { GroupSelection } from '../parse/group-selection.ts'
import { LineReader } from '../parse/line-reader.ts'
import { parse } from '../parse/parser.ts'
import { RequestPath } from '../url/request-path.ts'
import { LoadedRules } from './loaded-rules.ts'
import { type CompiledRules, RuleCompiler } from './rule-compiler.ts'
import { BucketList } from './rule-index.ts'

class Workspace {
  /** Copies the callers' files. */
  readonly files: FilePool = new FilePool()
  /** The bytes of the file that is parsed, if the caller gave text. */
  readonly #text = new ByteBuffer()
  readonly #reader = new LineReader()
  /** The rules that are compiled, and their groups. */
  readonly #compiled = new ByteBuffer()
  /** The path that is checked. */
  readonly path: RequestPath = new RequestPath()
  readonly buckets: BucketList = new BucketList()
  readonly loaded: LoadedRules = new LoadedRules()
  /** The last selection, because most crawlers use one product token for all files. */
  #selection: GroupSelection | undefined

  /** Returns the bytes of a file. If the file is text, the next call overwrites them. */
  rangeOf(source: Source): ByteRange {
    if (typeof source !== 'string') return source
    this.#text.release()
    return this.#text.fillText(source)
  }

  /** Compiles the rules of a file for a crawler. */
  compile(source: Source, productTokens: readonly string[], parsing: ParsingRules): CompiledRules {
    const file = this.rangeOf(source)
    this.#compiled.release()
    if (!this.#selection?.isFor(productTokens, parsing)) this.#selection = new GroupSelection(productTokens, parsing)
    const compiler = new RuleCompiler(file.bytes, this.#selection, parsing, this.#compiled)
    parse(this.#reader.open(file, parsing.keys), parsing, compiler)
    this.#reader.close()
    return compiler.finish()
  }
}

export const workspace: Workspace = new Workspace()
